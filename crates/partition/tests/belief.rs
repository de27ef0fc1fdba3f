//! The default policy's reported freshness and rates, compared with the truth of a simulated web: pages of
//! many rates, some that never change, some that change in sessions, some every week at a fixed hour.

use freshet_partition::policy::{
    Catalogue, Observation, Outcome, PageId, Policy, PolicyName, Setting, SiteId,
};
use freshet_theory::units::Days;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

const PAGES: usize = 1000;
const DIRECTORIES: usize = 50;
const DAYS: f64 = 60.0;
/// One visit per page and week.
const VISITS_PER_DAY: f64 = PAGES as f64 / 7.0;
/// Length of a cycle, in which a tenth of the pages is visited, in days.
const CYCLE: f64 = 0.1 * PAGES as f64 / VISITS_PER_DAY;
const STEPS_PER_CYCLE: f64 = 28.0;

struct Chance(ChaCha8Rng);

impl Chance {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn wait(&mut self, rate: f64) -> f64 {
        -(1.0 - self.unit()).ln() / rate.max(1e-12)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// The days on which a page changes.
    fn changes(&mut self, rate: f64) -> Vec<f64> {
        let (kind, mut days) = (self.unit(), Vec::new());
        let (sessions, again) = match kind {
            _ if kind < 0.2 => (0.0, 0.0),
            _ if kind < 0.75 => (rate, 0.0),
            _ if kind < 0.9 => (0.35 * rate, 0.65),
            _ => {
                let first = 7.0 * self.unit();
                return (0..(DAYS / 7.0) as usize + 1).map(|week| first + 7.0 * week as f64).collect();
            }
        };
        let mut start = self.wait(sessions);
        while start < DAYS {
            let mut day = start;
            days.push(day);
            while self.unit() < again {
                day += self.wait(10.0);
                days.push(day);
            }
            start += self.wait(sessions);
        }
        days.sort_by(f64::total_cmp);
        days
    }
}

/// Freshness on one day: the true one, the reported one, and the one reported by a policy that only replayed
/// the visits.
struct Day {
    fresh: f64,
    believed: f64,
    believed_by_hearsay: f64,
}

/// The result of a simulated crawl.
struct Told {
    /// Freshness day by day from the second week on.
    days: Vec<Day>,
    /// For each page that changes, its true and its estimated rate, in changes per day.
    rates: Vec<(f64, f64)>,
}

fn freshness(policy: &str) -> Vec<Day> {
    tell(policy, 7, false).days
}

/// Crawls a web made from a seed, whose pages may state when they last changed.
fn tell(policy: &str, seed: u64, dates: bool) -> Told {
    let mut chance = Chance(ChaCha8Rng::seed_from_u64(seed));
    let of_directory: Vec<f64> = (0..DIRECTORIES).map(|_| 0.12 * (chance.normal() - 0.5).exp()).collect();
    let changes: Vec<Vec<f64>> = (0..PAGES)
        .map(|page| {
            let relative = chance.normal().powi(2);
            chance.changes(of_directory[page % DIRECTORIES] * relative)
        })
        .collect();
    let next = |page: usize, day: f64| {
        let place = changes[page].partition_point(|change| *change <= day);
        changes[page].get(place).copied().unwrap_or(f64::INFINITY)
    };
    let name: PolicyName = policy.parse().expect("it is a policy");
    let setting = Setting { cycle: Days::new(CYCLE), budget_share: 0.1, seed: 1 };
    let (mut policy, mut told) = (name.build(&setting), name.build(&setting));
    let mut catalogue = Catalogue::new();
    for page in 0..PAGES {
        let directory = page % DIRECTORIES;
        catalogue.add_page(SiteId(directory as u32 / 5), &format!("{directory}/{page}"));
    }
    policy.discover(&catalogue, PageId(0), Days::ZERO);
    told.discover(&catalogue, PageId(0), Days::ZERO);
    let mut stale: Vec<f64> = (0..PAGES).map(|page| next(page, 0.0)).collect();
    let (step, mut owed, mut days) = (CYCLE / STEPS_PER_CYCLE, 0.0, Vec::new());
    for number in 1..(DAYS / step) as usize {
        let now = number as f64 * step;
        owed += VISITS_PER_DAY * step;
        let quota = owed as usize;
        owed -= quota as f64;
        policy.begin_cycle(&catalogue, Days::new(now), quota);
        told.begin_cycle(&catalogue, Days::new(now), quota);
        let mut chosen = Vec::new();
        policy.choose(&catalogue, quota, &mut chosen);
        for page in chosen {
            let changed = stale[page.index()] <= now;
            stale[page.index()] = next(page.index(), now);
            let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
            let observation = Observation { page, time: Days::new(now), outcome };
            let before = changes[page.index()].partition_point(|change| *change <= now);
            match before.checked_sub(1).filter(|_| dates) {
                Some(last) => {
                    let date = Days::new(changes[page.index()][last]);
                    policy.learn_dated(&catalogue, &observation, date);
                    told.learn_dated(&catalogue, &observation, date);
                }
                None => {
                    policy.learn(&catalogue, &[observation]);
                    told.learn(&catalogue, &[observation]);
                }
            }
        }
        policy.end_cycle(&catalogue);
        told.end_cycle(&catalogue);
        if now >= 14.0 + days.len() as f64 {
            let fresh = stale.iter().filter(|day| **day > now).count() as f64 / PAGES as f64;
            let [believed, believed_by_hearsay] =
                [&policy, &told].map(|policy| believed(&**policy, &catalogue, now));
            days.push(Day { fresh, believed, believed_by_hearsay });
        }
    }
    let rate = |page: usize| {
        let explanation = policy.explain(&catalogue, PageId(page as u32), Days::new(DAYS))?;
        let changes_per_day = changes[page].len() as f64 / DAYS;
        (changes_per_day > 0.0).then(|| (changes_per_day, explanation.change_rate.get()))
    };
    Told { rates: (0..PAGES).filter_map(rate).collect(), days }
}

fn believed(policy: &dyn Policy, catalogue: &Catalogue, now: f64) -> f64 {
    policy.copy_estimate(catalogue, Days::new(now)).map_or(0.0, |estimate| estimate.freshness)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[test]
fn the_copy_is_about_as_fresh_as_is_believed() {
    for policy in ["freshet:mix:steady", "freshet:fresh:steady"] {
        let days = freshness(policy);
        let (fresh, believed) =
            (mean(days.iter().map(|day| day.fresh)), mean(days.iter().map(|day| day.believed)));
        assert!((fresh - believed).abs() < 0.04, "{policy}: {fresh} {believed}");
        let worst = |of: fn(&Day) -> f64| days.iter().map(of).fold(0.0, f64::max);
        let off = worst(|day| (day.fresh - day.believed).abs());
        assert!(off < 0.1, "{policy}: {off}");
        let apart = worst(|day| (day.believed - day.believed_by_hearsay).abs());
        assert!(apart < 0.02, "{policy}: {apart}");
    }
}

#[test]
fn visits_where_they_count_keep_the_copy_fresher_than_uniform_ones() {
    let mean_of = |policy| mean(freshness(policy).into_iter().map(|day| day.fresh));
    let (uniform, mix, fresh) =
        (mean_of("uniform"), mean_of("freshet:mix:steady"), mean_of("freshet:fresh:steady"));
    assert!(uniform < mix && uniform + 0.02 < fresh, "{uniform} {mix} {fresh}");
}

/// Root mean square of the errors of the log rates, over pages that change more than once in five days.
fn misjudged(told: &Told) -> f64 {
    let errors = told.rates.iter().filter(|(changes_per_day, _)| *changes_per_day > 0.2);
    mean(errors.map(|(rate, believed)| (believed / rate).ln().powi(2))).sqrt()
}

#[test]
fn dates_of_changes_tell_more_of_fast_pages_and_cost_no_freshness() {
    for policy in ["freshet:mix:steady", "freshet:fresh:steady"] {
        let (mut fresh, mut off) = ([0.0; 2], [0.0; 2]);
        for seed in 1..=4 {
            for dates in [false, true] {
                let told = tell(policy, seed, dates);
                fresh[usize::from(dates)] += mean(told.days.iter().map(|day| day.fresh)) / 4.0;
                off[usize::from(dates)] += misjudged(&told) / 4.0;
            }
        }
        assert!(off[1] < 0.97 * off[0], "{policy}: {off:?}");
        assert!(fresh[1] > fresh[0] - 0.003, "{policy}: {fresh:?}");
    }
}

/// Reported freshness of a hundred copies that are a day old, half of which a signal reports as changed,
/// after `right` and `wrong` signals about other pages proved true and false.
fn believed_when_told(right: usize, wrong: usize) -> f64 {
    let name: PolicyName = "freshet:mix:steady".parse().expect("it is a policy");
    let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.1, seed: 1 });
    let mut catalogue = Catalogue::new();
    for page in 0..100 {
        catalogue.add_page(SiteId(0), &format!("{page}"));
    }
    policy.discover(&catalogue, PageId(0), Days::ZERO);
    policy.begin_cycle(&catalogue, Days::new(0.5), 10);
    for visit in 0..right + wrong {
        let page = PageId(99);
        policy.tell_changed(&[page]);
        let outcome = if visit < right { Outcome::Changed } else { Outcome::Unchanged };
        let time = Days::new(0.5 + 0.001 * visit as f64);
        policy.learn_prompted(&catalogue, &Observation { page, time, outcome });
    }
    let told: Vec<PageId> = (0..50).map(PageId).collect();
    policy.tell_changed(&told);
    believed(&*policy, &catalogue, 1.0)
}

#[test]
fn what_is_told_of_pages_is_believed_as_far_as_it_has_proved_right() {
    // There is no signal about the other half.
    let (unknown, right, wrong) =
        (believed_when_told(0, 0), believed_when_told(100, 0), believed_when_told(0, 100));
    assert!((0.7..0.75).contains(&unknown), "{unknown}");
    assert!((0.45..0.52).contains(&right), "{right}");
    assert!(0.9 < wrong, "{wrong}");
}
