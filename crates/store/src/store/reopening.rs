//! A key-value store that takes no more writes is opened again, and the commit that failed is settled.
//!
//! What the engine holds in memory when one of its writes fails may still reach the disk while it is closed.
//! So a commit that failed is in doubt until the store was opened again; the counters that it would have set
//! then say whether it took effect.
//!
//! # Promises
//! - A commit that failed and yet took effect is not made a second time, and its bytes in the Collection and
//!   in the log stay.

use super::opened::Store;
use crate::changes::{Changes, Committed};
use crate::counters::COUNTERS;
use crate::error::StoreError;
use crate::key_value::Space;
use crate::records::read;

/// A commit of which it is not known whether it took effect.
#[derive(Debug)]
pub(crate) struct UncertainCommit {
    /// The number of commits if it did.
    pub(crate) commits: u64,
    /// How many of each kind of changes it held: others may have been added behind them.
    pub(crate) lengths: [usize; 8],
    /// What it did, if it did.
    pub(crate) committed: Committed,
}

impl Store {
    /// Opens the key-value store again if it takes no writes, and takes the counters and the end of the
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

    /// Makes sure that the store takes writes. If a commit that had failed took effect, takes its changes
    /// away and gives what it did.
    pub(crate) fn settle_doubt(&mut self, changes: &mut Changes) -> Result<Option<Committed>, StoreError> {
        self.reopen_if_poisoned()?;
        let Some(doubt) = self.doubt.take().filter(|doubt| doubt.commits <= self.counters.commits) else {
            return Ok(None);
        };
        changes.forget_first(doubt.lengths);
        Ok(Some(doubt.committed))
    }
}
