//! PageRank of large webs by iteration, to a given error.
//!
//! Implements the thesis, section 2.2: the equations "can be solved iteratively, starting with all IR values
//! equal to 1", each step computing the new values from the old ones, "until the values converge". Each step
//! multiplies the error, summed over the pages, by at most the damping d. A step that moves the ranks by δ in
//! total leaves an error of at most δ d/(1 − d).
//!
//! # Promises
//! - The errors of all pages together are at most `relative_error` of the sum of all ranks, plus one part in
//!   ten million per step of a surfer's walk, 1e-7/(1 − d), from the 32-bit shares of [`super::propagate`].
//! - The result does not depend on the number of threads.
//!
//! # Departures
//! None. [`super::exact()`] gives more digits for smaller webs.

use rayon::prelude::*;

use super::super::Graph;
use super::model::{Damping, Dangling, apply_rule};
use super::propagate::Propagation;

/// The rank of every page, computed on all threads.
///
/// Panics unless `relative_error` is above zero.
pub fn approximate(graph: &Graph, damping: Damping, dangling: Dangling, relative_error: f64) -> Vec<f64> {
    assert!(0.0 < relative_error);
    let mut propagation = Propagation::new(graph);
    let mut ranks = vec![1.0; graph.pages()];
    let mut received = vec![0.0; graph.pages()];
    for _ in 0..steps_max(damping, relative_error) {
        propagation.receive(&ranks, &mut received);
        let Sums { moved, total } = step(&mut ranks, &received, damping);
        if moved * damping.get() <= relative_error * damping.jump() * total {
            break;
        }
    }
    apply_rule(ranks, dangling)
}

/// Number of steps after which the error is small enough whatever the links. The start is off by at most two
/// per page, each step leaves a fraction d of that, and the sum of the ranks is at least 1 − d per page.
fn steps_max(damping: Damping, relative_error: f64) -> u64 {
    let needed = (0.5 * relative_error * damping.jump()).ln() / damping.get().ln();
    // A damping of zero needs one step; the cast saturates.
    needed.ceil().max(1.0) as u64
}

/// How far one step moved the ranks, and their new sum.
struct Sums {
    moved: f64,
    total: f64,
}

/// Computes the new ranks from the received shares.
fn step(ranks: &mut [f64], received: &[f64], damping: Damping) -> Sums {
    /// Number of pages that are summed as one piece, so that no sum depends on the number of threads.
    const PIECE: usize = 1 << 16;
    let (damping, jump) = (damping.get(), damping.jump());
    let pieces = ranks.par_chunks_mut(PIECE).zip(received.par_chunks(PIECE)).map(|(ranks, received)| {
        let mut sums = Sums { moved: 0.0, total: 0.0 };
        for (rank, received) in ranks.iter_mut().zip(received) {
            let new = jump + damping * received;
            sums.moved += (new - *rank).abs();
            sums.total += new;
            *rank = new;
        }
        sums
    });
    let pieces: Vec<_> = pieces.collect();
    Sums {
        moved: pieces.iter().map(|sums| sums.moved).sum(),
        total: pieces.iter().map(|sums| sums.total).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::*;
    use crate::rank::graph::tests::any_graph;
    use proptest::prelude::*;

    #[test]
    fn a_site_is_ranked_by_the_links_of_other_sites() {
        let pages = Graph::from_links(5, &[(0, 1), (0, 2), (1, 3), (3, 2), (4, 0), (4, 2)]);
        let sites = pages.of_sites(&[0, 0, 1, 1, 2], 3);
        let ranks = approximate(&sites, Damping::THESIS, Dangling::LinksToAll, 1e-9);
        // Site 1 has no links to other sites: x0 = a + 0.9 x2/2, x1 = a + 0.9 (x0 + x2/2),
        // x2 = a, scaled to add up to 3.
        let (x0, x1, x2) = (1.45, 1.0 + 0.9 * (1.45 + 0.5), 1.0);
        for (rank, expected) in ranks.iter().zip([x0, x1, x2]) {
            let expected = expected * 3.0 / (x0 + x1 + x2);
            assert!((rank - expected).abs() < 1e-6, "{rank} instead of {expected}");
        }
    }

    #[test]
    fn no_links_and_no_damping_are_ordinary() {
        let lonely = Graph::from_links(3, &[]);
        assert_eq!(approximate(&lonely, Damping::new(0.0), Dangling::Drop, 1e-6), [1.0; 3]);
        assert_eq!(approximate(&lonely, Damping::THESIS, Dangling::LinksToAll, 1e-6), [1.0; 3]);
        assert!(approximate(&Graph::from_links(0, &[]), Damping::THESIS, Dangling::Drop, 1e-6).is_empty());
    }

    proptest! {
        #[test]
        fn the_error_is_as_promised(graph in any_graph(30, 90), damping in 0.0..0.99) {
            let damping = Damping::new(damping);
            let approximate = approximate(&graph, damping, Dangling::Drop, 1e-6);
            let exact = exact(&graph, damping, Dangling::Drop).expect("a small web");
            let error: f64 = approximate.iter().zip(&exact).map(|(got, exact)| (got - exact).abs()).sum();
            prop_assert!(error <= (1e-6 + 1e-7 / damping.jump()) * exact.iter().sum::<f64>());
        }
    }
}
