//! The store, open for writing: how it is opened, synced and closed.

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

/// The parts of the directory that are looked up while it is open.
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

/// What was mended when the store was opened.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Mended {
    /// Steps of the log that were taken again, because the state had not heard of them.
    pub steps_replayed: u64,
    /// Bytes of a torn record that were moved from the end of the log to `aside/`.
    pub log_bytes_torn: u64,
    /// Bytes that belong to no step and were moved from the last segment to `aside/`.
    pub bytes_cut: u64,
    /// Versions forgotten because the machine died before their bytes were on the disk.
    pub versions_lost: u64,
    /// Files that belong to no step and were moved to `aside/`.
    pub files_moved: Vec<String>,
}

/// The store, open for writing. One thread holds it; others read with a [`Reader`].
pub struct Store {
    // Before what is shared, which releases the lock.
    pub(super) state: Arc<dyn KeyValue>,
    pub(super) shared: Arc<Shared>,
    /// A number that no other store has.
    id: [u8; 16],
    pub(super) settings: Settings,
    pub(super) counters: Counters,
    pub(super) writer: WarcWriter,
    folding: Arc<Folding>,
    /// The segment that is appended to, and what the last commit said of it.
    pub(super) tail: Tail,
    pub(super) tail_number: u32,
    pub(super) tail_record: SegmentRecord,
    /// The numbers that are given out next; ahead of the counters by those that no commit knows of.
    pub(super) next_url: u64,
    pub(super) next_page: u64,
    pub(super) next_site: u64,
    pub(super) new_sites: HashMap<String, SiteNumber>,
    pub(super) recent: RecentUrls,
    /// Bytes of the commit that is under way, kept to be used again.
    pub(super) buffer: Vec<u8>,
    /// Closed segments without their index file.
    pub(super) unindexed: BTreeSet<u32>,
    /// How far old versions have been dropped.
    pub(super) sweep: Sweep,
    /// The log and what has been made durable.
    pub(super) ledger: Ledger,
    /// The file of the log that was written when it was last looked whether an old one can go.
    pub(super) log_looked_at: u64,
    ended_cleanly: bool,
    /// A commit that failed and may have taken effect.
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
    /// Opens the store in this directory, or makes one.
    pub fn open(directory: &Path, settings: Settings) -> Result<Self, StoreError> {
        Self::open_locked(Self::lock(directory)?, directory, settings)
    }

    /// Takes the directory for this process, before anything is read.
    pub fn lock(directory: &Path) -> Result<Lock, StoreError> {
        fs::create_dir_all(directory).map_err(StoreError::file("make", directory))?;
        refuse_odd_files(directory)?;
        Lock::take(directory)
    }

    /// Opens the store in a directory that was taken.
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
        // From here on things are written: everything that counts is there.
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
        // Whatever ends the crawl from here on, it did not end cleanly unless it is closed.
        store.sync()?;
        Ok(store)
    }

    /// Whether the store was closed when it was last open; not after a kill or a loss of power.
    pub fn ended_cleanly(&self) -> bool {
        self.ended_cleanly
    }

    /// What has been made durable.
    pub fn synced(&self) -> &Synced {
        self.ledger.synced()
    }

    /// A handle to read the store with, for any thread.
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// Makes the records of whole responses, on any thread.
    pub fn folding(&self) -> Arc<Folding> {
        Arc::clone(&self.folding)
    }

    /// The start-up index of this store in a form of its reader's. Each of its pieces is given to `each`
    /// first, which says whether it believes it; it is called from here, before this returns.
    pub fn startup_index(&self, form: u32, each: impl FnMut(&Piece<'_>) -> bool) -> StartupIndex {
        StartupIndex::open(&self.shared.directory, self.id, form, Reach::of(&self.counters), each)
    }

    /// How much there is of everything.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What was mended when the store was opened.
    pub fn mended(&self) -> &Mended {
        &self.mended
    }

    /// The bytes that the store takes.
    pub fn disk_use(&self) -> DiskUse {
        DiskUse {
            state: self.state.disk_bytes(),
            collection: self.counters.collection_bytes,
            history: self.counters.history_bytes,
            collection_limit: self.settings.keep.bytes,
        }
    }

    /// Says if the directory that was opened, a part of it or a file that is written is no longer found under
    /// its name as it was left: nothing of what is written would be kept.
    pub fn is_still_there(&self) -> Result<(), StoreError> {
        self.presence.check()?;
        self.tail.check_presence()?;
        self.ledger.check_presence()
    }

    /// Waits until everything that was committed is on the disk, and says so in `SYNCED`.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.sync_as(false)
    }

    fn sync_as(&mut self, clean: bool) -> Result<(), StoreError> {
        let tail = (&self.tail, self.tail_number);
        self.ledger.sync(self.state.as_ref(), tail, &self.counters, clean)?;
        self.shared.durable_visits.store(self.counters.visits, Ordering::Release);
        Ok(())
    }

    /// Puts everything into files that others can read, waits until it is on the disk and closes the store.
    /// Says what is durable then.
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

/// Whether a directory is that of a crawl which an earlier program made, and which [`Store::open`] converts.
pub fn is_earlier(directory: &Path) -> bool {
    matches!(known_format(directory), Ok(Some(Format::First)))
}

/// The closed segments whose index file is not there.
fn unindexed(collection: &Path, segments: &BTreeMap<u32, SegmentRecord>) -> BTreeSet<u32> {
    let missing = |number: u32| !collection.join(segment::index_name(number)).exists();
    segments
        .iter()
        .filter(|(number, record)| record.closed && (!record.indexed || missing(**number)))
        .map(|(number, _)| *number)
        .collect()
}
