//! Incremental PageRank of a web that grows as it is crawled.
//!
//! Computes the ordering metric IR'(p) of the thesis, Figure 2.2 (3), after every page:
//!
//! > IR\[u\] = (1 − d) + d Σ IR\[v\]/c over the links (v, u) seen so far, c the number of links in the page v
//!
//! Reading the links of a page changes one column of the matrix A of these equations, and the solution with
//! it. With w = A⁻¹ m, where m spreads one unit over the links of the page v,
//!
//! > IR' = IR + IR\[v\] w d/(1 − d w\[v\])
//!
//! A⁻¹ is kept as the product of the changes so far (the "product form of the inverse"). The part that leaves
//! the web, 1 − d w\[v\], is summed up from where it leaves instead of computed by subtraction, so that no
//! digit is lost near a damping of one.
//!
//! # Promises
//! - After each page the ranks solve the equations, to a relative error far below 1e-10, for any damping.
//! - Reading a page takes at most as many operations as pages read times URLs seen.
//!
//! # Departures
//! None: as in the figure, a page without links, or not read yet, passes nothing on.

use super::model::Damping;

/// The ranks of the URLs seen so far, in the order in which they were discovered.
pub(crate) struct GrowingPageRank {
    damping: Damping,
    ranks: Vec<f64>,
    /// The pages read so far that have links, in the order of reading.
    read: Vec<Read>,
    /// Fraction of the visits that end at each URL: 1 − d once its links are known, 1 before.
    endings: Vec<f64>,
}

/// A page that was read, and how much a unit of additional rank there raises every rank: w d/(1 − d w\[v\]).
struct Read {
    url: usize,
    raise: Vec<f64>,
}

impl GrowingPageRank {
    /// An empty web.
    pub(crate) fn new(damping: Damping) -> Self {
        Self { damping, ranks: Vec::new(), read: Vec::new(), endings: Vec::new() }
    }

    /// Adds a URL to which no link has been read.
    pub(crate) fn discover(&mut self) {
        self.ranks.push(self.damping.jump());
        self.endings.push(1.0);
    }

    /// Adds the links of a URL. Panics if it was read before or a link leads to a URL that was not
    /// discovered.
    pub(crate) fn read(&mut self, url: usize, links: &[usize]) {
        assert!(self.endings[url] == 1.0);
        if links.is_empty() {
            return;
        }
        let mut raise = self.spread(links);
        let (damping, jump) = (self.damping.get(), self.damping.jump());
        let ends =
            |(other, (raise, ending)): (usize, (&f64, &f64))| if other == url { 0.0 } else { raise * ending };
        let leaving = jump + damping * raise.iter().zip(&self.endings).enumerate().map(ends).sum::<f64>();
        let factor = damping / leaving;
        let rank = self.ranks[url];
        for (raise, other) in raise.iter_mut().zip(&mut self.ranks) {
            *raise *= factor;
            *other += rank * *raise;
        }
        self.endings[url] = jump;
        self.read.push(Read { url, raise });
    }

    /// The rank of a URL.
    pub(crate) fn rank(&self, url: usize) -> f64 {
        self.ranks[url]
    }

    /// A⁻¹ m: how often each URL is visited by a surfer who starts at one of the links.
    fn spread(&self, links: &[usize]) -> Vec<f64> {
        let mut visits = vec![0.0; self.ranks.len()];
        for link in links {
            visits[*link] += 1.0 / links.len() as f64;
        }
        for read in &self.read {
            let arriving = visits[read.url];
            if arriving != 0.0 {
                for (visits, raise) in visits.iter_mut().zip(&read.raise) {
                    *visits += arriving * raise;
                }
            }
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::super::eliminate::eliminate;
    use super::*;
    use crate::rank::Graph;
    use crate::rank::graph::tests::any_graph;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn after_each_page_the_ranks_solve_the_equations(
            graph in any_graph(12, 40),
            nines in 0.01_f64..12.0,
        ) {
            let damping = Damping::new(1.0 - 10_f64.powf(-nines));
            let mut growing = GrowingPageRank::new(damping);
            (0..graph.pages()).for_each(|_| growing.discover());
            let mut links = vec![];
            for page in 0..graph.pages() as u32 {
                let targets = graph.links_from(page);
                growing.read(
                    page as usize,
                    &targets.iter().map(|target| *target as usize).collect::<Vec<_>>(),
                );
                links.extend(targets.iter().map(|target| (page, *target)));
                let known = Graph::from_links(graph.pages(), &links);
                let expected = eliminate(&known, damping).expect("a small web");
                for (url, expected) in expected.iter().enumerate() {
                    let rank = growing.rank(url);
                    prop_assert!((rank / expected - 1.0).abs() < 1e-12, "{rank} and {expected}");
                }
            }
        }
    }
}
