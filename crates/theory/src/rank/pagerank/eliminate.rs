//! PageRank of small webs by elimination without subtraction.
//!
//! Imagine a surfer who follows a link with probability d, and otherwise leaves to a state outside from which
//! every page is reached with equal probability. He visits pages in proportion to their ranks. The algorithm
//! of Grassmann, Taksar and Heyman (1985) removes the pages one by one, and each time joins the paths into
//! the page to the paths out of it. It adds, multiplies and divides positive numbers only, so every rank
//! keeps nearly all its digits, even where the matrix is singular to the last digit.
//!
//! The page with the fewest paths through it is removed first. Chains, trees, rings and clusters
//! are eliminated this way without ever growing. What remains of a densely linked web is
//! finished as a full table.
//!
//! # Promises
//! - The relative error of every rank is a few units in the last place times the number
//!   of pages, for any damping.
//! - At most [`WAYS_MAX`] joined paths and a table of [`TABLE_PAGES_MAX`] pages; `None`
//!   when they do not suffice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::super::Graph;
use super::model::Damping;

/// Maximum number of pages of a full table: at the limit it takes 32 MB and two seconds.
const TABLE_PAGES_MAX: usize = 2_000;

/// Maximum number of paths to join before giving up: one to two seconds.
const WAYS_MAX: usize = 10_000_000;

/// The rank of every page, without a rule for pages without links. `None` when there
/// are too many paths to join.
pub(super) fn eliminate(graph: &Graph, damping: Damping) -> Option<Vec<f64>> {
    let mut ways = Ways::new(graph, damping);
    let mut ranks = vec![0.0; graph.pages()];
    let taken = ways.take_out_pages_with_few_ways();
    if ways.remaining() > TABLE_PAGES_MAX {
        return None;
    }
    // The state outside is visited at the rate at which each page is reached from it, 1 − d.
    let outside = damping.jump();
    for (page, rank) in ways.solve_remaining(outside) {
        ranks[page as usize] = rank;
    }
    for Taken { page, from_outside, arrivals } in taken.into_iter().rev() {
        let arriving = arrivals.iter().map(|(from, share)| ranks[*from as usize] * share);
        ranks[page as usize] = outside * from_outside + arriving.sum::<f64>();
    }
    Some(ranks)
}

/// Transition rates of the surfer between the pages that are not removed yet.
struct Ways {
    /// From each page to others, never to itself. Trees, because a page may have any number of paths.
    onward: Vec<BTreeMap<u32, f64>>,
    /// The pages from which a path leads to each page.
    backward: Vec<BTreeSet<u32>>,
    from_outside: Vec<f64>,
    to_outside: Vec<f64>,
    is_taken: Vec<bool>,
    joined: usize,
}

/// A removed page, and the fraction of the visits to other states that goes on to it.
struct Taken {
    page: u32,
    from_outside: f64,
    arrivals: Vec<(u32, f64)>,
}

impl Ways {
    fn new(graph: &Graph, damping: Damping) -> Self {
        let pages = graph.pages();
        let mut ways = Self {
            onward: vec![BTreeMap::new(); pages],
            backward: vec![BTreeSet::new(); pages],
            from_outside: vec![1.0; pages],
            to_outside: vec![damping.jump(); pages],
            is_taken: vec![false; pages],
            joined: 0,
        };
        for page in 0..pages as u32 {
            let links = graph.links_from(page);
            if links.is_empty() {
                ways.to_outside[page as usize] = 1.0;
            }
            for target in links {
                ways.add(page, *target, damping.get() / links.len() as f64);
            }
        }
        ways
    }

    /// Adds to the transition rate from a page to another. A path back to the page itself changes nothing.
    fn add(&mut self, source: u32, target: u32, rate: f64) {
        if source != target {
            *self.onward[source as usize].entry(target).or_insert(0.0) += rate;
            self.backward[target as usize].insert(source);
        }
    }

    fn remaining(&self) -> usize {
        self.is_taken.iter().filter(|is_taken| !**is_taken).count()
    }

    /// Removes pages, those with the fewest paths through them first, until the
    /// remaining graph is nearly full.
    fn take_out_pages_with_few_ways(&mut self) -> Vec<Taken> {
        let mut remaining = self.is_taken.len();
        let mut queue: BinaryHeap<_> =
            (0..remaining as u32).map(|page| (Reverse(self.ways_through(page)), page)).collect();
        let mut taken = Vec::new();
        while let Some((Reverse(ways_through), page)) = queue.pop() {
            if self.is_taken[page as usize] {
                continue;
            }
            let now = self.ways_through(page);
            if now > ways_through {
                queue.push((Reverse(now), page));
                continue;
            }
            // When even the best page has a fourth of all possible paths through it, a
            // table is faster than lists.
            let is_full = 4 * now > remaining * remaining && remaining <= TABLE_PAGES_MAX;
            if is_full || self.joined + now > WAYS_MAX {
                break;
            }
            taken.push(self.take_out(page));
            remaining -= 1;
        }
        taken
    }

    /// An upper bound for the number of paths that removing the page creates.
    fn ways_through(&self, page: u32) -> usize {
        self.onward[page as usize].len() * self.backward[page as usize].len()
    }

