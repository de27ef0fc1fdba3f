//! How many of the hot pages a crawl has brought home, over its course: the curves of the **thesis**, chapter 2.
//!
//! The models are those of [`freshet_theory::rank::quality`]. The area under a curve is its mean over the course of the
//! crawl: what a crawler has found when it is stopped at any time.

use freshet_theory::rank::quality::{crawl_and_stop, crawl_and_stop_with_threshold};

use crate::figure::chart::{Axis, Chart, Series};
use crate::figure::scale::Scale;
use crate::report::exhibit::{Comparison, Verdict};

/// Places on a curve.
const PLACES: usize = 100;

/// A curve: performance over the part of the web that was crawled.
pub(super) type Curve = Vec<(f64, f64)>;

/// P_ST of a crawl: the part of the pages of importance `target` or more that were visited.
pub(super) fn with_threshold(importance: &[f64], order: &[u32], target: f64) -> Curve {
    over_course(order.len(), |visits| {
        crawl_and_stop_with_threshold(importance, &order[..visits], target).unwrap_or(0.0)
    })
}

/// P_CS of a crawl: the part of its first pages that are among as many of the most important ones.
pub(super) fn and_stop(importance: &[f64], order: &[u32]) -> Curve {
    let mut curve =
        over_course(order.len(), |visits| crawl_and_stop(importance, order, visits).unwrap_or(0.0));
    // Without a visit there is no performance.
    curve.remove(0);
    curve
}

fn over_course(pages: usize, performance: impl Fn(usize) -> f64) -> Curve {
    (0..=PLACES).map(|place| (place as f64 / PLACES as f64, performance(place * pages / PLACES))).collect()
}

/// P_ST of an ideal crawler, when this part of the pages is hot.
pub(super) fn ideal(hot_share: f64) -> Curve {
    vec![(0.0, 0.0), (hot_share.clamp(1e-6, 1.0), 1.0), (1.0, 1.0)]
}

/// The mean over the course of the crawl.
pub(super) fn area(curve: &Curve) -> f64 {
    let piece = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * 0.5 * (pair[0].1 + pair[1].1);
    curve.windows(2).map(piece).sum::<f64>() / (curve[curve.len() - 1].0 - curve[0].0)
}

/// The height of a curve.
pub(super) fn at(curve: &Curve, share: f64) -> f64 {
    let behind = curve.partition_point(|(x, _)| *x < share - 1e-9);
    curve[behind.min(curve.len() - 1)].1
}

/// The part of pages whose importance is `target` or more.
pub(super) fn hot_share(importance: &[f64], target: f64) -> f64 {
    importance.iter().filter(|importance| **importance >= target).count() as f64 / importance.len() as f64
}

/// A chart of such curves.
pub(super) fn chart(title: impl Into<String>, measure: &str, series: Vec<Series>) -> Chart {
    Chart {
        title: title.into(),
        across: Axis::new("part of the web crawled", Scale::linear(0.0, 1.0)),
        up: Axis::new(measure, Scale::linear(0.0, 1.0)),
        series,
        notes: Vec::new(),
    }
}

/// What the text saw on its web and we on another: it agrees, or it cannot be told without the authors' data.
pub(crate) fn on_another_web(
    quantity: impl Into<String>,
    printed: impl Into<String>,
    ours: impl Into<String>,
    holds: bool,
) -> Comparison {
    let comparison = Comparison::claim(quantity, printed, ours, holds);
    if holds {
        comparison
    } else {
        comparison
            .because(Verdict::NotReproducible, "The text's web is another; on this one it does not hold.")
    }
}

/// A number that the text read off its own web, beside ours.
pub(crate) fn number_of_another_web(
    quantity: impl Into<String>,
    printed: impl Into<String>,
    ours: impl Into<String>,
) -> Comparison {
    Comparison::statement(quantity, printed, ours, Verdict::NotReproducible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_end_with_all_hot_pages_and_areas_are_means() {
        let importance: Vec<f64> = (0..200).map(f64::from).collect();
        let falling: Vec<u32> = (0..200).rev().collect();
        let curve = with_threshold(&importance, &falling, 100.0);
        assert_eq!((at(&curve, 0.25), at(&curve, 0.5), at(&curve, 1.0)), (0.5, 1.0, 1.0));
        assert!((area(&curve) - 0.75).abs() < 1e-9);
        assert!((area(&ideal(hot_share(&importance, 100.0))) - 0.75).abs() < 1e-9);
        assert!(and_stop(&importance, &falling).iter().all(|(_, performance)| *performance == 1.0));
    }
}
