//! The store: everything on disk, opened, changed in single steps, closed.
//!
//! A commit appends the records of its exchanges to the Collection, then its step to the log ([`crate::log`]), and then makes it true in the
//! key-value store. Killed at any instant, the store opens with all commits that returned, possibly the one that was under way, and nothing of
//! what came after: bytes that belong to no step are moved to `aside/`. What is behind `SYNCED` is refused.
//!
//! # Promises
//! - One process at a time: a second is refused and told the first.
//! - After an error nothing of the changes is there, and the store can be opened again; if there was no room for the pages, it
//!   can go on as it is.
//! - Opening removes nothing that was collected, and takes nothing for the truth that is older than what was made durable.
//! - Nothing is counted by looking through everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use freshet_protocol::codec::record;
use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;

use crate::all_urls::{AllUrls, numbered, read, url_key};
use crate::aside::Aside;
use crate::check::relative;
use crate::collection::folding::Folding;
use crate::collection::retention::Keep;
use crate::collection::segment::{self, SegmentRecord, Tail};
use crate::collection::warc::WarcWriter;
use crate::convert::convert;
use crate::counters::Counters;
use crate::error::StoreError;
use crate::history::files;
use crate::inspect::{listed, open_state};
use crate::key_value::{KeyValue, Readable, Space, View};
use crate::ledger::Ledger;
use crate::lock::Lock;
use crate::making::make_if_new;
use crate::mend::mend_tail;
use crate::presence::Presence;
use crate::reader::{Hold, Reader, Shared};
use crate::recent_urls::RecentUrls;
use crate::recovery::{LogEnd, recover, refuse_at_first_sight, refuse_mended, refuse_short_files};
use crate::reopening::UncertainCommit;
use crate::sites::Sites;
use crate::startup_index::{Piece, Reach, StartupIndex};
use crate::sweep::Sweep;
use crate::synced::{self, Synced};
use crate::url_files;

/// The number of the format that this program reads and writes.
pub const FORMAT: u32 = 2;

/// The file that says what the directory is.
pub(crate) const FORMAT_FILE: &str = "FORMAT";

/// The name under which the store keeps its identity.
pub(crate) const IDENTITY: &[u8] = b"store";

/// The name under which the store keeps its counters.
pub(crate) const COUNTERS: &[u8] = b"counters";

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes after which a segment of the Collection is closed.
    pub segment_bytes: u64,
    /// Effort of the Collection's compression, from 0 to 12.
    pub gzip_level: u32,
    /// Bytes of memory for what was read last of the key-value store.
    pub cache_bytes: u64,
    /// URLs whose numbers are remembered in memory, at some 32 bytes each.
    pub recent_urls: usize,
    /// Visits waiting in the key-value store that make [`Store::tidy`] move them into a file before their day is over.
    pub waiting_visits: u64,
    /// URLs waiting in the key-value store that make [`Store::tidy`] write them into a file.
    pub waiting_urls: u64,
    /// Bytes of a file of the log after which another is begun.
    pub log_bytes: u64,
    /// Days, in the crawl's own time, for which the log is kept when all that it says is elsewhere.
    pub log_days: u32,
    /// What wrote the Collection, as its files state it.
    pub software: String,
    /// How much of the past is kept.
    pub keep: Keep,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            segment_bytes: 1_000_000_000,
            gzip_level: 1,
            cache_bytes: 64 << 20,
            recent_urls: 1 << 18,
            waiting_visits: 100_000,
            waiting_urls: 100_000,
            log_bytes: 32 << 20,
            log_days: 7,
            software: concat!("freshet/", env!("CARGO_PKG_VERSION")).to_owned(),
            keep: Keep::default(),
        }
    }
}

record! {
    /// What a store is.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Identity {
        /// A number that no other store has, for the identifiers of records.
        id: [u8; 16],
        /// The seed of the hashes by which URLs are found, eight bytes, the lowest first.
        seed: [u8; 8],
    }
}

/// A number and whether it was given just now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Numbered<N> {
    /// It was known before.
    Known(N),
    /// It is new: its record must be in the next changes.
    New(N),
}

impl<N: Copy> Numbered<N> {
    /// The number.
    pub fn number(self) -> N {
        match self {
            Self::Known(number) | Self::New(number) => number,
        }
    }
}

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

/// The bytes that a store takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DiskUse {
    /// The key-value store, roughly.
    pub state: u64,
    /// The Collection.
    pub collection: u64,
    /// The History.
    pub history: u64,
    /// The limit on the Collection, if there is one.
    pub collection_limit: Option<u64>,
}

