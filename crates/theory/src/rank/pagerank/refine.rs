//! PageRank of larger webs by an iteration that proves its error.
//!
//! Written as A x = 1 − d, the equations have a matrix A whose inverse has no negative element. If a
//! candidate x leaves a residual r = (1 − d) − A x with |r| ≤ ε (1 − d) at every page, then |A⁻¹ r| ≤ ε A⁻¹
//! (1 − d): *every* rank has a relative error of at most ε. Near a damping of one the residual is lost in the
//! rounding of the ranks, so both are kept as sums of two doubles. The correction A⁻¹ r is needed to a few
//! digits only, so plain doubles and any method will do: the residual checks the result. The method is
//! BiCGSTAB (van der Vorst, 1992), preconditioned by one Gauss-Seidel sweep in an order in which most links
//! lead forward, so that a web without cycles needs one sweep.
//!
//! # Promises
//! - A rank that is returned has a relative error below 1e-11.
//! - At most [`WORK_MAX`] steps along links; `None` when they do not suffice.

use super::super::Graph;
use super::model::Damping;

/// Maximum relative error, which the residual must prove.
const RELATIVE_ERROR_MAX: f64 = 1e-11;

/// Maximum number of links to follow before giving up: two to three seconds.
const WORK_MAX: usize = 1_500_000_000;

/// Factor by which one correction should shrink the residual. More digits than this are lost in its rounding.
const CORRECTION: f64 = 1e-9;

/// The rank of every page, without a rule for pages without links. `None` when the work does not suffice.
pub(super) fn refine(graph: &Graph, damping: Damping) -> Option<Vec<f64>> {
    let equations = Equations::new(graph, damping);
    // A sweep follows all links and passes over a few vectors.
    let work_per_sweep = graph.links() + 10 * graph.pages();
    let mut sweeps_left = WORK_MAX / work_per_sweep.max(1);
    let mut ranks = vec![Double::from(damping.jump()); graph.pages()];
    let mut residual = equations.residual(&ranks);
    let mut proven = largest(&residual) / damping.jump();
    while proven > RELATIVE_ERROR_MAX {
        let (correction, sweeps) = equations.solve(&residual, sweeps_left);
        sweeps_left = sweeps_left.checked_sub(sweeps)?;
        let candidate: Vec<_> = ranks.iter().zip(&correction).map(|(rank, step)| rank.plus(*step)).collect();
        let candidate_residual = equations.residual(&candidate);
        let candidate_proven = largest(&candidate_residual) / damping.jump();
        // A correction that does not even halve the residual will not do so the next time either.
        let is_progress = candidate_proven <= 0.5 * proven;
        if !is_progress {
            return None;
        }
        (ranks, residual, proven) = (candidate, candidate_residual, candidate_proven);
    }
    let mut by_page = vec![0.0; graph.pages()];
    for (page, rank) in equations.order.iter().zip(ranks) {
        by_page[*page as usize] = rank.high;
    }
    Some(by_page)
}

/// The matrix A, with the pages in an order in which most links lead forward.
struct Equations {
    damping: Damping,
    /// The page at each position of the order.
    order: Vec<u32>,
    /// Links between different pages: for each target position its source positions, in rising order.
    backlinks: Graph,
    /// Number of links of the page at each position.
    links: Vec<f64>,
    /// Number of its links that lead back to itself.
    self_links: Vec<f64>,
    /// The diagonal of A: 1 − d self-links/links.
    diagonal: Vec<f64>,
}

