//! Time-averaged freshness and age of a page visited in fixed, random or purely random order.
//!
//! Implements the thesis, section 5.4, Table 5.2. With r = λ/f changes per visit and I = 1/f:
//!
//! > fixed order: F = (1 − e^-r)/r, A = I (1/2 − 1/r + (1 − e^-r)/r²)
//! > random order: F = (1 − ((1 − e^-r)/r)²)/r, A = I (1/3 + (1/2 − 1/r)² − ((1 − e^-r)/r²)²)
//! > purely random: F = 1/(1 + r), A = I r/(1 + r)
//!
//! # Promises
//! - Both values keep twelve digits for r from 1e-8 to 1e9 in every order: terms that cancel
//!   are computed in other forms.
//! - A page that never changes is always fresh. One that changes and is never visited has
//!   freshness 0 and an infinite age.
//! - Fixed order is best by both measures and purely random worst (section 5.4.4).
//!
//! # Departures
//! None in the values. The text calls the age of fixed order at r = 1 a fourth of that of random order; it is
//! a fourth of that of purely random order and 0.719 of that of random order.

use super::measure::FreshnessAndAge;
use crate::numerics::{mean_age_fraction, mean_change_probability, mean_survival};
use crate::units::{ChangesPerDay, Days, VisitsPerDay};

/// How the visits of one page are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All pages in the same order in every round: the intervals of a page are equal.
    Fixed,
    /// All pages in every round, in a new order each time: an interval is the
    /// difference of two uniform times.
    Random,
    /// Each visit goes to a page drawn at random: the intervals are exponential.
    PurelyRandom,
}

/// Freshness and age of a page, averaged over all time.
pub fn time_average(
    order: Order,
    change_rate: ChangesPerDay,
    visit_frequency: VisitsPerDay,
) -> FreshnessAndAge {
    if change_rate == ChangesPerDay::ZERO {
        return FreshnessAndAge::ALWAYS_FRESH;
    }
    // Infinite without visits; all formulas below have their limit there.
    let changes_per_visit = change_rate.get() / visit_frequency.get();
    let (freshness, age_fraction) = match order {
        Order::Fixed => (mean_survival(changes_per_visit), mean_age_fraction(changes_per_visit)),
        Order::Random => random_order(changes_per_visit),
        Order::PurelyRandom => purely_random(changes_per_visit),
    };
    FreshnessAndAge { freshness, age: Days::new(age_fraction / visit_frequency.get()) }
}

/// Freshness, and age as a fraction of the mean interval, in random order.
///
/// With m the mean survival, c = 1 − m and a the age fraction of fixed order, the printed formulas are
/// (1 + m) c/r and 1/3 + a² − 2am/r. The second is a² + c/3 + 2m (1/6 − a/r): all terms positive.
fn random_order(r: f64) -> (f64, f64) {
    let (m, c, a) = (mean_survival(r), mean_change_probability(r), mean_age_fraction(r));
    // c/r = 1/2 − a, which stays exact where r vanishes.
    let c_per_change = if r < 1.0 { 0.5 - a } else { c / r };
    ((1.0 + m) * c_per_change, a * a + c / 3.0 + 2.0 * m * age_shortfall(r, a))
}

/// 1/6 − a/r = r/24 − r²/120 + …: how far the age `a` of fixed order is below r/6, per change.
fn age_shortfall(r: f64, a: f64) -> f64 {
    if r >= 0.5 {
        return 1.0 / 6.0 - a / r;
    }
    // Σ −(−r)^k / (k + 3)!; the term after the last is below 1e-18 of the first.
    let mut term = r / 24.0;
    let mut sum = 0.0;
    for k in 5..=18 {
        sum += term;
        term *= -r / f64::from(k);
    }
    sum
}

