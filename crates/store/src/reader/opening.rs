//! A store opened to be read, whatever its process does: crawl, open, stand still, or not run at all.
//!
//! The state is copied ([`super::scratch`]), and the steps of the log that the copy lacks are taken in the
//! copy; the Collection and the History are read where they are. Several readers do not know of each other,
//! and need no permission to write.
//!
//! # Promises
//! - No byte of the directory is changed.
//! - What is behind `SYNCED` is refused, as by a crawl that starts.

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

/// Bytes of memory for what was read last.
const CACHE_BYTES: u64 = 64 << 20;

/// How often a store is opened while its process changes what is being read.
const TRIES: u32 = 5;

/// How long is waited before the next try.
const TRY_AGAIN: Duration = Duration::from_millis(100);

impl Reader {
    /// Opens the store in this directory to be read as it is now.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        for _ in 1..TRIES {
            match Self::try_open(directory) {
                // Files may have gone between looking them up and reading them.
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
        // In this order: all that follows reaches at least as far.
        let synced = synced::read(directory)?;
        let is_held = Lock::holder(directory).is_some();
        let copy = Copy::of(directory)?;
        let identity = known_identity(directory, copy.state.as_ref())?;
        recover(directory, copy.state.as_ref(), &identity, &synced)?;
        forget_torn(directory, copy.state.as_ref(), &synced)?;
        // What a process has committed and not yet made durable may be gone after a loss of power.
        let durable = if is_held { synced.visits } else { u64::MAX };
        Ok(copy.reader(directory, &identity, durable, reading))
    }
}

/// The copy of a state, open.
pub(crate) struct Copy {
    // Before the folder that it is in, so that it is closed first.
    pub(crate) state: Arc<dyn KeyValue>,
    scratch: Scratch,
}

impl Copy {
    /// Copies the state of this directory and opens the copy.
    pub(crate) fn of(directory: &Path) -> Result<Self, StoreError> {
        Self::try_of(directory)?.map_err(|problem| StoreError::behind(&directory.join("state"), &problem))
    }

    /// The same; why the copy cannot be opened, if that is no refusal of the system.
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

/// Forgets, in the copy, versions whose bytes a loss of power took, as a crawl that starts would.
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
