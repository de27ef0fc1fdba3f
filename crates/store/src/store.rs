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

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::all_urls::{AllUrls, Standing, UrlKey, numbered, read, url_key};
use crate::changes::{Changes, Committed};
use crate::codec::{Record as _, record};
use crate::collection::exchange::ExchangeKind;
use crate::collection::index::{self, IndexLine, LINE_BYTES_MAX};
use crate::collection::retention::Keep;
use crate::collection::segment::{self, SegmentRecord, Tail};
use crate::collection::warc::{Original, WarcWriter, Written};
use crate::counters::Counters;
use crate::error::StoreError;
use crate::history::files;
use crate::ids::{PageNumber, Place, SiteNumber, UrlId};
use crate::key_value::{Batch, Direction, Durability, KeyRange, KeyValue, OnDisk, Space, View};
use crate::lock::Lock;
use crate::reader::{Reader, Shared};
use crate::sites::Sites;
use crate::time::Timestamp;
use crate::versions::{VersionKind, VersionRecord, Versions, version_key};

/// The number of the format that this program reads and writes.
pub const FORMAT: u32 = 1;

/// The file that says what the directory is.
const FORMAT_FILE: &str = "FORMAT";

/// The name under which the store keeps its identity.
const IDENTITY: &[u8] = b"store";

/// The name under which the store keeps its counters.
const COUNTERS: &[u8] = b"counters";

/// How a store is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes after which a segment of the Collection is closed.
    pub segment_bytes: u64,
    /// Effort of the Collection's compression, from 0 to 9.
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
            gzip_level: 3,
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
}

