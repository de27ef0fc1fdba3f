//! Crawl performance: the fraction of the hot pages found, over the course of a crawl. These are the curves
//! of the **thesis**, chapter 2.
//!
//! The models are those of [`freshet_theory::rank::quality`], computed along a whole crawl instead of at
//! single points. The area under a curve is its mean over the course of the crawl: what a crawler has found
//! when it is stopped at a random time.

use crate::figure::chart::{Axis, Chart, Series};
use crate::figure::scale::Scale;
use crate::report::exhibit::{Comparison, Verdict};

/// Number of points of a curve.
const PLACES: usize = 100;

/// A curve: performance by the fraction of the web that was crawled.
pub(super) type Curve = Vec<(f64, f64)>;

/// P_ST of a crawl: the fraction of the pages of importance `target` or more that were visited.
pub(super) fn with_threshold(importance: &[f64], order: &[u32], target: f64) -> Curve {
    let hot = importance.iter().filter(|importance| **importance >= target).count().max(1);
    let mut found = vec![0.0];
    for page in order {
        let is_hot = importance[*page as usize] >= target;
        found.push(found[found.len() - 1] + f64::from(u8::from(is_hot)));
    }
    over_course(order.len(), |visits| found[visits] / hot as f64)
}

/// P_CS of a crawl: the fraction of its first pages that are among as many of the most important ones.
pub(super) fn and_stop(importance: &[f64], order: &[u32]) -> Curve {
    let mut falling = importance.to_vec();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut curve = over_course(order.len(), |visits| {
        let Some(threshold) = visits.checked_sub(1).map(|last| falling[last]) else { return 0.0 };
        let is_hot = |page: &&u32| importance[**page as usize] >= threshold;
        order[..visits].iter().filter(is_hot).count() as f64 / visits as f64
    });
    // Performance is undefined without a visit.
    curve.remove(0);
    curve
}

fn over_course(pages: usize, performance: impl Fn(usize) -> f64) -> Curve {
    (0..=PLACES).map(|place| (place as f64 / PLACES as f64, performance(place * pages / PLACES))).collect()
}

/// P_ST of an ideal crawler, if this fraction of the pages is hot.
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

/// The fraction of pages whose importance is `target` or more.
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

/// Compares an observation of the text on its web with ours on another: it agrees, or cannot be reproduced
/// without the authors' data.
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

/// Compares a number that the text measured on its own web with ours.
pub(crate) fn number_of_another_web(
    quantity: impl Into<String>,
    printed: impl Into<String>,
    ours: impl Into<String>,
) -> Comparison {
    Comparison::statement(quantity, printed, ours, Verdict::NotReproducible)
}

#[cfg(test)]
mod tests {
    use freshet_theory::rank::quality::{crawl_and_stop, crawl_and_stop_with_threshold};

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

    #[test]
    fn a_curve_passes_through_what_the_models_say() {
        let importance: Vec<f64> = (0..300).map(|page| f64::from(page * 37 % 101)).collect();
        let order: Vec<u32> = (0..300).map(|visit| visit * 7 % 300).collect();
        let (found, stopped) = (with_threshold(&importance, &order, 60.0), and_stop(&importance, &order));
        for (share, visits) in [(0.1, 30), (0.5, 150), (1.0, 300)] {
            let threshold = crawl_and_stop_with_threshold(&importance, &order[..visits], 60.0);
            assert_eq!(Some(at(&found, share)), threshold);
            assert_eq!(Some(at(&stopped, share)), crawl_and_stop(&importance, &order, visits));
        }
    }
}
