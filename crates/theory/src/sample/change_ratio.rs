//! ChangeRatio: the fraction of the downloads that found a change.
//!
//! **sample**, section 2.2, and **neighbours**, section 6.1, equation 10. Over the
//! downloads `R`, with weights `w`:
//!
//! > sample: Σ w_i 1(changed) / Σ w_i, neighbours: Σ w_i 1(changed) / |R|
//!
//! # Promises
//! - With all weights equal to one both are the plain share of changed downloads.
//! - Undefined (`None`) without a download; the first also when all weights are zero.
//! - Weights of any size give a finite ratio.
//!
//! # Departures
//! None. The two texts divide by different things; both are here.

/// Share of the downloads that found a change.
pub fn change_ratio(changed: &[bool]) -> Option<f64> {
    let count = changed.iter().filter(|&&changed| changed).count();
    (!changed.is_empty()).then(|| count as f64 / changed.len() as f64)
}

/// Weight of the changed downloads as a share of the total weight: the definition of **sample**.
///
/// Panics unless there is one weight for each download, finite and not negative.
pub fn weighted_change_ratio(changed: &[bool], importance: &[f64]) -> Option<f64> {
    let (scale, changed_weight) = scaled_changed_weight(changed, importance);
    let weight: f64 = importance.iter().map(|w| w / scale).sum();
    (scale > 0.0).then(|| changed_weight / weight)
}

/// Weight of the changed downloads per download: the definition of **neighbours**.
///
/// Panics unless there is one weight for each download, finite and not negative.
pub fn changed_weight_per_download(changed: &[bool], importance: &[f64]) -> Option<f64> {
    let (scale, changed_weight) = scaled_changed_weight(changed, importance);
    let per_download = if scale > 0.0 { changed_weight / changed.len() as f64 * scale } else { 0.0 };
    (!changed.is_empty()).then_some(per_download)
}

/// The largest weight, and the weight of the changed downloads in units of it, so that no sum overflows.
fn scaled_changed_weight(changed: &[bool], importance: &[f64]) -> (f64, f64) {
    assert_eq!(changed.len(), importance.len());
    assert!(importance.iter().all(|w| w.is_finite()));
    assert!(importance.iter().all(|w| 0.0 <= *w));
    let scale = importance.iter().copied().fold(0.0, f64::max);
    let changed_only = changed.iter().zip(importance).filter(|(changed, _)| **changed);
    (scale, changed_only.map(|(_, w)| w / scale).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(changed: &[bool], importance: &[f64], by_weight: Option<f64>, by_count: Option<f64>) {
        let near = |got: Option<f64>, want: Option<f64>| match (got, want) {
            (Some(got), Some(want)) => (got - want).abs() <= 1e-15 * want,
            _ => got == want,
        };
        let got =
            (weighted_change_ratio(changed, importance), changed_weight_per_download(changed, importance));
        assert!(near(got.0, by_weight) && near(got.1, by_count), "{got:?}");
    }

    #[test]
    fn the_two_texts_divide_by_weight_and_by_count() {
        check(&[true, false, true], &[3.0, 2.0, 5.0], Some(0.8), Some(8.0 / 3.0));
    }

    #[test]
    fn without_downloads_or_weights_there_is_no_ratio() {
        assert_eq!(change_ratio(&[]), None);
        check(&[], &[], None, None);
        check(&[true, false], &[0.0, 0.0], None, Some(0.0));
    }

    #[test]
    fn weights_of_any_size_give_a_finite_ratio() {
        check(&[true, true, false, true], &[1e308; 4], Some(0.75), Some(0.75e308));
        check(&[true, false], &[5e-324, 5e-324], Some(0.5), Some(5e-324 / 2.0));
    }

    proptest! {
        #[test]
        fn equal_weights_reduce_to_the_plain_ratio(changed in prop::collection::vec(any::<bool>(), 1..50)) {
            let plain = change_ratio(&changed).expect("there are downloads");
            let ones = vec![1.0; changed.len()];
            prop_assert_eq!(weighted_change_ratio(&changed, &ones), Some(plain));
            prop_assert_eq!(changed_weight_per_download(&changed, &ones), Some(plain));
        }
    }
}
