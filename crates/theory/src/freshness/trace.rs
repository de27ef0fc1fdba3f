//! Freshness and age of one copy over a span of time in which all changes and visits are known.
//!
//! Implements the thesis, section 5.2.1 (Definitions 5.1 to 5.3) on a finite span `[0, h)`:
//!
//! > F = (1/h) ∫ F(t) dt,  A = (1/h) ∫ A(t) dt
//!
//! where F(t) is 1 while no change followed the last visit, and A(t) is the time since the first such change.
//!
//! # Promises
//! - The copy is fresh at time 0, and a visit at the instant of a change sees the change.
//! - Events outside the span are ignored, and the order in which events are given does not matter.
//! - Freshness lies in [0, 1] and age in [0, h/2], whatever the magnitude of the times.
//!
//! # Departures
//! None.

use std::cmp::Ordering;

use super::measure::FreshnessAndAge;
use crate::units::Days;

/// Freshness and age of a copy averaged over `[0, horizon)`, given the days at which its
/// page changed and was visited.
///
/// Panics unless the horizon is finite and above zero, or if a time is NaN.
pub fn trace_average(changes: &[f64], visits: &[f64], horizon: Days) -> FreshnessAndAge {
    assert!(horizon.get().is_finite());
    assert!(horizon > Days::ZERO);
    let h = horizon.get();
    let mut copy =
        LocalCopy { fresh_since: 0.0, stale_since: None, fresh_days: 0.0, mean_age: 0.0, horizon: h };
    for (time, event) in events(changes, visits, h) {
        match event {
            Event::Change => copy.change(time),
            Event::Visit => copy.visit(time),
        }
    }
    // A change and a visit at the end close the last span, whether the copy is fresh or stale in it.
    copy.change(h);
    copy.visit(h);
    FreshnessAndAge { freshness: (copy.fresh_days / h).min(1.0), age: Days::new(copy.mean_age.min(h / 2.0)) }
}

/// A change or a visit. A change comes before a visit of the same instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Change,
    Visit,
}

/// The events of the span in the order of time.
fn events(changes: &[f64], visits: &[f64], horizon: f64) -> Vec<(f64, Event)> {
    let changes = changes.iter().map(|time| (*time, Event::Change));
    let visits = visits.iter().map(|time| (*time, Event::Visit));
    let happens = |(time, _): &(f64, Event)| {
        assert!(!time.is_nan());
        (0.0..horizon).contains(time)
    };
    let mut events: Vec<_> = changes.chain(visits).filter(happens).collect();
    let in_time = |(a, _): &(f64, Event), (b, _): &(f64, Event)| a.partial_cmp(b).unwrap_or(Ordering::Equal);
    events.sort_unstable_by(|a, b| in_time(a, b).then(a.1.cmp(&b.1)));
    events
}

/// State of the copy while the events are replayed.
struct LocalCopy {
    fresh_since: f64,
    stale_since: Option<f64>,
    fresh_days: f64,
    mean_age: f64,
    horizon: f64,
}

impl LocalCopy {
    /// Only the first change after a visit makes the copy stale.
    fn change(&mut self, time: f64) {
        if self.stale_since.is_none() {
            self.fresh_days += time - self.fresh_since;
            self.stale_since = Some(time);
        }
    }

    fn visit(&mut self, time: f64) {
        if let Some(stale_since) = self.stale_since.take() {
            let stale = time - stale_since;
            // Divided before it is squared, so that no horizon overflows.
            self.mean_age += stale / self.horizon * stale / 2.0;
            self.fresh_since = time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(changes: &[f64], visits: &[f64], horizon: f64, freshness: f64, age: f64) {
        let got = trace_average(changes, visits, Days::new(horizon));
        let close = |got: f64, want: f64| got == want || (got / want - 1.0).abs() < 1e-14;
        assert!(close(got.freshness, freshness), "{got:?}");
        assert!(close(got.age.get(), age), "{got:?}");
    }

    #[test]
    fn stale_spans_run_from_the_first_change_to_the_next_visit() {
        // Stale in [1, 2), [4, 6) and [7.5, 8).
        check(&[1.0, 1.5, 4.0, 7.5], &[2.0, 3.0, 6.0, 8.0], 10.0, 0.65, 0.2625);
        check(&[1.0], &[], 4.0, 0.25, 1.125);
    }

    #[test]
    fn a_visit_at_the_instant_of_a_change_sees_it() {
        check(&[2.0], &[2.0], 4.0, 1.0, 0.0);
        check(&[0.0], &[-0.0], 4.0, 1.0, 0.0);
        check(&[-0.0], &[0.0], 4.0, 1.0, 0.0);
        check(&[2.0, 2.0, 2.0], &[2.0], 4.0, 1.0, 0.0);
    }

    #[test]
    fn the_copy_is_fresh_at_time_zero() {
        check(&[], &[], 3.0, 1.0, 0.0);
        check(&[0.0], &[], 3.0, 0.0, 1.5);
    }

    #[test]
    fn events_outside_the_stretch_are_ignored() {
        check(&[-1.0, 5.0, 4.0], &[-2.0, 4.0, 7.0], 4.0, 1.0, 0.0);
        check(&[1.0, f64::INFINITY], &[f64::NEG_INFINITY], 2.0, 0.5, 0.25);
    }

    #[test]
    fn no_magnitude_overflows() {
        check(&[0.0], &[], f64::MAX, 0.0, f64::MAX / 2.0);
        check(&[1e-320], &[], 2e-320, 0.5, 2.5e-321);
    }

    #[test]
    #[should_panic(expected = "horizon > Days::ZERO")]
    fn an_empty_stretch_is_refused() {
        trace_average(&[], &[], Days::ZERO);
    }

    /// Computes the definition directly on integer times: within a unit of time nothing happens.
    fn by_definition(changes: &[u32], visits: &[u32], horizon: u32) -> (f64, f64) {
        let (mut fresh, mut age, mut stale_since) = (0.0, 0.0, None);
        for time in 0..horizon {
            if changes.contains(&time) && stale_since.is_none() {
                stale_since = Some(time);
            }
            if visits.contains(&time) {
                stale_since = None;
            }
            match stale_since {
                None => fresh += 1.0,
                Some(since) => age += f64::from(time - since) + 0.5,
            }
        }
        (fresh / f64::from(horizon), age / f64::from(horizon))
    }

    proptest! {
        #[test]
        fn the_sweep_equals_the_definition(
            changes in prop::collection::vec(0..60u32, 0..20),
            visits in prop::collection::vec(0..60u32, 0..20),
            horizon in 1..50u32,
        ) {
            let times = |list: &[u32]| list.iter().copied().map(f64::from).collect::<Vec<_>>();
            let got = trace_average(&times(&changes), &times(&visits), Days::new(f64::from(horizon)));
            let want = by_definition(&changes, &visits, horizon);
            prop_assert!((got.freshness - want.0).abs() < 1e-12);
            prop_assert!((got.age.get() - want.1).abs() < 1e-12);
        }
    }
}