/// The store, open for writing. One thread holds it; others read with a [`Reader`].
///
/// # Examples
///
/// ```
/// use freshet_protocol::time::Timestamp;
/// use freshet_store::all_urls::{Source, Standing, UrlRecord, site_of};
/// use freshet_store::changes::Changes;
/// use freshet_store::reader::Reader;
/// use freshet_store::sites::SiteRecord;
/// use freshet_store::store::{Settings, Store};
///
/// let directory = tempfile::tempdir()?;
/// let mut store = Store::open(directory.path(), Settings::default())?;
///
/// // A URL that was found, and its site, become known in one step.
/// let (url, now) = ("http://a.example/", Timestamp::from_millis(0));
/// let (id, site) = (store.url_number(url)?.number(), store.site_number(site_of(url))?.number());
/// let record = UrlRecord {
///     url: url.to_owned(),
///     site,
///     discovered: now,
///     found_on: None,
///     depth: 0,
///     anchor: String::new(),
///     source: Source::Seed,
///     listed_modified: None,
///     standing: Standing::Waiting,
///     detail: String::new(),
/// };
/// let site_record = SiteRecord { site: site_of(url).to_owned(), first_seen: now, ..SiteRecord::default() };
/// store.commit(Changes {
///     urls: vec![(id, record)],
///     sites: vec![(site, site_record)],
///     ..Changes::default()
/// })?;
/// store.close(now)?;
///
/// // It can be read by any process, which changes no byte of it.
/// let reader = Reader::open(directory.path())?;
/// assert_eq!(reader.url_id(url)?, Some(id));
/// assert_eq!(reader.url(id)?.map(|record| record.standing), Some(Standing::Waiting));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    // Before what is shared, which releases the lock.
    pub(crate) state: Arc<dyn KeyValue>,
    pub(crate) shared: Arc<Shared>,
    /// A number that no other store has.
    id: [u8; 16],
    pub(crate) settings: Settings,
    pub(crate) counters: Counters,
    pub(crate) writer: WarcWriter,
    folding: Arc<Folding>,
    /// The segment that is appended to, and what the last commit said of it.
    pub(crate) tail: Tail,
    pub(crate) tail_number: u32,
    pub(crate) tail_record: SegmentRecord,
    /// The numbers that are given out next; ahead of the counters by those that no commit knows of.
    pub(crate) next_url: u64,
    pub(crate) next_page: u64,
    pub(crate) next_site: u64,
    pub(crate) new_sites: HashMap<String, SiteNumber>,
    pub(crate) recent: RecentUrls,
    /// Bytes of the commit that is under way, kept to be used again.
    pub(crate) buffer: Vec<u8>,
    /// Closed segments without their index file.
    pub(crate) unindexed: BTreeSet<u32>,
    /// How far old versions have been dropped.
    pub(crate) sweep: Sweep,
    /// The log and what has been made durable.
    pub(crate) ledger: Ledger,
    /// The file of the log that was written when it was last looked whether an old one can go.
    pub(crate) log_looked_at: u64,
    ended_cleanly: bool,
    /// A commit that failed and may have taken effect.
    pub(crate) doubt: Option<UncertainCommit>,
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
            presence: Presence::of(directory)?,
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

    /// The start-up index of this store in a form of its reader's. Each of its pieces is given to `each` first, which says whether it believes it; it is called from
    /// here, before this returns.
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

    /// The number of a URL; a URL that is not known gets one, and its record must be in the next changes.
    pub fn url_number(&mut self, url: &str) -> Result<Numbered<UrlId>, StoreError> {
        let key = url_key(self.shared.seed, url);
        if let Some(id) = self.recent.get(&key) {
            return Ok(Numbered::Known(id));
        }
        let all_urls = AllUrls::new(self.state.as_ref(), self.shared.seed);
        if let Some(id) = all_urls.find_key(&key)? {
            self.recent.put(key, id);
            return Ok(Numbered::Known(id));
        }
        let id = UrlId(take_number(&mut self.next_url, "URLs")?);
        self.recent.put_new(key, id);
        Ok(Numbered::New(id))
    }

    /// A number for a page that was never kept before; its record must be in the next changes.
    pub fn page_number(&mut self) -> Result<PageNumber, StoreError> {
        Ok(PageNumber(take_number(&mut self.next_page, "pages")?))
    }

    /// The number of a site; a site that is not known gets one, and its record must be in the next changes.
    pub fn site_number(&mut self, site: &str) -> Result<Numbered<SiteNumber>, StoreError> {
        if let Some(number) = self.new_sites.get(site) {
            return Ok(Numbered::Known(*number));
        }
        if let Some(number) = Sites(self.state.as_ref()).find(site)? {
            return Ok(Numbered::Known(number));
        }
        let number = SiteNumber(take_number(&mut self.next_site, "sites")?);
        self.new_sites.insert(site.to_owned(), number);
        Ok(Numbered::New(number))
    }

    /// Says if the directory that was opened, a part of it or a file that is written is no longer found under its
    /// name as it was left: nothing of what is written would be kept.
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

    /// Puts everything into files that others can read, waits until it is on the disk and closes the store. Says what is durable then.
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

/// The key of a place: segment and offset.
pub(crate) fn place_key(place: Place) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&place.segment.to_be_bytes());
    key[4..].copy_from_slice(&place.offset.to_be_bytes());
    key
}

/// What the file says that says what the directory is.
pub(crate) fn format_text() -> String {
    format!("freshet store {FORMAT}\n")
}

/// Whether a directory is that of a crawl which an earlier program made, and which [`Store::open`] converts.
pub fn is_earlier(directory: &Path) -> bool {
    matches!(known_format(directory), Ok(Some(Format::First)))
}

