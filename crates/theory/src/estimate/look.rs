//! How often to visit a page in order to learn its change rate, and when to adjust that.
//!
//! Thesis, section 6.4.2 (Figure 6.7, Example 6.4): the deviation σ/r of the improved estimator is least
//! near r = 1.5 changes per visit, so a page with the guessed rate λ₀ is best visited once every 1.5/λ₀.
//! Section 6.7 (Example 6.8) asks when to leave that interval because the guess was wrong. Our rule: as
//! soon as the exact confidence interval of the visits so far excludes the guess. The estimate from
//! these visits is the new guess. When the page reports its last change there is nothing to choose: then
//! the slower the better (6.7).
//!
//! # Promises
//! - The ratio is the one of least σ/r below [`MOST_INFORMATION`], for any number of visits.
//! - Four changes at four visits, as in Example 6.8, do not yet contradict the guess; twelve at twelve do.
//! - A new guess is above zero and finite, so that the page is visited again.
//!
//! # Departures
//! Beyond that ratio σ/r can fall again, because the estimator saturates at ln(2n + 1) whatever the rate: for
//! up to about ten visits there is no minimum at 1.5. We search no further than the ratio at which a visit
//! tells most about the rate, where (e^r − 1)/r² is least; the minima of the thesis for n = 20, 40 and 80 lie
//! below it. The thesis leaves the rule of section 6.7 open. Checking the interval after every visit rejects
//! a right guess somewhat more often than its confidence says.

use super::even::EvenVisits;
use super::improved::improved;
use super::quality::improved_quality;
use super::rate::Confidence;
use crate::units::{ChangesPerDay, Days};

/// Changes per visit at which one visit gives the most information about the rate: the root of
/// r = 2(1 − e^-r).
pub const MOST_INFORMATION: f64 = 1.593_624_260_040_04;

/// Changes per visit at which this number of visits estimates the rate best; near 1.5.
///
/// Panics if there are no visits.
pub fn best_changes_per_visit(visits: u64) -> f64 {
    assert!(0 < visits);
    if visits > MANY {
        return MOST_INFORMATION;
    }
    let deviation = |changes_per_visit: f64| improved_quality(visits, changes_per_visit).deviation_ratio;
    let at = |i: u32| LEAST + (MOST_INFORMATION - LEAST) * f64::from(i) / f64::from(GRID);
    let best = (0..=GRID).min_by(|i, j| deviation(at(*i)).total_cmp(&deviation(at(*j)))).unwrap_or(GRID);
    minimum(at(best.max(1) - 1), at((best + 1).min(GRID)), deviation)
}

/// The best interval between visits, of `visits` planned, for a guessed rate. Infinite for a guess of zero.
///
/// Panics if there are no visits.
pub fn best_visit_interval(guess: ChangesPerDay, visits: u64) -> Days {
    Days::new(best_changes_per_visit(visits) / guess.get())
}

/// Whether to keep a guessed rate after some visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjustment {
    /// The visits do not contradict the guess.
    Keep,
    /// The visits contradict the guess.
    Change {
        /// The new guess. Choose a new interval with it, and count visits from zero again.
        guess: ChangesPerDay,
    },
}

/// Checks whether visits made once every `visit_interval` contradict the guess with this confidence.
///
/// Panics unless the interval is above zero and finite.
pub fn adjust(
    guess: ChangesPerDay,
    visit_interval: Days,
    history: &EvenVisits,
    confidence: Confidence,
) -> Adjustment {
    assert!(Days::ZERO < visit_interval);
    assert!(visit_interval < Days::FOREVER);
    let interval = history.interval(visit_interval, confidence);
    if interval.contains(guess) {
        return Adjustment::Keep;
    }
    // Without any change the estimate is zero, and the page would never be visited again: take the
    // upper end of the interval.
    let estimate =
        if history.changes_found() == 0 { Some(interval.high()) } else { improved(history, visit_interval) };
    match estimate.and_then(super::rate::RateEstimate::finite) {
        Some(guess) => Adjustment::Change { guess },
        None => Adjustment::Keep,
    }
}

/// The search starts here: below this many changes per visit σ/r only grows.
const LEAST: f64 = 0.5;

/// Steps of the coarse search, fine enough to distinguish the minimum from the ends.
const GRID: u32 = 32;

/// With more visits than this the best ratio is within 0.0001 of its limit.
const MANY: u64 = 1_000_000;

/// The point of `[low, high]` at which a function with one minimum is least, by golden-section search.
fn minimum(low: f64, high: f64, evaluate: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.6180339887498949;
    let (mut low, mut high) = (low, high);
    while high - low > 1e-6 {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if evaluate(left) < evaluate(right) { high = right } else { low = left }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visits: u64, expected: f64) {
        let ratio = best_changes_per_visit(visits);
        assert!((ratio - expected).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn the_best_ratio_is_near_one_and_a_half() {
        check(20, 1.3458); // thesis: 1.35
        check(40, 1.4419);
        check(80, 1.5235);
        check(1000, 1.5883);
        check(u64::MAX, MOST_INFORMATION);
    }

    #[test]
    fn for_few_visits_it_is_the_ratio_of_most_information() {
        for visits in 1..=10 {
            check(visits, MOST_INFORMATION);
        }
        assert!((MOST_INFORMATION - 2.0 * -(-MOST_INFORMATION).exp_m1()).abs() < 1e-15);
    }

    #[test]
    fn no_ratio_below_the_limit_deviates_less() {
        for visits in [2, 13, 16, 20, 60] {
            let least = improved_quality(visits, best_changes_per_visit(visits)).deviation_ratio;
            for i in 1..=100 {
                let other = improved_quality(visits, MOST_INFORMATION * f64::from(i) / 100.0).deviation_ratio;
                assert!(least <= other * (1.0 + 1e-6), "{visits} visits, step {i}");
            }
        }
    }

    #[test]
    fn a_weekly_page_is_visited_about_every_ten_days() {
        let interval = best_visit_interval(ChangesPerDay::new(1.0 / 7.0), 10);
        assert!((10.0..11.5).contains(&interval.get()), "{interval:?}"); // thesis, Example 6.4
        assert_eq!(best_visit_interval(ChangesPerDay::ZERO, 10), Days::FOREVER);
    }

    fn adjusted(visits: u64, changes_found: u64) -> Adjustment {
        let guess = ChangesPerDay::new(1.0 / 7.0);
        adjust(guess, Days::new(10.0), &EvenVisits::new(visits, changes_found), Confidence::new(0.9))
    }

    #[test]
    fn four_changes_at_four_visits_may_be_luck() {
        assert_eq!(adjusted(0, 0), Adjustment::Keep);
        assert_eq!(adjusted(4, 4), Adjustment::Keep);
    }

    #[test]
    fn twelve_changes_at_twelve_visits_raise_the_guess() {
        let Adjustment::Change { guess } = adjusted(12, 12) else { panic!("the guess was kept") };
        assert!((guess.get() - 25f64.ln() / 10.0).abs() < 1e-12);
    }

    #[test]
    fn visits_without_change_lower_the_guess_but_not_to_zero() {
        let Adjustment::Change { guess } = adjusted(12, 0) else { panic!("the guess was kept") };
        assert!((guess.get() - 20f64.ln() / 120.0).abs() < 1e-12, "{guess:?}");
        let Adjustment::Change { guess } = adjusted(40, 2) else { panic!("the guess was kept") };
        assert!((guess.get() - (40.5f64 / 38.5).ln() / 10.0).abs() < 1e-12, "{guess:?}");
    }
}