/// Freshness, and age as a fraction of the mean interval, in purely random order.
fn purely_random(r: f64) -> (f64, f64) {
    let stale = if r < 1.0 { r / (1.0 + r) } else { 1.0 / (1.0 + 1.0 / r) };
    (1.0 / (1.0 + r), stale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORDERS: [Order; 3] = [Order::Fixed, Order::Random, Order::PurelyRandom];

    fn average(order: Order, change_rate: f64, visit_frequency: f64) -> (f64, f64) {
        let got = time_average(order, ChangesPerDay::new(change_rate), VisitsPerDay::new(visit_frequency));
        (got.freshness, got.age.get())
    }

    /// Checks all orders, given as (freshness, age) each.
    #[track_caller]
    fn check(change_rate: f64, visit_frequency: f64, expected: [(f64, f64); 3]) {
        for (order, expected) in ORDERS.into_iter().zip(expected) {
            let got = average(order, change_rate, visit_frequency);
            let close = |got: f64, want: f64| got == want || (got / want - 1.0).abs() < 1e-12;
            assert!(close(got.0, expected.0), "{order:?}: {got:?}, not {expected:?}");
            assert!(close(got.1, expected.1), "{order:?}: {got:?}, not {expected:?}");
        }
    }

    #[test]
    fn every_order_keeps_twelve_digits() {
        // Computed with 120 digits from the printed formulas.
        check(
            1e-8,
            1.0,
            [
                (0.999999995, 1.6666666625e-9),
                (0.9999999941666667, 2.499999991388889e-9),
                (0.9999999900000001, 9.999999900000002e-9),
            ],
        );
        check(
            2e-7,
            4.0,
            [
                (0.9999999750000004, 2.083333307291667e-9),
                (0.9999999708333339, 3.1249999461805562e-9),
                (0.9999999500000025, 1.249999937500003e-8),
            ],
        );
        check(
            0.001,
            0.5,
            [
                (0.9990006663334666, 0.000666333466622235),
                (0.9988343326448442, 0.0009993115109096138),
                (0.998003992015968, 0.003992015968063872),
            ],
        );
        check(
            0.3,
            1.0,
            [
                (0.8639392643942738, 0.046464214647579265),
                (0.8453631581262704, 0.06787719375423451),
                (0.7692307692307693, 0.23076923076923075),
            ],
        );
        check(
            0.4999,
            1.0,
            [
                (0.7869747633299479, 0.07386429951979963),
                (0.7614937425120476, 0.10622539677011587),
                (0.6667111140742716, 0.3332888859257284),
            ],
        );
        check(
            0.5,
            1.0,
            [
                (0.7869386805747332, 0.0738773611494663),
                (0.7614550260305962, 0.10624338539452574),
                (0.6666666666666666, 0.3333333333333333),
            ],
        );
        check(
            0.9999,
            1.0,
            [
                (0.6321469837433563, 0.13211019476283262),
                (0.6004502359677736, 0.18374361032880643),
                (0.5000250012500626, 0.4999749987499375),
            ],
        );
        check(
            1.0,
            1.0,
            [(0.6321205588285577, 0.1321205588285577), (0.600423599106272, 0.18375693243960528), (0.5, 0.5)],
        );
        check(
            2.5,
            3.0,
            [
                (0.6784821497915061, 0.03805952658326912),
                (0.6475943668971554, 0.053482191203306634),
                (0.5454545454545454, 0.15151515151515152),
            ],
        );
        check(
            7.0,
            0.25,
            [
                (0.03571428571426102, 1.8622448979591801),
                (0.03566873177842572, 2.195571723587394),
                (0.034482758620689655, 3.8620689655172415),
            ],
        );
        check(1e9, 1.0, [(1.0e-9, 0.499999999), (1.0e-9, 0.5833333323333333), (9.99999999e-10, 0.999999999)]);
    }

    #[test]
    fn a_page_that_never_changes_is_always_fresh() {
        for visit_frequency in [0.0, 1.0, 1e308] {
            check(0.0, visit_frequency, [(1.0, 0.0); 3]);
        }
    }

    #[test]
    fn a_page_that_is_never_visited_is_stale_and_endlessly_old() {
        for change_rate in [5e-324, 1.0, 1e308] {
            check(change_rate, 0.0, [(0.0, f64::INFINITY); 3]);
        }
    }

    #[test]
    fn extremes_are_values() {
        check(5e-324, 1.0, [(1.0, 0.0), (1.0, 0.0), (1.0, 5e-324)]);
        check(1e308, 1e-308, [(0.0, 5e307), (0.0, 7.0 / 12.0 * 1e308), (0.0, 1e308)]);
    }

    #[test]
    fn fixed_order_at_one_change_per_visit_compares_as_corrected() {
        let [fixed, random, purely_random] = ORDERS.map(|order| average(order, 1.0, 1.0));
        assert!((fixed.1 / purely_random.1 - 0.264).abs() < 5e-4);
        assert!((fixed.1 / random.1 - 0.719).abs() < 5e-4);
        assert!((fixed.0 / purely_random.0 - 1.26).abs() < 5e-3);
    }

    proptest! {
        #[test]
        fn fixed_order_is_best_and_purely_random_worst(
            exponent in -8.0..9.0f64,
            visit_frequency in 1e-3..1e3f64,
        ) {
            let change_rate = visit_frequency * 10f64.powf(exponent);
            let [fixed, random, purely_random] =
                ORDERS.map(|order| average(order, change_rate, visit_frequency));
            prop_assert!(fixed.0 >= random.0 * (1.0 - 1e-15));
            prop_assert!(random.0 >= purely_random.0 * (1.0 - 1e-15));
            prop_assert!(fixed.1 < random.1);
            prop_assert!(random.1 < purely_random.1);
        }
    }
}