/// What a directory says it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    /// That of this program.
    Ours,
    /// The first one, which has no log.
    First,
}

/// Checks what the directory says it is; a new one is told.
fn check_format(directory: &Path) -> Result<Format, StoreError> {
    if let Some(format) = known_format(directory)? {
        return Ok(format);
    }
    let path = directory.join(FORMAT_FILE);
    let unfinished = directory.join("FORMAT.unfinished");
    fs::write(&unfinished, format_text()).map_err(StoreError::file("write", &unfinished))?;
    fs::rename(&unfinished, &path).map_err(StoreError::file("write", &path))?;
    Ok(Format::Ours)
}

/// What the directory says it is; none if it says nothing and holds no crawl.
pub(crate) fn known_format(directory: &Path) -> Result<Option<Format>, StoreError> {
    let path = directory.join(FORMAT_FILE);
    match fs::read(&path) {
        Ok(found) if found == format_text().as_bytes() => Ok(Some(Format::Ours)),
        Ok(found) if found == b"freshet store 1\n" => Ok(Some(Format::First)),
        Ok(found) => {
            let text = String::from_utf8_lossy(&found).into_owned();
            match text.trim().strip_prefix("freshet store ").and_then(|rest| rest.parse::<u32>().ok()) {
                Some(number) if number > FORMAT => {
                    let (directory, found) = (directory.to_path_buf(), number.to_string());
                    Err(StoreError::Format { directory, found, known: FORMAT })
                }
                _ => Err(StoreError::behind(
                    &path,
                    &format!("it does not say which format this is, but {text:?}"),
                )),
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if directory.join("state").exists() || directory.join(synced::FILE_NAME).exists() {
                return Err(StoreError::behind(&path, "it is missing beside the files of a crawl"));
            }
            Ok(None)
        }
        Err(error) => Err(StoreError::file("read", &path)(error)),
    }
}

/// Opens the engine, whatever its files are.
pub(crate) fn open_engine(directory: &Path, cache_bytes: u64) -> Result<Box<dyn KeyValue>, StoreError> {
    open_state(directory, cache_bytes)?
        .map_err(|problem| StoreError::behind(&directory.join("state"), &problem))
}

/// Who the store is.
pub(crate) fn known_identity(directory: &Path, state: &dyn View) -> Result<Identity, StoreError> {
    read(state, Space::Meta, IDENTITY)?
        .ok_or_else(|| StoreError::behind(&directory.join("state"), "it does not say whose it is"))
}

/// An identity that no other store has.
pub(crate) fn new_identity() -> Identity {
    let random = || RandomState::new().hash_one(0_u8).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&random());
    id[8..].copy_from_slice(&random());
    Identity { id, seed: random() }
}

/// Moves the bytes of a record that a crash has torn from the end of the log to `aside/`.
fn put_torn_record_aside(directory: &Path, end: &LogEnd, aside: &mut Aside) -> Result<(), StoreError> {
    if end.torn == 0 {
        return Ok(());
    }
    aside.cut(&relative(&end.path, directory), end.bytes)
}

/// Moves files that belong to no step to `aside/`; those that were in the making go.
fn put_unknown_files_aside(
    directory: &Path,
    state: &dyn View,
    aside: &mut Aside,
) -> Result<Vec<String>, StoreError> {
    let mut moved = Vec::new();
    let known = segments(state).map(|entry| Ok(entry?.0)).collect::<Result<BTreeSet<_>, StoreError>>()?;
    let (visits, urls) = (files::registered(state)?, url_files::registered(state)?);
    for folder in ["collection", "history", url_files::FOLDER, crate::log::files::FOLDER] {
        let path = directory.join(folder);
        fs::create_dir_all(&path).map_err(StoreError::file("make", &path))?;
        for path in listed(&path)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_unknown = match folder {
                "collection" => segment::number_of(name).is_some_and(|number| !known.contains(&number)),
                "history" => files::is_own_name(name) && !visits.contains_key(name),
                url_files::FOLDER => url_files::is_own_name(name) && !urls.contains_key(name),
                _ => false,
            };
            let place = format!("{folder}/{name}");
            let waits = state.get(Space::Removals, place.as_bytes())?.is_some();
            let is_empty = fs::metadata(&path).is_ok_and(|found| found.len() == 0);
            if name.ends_with(".unfinished") || is_unknown && is_empty {
                fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
            } else if is_unknown && !waits {
                aside.take(&place)?;
                moved.push(place);
            }
        }
    }
    Ok(moved)
}

/// The segments, in the order of their numbers.
pub(crate) fn segments(state: &dyn View) -> impl Iterator<Item = Result<(u32, SegmentRecord), StoreError>> {
    numbered(state, Space::Segments, Vec::new(), |key| Some(u32::from_be_bytes(key.try_into().ok()?)))
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

fn take_number(next: &mut u64, what: &'static str) -> Result<u32, StoreError> {
    let number = u32::try_from(*next).map_err(|_| StoreError::TooMany { what })?;
    *next += 1;
    Ok(number)
}