/// The store, open for writing. One thread holds it; others read with a [`Reader`].
pub struct Store {
    shared: Arc<Shared>,
    settings: Settings,
    counters: Counters,
    writer: WarcWriter,
    tail: Tail,
    tail_number: u32,
    tail_record: SegmentRecord,
    next_url: u64,
    next_page: u64,
    next_site: u64,
    new_sites: HashMap<String, SiteNumber>,
    recent: RecentUrls,
    mended: Mended,
    buffer: Vec<u8>,
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
        let counters: Counters = read(state.as_ref(), Space::Meta, COUNTERS)?.unwrap_or_default();
        let writer = WarcWriter::new(identity.id, &settings.software, settings.gzip_level);
        let mut mended = Mended::default();
        mended.files_removed.extend(files::remove_unregistered(state.as_ref(), &history)?);
        let (tail_number, tail_record) = last_segment(state.as_ref())?.unwrap_or_default();
        mended.files_removed.extend(segment::remove_unknown(&collection, |number| number <= tail_number)?);
        let (tail_number, tail_record, tail) = if tail_number == 0 || tail_record.closed {
            (tail_number + 1, SegmentRecord::default(), Tail::create(&collection, tail_number + 1)?)
        } else {
            let (tail, cut) = Tail::open(&collection, tail_number, tail_record.bytes)?;
            mended.bytes_cut = cut;
            (tail_number, tail_record, tail)
        };
        let seed = u64::from_le_bytes(identity.seed);
        let shared = Shared { directory: directory.to_path_buf(), state, seed, _lock: lock };
        Ok(Self {
            shared: Arc::new(shared),
            recent: RecentUrls::new(settings.recent_urls),
            settings,
            next_url: counters.urls,
            next_page: counters.pages,
            next_site: counters.sites,
            counters,
            writer,
            tail,
            tail_number,
            tail_record,
            new_sites: HashMap::new(),
            mended,
            buffer: Vec::new(),
        })
    }

    /// A handle to read the store with, for any thread.
    pub fn reader(&self) -> Reader {
        Reader { shared: Arc::clone(&self.shared) }
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

    /// Makes all changes true in one step. They survive the death of the process when this returns, and that of the machine after
    /// [`Self::sync`].
    ///
    /// # Panics
    /// If a number was given out and its record is not among the changes.
    pub fn commit(&mut self, mut changes: Changes) -> Result<Committed, StoreError> {
        let mut step = Step {
            batch: Batch::new(),
            counters: self.counters.clone(),
            committed: Committed { first_visit: self.counters.visits, ..Committed::default() },
        };
        if self.tail.length() >= self.settings.segment_bytes && !changes.exchanges.is_empty() {
            self.roll(&mut step)?;
        }
        let (length, record) = (self.tail.length(), self.tail_record.clone());
        let result = self
            .put_exchanges(&mut changes, &mut step)
            .and_then(|()| self.put_urls(&changes, &mut step))
            .and_then(|()| {
                self.put_rest(changes, &mut step);
                step.batch.put(Space::Meta, COUNTERS, step.counters.encode());
                Ok(self.shared.state.commit(std::mem::take(&mut step.batch), Durability::Buffered)?)
            });
        if let Err(error) = result {
            self.tail_record = record;
            self.tail.cut_back(length)?;
            return Err(error);
        }
        assert_eq!(step.counters.urls, self.next_url, "every URL that got a number has a record");
        assert_eq!(step.counters.pages, self.next_page, "every page that got a number has a record");
        assert_eq!(step.counters.sites, self.next_site, "every site that got a number has a record");
        self.counters = step.counters;
        self.recent.committed();
        self.new_sites.clear();
        Ok(step.committed)
    }

    /// Waits until everything that was committed is on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.tail.sync()?;
        Ok(self.shared.state.sync()?)
    }

    /// Does one piece of the work that keeps the files in order, if any is due: the index of a segment that was closed, visits of past days
    /// moved into files, files merged. Says what it did; call it again until there is nothing.
    pub fn tidy(&mut self, now: Timestamp) -> Result<Option<Tidied>, StoreError> {
        if let Some(number) = self.unindexed_segment()? {
            self.write_index(number, true)?;
            return Ok(Some(Tidied::Indexed(number)));
        }
        let waiting = self.counters.visits - self.counters.settled;
        self.settle(now, waiting > self.settings.waiting_visits)
    }

    /// Puts everything into files that others can read, waits until it is on the disk and closes the store.
    pub fn close(mut self, now: Timestamp) -> Result<(), StoreError> {
        while let Some(number) = self.unindexed_segment()? {
            self.write_index(number, true)?;
        }
        self.write_index(self.tail_number, false)?;
        while self.counters.settled < self.counters.visits {
            self.settle(now, true)?;
        }
        self.sync()
    }

    /// Begins a new segment.
    fn roll(&mut self, step: &mut Step) -> Result<(), StoreError> {
        self.tail.sync()?;
        let closed = SegmentRecord { closed: true, ..self.tail_record.clone() };
        step.batch.put(Space::Segments, self.tail_number.to_be_bytes(), closed.encode());
        self.shared.state.commit(std::mem::take(&mut step.batch), Durability::Buffered)?;
        self.tail = Tail::create(&self.shared.collection(), self.tail_number + 1)?;
        self.tail_number += 1;
        self.tail_record = SegmentRecord::default();
        Ok(())
    }

    /// Appends the exchanges to the Collection, and tells visits and pages where they stand.
    fn put_exchanges(&mut self, changes: &mut Changes, step: &mut Step) -> Result<(), StoreError> {
        if changes.exchanges.is_empty() {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        if self.tail.length() == 0 {
            let name = segment::file_name(self.tail_number);
            self.writer.append_warcinfo(&name, changes.exchanges[0].time, &mut buffer);
        }
        let mut full: HashMap<PageNumber, Original> = HashMap::new();
        let mut places: HashMap<(PageNumber, Timestamp), Place> = HashMap::new();
        let mut full_places: HashMap<PageNumber, Place> = HashMap::new();
        for exchange in &changes.exchanges {
            let original = match (exchange.kind, exchange.page) {
                (ExchangeKind::Identical | ExchangeKind::NotModified, Some(page)) => match full.get(&page) {
                    Some(original) => Some(original.clone()),
                    None => self.original(page, exchange.time)?,
                },
                _ => None,
            };
            let written = self.writer.append_exchange(exchange, original.as_ref(), &mut buffer);
            let offset = self.tail.length() + written.start as u64;
            let place = Place { segment: self.tail_number, offset, length: written.length };
            self.note_exchange(exchange, &written, place, step);
            if let Some(page) = exchange.page {
                places.insert((page, exchange.time), place);
                if written.kind == VersionKind::Full {
                    let original = Original { time: exchange.time, payload_digest: written.payload_digest };
                    full.insert(page, original);
                    full_places.insert(page, place);
                }
            }
            step.committed.places.push(place);
        }
        for visit in &mut changes.visits {
            if let Some(page) = visit.page {
                visit.place = places.get(&(page, visit.time)).copied().or(visit.place);
            }
        }
        for (page, record) in &mut changes.pages {
            record.place = full_places.get(page).copied().or(record.place);
        }
        let appended = self.tail.append(&buffer);
        step.committed.bytes = buffer.len() as u64;
        self.buffer = buffer;
        appended?;
        let grown = self.tail.length() - self.tail_record.bytes;
        self.tail_record.bytes = self.tail.length();
        step.counters.collection_bytes += grown;
        step.batch.put(Space::Segments, self.tail_number.to_be_bytes(), self.tail_record.encode());
        Ok(())
    }

    /// The full response that a revisit at this moment refers to.
    fn original(&self, page: PageNumber, time: Timestamp) -> Result<Option<Original>, StoreError> {
        let version = Versions(self.shared.state.as_ref()).full_at(page, time)?;
        Ok(version
            .map(|version| Original { time: version.time, payload_digest: version.record.payload_digest }))
    }

    /// The rows of an exchange: its line of the index, its version and its place.
    fn note_exchange(
        &mut self,
        exchange: &crate::collection::Exchange,
        written: &Written,
        place: Place,
        step: &mut Step,
    ) {
        let record = &mut self.tail_record;
        record.first = if record.versions == 0 { exchange.time } else { record.first.min(exchange.time) };
        record.last = if record.versions == 0 { exchange.time } else { record.last.max(exchange.time) };
        record.versions += 1;
        let line = IndexLine {
            url: &exchange.url,
            time: exchange.time,
            mime: &written.mime,
            status: exchange.status,
            digest: &written.payload_digest,
            place,
            file_name: &segment::file_name(place.segment),
        }
        .text();
        if line.len() <= LINE_BYTES_MAX {
            step.batch.put(Space::Index, index::line_key(place.segment, &line), []);
        }
        let Some(page) = exchange.page else { return };
        let version = VersionRecord {
            place,
            kind: written.kind,
            status: exchange.status,
            payload_digest: written.payload_digest,
            raw_digest: exchange.raw_digest,
            text_digest: exchange.text_digest,
            simhash: exchange.simhash,
        };
        let key = version_key(page, exchange.time);
        step.batch.put(Space::Versions, key, version.encode());
        step.batch.put(Space::Places, place_key(place), key);
        step.counters.versions += 1;
    }

    fn put_urls(&self, changes: &Changes, step: &mut Step) -> Result<(), StoreError> {
        let all_urls = AllUrls::new(self.shared.state.as_ref(), self.shared.seed);
        let mut standings: HashMap<UrlId, Standing> = HashMap::new();
        for (id, record) in &changes.urls {
            let before = if let Some(standing) = standings.get(id) {
                Some(*standing)
            } else if u64::from(id.0) < self.counters.urls {
                all_urls.get(*id)?.map(|before| before.standing)
            } else {
                None
            };
            match before {
                Some(standing) => {
                    let counter = step.counters.standing(standing);
                    *counter = counter.saturating_sub(1);
                }
                None => {
                    step.counters.urls += 1;
                    step.batch.put(Space::UrlKeys, url_key(self.shared.seed, &record.url), id.key());
                }
            }
            *step.counters.standing(record.standing) += 1;
            standings.insert(*id, record.standing);
            step.batch.put(Space::Urls, id.key(), record.encode());
        }
        Ok(())
    }

    fn put_rest(&self, changes: Changes, step: &mut Step) {
        for (page, record) in changes.pages {
            step.counters.pages = step.counters.pages.max(u64::from(page.0) + 1);
            step.batch.put(Space::Pages, page.key(), record.encode());
        }
        for (site, record) in changes.sites {
            if u64::from(site.0) >= step.counters.sites {
                step.counters.sites = u64::from(site.0) + 1;
                step.batch.put(Space::SiteNames, record.site.as_bytes(), site.key());
            }
            step.batch.put(Space::Sites, site.key(), record.encode());
        }
        for (page, targets) in changes.links {
            step.batch.put(Space::Links, page.key(), crate::links::encode(targets));
        }
        for visit in changes.visits {
            step.batch.put(Space::Visits, step.counters.visits.to_be_bytes(), visit.encode());
            step.counters.count_visit(visit.kind, visit.bytes);
        }
        for (name, value) in changes.notes {
            match value {
                Some(value) => step.batch.put(Space::Notes, name, value),
                None => step.batch.remove(Space::Notes, name),
            }
        }
        step.counters.commits += 1;
    }

    /// The first segment that is closed and has no index file.
    fn unindexed_segment(&self) -> Result<Option<u32>, StoreError> {
        for entry in segments(self.shared.state.as_ref()) {
            let (number, record) = entry?;
            if record.closed && !record.indexed {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Writes the index file of a segment; of a closed one the lines are then no longer kept.
    fn write_index(&mut self, number: u32, closed: bool) -> Result<(), StoreError> {
        let range = KeyRange::prefix(&number.to_be_bytes());
        let path = self.shared.collection().join(segment::index_name(number));
        let state = self.shared.state.as_ref();
        let lines = state.scan(Space::Index, range.clone(), Direction::Forward);
        index::write(&path, lines.map(|entry| Ok(entry?.0.split_off(4))))?;
        if !closed {
            return Ok(());
        }
        let mut batch = Batch::new();
        for entry in state.scan(Space::Index, range, Direction::Forward) {
            batch.remove(Space::Index, entry?.0);
        }
        let key = number.to_be_bytes();
        let record: SegmentRecord = read(state, Space::Segments, &key)?.unwrap_or_default();
        batch.put(Space::Segments, key, SegmentRecord { indexed: true, ..record }.encode());
        Ok(state.commit(batch, Durability::Buffered)?)
    }

    /// Moves visits into a file of the History, or merges files.
    fn settle(&mut self, now: Timestamp, all: bool) -> Result<Option<Tidied>, StoreError> {
        let (state, directory, today) = (self.shared.state.as_ref(), self.shared.history(), now.day());
        let mut batch = Batch::new();
        let serial = self.counters.commits + 1;
        let moved = if self.counters.settled < self.counters.visits {
            files::move_rows(state, &directory, &today, all, (serial, &mut batch))?
        } else {
            None
        };
        let settled = match moved {
            Some(settled) => settled,
            None => match files::merge_files(state, &directory, &today, (serial, &mut batch))? {
                Some(settled) => settled,
                None => return Ok(None),
            },
        };
        let mut counters = self.counters.clone();
        counters.commits += 1;
        if settled.moved {
            counters.settled += settled.record.rows;
        }
        counters.history_bytes =
            (counters.history_bytes + settled.record.bytes).saturating_sub(settled.replaced_bytes);
        batch.put(Space::Meta, COUNTERS, counters.encode());
        state.commit(batch, Durability::Buffered)?;
        self.counters = counters;
        settled.remove_replaced(&directory)?;
        Ok(Some(Tidied::Settled { file: settled.name, rows: settled.record.rows }))
    }
}

/// A piece of the work that keeps the files in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tidied {
    /// The index file of this segment was written.
    Indexed(u32),
    /// A file of the History was written.
    Settled {
        /// Its name.
        file: String,
        /// Its rows.
        rows: u64,
    },
}

/// A commit in the making.
struct Step {
    batch: Batch,
    counters: Counters,
    committed: Committed,
}

/// The key of a place: segment and offset.
pub(crate) fn place_key(place: Place) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&place.segment.to_be_bytes());
    key[4..].copy_from_slice(&place.offset.to_be_bytes());
    key
}

