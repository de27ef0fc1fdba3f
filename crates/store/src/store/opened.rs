//! The store open for writing: opening, syncing and closing it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use freshet_protocol::ids::SiteNumber;
use freshet_protocol::time::Timestamp;

use super::leftovers::{put_torn_record_aside, put_unknown_files_aside};
use super::recent_urls::RecentUrls;
use super::reopening::UncertainCommit;
use super::settings::Settings;
use super::sweep::Sweep;
use crate::collection::folding::Folding;
use crate::collection::segment::{self, SegmentRecord, Tail, segments};
use crate::collection::warc::WarcWriter;
use crate::counters::{COUNTERS, Counters};
use crate::directory::aside::Aside;
use crate::directory::format::{FORMAT_FILE, Format, check_format, known_format};
use crate::directory::lock::{self, Lock};
use crate::directory::odd_files::refuse_odd_files;
use crate::directory::presence::Presence;
use crate::error::StoreError;
use crate::identity::known_identity;
use crate::key_value::{KeyValue, Readable, Space};
use crate::ledger::Ledger;
use crate::opening::convert::convert;
use crate::opening::engine::open_engine;
use crate::opening::making::make_if_new;
use crate::opening::mend::mend_tail;
use crate::opening::recovery::{recover, refuse_at_first_sight, refuse_mended, refuse_short_files};
use crate::reader::{DiskUse, Hold, Reader, Shared};
use crate::records::read;
use crate::startup_index::{Piece, Reach, StartupIndex};
use crate::synced::{self, Synced};
use crate::url_files;

/// The parts of the directory whose presence is checked while the store is open.
const PARTS: [&str; 8] = [
    FORMAT_FILE,
    lock::FILE_NAME,
    synced::FILE_NAME,
    "log",
    "state",
    "collection",
    "history",
    url_files::FOLDER,
];

/// What opening the store recovered or repaired.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Mended {
    /// Number of log steps that were replayed because the state lacked them.
    pub steps_replayed: u64,
    /// Number of bytes of a torn record that were moved from the end of the log to `aside/`.
    pub log_bytes_torn: u64,
    /// Number of bytes that belong to no step and were moved from the last segment to `aside/`.
    pub bytes_cut: u64,
    /// Number of versions forgotten because the machine crashed before their bytes were on disk.
    pub versions_lost: u64,
    /// Files that belong to no step and were moved to `aside/`.
    pub files_moved: Vec<String>,
}

/// The store, open for writing. One thread owns it; others read with a [`Reader`].
pub struct Store {
    // Before `shared`, which releases the lock.
    pub(super) state: Arc<dyn KeyValue>,
    pub(super) shared: Arc<Shared>,
    /// The unique number of the store.
    id: [u8; 16],
    pub(super) settings: Settings,
    pub(super) counters: Counters,
    pub(super) writer: WarcWriter,
    folding: Arc<Folding>,
    /// The current segment, and its record after the last commit.
    pub(super) tail: Tail,
    pub(super) tail_number: u32,
    pub(super) tail_record: SegmentRecord,
    /// The next numbers to assign; ahead of the counters by those not yet committed.
    pub(super) next_url: u64,
    pub(super) next_page: u64,
    pub(super) next_site: u64,
    pub(super) new_sites: HashMap<String, SiteNumber>,
    pub(super) recent: RecentUrls,
    /// The buffer of the current commit, reused.
    pub(super) buffer: Vec<u8>,
    /// Closed segments without an index file.
    pub(super) unindexed: BTreeSet<u32>,
    /// The progress of dropping old versions.
    pub(super) sweep: Sweep,
    /// The log, and what is durable.
    pub(super) ledger: Ledger,
    /// The first step of the log file that was current at the last check for old log files.
    pub(super) log_looked_at: u64,
    ended_cleanly: bool,
    /// A failed commit that may have taken effect.
    pub(super) doubt: Option<UncertainCommit>,
    mended: Mended,
    presence: Presence,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").field("directory", &self.shared.directory).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in this directory, or creates it.
    pub fn open(directory: &Path, settings: Settings) -> Result<Self, StoreError> {
        Self::open_locked(Self::lock(directory)?, directory, settings)
    }