    /// Removes a page and joins each path to it with each path from it.
    fn take_out(&mut self, page: u32) -> Taken {
        let onward = std::mem::take(&mut self.onward[page as usize]);
        let sources = std::mem::take(&mut self.backward[page as usize]);
        self.is_taken[page as usize] = true;
        self.joined += sources.len() * onward.len();
        // Never zero: every page has a path outside.
        let way_out = self.to_outside[page as usize] + onward.values().sum::<f64>();
        let from_outside = self.from_outside[page as usize] / way_out;
        for (target, rate) in &onward {
            self.from_outside[*target as usize] += from_outside * rate;
            self.backward[*target as usize].remove(&page);
        }
        let mut arrivals = Vec::with_capacity(sources.len());
        for source in sources {
            let rate = self.onward[source as usize].remove(&page).expect("a way is listed at both ends");
            let share = rate / way_out;
            self.to_outside[source as usize] += share * self.to_outside[page as usize];
            for (target, rate) in &onward {
                self.add(source, *target, share * rate);
            }
            arrivals.push((source, share));
        }
        Taken { page, from_outside, arrivals }
    }

    /// The ranks of the remaining pages, by a full table. Row and column 0 are the state outside.
    fn solve_remaining(&self, outside: f64) -> Vec<(u32, f64)> {
        let pages: Vec<u32> =
            (0..self.is_taken.len() as u32).filter(|page| !self.is_taken[*page as usize]).collect();
        let mut place_of = vec![0; self.is_taken.len()];
        for (place, page) in pages.iter().enumerate() {
            place_of[*page as usize] = place + 1;
        }
        let size = pages.len() + 1;
        let mut table = vec![0.0; size * size];
        for page in &pages {
            let row = &mut table[place_of[*page as usize] * size..][..size];
            row[0] = self.to_outside[*page as usize];
            for (target, rate) in &self.onward[*page as usize] {
                row[place_of[*target as usize]] = *rate;
            }
            table[place_of[*page as usize]] = self.from_outside[*page as usize];
        }
        pages.into_iter().zip(solve_table(table, size, outside)).collect()
    }
}

/// Removes the states of a full table from the last to the first. Returns the visits to
/// all but the state outside.
fn solve_table(mut table: Vec<f64>, size: usize, outside: f64) -> Vec<f64> {
    for k in (1..size).rev() {
        let (before, row) = table.split_at_mut(k * size);
        let row = &row[..k];
        let way_out: f64 = row.iter().sum();
        for other in before.chunks_exact_mut(size) {
            let share = other[k] / way_out;
            other[k] = share;
            if share != 0.0 {
                for (rate, onward) in other[..k].iter_mut().zip(row) {
                    *rate += share * onward;
                }
            }
        }
    }
    let mut visits = vec![outside];
    for k in 1..size {
        visits.push(visits.iter().enumerate().map(|(i, visits)| visits * table[i * size + k]).sum());
    }
    visits.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::graph::tests::any_graph;
    use proptest::prelude::*;

    #[track_caller]
    fn check(damping: f64, links: &[(u32, u32)], expected: &[f64]) {
        let graph = Graph::from_links(expected.len(), links);
        let ranks = eliminate(&graph, Damping::new(damping)).expect("a small web");
        for (rank, expected) in ranks.iter().zip(expected) {
            assert!((rank / expected - 1.0).abs() < 1e-14, "{ranks:?}");
        }
    }

    #[test]
    fn a_page_that_links_only_to_itself_has_rank_one() {
        check(1.0 - 1e-15, &[(0, 0)], &[1.0]);
    }

    #[test]
    fn a_damping_next_to_one_loses_no_digit() {
        let d = 1.0 - 1e-12;
        let jump = 1.0 - d;
        // A pair that link to each other and a page that links to one of them: x2 = 1 − d, x0 = (1 − d) + d
        // x1, x1 = (1 − d)(1 + d) + d x0.
        let x0 = (1.0 + d + d * d) / (1.0 + d);
        check(d, &[(0, 1), (1, 0), (2, 1)], &[x0, jump * (1.0 + d) + d * x0, jump]);
    }

    #[test]
    fn a_long_road_both_ways_is_taken_apart() {
        let pages = 100_000_u32;
        let links: Vec<_> = (1..pages).flat_map(|page| [(page - 1, page), (page, page - 1)]).collect();
        let graph = Graph::from_links(pages as usize, &links);
        let ranks = eliminate(&graph, Damping::new(0.999999)).expect("a road never grows");
        // The ranks add up, and the chain is symmetric.
        assert!((ranks.iter().sum::<f64>() / f64::from(pages) - 1.0).abs() < 1e-11);
        assert!((ranks[7] / ranks[pages as usize - 8] - 1.0).abs() < 1e-11);
    }

    proptest! {
        #[test]
        fn lists_and_a_full_table_give_the_same(graph in any_graph(20, 80), nines in 0.01_f64..15.0) {
            let damping = Damping::new(1.0 - 10_f64.powf(-nines));
            let by_table = Ways::new(&graph, damping).solve_remaining(damping.jump());
            let mut ways = Ways::new(&graph, damping);
            let ranks = eliminate(&graph, damping).expect("a small web");
            for (page, expected) in by_table {
                let rank = ranks[page as usize];
                prop_assert!((rank / expected - 1.0).abs() < 1e-13, "{rank} and {expected}");
            }
            // `onward` and `backward` agree, however many pages were removed.
            for page in 0..graph.pages() as u32 / 2 {
                ways.take_out(page);
            }
            for page in 0..graph.pages() {
                for target in ways.onward[page].keys() {
                    prop_assert!(ways.backward[*target as usize].contains(&(page as u32)));
                }
            }
        }
    }
}
