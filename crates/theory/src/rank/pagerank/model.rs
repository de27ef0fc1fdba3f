//! The PageRank equations, one per page.
//!
//! Implements the thesis, section 2.2, item 3: a page p with backlinks from t1, ..., tn, which
//! have c1, ..., cn links, has
//!
//! > IR(p) = (1 − d) + d \[IR(t1)/c1 + … + IR(tn)/cn\]
//!
//! and a page without links is taken to link to every page, itself included ([`Dangling::LinksToAll`]).
//! Without that rule ([`Dangling::Drop`], as in Figure 2.2) its rank goes nowhere.
//!
//! # Promises
//! - With the rule the ranks add up to the number of pages; divided by it they are probabilities.
//! - The rule changes the scale and not the order: its ranks are the ranks without it, times one factor.
//!
//! # Departures
//! The text says that with probability d the next page is random; in its formula that probability is 1 − d,
//! as here. Section 4.2.2 prints the same formula with d and 1 − d exchanged; it is used as in section 2.2.

/// The damping d: the probability that a surfer follows a link instead of jumping to a random
/// page. At least 0, below 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Damping(f64);

impl Damping {
    /// The damping of all experiments in the thesis.
    pub const THESIS: Self = Self(0.9);

    /// Panics unless the damping is at least 0 and below 1.
    pub fn new(damping: f64) -> Self {
        assert!(0.0 <= damping);
        assert!(damping < 1.0);
        Self(damping)
    }

    /// The damping as a number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// 1 − d, the rank that a page has without any backlink.
    pub fn jump(self) -> f64 {
        1.0 - self.0
    }
}

/// What happens to the rank of a page without links (a dangling page).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dangling {
    /// It goes to every page in equal parts, the page itself included.
    LinksToAll,
    /// It is dropped.
    Drop,
}

/// Converts the ranks without a rule for pages without links into those under `dangling`.
///
/// With the rule every page receives the same additional amount. So each equation has the same
/// larger constant, and the solution is the same up to a factor. The factor makes the ranks add
/// up to the number of pages.
pub(super) fn apply_rule(mut ranks: Vec<f64>, dangling: Dangling) -> Vec<f64> {
    match dangling {
        Dangling::Drop => ranks,
        Dangling::LinksToAll => {
            let factor = ranks.len() as f64 / ranks.iter().sum::<f64>();
            for rank in &mut ranks {
                *rank *= factor;
            }
            ranks
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::*;
    use crate::rank::Graph;
    use crate::rank::graph::tests::any_graph;
    use proptest::prelude::*;

    #[test]
    fn a_damping_of_one_and_what_is_no_probability_are_refused() {
        for wrong in [1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(std::panic::catch_unwind(|| Damping::new(wrong)).is_err());
        }
        assert_eq!(Damping::new(0.0).jump(), 1.0);
    }

    proptest! {
        #[test]
        fn the_rule_says_that_a_page_without_links_links_to_every_page(
            graph in any_graph(12, 30),
            damping in 0.0..0.999,
        ) {
            let damping = Damping::new(damping);
            let ranks = exact(&graph, damping, Dangling::LinksToAll).expect("a small web");
            prop_assert!((ranks.iter().sum::<f64>() / graph.pages() as f64 - 1.0).abs() < 1e-12);
            let pages = graph.pages() as u32;
            let links = (0..pages).flat_map(|page| {
                let links = graph.links_from(page);
                let links = if links.is_empty() { (0..pages).collect() } else { links.to_vec() };
                links.into_iter().map(move |target| (page, target))
            });
            let completed = Graph::from_links(graph.pages(), &links.collect::<Vec<_>>());
            let of_completed = exact(&completed, damping, Dangling::Drop).expect("a small web");
            for (rank, completed) in ranks.iter().zip(of_completed) {
                prop_assert!((rank / completed - 1.0).abs() < 1e-12, "{rank} and {completed}");
            }
        }
    }
}
