//! Reopens a key-value store that accepts no writes, and determines whether the failed commit took effect.
//!
//! What the engine holds in memory when a write fails may still reach the disk while it is closed. So a
//! failed commit is uncertain until the store was reopened. The counters that it would have set then say
//! whether it took effect.
//!
//! # Promises
//! - A failed commit that took effect is not repeated, and its bytes in the Collection and in the log stay.

use super::opened::Store;
use crate::changes::{Changes, Committed};
use crate::counters::COUNTERS;
use crate::error::StoreError;
use crate::key_value::Space;
use crate::records::read;

/// A failed commit that may have taken effect.
#[derive(Debug)]
pub(crate) struct UncertainCommit {
    /// The commit counter if it took effect.
    pub(crate) commits: u64,
    /// The number of its changes of each kind: more may have been added after them.
    pub(crate) lengths: [usize; 8],
    /// Its result, if it took effect.
    pub(crate) committed: Committed,
}

impl Store {
    /// Reopens the key-value store if it accepts no writes, and reloads the counters and the end of the
    /// Collection from it.
    pub(crate) fn reopen_if_poisoned(&mut self) -> Result<(), StoreError> {
        if !self.state.is_poisoned() {
            return Ok(());
        }
        self.state.reopen()?;
        self.counters = read(self.state.as_ref(), Space::Meta, COUNTERS)?.unwrap_or_default();
        self.ledger.settle_doubt(&self.counters)?;
        self.next_url = self.next_url.max(self.counters.urls);
        self.next_page = self.next_page.max(self.counters.pages);
        self.next_site = self.next_site.max(self.counters.sites);
        self.cut_tail_back()
    }

    /// Ensures that the store accepts writes. If the failed commit took effect, removes its changes and
    /// returns its result.
    pub(crate) fn settle_doubt(&mut self, changes: &mut Changes) -> Result<Option<Committed>, StoreError> {
        self.reopen_if_poisoned()?;
        let Some(doubt) = self.doubt.take().filter(|doubt| doubt.commits <= self.counters.commits) else {
            return Ok(None);
        };
        changes.forget_first(doubt.lengths);
        Ok(Some(doubt.committed))
    }
}
