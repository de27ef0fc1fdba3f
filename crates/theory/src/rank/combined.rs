//! Combined importance: a weighted sum of several metrics.
//!
//! Implements the thesis, end of section 2.2:
//!
//! > IC(p) = k1 IS(p, Q) + k2 IB(p), for some constants k1, k2
//!
//! for any number of metrics.
//!
//! # Promises
//! - A metric of weight zero does not count.
//!
//! # Departures
//! None. The metrics have different scales, which the weights must account for, as in the text.

/// A metric and its weight.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'a> {
    /// The constant k.
    pub weight: f64,
    /// The importance of each page under this metric.
    pub importance: &'a [f64],
}

/// The weighted sum of the metrics, page by page. Panics unless all metrics are of `pages` pages.
pub fn combine(pages: usize, metrics: &[Weighted<'_>]) -> Vec<f64> {
    let mut combined = vec![0.0; pages];
    for metric in metrics.iter().filter(|metric| metric.weight != 0.0) {
        assert!(metric.importance.len() == pages);
        for (sum, importance) in combined.iter_mut().zip(metric.importance) {
            *sum += metric.weight * importance;
        }
    }
    combined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevant_and_popular_pages_rank_highest() {
        let similarity = Weighted { weight: 10.0, importance: &[0.5, 0.1, 0.0] };
        let backlinks = Weighted { weight: 1.0, importance: &[3.0, 4.0, 5.0] };
        assert_eq!(combine(3, &[similarity, backlinks]), [8.0, 5.0, 5.0]);
    }

    #[test]
    fn a_metric_of_weight_zero_does_not_count() {
        let endless = Weighted { weight: 0.0, importance: &[f64::INFINITY] };
        assert_eq!(combine(1, &[endless]), [0.0]);
    }
}
