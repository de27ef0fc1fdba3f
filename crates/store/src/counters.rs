//! Counters of the store: the number of URLs, pages, sites, visits and more. Updated in every commit, so that
//! nothing need be counted.

use freshet_protocol::codec::record;

use crate::all_urls::Standing;
use crate::history::VisitKind;

/// The key of the counters in the store.
pub(crate) const COUNTERS: &[u8] = b"counters";

record! {
    /// How much there is of everything.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct Counters {
        /// URLs known; the number that the next URL gets.
        urls: u64,
        /// Of them, waiting to be admitted.
        waiting: u64,
        /// Of them, kept.
        kept: u64,
        /// Of them, refused.
        refused: u64,
        /// Of them, discarded.
        discarded: u64,
        /// Pages ever kept; the number that the next page gets.
        pages: u64,
        /// Sites known; the number that the next site gets.
        sites: u64,
        /// Visits ever made; the number that the next visit gets.
        visits: u64,
        /// Visits that have been put into files of the History.
        settled: u64,
        /// Visits by kind, in the order of VisitKind.
        kinds: Vec<u64>,
        /// Bytes received by visits.
        bytes_received: u64,
        /// Versions in the Collection.
        versions: u64,
        /// Versions dropped to keep within the limits on disk use.
        versions_dropped: u64,
        /// Bytes of the Collection's segments.
        collection_bytes: u64,
        /// Bytes of the History's files.
        history_bytes: u64,
        /// Commits ever made: the number of the last step of the log.
        commits: u64,
        since 2 {
            /// URLs that have been put into files of their own.
            urls_settled: u64,
        }
    }
}

impl Counters {
    /// The number of visits of a kind.
    pub fn of_kind(&self, kind: VisitKind) -> u64 {
        self.kinds.get(kind as usize).copied().unwrap_or(0)
    }

    pub(crate) fn count_visit(&mut self, kind: VisitKind, bytes: u64) {
        self.kinds.resize(VisitKind::ALL.len(), 0);
        self.kinds[kind as usize] += 1;
        self.visits += 1;
        self.bytes_received = self.bytes_received.saturating_add(bytes);
    }

    /// The counter of URLs in a state.
    pub(crate) fn standing(&mut self, standing: Standing) -> &mut u64 {
        match standing {
            Standing::Waiting => &mut self.waiting,
            Standing::Kept(_) => &mut self.kept,
            Standing::Refused(_) => &mut self.refused,
            Standing::Discarded(_) => &mut self.discarded,
        }
    }
}
