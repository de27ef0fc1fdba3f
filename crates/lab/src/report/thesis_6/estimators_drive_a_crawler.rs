//! Changes that a crawler finds if it visits pages by their estimated rates.
//!
//! The **thesis**, section 6.8.3, Table 6.1, repeated on the given histories: thirteen weeks, one visit per
//! week and page on average. The first five visits are weekly. Then the naive and the improved policy visit
//! each page in proportion to its estimate, with the same total number of visits. The text says that they
//! adjust frequencies to the estimates, not how; proportion is what finds the most changes. The recorded
//! pages are compared with Poisson pages that have the rates of the text's own Figure 4.2.
//!
//! # Promises
//! - All policies make the same number of visits, up to random variation.

use anyhow::Result;
use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::improved::improved;
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::units::{ChangesPerDay, Days};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::drawn_estimates::EvenEstimator;
use crate::figure::number::grouped;
use crate::history::{Mass, Window, World};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Table 6.1.
pub(super) const CHANGES_FOUND: Maker = Maker {
    name: "table-6.1",
    title: "Table 6.1: changes found by three policies",
    needs: Need::Histories,
    make: changes_found,
};

const WEEK: f64 = 7.0;

/// Total number of weeks, and number of weeks of learning.
const WEEKS: u32 = 13;
const LEARNING: u32 = 5;

/// Days between changes and share of pages, as in the text's Figure 4.2 and Table 5.7.
const RATES: [(f64, f64); 5] = [(1.0, 0.23), (7.0, 0.15), (30.0, 0.16), (120.0, 0.16), (365.0, 0.30)];

/// Number of pages of the model.
const MODEL_PAGES: usize = 20_000;

/// Maximum visits per day to one page: hourly. What a page with a high estimate cannot use is not spent.
const VISITS_PER_DAY_MAX: f64 = 24.0;

fn changes_found(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let tables = sources.histories()?;
    let mut chance = sources.chance("table-6.1");
    let mut table = Table::new(
        "Visits that found a change in thirteen weeks, and visits made",
        [
            "pages",
            "number",
            "uniform",
            "naive",
            "improved",
            "naive over uniform",
            "improved over uniform",
            "visits: uniform",
            "naive",
            "improved",
        ],
    );
    let mut comparisons = printed().to_vec();
    let mut collections = vec![("Poisson, rates of Figure 4.2".to_owned(), model(&mut chance))];
    for family in tables.families() {
        let window = Window {
            family: Some(family.to_owned()),
            days: WEEK * f64::from(WEEKS),
            mass: Mass::Keep,
            pages_per_site_max: None,
        };
        collections.push((family.to_owned(), recorded(&World::cut(tables, &window)?)));
    }
    for (number, (name, pages)) in collections.iter().enumerate() {
        progress(number as f64 / collections.len() as f64);
        let [uniform, by_naive, by_improved] = crawl_by_each(pages, &mut chance);
        let percent = |crawl: &Crawl| 100.0 * crawl.found as f64 / uniform.found.max(1) as f64;
        let counts = [&uniform, &by_naive, &by_improved];
        let mut row = vec![name.clone(), grouped(pages.len())];
        row.extend(counts.map(|crawl| grouped(crawl.found)));
        row.extend([&by_naive, &by_improved].map(|crawl| format!("{:.0}%", percent(crawl))));
        row.extend(counts.map(|crawl| grouped(crawl.visits)));
        table.row(row);
        let other = |quantity: &str, printed: &str, crawl: &Crawl| {
            let ours = format!("{:.0}% ({name})", percent(crawl));
            Comparison::statement(quantity, printed, ours, Verdict::NotReproducible)
        };
        comparisons.push(other("naive over uniform", "193%", &by_naive));
        comparisons.push(other("improved over uniform", "228%", &by_improved));
    }
    Ok(Exhibit::new(
        "When pages change often enough to be learned in five weeks, a crawler that knows their rates, even \
         badly, finds more than one that visits all alike with the same visits. The naive estimate is never \
         above one change per visit, so it cannot tell a page that changes every day from one that changes \
         every week; the improved one can, to a degree. Where most pages change once in months the recipe of \
         the text fails: it gives up every page that was silent for five weeks and spends its visits on the \
         few others, over and over. A policy for such pages needs a prior for what it has not seen; freshet \
         lab replay compares some.",
    )
    .table(table)
    .compare_all(comparisons))
}

/// Checks of the printed table that need none of its data.
fn printed() -> [Comparison; 4] {
    let (uniform, by_naive, by_improved) = (2_147_589.0, 4_145_581.0, 4_892_116.0);
    [
        Comparison::number("naive over uniform, from the printed counts", "193%", 100.0 * by_naive / uniform),
        Comparison::number(
            "improved over uniform, from the printed counts",
            "228%",
            100.0 * by_improved / uniform,
        ),
        Comparison::number(
            "improved above naive, from the printed counts",
            "35%",
            100.0 * (by_improved / by_naive - 1.0),
        )
        .because(
            Verdict::TextIsWrong,
            "35 points of the uniform policy's changes; over the naive policy it is 18%.",
        ),
        Comparison::number("720,000 pages times 13 weeks", "9,260,000", 720_000.0 * 13.0)
            .because(Verdict::TextIsWrong, "A slip of the pen: 9,360,000."),
    ]
}