/// Checks what the directory says it is; a new one is told.
fn check_format(directory: &Path) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    let ours = format!("freshet store {FORMAT}\n");
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
fn identity(state: &dyn KeyValue) -> Result<Identity, StoreError> {
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
    segments_from(state, Vec::new())
}

fn last_segment(state: &dyn View) -> Result<Option<(u32, SegmentRecord)>, StoreError> {
    let Some(entry) = state.scan(Space::Segments, KeyRange::all(), Direction::Backward).next() else {
        return Ok(None);
    };
    let (key, _) = entry?;
    segments_from(state, key).next().transpose()
}

fn segments_from(
    state: &dyn View,
    key: Vec<u8>,
) -> impl Iterator<Item = Result<(u32, SegmentRecord), StoreError>> {
    numbered(state, Space::Segments, key, |key| Some(u32::from_be_bytes(key.try_into().ok()?)))
}

fn take_number(next: &mut u64, what: &'static str) -> Result<u32, StoreError> {
    let number = u32::try_from(*next).map_err(|_| StoreError::TooMany { what })?;
    *next += 1;
    Ok(number)
}

/// The numbers of URLs that were asked for lately, in two halves: when the young one is full it becomes the old one, and what was
/// in the old one and not asked for since is forgotten. Numbers that no commit knows of are never forgotten.
#[derive(Debug)]
struct RecentUrls {
    capacity: usize,
    young: HashMap<UrlKey, UrlId>,
    old: HashMap<UrlKey, UrlId>,
    new: HashMap<UrlKey, UrlId>,
}

impl RecentUrls {
    fn new(capacity: usize) -> Self {
        Self { capacity, young: HashMap::new(), old: HashMap::new(), new: HashMap::new() }
    }

    fn get(&mut self, key: &UrlKey) -> Option<UrlId> {
        if let Some(id) = self.young.get(key).or_else(|| self.new.get(key)) {
            return Some(*id);
        }
        let id = *self.old.get(key)?;
        self.put(*key, id);
        Some(id)
    }

    fn put(&mut self, key: UrlKey, id: UrlId) {
        if self.young.len() >= self.capacity / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, id);
    }

    fn put_new(&mut self, key: UrlKey, id: UrlId) {
        self.new.insert(key, id);
    }

    fn committed(&mut self) {
        for (key, id) in std::mem::take(&mut self.new) {
            self.put(key, id);
        }
    }
}