    /// Takes the lock of the directory before anything is read.
    pub fn lock(directory: &Path) -> Result<Lock, StoreError> {
        fs::create_dir_all(directory).map_err(StoreError::file("make", directory))?;
        refuse_odd_files(directory)?;
        Lock::take(directory)
    }

    /// Opens the store in a locked directory.
    pub fn open_locked(lock: Lock, directory: &Path, settings: Settings) -> Result<Self, StoreError> {
        match check_format(directory)? {
            Format::Ours => make_if_new(directory, settings.cache_bytes)?,
            Format::First => convert(directory, settings.cache_bytes)?,
        }
        let synced = synced::read(directory)?;
        refuse_at_first_sight(directory, &synced)?;
        let state = open_engine(directory, settings.cache_bytes)?;
        Self::open_with(directory, settings, state, (synced, lock))
    }

    fn open_with(
        directory: &Path,
        settings: Settings,
        state: Box<dyn KeyValue>,
        (synced, lock): (Synced, Lock),
    ) -> Result<Self, StoreError> {
        let identity = known_identity(directory, state.as_ref())?;
        let end = recover(directory, state.as_ref(), &identity, &synced)?;
        // Everything committed is there; from here on, files are written.
        let ended_cleanly = synced.clean;
        let mut aside = Aside::new(directory, end.time);
        put_torn_record_aside(directory, &end, &mut aside)?;
        let mut ledger =
            Ledger::open(directory, state.as_ref(), &identity, (&end, synced), settings.log_bytes)?;
        let mut counters: Counters = read(state.as_ref(), Space::Meta, COUNTERS)?.unwrap_or_default();
        let mut mended =
            Mended { steps_replayed: end.replayed, log_bytes_torn: end.torn, ..Mended::default() };
        mended.files_moved = put_unknown_files_aside(directory, state.as_ref(), &mut aside)?;
        let collection = directory.join("collection");
        let known = segments(state.as_ref()).collect::<Result<BTreeMap<_, _>, _>>()?;
        let (tail_number, mut tail_record) =
            known.last_key_value().map(|(number, record)| (*number, record.clone())).unwrap_or_default();
        let is_new = tail_number == 0 || tail_record.closed;
        if !is_new && Tail::is_short(&collection, tail_number, tail_record.bytes)? {
            let lost = mend_tail(state.as_ref(), &collection, tail_number, &tail_record, &mut counters)?;
            refuse_mended(&collection, (tail_number, lost.segment.bytes), ledger.synced())?;
            ledger.take(state.as_ref(), lost.batch, &mut counters)?;
            (tail_record, mended.versions_lost) = (lost.segment, lost.versions);
        }
        let (tail_number, tail_record, tail) = if is_new {
            (tail_number + 1, SegmentRecord::default(), Tail::create(&collection, tail_number + 1)?)
        } else {
            let (tail, cut) = Tail::open(&collection, tail_number, tail_record.bytes, &mut aside)?;
            mended.bytes_cut = cut;
            (tail_number, tail_record, tail)
        };
        let seed = u64::from_le_bytes(identity.seed);
        let folding = Folding::new(identity.id, &settings.software, settings.gzip_level);
        let writer = folding.writer();
        let durable_visits = AtomicU64::new(counters.visits);
        let state: Arc<dyn KeyValue> = Arc::from(state);
        let view: Arc<dyn Readable> = Arc::<dyn KeyValue>::clone(&state);
        let hold = Hold::Lock(lock);
        let shared = Shared { directory: directory.to_path_buf(), view, seed, durable_visits, _hold: hold };
        let mut store = Self {
            state,
            shared: Arc::new(shared),
            id: identity.id,
            recent: RecentUrls::new(settings.recent_urls),
            settings,
            next_url: counters.urls,
            next_page: counters.pages,
            next_site: counters.sites,
            counters,
            writer,
            folding: Arc::new(folding),
            tail,
            tail_number,
            tail_record,
            new_sites: HashMap::new(),
            unindexed: unindexed(&collection, &known),
            sweep: Sweep::default(),
            log_looked_at: 0,
            ledger,
            ended_cleanly,
            doubt: None,
            mended,
            presence: Presence::of(directory, &PARTS)?,
            buffer: Vec::new(),
        };
        // From here on, the crawl counts as not ended cleanly until it is closed.
        store.sync()?;
        Ok(store)
    }

