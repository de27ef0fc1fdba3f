//! The store: everything on disk, opened, changed in single steps, closed.
//!
//! A commit appends the records of its exchanges to the Collection and then makes everything else true in one batch of the key-value store, which holds
//! the length that the Collection's file then has. Killed at any instant, the store opens with all commits that
//! returned, possibly the one that was under way, and nothing of what came after: the file is cut to the committed length.
//!
//! # Promises
//! - One process at a time: a second is refused and told the first.
//! - After an error nothing of the changes is there, and the store can be opened again; if there was no room for the pages, it
//!   can go on as it is.
//! - Nothing is counted by looking through everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::all_urls::{AllUrls, numbered, read, url_key};
use crate::codec::{Record as _, record};
use crate::collection::folding::Folding;
use crate::collection::retention::Keep;
use crate::collection::segment::{self, SegmentRecord, Tail};
use crate::collection::warc::WarcWriter;
use crate::counters::Counters;
use crate::error::StoreError;
use crate::gist::{Gist, Piece, Reach};
use crate::history::files;
use crate::ids::{PageNumber, Place, SiteNumber, UrlId};
use crate::key_value::{Batch, Durability, KeyValue, OnDisk, Space, View};
use crate::lock::Lock;
use crate::making::make_if_new;
use crate::mend::mend_tail;
use crate::presence::Presence;
use crate::reader::{Reader, Shared};
use crate::recent_urls::RecentUrls;
use crate::reopening::Doubt;
use crate::sites::Sites;
use crate::sweep::Sweep;
use crate::time::Timestamp;

/// The number of the format that this program reads and writes.
pub const FORMAT: u32 = 1;

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
    /// Bytes cut off the last segment, which no commit knew of.
    pub bytes_cut: u64,
    /// Versions forgotten because the machine died before their bytes were on the disk.
    pub versions_lost: u64,
    /// Files removed, which no commit knew of.
    pub files_removed: Vec<PathBuf>,
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
pub struct Store {
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
    /// A commit that failed and may have taken effect.
    pub(crate) doubt: Option<Doubt>,
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
        fs::create_dir_all(directory).map_err(StoreError::file("make", directory))?;
        let lock = Lock::take(directory)?;
        check_format(directory)?;
        make_if_new(directory, settings.cache_bytes)?;
        let state = OnDisk::open(&directory.join("state"), settings.cache_bytes)?;
        Self::open_with(directory, settings, Box::new(state), lock)
    }

    fn open_with(
        directory: &Path,
        settings: Settings,
        state: Box<dyn KeyValue>,
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let (collection, history) = (directory.join("collection"), directory.join("history"));
        for part in [&collection, &history] {
            fs::create_dir_all(part).map_err(StoreError::file("make", part))?;
        }
        let identity = identity(state.as_ref())?;
        let folding = Folding::new(identity.id, &settings.software, settings.gzip_level);
        let writer = folding.writer();
        let mut mended = Mended::default();
        mended.files_removed.extend(files::remove_unregistered(state.as_ref(), &history)?);
        let known = segments(state.as_ref()).collect::<Result<BTreeMap<_, _>, _>>()?;
        mended
            .files_removed
            .extend(segment::remove_unknown(&collection, |number| known.contains_key(&number))?);
        let (tail_number, tail_record) =
            known.last_key_value().map(|(number, record)| (*number, record.clone())).unwrap_or_default();
        let (tail_number, tail_record, tail) = if tail_number == 0 || tail_record.closed {
            (tail_number + 1, SegmentRecord::default(), Tail::create(&collection, tail_number + 1)?)
        } else {
            let mut record = tail_record;
            if Tail::is_short(&collection, tail_number, record.bytes)? {
                let lost = mend_tail(state.as_ref(), &collection, tail_number, &record)?;
                (record, mended.versions_lost) = lost;
            }
            let (tail, cut) = Tail::open(&collection, tail_number, record.bytes)?;
            mended.bytes_cut = cut;
            (tail_number, record, tail)
        };
        let counters: Counters = read(state.as_ref(), Space::Meta, COUNTERS)?.unwrap_or_default();
        let seed = u64::from_le_bytes(identity.seed);
        let shared = Shared { directory: directory.to_path_buf(), state, seed, _lock: lock };
        Ok(Self {
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
            doubt: None,
            mended,
            presence: Presence::of(directory)?,
            buffer: Vec::new(),
        })
    }

    /// A handle to read the store with, for any thread.
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
    }

    /// Makes the records of whole responses, on any thread.
    pub fn folding(&self) -> Arc<Folding> {
        Arc::clone(&self.folding)
    }

    /// The gist of this store in a form of its reader's. Each of its pieces is given to `each` first, which says whether it believes it; it is called from
    /// here, before this returns.
    pub fn gist(&self, form: u32, each: impl FnMut(&Piece<'_>) -> bool) -> Gist {
        Gist::open(&self.shared.directory, self.id, form, Reach::of(&self.counters), each)
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
            state: self.shared.state.disk_bytes(),
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
        let all_urls = AllUrls::new(self.shared.state.as_ref(), self.shared.seed);
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
        if let Some(number) = Sites(self.shared.state.as_ref()).find(site)? {
            return Ok(Numbered::Known(number));
        }
        let number = SiteNumber(take_number(&mut self.next_site, "sites")?);
        self.new_sites.insert(site.to_owned(), number);
        Ok(Numbered::New(number))
    }

    /// Says if the directory that was opened, or a part of it, is no longer found under its name: nothing of what is written would be kept.
    pub fn is_still_there(&self) -> Result<(), StoreError> {
        self.presence.check()
    }

    /// Waits until everything that was committed is on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.tail.sync()?;
        Ok(self.shared.state.sync()?)
    }

    /// Puts everything into files that others can read, waits until it is on the disk and closes the store.
    pub fn close(mut self, now: Timestamp) -> Result<(), StoreError> {
        while let Some(number) = self.unindexed.first().copied() {
            self.write_index(number)?;
        }
        self.write_kept_lines(self.tail_number)?;
        while self.counters.settled < self.counters.visits {
            self.settle(now, true)?;
        }
        self.sync()
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

/// Checks what the directory says it is; a new one is told.
fn check_format(directory: &Path) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    let ours = format_text();
    match fs::read_to_string(&path) {
        Ok(found) if found == ours => Ok(()),
        Ok(found) => {
            let found = found.trim().trim_start_matches("freshet store ").to_owned();
            Err(StoreError::Format { directory: directory.to_path_buf(), found, known: FORMAT })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if directory.join("state").exists() {
                let reason = format!("it has a folder `state` but no file `{FORMAT_FILE}`");
                return Err(StoreError::NotAStore { directory: directory.to_path_buf(), reason });
            }
            let unfinished = directory.join("FORMAT.unfinished");
            fs::write(&unfinished, ours).map_err(StoreError::file("write", &unfinished))?;
            fs::rename(&unfinished, &path).map_err(StoreError::file("write", &path))
        }
        Err(error) => Err(StoreError::file("read", &path)(error)),
    }
}

/// Who the store is; a new one is given an identity.
pub(crate) fn identity(state: &dyn KeyValue) -> Result<Identity, StoreError> {
    if let Some(identity) = read(state, Space::Meta, IDENTITY)? {
        return Ok(identity);
    }
    let random = || RandomState::new().hash_one(0_u8).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&random());
    id[8..].copy_from_slice(&random());
    let identity = Identity { id, seed: random() };
    let mut batch = Batch::new();
    batch.put(Space::Meta, IDENTITY, identity.encode());
    state.commit(batch, Durability::Synced)?;
    Ok(identity)
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