/// The days on which each page changed, for pages that existed throughout.
fn recorded(world: &World) -> Vec<Vec<f64>> {
    let lives = world.lives.iter().enumerate();
    let watched = lives.filter(|(_, life)| life.born <= 0.0 && life.died >= world.days);
    watched.map(|(page, _)| once_a_day(world.changes(page))).collect()
}

fn model(chance: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let horizon = Days::new(WEEK * f64::from(WEEKS));
    let mut pages = Vec::with_capacity(MODEL_PAGES);
    for (interval, share) in RATES {
        let page = Poisson { change_rate: ChangesPerDay::new(1.0 / interval) };
        let count = (share * MODEL_PAGES as f64) as usize;
        pages.extend((0..count).map(|_| once_a_day(&page.sample(horizon, Since::AnyTime, chance))));
    }
    pages
}

/// The first change of each day, as daily visits would date it.
fn once_a_day(changes: &[f64]) -> Vec<f64> {
    let mut days = changes.to_vec();
    days.dedup_by_key(|time| time.floor() as u64);
    days
}

/// Result of a policy.
#[derive(Clone, Copy, Default)]
struct Crawl {
    visits: usize,
    found: usize,
}

/// Crawls with uniform visits, and with visits by the naive and the improved estimate.
fn crawl_by_each(pages: &[Vec<f64>], chance: &mut ChaCha8Rng) -> [Crawl; 3] {
    let weekly = |page: &Vec<f64>| {
        let mut weeks: Vec<u32> = page.iter().map(|time| (time / WEEK) as u32).collect();
        weeks.dedup();
        weeks
    };
    let all_weeks: Vec<Vec<u32>> = pages.iter().map(weekly).collect();
    let uniform = Crawl {
        visits: pages.len() * WEEKS as usize,
        found: all_weeks.iter().map(|weeks| weeks.iter().filter(|week| **week < WEEKS).count()).sum(),
    };
    let learned: Vec<u64> =
        all_weeks.iter().map(|weeks| weeks.iter().filter(|week| **week < LEARNING).count() as u64).collect();
    let [by_naive, by_improved] =
        [naive as EvenEstimator, improved].map(|estimator| crawl_by(estimator, pages, &learned, chance));
    [uniform, by_naive, by_improved]
}

fn crawl_by(estimator: EvenEstimator, pages: &[Vec<f64>], learned: &[u64], chance: &mut ChaCha8Rng) -> Crawl {
    let estimate = |found: &u64| {
        let visits = EvenVisits::new(u64::from(LEARNING), *found);
        estimator(&visits, Days::new(WEEK)).map_or(0.0, RateEstimate::get)
    };
    let estimates: Vec<f64> = learned.iter().map(estimate).collect();
    let total: f64 = estimates.iter().sum();
    let mut crawl =
        Crawl { visits: pages.len() * LEARNING as usize, found: learned.iter().sum::<u64>() as usize };
    if total <= 0.0 {
        return crawl;
    }
    let visits_per_estimate = pages.len() as f64 / WEEK / total;
    for (page, estimate) in pages.iter().zip(&estimates) {
        let frequency = (estimate * visits_per_estimate).min(VISITS_PER_DAY_MAX);
        if frequency > 0.0 {
            let visited = visit(page, frequency, chance);
            crawl.visits += visited.visits;
            crawl.found += visited.found;
        }
    }
    crawl
}

/// Visits one page at even intervals after the weeks of learning, starting at a random time.
fn visit(changes: &[f64], frequency: f64, chance: &mut ChaCha8Rng) -> Crawl {
    let (from, until) = (WEEK * f64::from(LEARNING), WEEK * f64::from(WEEKS));
    let mut crawl = Crawl::default();
    let mut time = from + chance.random::<f64>() / frequency;
    let mut next = changes.partition_point(|change| *change < from);
    while time < until {
        let seen = next + changes[next..].partition_point(|change| *change <= time);
        crawl.visits += 1;
        crawl.found += usize::from(seen > next);
        next = seen;
        time += 1.0 / frequency;
    }
    crawl
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn policies_make_the_same_visits_and_better_estimates_find_more() {
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        let pages = model(&mut chance);
        let [uniform, by_naive, by_improved] = crawl_by_each(&pages, &mut chance);
        for crawl in [by_naive, by_improved] {
            let share = crawl.visits as f64 / uniform.visits as f64;
            assert!((0.98..1.02).contains(&share), "{share}");
        }
        assert!(uniform.found < by_naive.found && by_naive.found < by_improved.found);
    }

    #[test]
    fn a_visit_finds_a_change_once() {
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        let crawl = visit(&[10.0, 40.0, 40.5, 60.0], 1.0, &mut chance);
        assert_eq!(crawl.visits, 56);
        assert!((2..=3).contains(&crawl.found));
    }
}