    /// Whether the store was closed when it was last open; false after a kill or a power loss.
    pub fn ended_cleanly(&self) -> bool {
        self.ended_cleanly
    }

    /// What is durable.
    pub fn synced(&self) -> &Synced {
        self.ledger.synced()
    }

    /// A handle to read the store, for any thread.
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// The maker of compressed records of whole responses, for any thread.
    pub fn folding(&self) -> Arc<Folding> {
        Arc::clone(&self.folding)
    }

    /// Opens the start-up index of this store. `form` is the caller's version of the contents. Every piece is
    /// passed to `each`, before this returns; `each` returns whether to accept it.
    pub fn startup_index(&self, form: u32, each: impl FnMut(&Piece<'_>) -> bool) -> StartupIndex {
        StartupIndex::open(&self.shared.directory, self.id, form, Reach::of(&self.counters), each)
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What opening the store recovered or repaired.
    pub fn mended(&self) -> &Mended {
        &self.mended
    }

    /// The disk space that the store takes.
    pub fn disk_use(&self) -> DiskUse {
        DiskUse {
            state: self.state.disk_bytes(),
            collection: self.counters.collection_bytes,
            history: self.counters.history_bytes,
            collection_limit: self.settings.keep.bytes,
        }
    }

    /// Returns an error if the opened directory, a part of it, or a file being written was removed, replaced
    /// or changed by somebody else: nothing written from then on would be kept.
    pub fn is_still_there(&self) -> Result<(), StoreError> {
        self.presence.check()?;
        self.tail.check_presence()?;
        self.ledger.check_presence()
    }

    /// Syncs all commits to disk, and records it in `SYNCED`.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.sync_as(false)
    }

    fn sync_as(&mut self, clean: bool) -> Result<(), StoreError> {
        let tail = (&self.tail, self.tail_number);
        self.ledger.sync(self.state.as_ref(), tail, &self.counters, clean)?;
        self.shared.durable_visits.store(self.counters.visits, Ordering::Release);
        Ok(())
    }

    /// Writes all remaining visits, URLs and index lines to files, syncs and closes the store. Returns what
    /// is durable then.
    pub fn close(mut self, now: Timestamp) -> Result<Synced, StoreError> {
        while let Some(number) = self.unindexed.first().copied() {
            self.write_index(number)?;
        }
        self.write_kept_lines(self.tail_number)?;
        while self.counters.settled < self.counters.visits {
            self.settle(now, true)?;
        }
        self.settle_urls()?;
        self.is_still_there()?;
        refuse_short_files(&self.shared.directory, self.state.as_ref(), self.synced())?;
        self.sync_as(true)?;
        Ok(self.synced().clone())
    }
}

/// Whether a directory has the earlier format of a crawl, which [`Store::open`] converts.
pub fn is_earlier(directory: &Path) -> bool {
    matches!(known_format(directory), Ok(Some(Format::First)))
}

/// The closed segments without an index file.
fn unindexed(collection: &Path, segments: &BTreeMap<u32, SegmentRecord>) -> BTreeSet<u32> {
    let missing = |number: u32| !collection.join(segment::index_name(number)).exists();
    segments
        .iter()
        .filter(|(number, record)| record.closed && (!record.indexed || missing(**number)))
        .map(|(number, _)| *number)
        .collect()
}
