//! Download probability: whether the neighbours of a sample are downloaded.
//!
//! The ϕ of **neighbours**, section 5. It depends on the status of the sample (equation 3), on its history of
//! `n` cycles (HA, equations 5 and 6; WHA, equations 5 and 8 with the weights of section 6.2), or on its
//! PageRank (PRA, section 6.2):
//!
//! > status 1 if changed, else 0; HA and WHA 1 − e^-λ with λ = Σ I_i / n, λ = Σ w_i I_i, w_i = i/(1 + … + n);
//! > PRA (PageRank + 1)/11
//!
//! # Promises
//! - A probability lies between zero and one.
//! - Of two histories with equally many changes, WHA gives more to the one with the later
//!   changes; HA gives both the same.
//!
//! # Departures
//! Equation 8 divides by `n` although the weights already add up to one; then it would not reduce to equation
//! 6 for equal weights. [`weighted_history`] does not divide, [`weighted_history_as_printed`] does.

/// Status: by whether the sample has changed now (equation 3).
pub fn status(changed: bool) -> f64 {
    f64::from(u8::from(changed))
}

/// History-adaptive (HA): by the share of cycles that found a change.
///
/// Panics if the history is empty.
pub fn history(changed: &[bool]) -> f64 {
    assert!(!changed.is_empty());
    let changes = changed.iter().filter(|&&changed| changed).count();
    change_probability(changes as f64 / changed.len() as f64)
}

/// Weighted history-adaptive (WHA): like [`history`], with more weight to later cycles. The
/// oldest cycle comes first.
///
/// Panics if the history is empty.
pub fn weighted_history(changed: &[bool]) -> f64 {
    change_probability(weighted_rate(changed))
}

/// WHA as equation 8 prints it: the weighted rate is divided once more by the number of cycles.
///
/// Panics if the history is empty.
pub fn weighted_history_as_printed(changed: &[bool]) -> f64 {
    change_probability(weighted_rate(changed) / changed.len() as f64)
}

/// PageRank-adaptive (PRA): by the public PageRank, from 0 to 10.
///
/// Panics for a PageRank outside this range.
pub fn pagerank(pagerank: f64) -> f64 {
    assert!((0.0..=10.0).contains(&pagerank));
    (pagerank + 1.0) / 11.0
}

/// Σ w_i I_i, in changes per cycle.
fn weighted_rate(changed: &[bool]) -> f64 {
    assert!(!changed.is_empty());
    let n = changed.len() as f64;
    let weights = (1..=changed.len()).zip(changed).filter(|(_, changed)| **changed);
    weights.map(|(i, _)| i as f64).sum::<f64>() / (n * (n + 1.0) / 2.0)
}

/// The probability that a Poisson process changes within a cycle (equation 5).
fn change_probability(changes_per_cycle: f64) -> f64 {
    -(-changes_per_cycle).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(history: &str, strategy: fn(&[bool]) -> f64, expected: f64) {
        let changed: Vec<bool> = history.chars().map(|cycle| cycle == '1').collect();
        let found = strategy(&changed);
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }

    #[test]
    fn the_strategies_on_one_history() {
        check("10011", history, 0.45118836390597356); // 1 − e^(-3/5)
        check("10011", weighted_history, 0.486582880967408); // 1 − e^(-10/15)
        check("10011", weighted_history_as_printed, 0.12482668095705254);
    }

    #[test]
    fn the_three_pages_of_figure_3_are_in_the_order_of_the_text() {
        check("000001", weighted_history, 0.24852270692471404);
        check("110001", weighted_history, 0.3485609424689444);
        check("000111", weighted_history, 0.5104583404430468);
    }

    #[test]
    fn status_and_pagerank() {
        assert_eq!((status(true), status(false)), (1.0, 0.0));
        assert_eq!((pagerank(0.0), pagerank(4.0), pagerank(10.0)), (1.0 / 11.0, 5.0 / 11.0, 1.0));
    }

    proptest! {
        #[test]
        fn later_changes_are_worth_more(
            changed in prop::collection::vec(any::<bool>(), 2..40),
            at in 0usize..39,
        ) {
            let at = at % (changed.len() - 1);
            let mut later = changed.clone();
            later[at] = false;
            later[at + 1] = true;
            let mut earlier = later.clone();
            earlier.swap(at, at + 1);
            prop_assert!(weighted_history(&earlier) < weighted_history(&later));
            prop_assert_eq!(history(&earlier), history(&later));
            prop_assert!(weighted_history_as_printed(&later) <= weighted_history(&later));
            prop_assert!((0.0..=1.0).contains(&weighted_history(&later)));
        }
    }
}
