//! The download probability: whether the neighbours of a sample are downloaded.
//!
//! **neighbours**, section 5: by the status of the sample, by its history of changes, even (HA) or weighted
//! (WHA), or by its PageRank (PRA). The formulas are those of [`freshet_theory::neighbourhood::probability`].
//!
//! # Promises
//! - A probability lies between zero and one, whatever was observed.
//!
//! # Departures
//! - A cycle in which a page was not visited counts as one without change. Only the last [`CYCLES_MAX`]
//!   cycles count.
//! - The public PageRank from 0 to 10 is derived from the importance of pages: 0 for the least important one,
//!   plus one for each factor of six, rounded down.

use freshet_theory::neighbourhood::probability;

use crate::policy::catalogue::{Catalogue, PageId};
use crate::policy::visit::Observation;

/// What the download probability depends on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DownloadProbability {
    /// Whether the sample has changed.
    #[default]
    Status,
    /// How often it has changed so far (HA).
    History,
    /// The same, with more weight on later cycles (WHA).
    WeightedHistory,
    /// Its PageRank (PRA).
    PageRank,
}

/// Maximum length of a history, in cycles.
const CYCLES_MAX: u32 = 512;
/// Factor of importance between two public PageRanks.
const RANK_BASE: f64 = 6.0;
/// The highest public PageRank.
const RANK_MAX: f64 = 10.0;

/// State for the download probabilities of all pages.
#[derive(Debug, Default)]
pub(super) struct Eager {
    download_probability: DownloadProbability,
    /// The cycles in which each page was found changed, if the probability depends on them.
    changed_in: Vec<Vec<u32>>,
    /// Smallest importance above zero.
    importance_min: f64,
    history: Vec<bool>,
}

impl Eager {
    /// No data yet.
    pub(super) fn new(download_probability: DownloadProbability) -> Self {
        Self { download_probability, ..Self::default() }
    }

    /// Begins a cycle.
    pub(super) fn begin_cycle(&mut self, catalogue: &Catalogue) {
        match self.download_probability {
            DownloadProbability::Status => {}
            DownloadProbability::History | DownloadProbability::WeightedHistory => {
                self.grow(catalogue.pages());
            }
            DownloadProbability::PageRank => {
                let importance = |page| f64::from(catalogue.importance(PageId(page)));
                let above_zero = (0..catalogue.pages() as u32).map(importance).filter(|w| *w > 0.0);
                self.importance_min = above_zero.fold(f64::INFINITY, f64::min);
            }
        }
    }

    /// Learns the outcomes of visits in a cycle.
    pub(super) fn learn(&mut self, observations: &[Observation], cycle: u32) {
        if matches!(
            self.download_probability,
            DownloadProbability::History | DownloadProbability::WeightedHistory
        ) {
            for observation in observations.iter().filter(|observation| observation.outcome.is_change()) {
                self.grow(observation.page.index() + 1);
                let changed_in = &mut self.changed_in[observation.page.index()];
                // Visits by others come before the first cycle too, and several times in one.
                if cycle > 0 && changed_in.last() != Some(&cycle) {
                    changed_in.push(cycle);
                }
            }
        }
    }

    fn grow(&mut self, pages: usize) {
        if self.changed_in.len() < pages {
            self.changed_in.resize_with(pages, Vec::new);
        }
    }

    /// The probability that a sample's neighbours are downloaded in a cycle, given whether the sample was
    /// found changed.
    pub(super) fn probability(
        &mut self,
        catalogue: &Catalogue,
        sample: PageId,
        changed: bool,
        cycle: u32,
    ) -> f64 {
        match self.download_probability {
            DownloadProbability::Status => probability::status(changed),
            DownloadProbability::History => probability::history(self.history_of(sample, cycle)),
            DownloadProbability::WeightedHistory => {
                probability::weighted_history(self.history_of(sample, cycle))
            }
            DownloadProbability::PageRank => {
                let importance = f64::from(catalogue.importance(sample));
                probability::pagerank(public_rank(importance / self.importance_min))
            }
        }
    }

    /// Whether a page was found changed, for each cycle up to this one.
    fn history_of(&mut self, page: PageId, cycle: u32) -> &[bool] {
        let length = cycle.clamp(1, CYCLES_MAX);
        self.history.clear();
        self.history.resize(length as usize, false);
        // A page that was discovered in this cycle has no history.
        for changed_in in self.changed_in.get(page.index()).into_iter().flatten().rev() {
            let Some(place) = (changed_in + length).checked_sub(cycle + 1) else { break };
            self.history[place as usize] = true;
        }
        &self.history
    }
}

/// The public PageRank of a page whose importance is `ratio` times that of the least important one.
fn public_rank(ratio: f64) -> f64 {
    // A page of no importance has the lowest rank.
    if ratio > 1.0 { (ratio.ln() / RANK_BASE.ln()).floor().clamp(0.0, RANK_MAX) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use freshet_theory::units::Days;

    use super::*;
    use crate::policy::catalogue::SiteId;
    use crate::policy::visit::Outcome;

    /// The probability in the last cycle for a page found changed in these cycles.
    fn after(download_probability: DownloadProbability, changed_in: &[u32], cycle: u32) -> f64 {
        let mut catalogue = Catalogue::new();
        let page = catalogue.add_page(SiteId(0), "page");
        let mut eager = Eager::new(download_probability);
        eager.begin_cycle(&catalogue);
        for cycle in changed_in {
            eager.learn(&[Observation { page, time: Days::ZERO, outcome: Outcome::Changed }], *cycle);
        }
        eager.probability(&catalogue, page, changed_in.contains(&cycle), cycle)
    }

    #[test]
    fn the_probability_follows_the_status_or_the_history() {
        assert_eq!(after(DownloadProbability::Status, &[3], 3), 1.0);
        assert_eq!(after(DownloadProbability::Status, &[2], 3), 0.0);
        assert!((after(DownloadProbability::History, &[1, 4], 4) - (1.0 - (-0.5f64).exp())).abs() < 1e-12);
        assert!(
            (after(DownloadProbability::WeightedHistory, &[1, 4], 4) - (1.0 - (-0.5f64).exp())).abs() < 1e-12
        );
        assert!(
            after(DownloadProbability::WeightedHistory, &[3, 4], 4)
                > after(DownloadProbability::WeightedHistory, &[1, 2], 4)
        );
    }

    #[test]
    fn changes_before_the_last_cycles_are_forgotten() {
        assert_eq!(after(DownloadProbability::History, &[1, 2], CYCLES_MAX + 2), 0.0);
        assert!(after(DownloadProbability::History, &[1, 3], CYCLES_MAX + 2) > 0.0);
    }

    #[test]
    fn the_public_rank_goes_from_zero_to_ten() {
        for (ratio, rank) in [(0.0, 0.0), (1.0, 0.0), (5.9, 0.0), (6.1, 1.0), (37.0, 2.0), (1e30, 10.0)] {
            assert_eq!(public_rank(ratio), rank, "{ratio}");
        }
        assert!((after(DownloadProbability::PageRank, &[], 1) - 1.0 / 11.0).abs() < 1e-12);
    }
}
