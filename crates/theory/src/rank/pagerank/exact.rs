//! Exact PageRank, for any damping below one.
//!
//! Near a damping of one an iteration converges slowly, and rounding errors are multiplied by 1/(1 − d).
//! So small webs are solved by an elimination that never subtracts. Larger ones are solved by an
//! iteration whose answer is returned only with a proof of its error, and by elimination again where the
//! iteration does not converge.
//!
//! # Promises
//! - Every rank has a relative error below 1e-10, whatever the damping and however small the rank.
//! - When that cannot be shown within a bounded amount of work, the answer is `None` instead of a wrong one.
//!
//! # Departures
//! None.

use super::super::Graph;
use super::eliminate::eliminate;
use super::model::{Damping, Dangling, apply_rule};
use super::refine::refine;

/// Up to this many pages elimination is tried first: it takes a few milliseconds.
const ELIMINATION_FIRST_MAX: usize = 200;

/// The rank of every page. `None` when it would take more than a few seconds: for a web of more than 2,000
/// pages, densely linked and damped so little that the iteration does not converge.
///
/// # Examples
///
/// ```
/// use freshet_theory::rank::graph::Graph;
/// use freshet_theory::rank::pagerank::{Damping, Dangling, exact};
///
/// // Pages 0 and 1 link to page 2, which links back to page 0.
/// let graph = Graph::from_links(3, &[(0, 2), (1, 2), (2, 0)]);
/// let ranks = exact(&graph, Damping::THESIS, Dangling::LinksToAll).expect("it converges");
///
/// assert!(ranks[1] < ranks[0] && ranks[0] < ranks[2]);
/// assert!((ranks.iter().sum::<f64>() - 3.0).abs() < 1e-9);
/// ```
pub fn exact(graph: &Graph, damping: Damping, dangling: Dangling) -> Option<Vec<f64>> {
    let ranks = if graph.pages() <= ELIMINATION_FIRST_MAX {
        eliminate(graph, damping)
    } else {
        refine(graph, damping).or_else(|| eliminate(graph, damping))
    };
    Some(apply_rule(ranks?, dangling))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(damping: f64, dangling: Dangling, expected: [f64; 4]) {
        let graph = Graph::from_links(4, &[(0, 1), (0, 2), (1, 2), (2, 0)]);
        let ranks = exact(&graph, Damping::new(damping), dangling).expect("a small web");
        for (rank, expected) in ranks.iter().zip(expected) {
            assert!((rank / expected - 1.0).abs() < 1e-14, "{ranks:?}");
        }
    }

    #[test]
    fn a_web_of_four_pages_has_these_ranks() {
        let with_rule = [1.5170386956825979, 0.8116996711216852, 1.542229375131202, 0.1290322580645161];
        check(0.9, Dangling::LinksToAll, with_rule);
        let without_rule = [1.1757049891540134, 0.629067245119306, 1.1952277657266814, 0.1];
        check(0.9, Dangling::Drop, without_rule);
        check(0.0, Dangling::Drop, [1.0; 4]);
    }

    #[test]
    fn an_empty_web_has_no_ranks() {
        assert_eq!(exact(&Graph::from_links(0, &[]), Damping::THESIS, Dangling::LinksToAll), Some(vec![]));
    }

    /// A ring of rings, which no plain iteration solves near a damping of one.
    fn ring_of_rings(rings: u32, size: u32) -> Graph {
        let link = |page: u32| {
            let (ring, place) = (page / size, page % size);
            let around = (page, ring * size + (place + 1) % size);
            let onward = (page, (ring + 1) % rings * size);
            if place == 0 { vec![around, onward] } else { vec![around] }
        };
        let links: Vec<_> = (0..rings * size).flat_map(link).collect();
        Graph::from_links((rings * size) as usize, &links)
    }

    #[test]
    fn both_ways_of_solving_agree_to_twelve_digits() {
        let graph = ring_of_rings(20, 40);
        for damping in [0.5, 0.9, 0.999, 0.999999, 1.0 - 1e-12] {
            let damping = Damping::new(damping);
            let eliminated = eliminate(&graph, damping).expect("a ring does not grow");
            let refined = refine(&graph, damping).expect("the iteration converges");
            for (a, b) in eliminated.iter().zip(refined) {
                assert!((a / b - 1.0).abs() < 1e-12, "{a} and {b} at {damping:?}");
            }
        }
    }
}