impl Equations {
    fn new(graph: &Graph, damping: Damping) -> Self {
        let order = forward_order(graph);
        let mut place_of = vec![0; order.len()];
        for (place, page) in order.iter().enumerate() {
            place_of[*page as usize] = place as u32;
        }
        // Positions are processed in rising order, so that the backlinks of each
        // position are in rising order.
        let links_between = |place: usize| {
            let targets = graph.links_from(order[place]).iter().map(|target| place_of[*target as usize]);
            targets.map(move |target| (target, place as u32)).filter(|(target, source)| target != source)
        };
        let backlinks = (0..order.len()).flat_map(links_between).collect::<Vec<_>>();
        let links: Vec<f64> = order.iter().map(|page| graph.links_from(*page).len() as f64).collect();
        let self_count = |page: &u32| graph.links_from(*page).iter().filter(|target| *target == page).count();
        let self_links: Vec<f64> = order.iter().map(|page| self_count(page) as f64).collect();
        // (links − self-links) + self-links (1 − d), which does not cancel for a page
        // that links only to itself.
        let diagonal = links.iter().zip(&self_links).map(|(links, self_links)| {
            if *links == 0.0 { 1.0 } else { (links - self_links + self_links * damping.jump()) / links }
        });
        Self {
            damping,
            diagonal: diagonal.collect(),
            backlinks: Graph::from_links(order.len(), &backlinks),
            order,
            links,
            self_links,
        }
    }

    /// (1 − d) − A x, rounded only at its end.
    fn residual(&self, ranks: &[Double]) -> Vec<f64> {
        let damping = self.damping.get();
        let jump = Double::from(1.0).plus(-damping);
        let shares: Vec<_> =
            ranks.iter().zip(&self.links).map(|(rank, links)| rank.divided_by(links.max(1.0))).collect();
        let at_place = |place: usize| {
            let own = shares[place].times(self.self_links[place]);
            let received = self.backlinks.links_from(place as u32).iter();
            let received = received.fold(own, |sum, source| sum.plus_double(shares[*source as usize]));
            let minus_rank = Double { high: -ranks[place].high, low: -ranks[place].low };
            let residual = received.times(damping).plus_double(jump).plus_double(minus_rank);
            residual.high + residual.low
        };
        (0..ranks.len()).map(at_place).collect()
    }

    /// The share of a rank that each link carries: d rank / links.
    fn share(&self, place: usize, rank: f64) -> f64 {
        // A page without links has no share; any number will do.
        rank * (self.damping.get() / self.links[place].max(1.0))
    }

    /// A x.
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let shares: Vec<f64> = x.iter().enumerate().map(|(place, x)| self.share(place, *x)).collect();
        let at_place = |place: usize| {
            let received =
                self.backlinks.links_from(place as u32).iter().map(|source| shares[*source as usize]);
            x[place] * self.diagonal[place] - received.sum::<f64>()
        };
        (0..x.len()).map(at_place).collect()
    }

    /// Solves A x = b under the assumption that links lead forward only.
    fn sweep(&self, b: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(b.len());
        let mut shares = Vec::with_capacity(b.len());
        for (place, b) in b.iter().enumerate() {
            let sources = self.backlinks.links_from(place as u32).iter();
            let received: f64 = sources.map_while(|source| shares.get(*source as usize)).sum();
            let solved = (b + received) / self.diagonal[place];
            shares.push(self.share(place, solved));
            x.push(solved);
        }
        x
    }

    /// BiCGSTAB. Returns an approximate solution of A x = b and the number of sweeps.
    fn solve(&self, b: &[f64], sweeps_max: usize) -> (Vec<f64>, usize) {
        const SWEEPS_PER_STEP: usize = 4;
        let enough = CORRECTION * largest(b);
        let mut x = vec![0.0; b.len()];
        let (mut r, mut p) = (b.to_vec(), b.to_vec());
        let mut rho = dot(b, b);
        let mut sweeps = 0;
        while sweeps < sweeps_max && largest(&r) > enough {
            sweeps += SWEEPS_PER_STEP;
            let p_swept = self.sweep(&p);
            let v = self.apply(&p_swept);
            let alpha = rho / dot(b, &v);
            let s = add(&r, -alpha, &v);
            let s_swept = self.sweep(&s);
            let t = self.apply(&s_swept);
            let squared = dot(&t, &t);
            let omega = if squared == 0.0 { 0.0 } else { dot(&t, &s) / squared };
            let next = add(&add(&x, alpha, &p_swept), omega, &s_swept);
            // A breakdown: the residual will judge the result so far, and the next
            // correction starts from scratch.
            if !next.iter().all(|x| x.is_finite()) {
                break;
            }
            x = next;
            r = add(&s, -omega, &t);
            let rho_next = dot(b, &r);
            let beta = (rho_next / rho) * (alpha / omega);
            if !beta.is_finite() || beta == 0.0 {
                break;
            }
            p = add(&r, beta, &add(&p, -omega, &v));
            rho = rho_next;
        }
        (x, sweeps.max(1))
    }
}

