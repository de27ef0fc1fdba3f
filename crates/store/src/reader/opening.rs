//! Opens a store for reading, whether or not a process is crawling in it.
//!
//! The state is copied ([`super::scratch`]), and the steps of the log that the copy lacks are replayed in
//! it. The Collection and the History are read in place. Readers are independent of each other, and need no
//! write permission.
//!
//! # Promises
//! - No byte of the directory is changed.
//! - A store behind `SYNCED` is refused, as it is when a crawl starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::collection::segment::{Tail, segments};
use crate::counters::{COUNTERS, Counters};
use crate::directory::format::{Format, known_format, refuse_what_is_none};
use crate::directory::lock::Lock;
use crate::directory::odd_files::refuse_odd_files;
use crate::directory::readers::Reading;
use crate::error::StoreError;
use crate::identity::{Identity, known_identity};
use crate::key_value::{Durability, KeyValue, Space};
use crate::opening::engine::open_state;
use crate::opening::making::has_begun;
use crate::opening::mend::mend_tail;
use crate::opening::recovery::recover;
use crate::reader::scratch::Scratch;
use crate::reader::{Hold, Reader, Shared};
use crate::records::read;
use crate::synced::{self, Synced};

/// Size of the read cache in bytes.
const CACHE_BYTES: u64 = 64 << 20;

/// Maximum number of attempts to open a store while its process changes the files.
const TRIES: u32 = 5;

/// Time between two attempts.
const TRY_AGAIN: Duration = Duration::from_millis(100);

impl Reader {
    /// Opens the store in this directory as it is now.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        for _ in 1..TRIES {
            match Self::try_open(directory) {
                // Files may have been removed between listing and reading.
                Err(StoreError::File { .. } | StoreError::Behind { .. } | StoreError::Damaged { .. })
                    if Lock::holder(directory).is_some() =>
                {
                    std::thread::sleep(TRY_AGAIN);
                }
                opened => return opened,
            }
        }
        Self::try_open(directory)
    }

    fn try_open(directory: &Path) -> Result<Self, StoreError> {
        refuse_what_is_none(directory)?;
        refuse_odd_files(directory)?;
        let reading = Reading::begin(directory);
        match known_format(directory)? {
            Some(Format::Ours) if has_begun(directory) => {}
            Some(Format::First) => return Err(StoreError::Earlier { directory: directory.to_path_buf() }),
            _ => {
                let reason = "it is a crawl that has not begun".to_owned();
                return Err(StoreError::NotAStore { directory: directory.to_path_buf(), reason });
            }
        }
        // Read in this order: everything read later is at least as recent.
        let synced = synced::read(directory)?;
        let is_held = Lock::holder(directory).is_some();
        let copy = Copy::of(directory)?;
        let identity = known_identity(directory, copy.state.as_ref())?;
        recover(directory, copy.state.as_ref(), &identity, &synced)?;
        forget_torn(directory, copy.state.as_ref(), &synced)?;
        // Steps that a process committed after its last sync may be lost in a power loss.
        let durable = if is_held { synced.visits } else { u64::MAX };
        Ok(copy.reader(directory, &identity, durable, reading))
    }
}

/// A copy of a state, open.
pub(crate) struct Copy {
    // Before the folder with its files, so that it is closed first.
    pub(crate) state: Arc<dyn KeyValue>,
    scratch: Scratch,
}

impl Copy {
    /// Copies the state of this directory and opens the copy.
    pub(crate) fn of(directory: &Path) -> Result<Self, StoreError> {
        Self::try_of(directory)?.map_err(|problem| StoreError::behind(&directory.join("state"), &problem))
    }

    /// The same, but damage is returned as a description, and failures of the system as an error.
    pub(crate) fn try_of(directory: &Path) -> Result<Result<Self, String>, StoreError> {
        let scratch = match directory.join("state").is_dir() {
            true => Scratch::of(directory)?,
            false => {
                return Ok(Err("it is missing, and with it all that is known of URLs and pages".to_owned()));
            }
        };
        let opened = open_state(scratch.directory(), CACHE_BYTES);
        let in_place = |text: String| {
            let (copy, original) =
                (scratch.directory().display().to_string(), directory.display().to_string());
            text.replace(&copy, &original)
        };
        match opened {
            Ok(Ok(state)) => Ok(Ok(Self { state: Arc::from(state), scratch })),
            Ok(Err(problem)) => Ok(Err(in_place(problem))),
            Err(error) => Err(error),
        }
    }

    /// A reader of the directory with this copy of its state.
    pub(crate) fn reader(
        self,
        directory: &Path,
        identity: &Identity,
        durable_visits: u64,
        reading: Reading,
    ) -> Reader {
        let shared = Shared {
            directory: directory.to_path_buf(),
            view: self.state,
            seed: u64::from_le_bytes(identity.seed),
            durable_visits: AtomicU64::new(durable_visits),
            _hold: Hold::Copy(self.scratch, reading),
        };
        Reader { shared: Arc::new(shared) }
    }
}

/// Forgets, in the copy, versions whose bytes were lost in a power loss, as a starting crawl would.
fn forget_torn(directory: &Path, state: &dyn KeyValue, synced: &Synced) -> Result<(), StoreError> {
    let collection: PathBuf = directory.join("collection");
    let Some((number, record)) = segments(state).last().transpose()? else { return Ok(()) };
    if record.closed || !Tail::is_short(&collection, number, record.bytes)? {
        return Ok(());
    }
    let mut counters: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
    let lost = mend_tail(state, &collection, number, &record, &mut counters)?;
    crate::opening::recovery::refuse_mended(&collection, (number, lost.segment.bytes), synced)?;
    Ok(state.commit(lost.batch, Durability::Buffered)?)
}
