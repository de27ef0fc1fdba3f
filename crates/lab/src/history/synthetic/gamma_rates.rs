//! Synthetic sites, directories and pages with individual rates, bursts, sweeps, births and deaths.
//!
//! Models what the recorded histories show, in the simplest form. The rate of a site is log-normal around
//! [`MEAN_RATE`], that of a directory log-normal around its site's, that of a page gamma-distributed around
//! its directory's. A page is edited in sessions, which are a Poisson process; each consists of one or more
//! changes within days. A directory is edited as a whole now and then. A sweep over the site is rare. Some
//! pages are born later, and some die.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp1, Gamma, Geometric, LogNormal};

use super::super::recording::{Event, EventKind, RecordedPage};
use super::{START, Synthetic, time};

/// Sessions per day of a typical page: one in half a year.
const MEAN_RATE: f64 = 1.0 / 180.0;
/// Spread of the rates of sites, as a standard deviation of the logarithm.
const SITE_SPREAD: f64 = 0.8;
/// Spread of the rates of directories around their site's.
const DIRECTORY_SPREAD: f64 = 0.8;
/// Shape of the gamma distribution of pages: below one, most are slow and a few are fast.
const PAGE_SHAPE: f64 = 0.6;
/// Probability that a session ends after each of its changes.
const SESSION_END: f64 = 0.6;
/// Mean days between two changes of a session.
const SESSION_GAP: f64 = 1.0;
/// Edits of a whole directory per day, and the probability that a page takes part.
const DIRECTORY_EDIT: (f64, f64) = (1.0 / 400.0, 0.6);
/// Sweeps over a site per day, and the probability that a page takes part.
const SWEEP: (f64, f64) = (1.0 / 700.0, 0.7);
/// Fraction of the pages that are born after the observation began.
const BORN_LATER: f64 = 0.25;
/// Deaths per day of a page: one in twenty years.
const DEATH_RATE: f64 = 1.0 / 7300.0;

/// Pages of a site.
pub(super) fn pages(synthetic: &Synthetic, chance: &mut ChaCha8Rng) -> Vec<RecordedPage> {
    let spread = |deviation| LogNormal::new(0.0, deviation).expect("the deviation is finite");
    let site_rate = MEAN_RATE * spread(SITE_SPREAD).sample(chance);
    let sweeps = moments(SWEEP.0, synthetic.days, chance);
    let mut recorded = Vec::with_capacity(synthetic.pages_per_site);
    let (mut directory_rate, mut edits) = (site_rate, Vec::new());
    for page in 0..synthetic.pages_per_site {
        if page % 10 == 0 {
            directory_rate = site_rate * spread(DIRECTORY_SPREAD).sample(chance);
            edits = moments(DIRECTORY_EDIT.0, synthetic.days, chance);
        }
        let rates = Gamma::new(PAGE_SHAPE, directory_rate / PAGE_SHAPE).expect("the rate is positive");
        let mut changes = sessions(rates.sample(chance), synthetic.days, chance);
        changes.extend(part_of(&edits, DIRECTORY_EDIT.1, chance).map(|day| (day, false)));
        changes.extend(part_of(&sweeps, SWEEP.1, chance).map(|day| (day, true)));
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        recorded.push(live(synthetic, page, &changes, chance));
    }
    recorded
}

/// One page with its birth, its changes while it lives, and its death.
fn live(
    synthetic: &Synthetic,
    page: usize,
    changes: &[(f64, bool)],
    chance: &mut ChaCha8Rng,
) -> RecordedPage {
    let later = chance.random::<f64>() < BORN_LATER;
    let born = if later { chance.random::<f64>() * synthetic.days } else { 0.0 };
    let wait: f64 = Exp1.sample(chance);
    let died = born + wait / DEATH_RATE;
    let mut events: Vec<Event> = changes
        .iter()
        .filter(|(day, _)| born < *day && *day < died)
        .map(|(day, mass)| Event { time: time(*day), kind: EventKind::Modified, mass: *mass })
        .collect();
    if died < synthetic.days {
        events.push(Event { time: time(died), kind: EventKind::Deleted, mass: false });
    }
    RecordedPage {
        path: Synthetic::path(page),
        first_seen: if later { time(born) } else { START },
        initial: !later,
        size: (died >= synthetic.days).then_some(0),
        moved_from: None,
        events,
    }
}

/// The changes of a page's sessions. None is part of a sweep.
fn sessions(rate: f64, days: f64, chance: &mut ChaCha8Rng) -> Vec<(f64, bool)> {
    let more = Geometric::new(SESSION_END).expect("a probability");
    let mut changes = Vec::new();
    for start in moments(rate, days, chance) {
        let mut day = start;
        changes.push((day, false));
        for _ in 0..more.sample(chance) {
            let gap: f64 = Exp1.sample(chance);
            day += SESSION_GAP * gap;
            if day < days {
                changes.push((day, false));
            }
        }
    }
    changes
}

/// The moments of a Poisson process before `days`.
fn moments(rate: f64, days: f64, chance: &mut ChaCha8Rng) -> Vec<f64> {
    let mut moments = Vec::new();
    let mut day = 0.0;
    loop {
        let wait: f64 = Exp1.sample(chance);
        day += wait / rate;
        // At a rate of zero the wait is infinite or undefined.
        if day.is_nan() || days <= day {
            return moments;
        }
        moments.push(day);
    }
}

/// The moments at which a page takes part.
fn part_of<'a>(
    moments: &'a [f64],
    probability: f64,
    chance: &'a mut ChaCha8Rng,
) -> impl Iterator<Item = f64> + 'a {
    moments.iter().copied().filter(move |_| chance.random::<f64>() < probability)
}

#[cfg(test)]
mod tests {
    use freshet_protocol::time::SECONDS_PER_DAY;

    use super::super::Model;
    use super::*;

    #[test]
    fn changes_come_in_bursts_sweeps_and_some_pages_come_and_go() {
        let synthetic =
            Synthetic { model: Model::Gamma, sites: 20, pages_per_site: 50, days: 1500.0, seed: 3 };
        let recording = synthetic.record();
        let pages: Vec<_> = recording.sites.iter().flat_map(|site| &site.pages).collect();
        let changes: usize = pages.iter().map(|page| page.events.len()).sum();
        let close = |page: &&RecordedPage| {
            page.events.windows(2).filter(|pair| pair[1].time - pair[0].time < 2 * SECONDS_PER_DAY).count()
        };
        let bursts: usize = pages.iter().map(close).sum();
        assert!(bursts as f64 > 0.1 * changes as f64, "{bursts} of {changes}");
        assert!(pages.iter().any(|page| !page.initial));
        assert!(pages.iter().any(|page| page.events.iter().any(|event| event.kind == EventKind::Deleted)));
        assert!(pages.iter().any(|page| page.events.iter().any(|event| event.mass)));
        let still = pages.iter().filter(|page| page.events.is_empty()).count();
        assert!(still < 500, "{still}");
    }
}