/// Orders the pages so that links lead forward wherever there is no cycle: depth-first, each page
/// before the pages it led to.
fn forward_order(graph: &Graph) -> Vec<u32> {
    let mut finished = Vec::with_capacity(graph.pages());
    let mut is_seen = vec![false; graph.pages()];
    for root in 0..graph.pages() as u32 {
        if is_seen[root as usize] {
            continue;
        }
        is_seen[root as usize] = true;
        let mut path = vec![(root, graph.links_from(root).iter())];
        while let Some((page, links)) = path.last_mut() {
            match links.find(|target| !is_seen[**target as usize]) {
                Some(target) => {
                    is_seen[*target as usize] = true;
                    path.push((*target, graph.links_from(*target).iter()));
                }
                None => {
                    finished.push(*page);
                    path.pop();
                }
            }
        }
    }
    finished.reverse();
    finished
}

fn largest(vector: &[f64]) -> f64 {
    // A plain maximum would hide NaN.
    vector.iter().map(|x| x.abs()).fold(0.0, |a: f64, b| if a > b || a.is_nan() { a } else { b })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// a + factor b.
fn add(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

/// A number as the unevaluated sum of two doubles: about 32 decimal digits.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn from(number: f64) -> Self {
        Self { high: number, low: 0.0 }
    }

    /// The exact sum of two doubles (Knuth).
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let from_b = high - a;
        Self { high, low: (a - (high - from_b)) + (b - from_b) }
    }

    fn plus(self, other: f64) -> Self {
        let sum = Self::sum(self.high, other);
        Self::sum(sum.high, sum.low + self.low)
    }

    fn plus_double(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }

    fn times(self, factor: f64) -> Self {
        let high = self.high * factor;
        let error = self.high.mul_add(factor, -high);
        Self::sum(high, error + self.low * factor)
    }

    fn divided_by(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let rest = (-high).mul_add(divisor, self.high);
        Self::sum(high, (rest + self.low) / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::eliminate::eliminate;
    use super::*;
    use crate::rank::graph::tests::any_graph;
    use proptest::prelude::*;

    #[test]
    fn a_web_without_cycles_is_put_in_order() {
        let graph = Graph::from_links(5, &[(3, 0), (0, 4), (4, 1), (3, 1), (2, 4)]);
        let order = forward_order(&graph);
        let place = |page| order.iter().position(|other| *other == page);
        for page in 0..5 {
            for target in graph.links_from(page) {
                assert!(place(page) < place(*target), "{order:?}");
            }
        }
    }

    #[test]
    fn two_doubles_hold_what_one_would_lose() {
        let third = Double::from(1.0).divided_by(3.0);
        let nothing = third.times(3.0).plus(-1.0);
        assert!(nothing.high.abs() < 1e-31);
        assert_eq!(Double::from(1.0).plus(1e-25).plus(-1.0).high, 1e-25);
    }

    proptest! {
        #[test]
        fn what_is_returned_is_right(graph in any_graph(40, 120), nines in 0.01_f64..12.0) {
            let damping = Damping::new(1.0 - 10_f64.powf(-nines));
            if let Some(ranks) = refine(&graph, damping) {
                for (rank, expected) in ranks.iter().zip(eliminate(&graph, damping).expect("a small web")) {
                    prop_assert!((rank / expected - 1.0).abs() < 2e-11, "{rank} and {expected}");
                }
            }
        }
    }
}
