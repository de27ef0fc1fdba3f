//! Makes the records of URLs, pages, sites and versions consistent.
//!
//! Lost records are made again from the History and the Collection: the URL of a page, the times of its
//! visits, and the places of its versions. A record without any source keeps its number, so that no other
//! gets it, with a placeholder URL.
//!
//! # Promises
//! - Numbers stay: a known URL, page or site keeps its own.
//! - Afterwards every reference resolves, and the counters are right.

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_protocol::codec::Record;
use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;

use super::segments::Ground;
use super::visits::Tally;
use crate::all_urls::{Reason, Source, Standing, UrlRecord, site_of, url_key};
use crate::coll_urls::PageRecord;
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::segments;
use crate::collection::warc::WarcRecord;
use crate::counters::{COUNTERS, Counters};
use crate::error::StoreError;
use crate::history::VisitKind;
use crate::history::columns::NumberedVisit;
use crate::key_value::{Batch, Direction, KeyRange, Space, View};
use crate::records::{numbered, read};
use crate::sites::SiteRecord;
use crate::url_files::UrlRow;
use crate::versions::{VersionKind, VersionRecord, Versions, parse_version_key, place_key, version_key};

/// Number of changes committed in one step.
const CHANGES_PER_COMMIT: usize = 10_000;

/// The data of a page that its visits contain.
#[derive(Clone, Debug)]
struct Trace {
    url: String,
    first: Timestamp,
    last: Timestamp,
    visits: u32,
    changes: u32,
    status: u16,
    kind: VisitKind,
}

/// The data of pages that their visits contain, from which lost page records are made.
#[derive(Debug, Default)]
pub(super) struct Traces(HashMap<PageNumber, Trace>);

impl Traces {
    /// Adds a visit.
    pub(super) fn hear(&mut self, visit: &NumberedVisit) {
        let row = &visit.row;
        let Some(page) = row.page else { return };
        let trace = self.0.entry(page).or_insert_with(|| Trace {
            url: row.url.clone(),
            first: row.time,
            last: row.time,
            visits: 0,
            changes: 0,
            status: row.status,
            kind: row.kind,
        });
        trace.visits += 1;
        trace.changes +=
            u32::from(matches!(row.kind, VisitKind::Changed | VisitKind::Gone | VisitKind::Back));
        trace.first = trace.first.min(row.time);
        if row.time >= trace.last {
            (trace.last, trace.status, trace.kind) = (row.time, row.status, row.kind);
        }
    }
}

impl Traces {
    /// Adds pages of which only responses in the Collection are left. Each gets a new number.
    pub(super) fn add_from_collection(
        &mut self,
        ground: &Ground<'_>,
        said: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let known: HashSet<&str> = self.0.values().map(|trace| trace.url.as_str()).collect();
        let counters: Counters = read(ground.state, Space::Meta, COUNTERS).ok().flatten().unwrap_or_default();
        let beyond_traces = self.0.keys().map(|page| u64::from(page.0) + 1).max().unwrap_or(0);
        let mut next = counters.pages.max(next_number(ground, Space::Pages)?).max(beyond_traces);
        let mut found: BTreeMap<String, Trace> = BTreeMap::new();
        let collection = ground.directory.join("collection");
        for entry in segments(ground.state).collect::<Vec<_>>() {
            let (number, segment) = entry?;
            for entry in SegmentRecords::open(&collection, number, segment.bytes)? {
                let (_, record) = entry?;
                let Some(time) = record.time() else { continue };
                let (is_copy, kind) = match (record.kind(), record.status()) {
                    ("response", 200..=299) => (true, VisitKind::New),
                    ("revisit", 304) => (false, VisitKind::NotModified),
                    ("revisit", _) => (false, VisitKind::Unchanged),
                    _ => continue,
                };
                let url = record.url();
                if url.ends_with("/robots.txt") || known.contains(url) || is_kept(ground, url)? {
                    continue;
                }
                match found.get_mut(url) {
                    Some(trace) => {
                        trace.visits += 1;
                        if trace.last <= time {
                            (trace.last, trace.status) = (time, record.status());
                            trace.kind = if is_copy { VisitKind::Changed } else { kind };
                        }
                        trace.changes += u32::from(is_copy);
                        trace.first = trace.first.min(time);
                    }
                    None if is_copy => {
                        let (url, status) = (url.to_owned(), record.status());
                        let trace = Trace {
                            url: url.clone(),
                            first: time,
                            last: time,
                            visits: 1,
                            changes: 0,
                            status,
                            kind,
                        };
                        found.insert(url, trace);
                    }
                    None => {}
                }
            }
        }
        if !found.is_empty() {
            said.push(format!("collection: {} pages were had again from its responses", found.len()));
        }
        for trace in found.into_values() {
            self.0.insert(PageNumber(u32::try_from(next).unwrap_or(u32::MAX)), trace);
            next += 1;
        }
        Ok(())
    }
}

/// Whether a URL is that of a known page.
fn is_kept(ground: &Ground<'_>, url: &str) -> Result<bool, StoreError> {
    let key = url_key(u64::from_le_bytes(ground.identity.seed), url);
    let id = ground.state.get(Space::UrlKeys, &key)?.and_then(|value| UrlId::from_key(&value));
    let record = id.and_then(|id| read::<UrlRecord>(ground.state, Space::Urls, &id.key()).ok().flatten());
    Ok(record.is_some_and(|record| matches!(record.standing, Standing::Kept(_))))
}

/// The records under repair: the highest numbers, and the batch of changes so far.
struct Book<'a> {
    ground: &'a Ground<'a>,
    urls: u64,
    pages: u64,
    sites: u64,
    site_numbers: HashMap<String, SiteNumber>,
    batch: Batch,
    /// Number of records made again.
    made: u64,
}

/// Makes URLs, pages, sites and versions consistent, and recomputes the counters.
pub(super) fn repair_records(
    ground: &Ground<'_>,
    traces: &Traces,
    (tally, rows): (&Tally, &HashMap<u32, UrlRow>),
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let before: Counters = read(ground.state, Space::Meta, COUNTERS).ok().flatten().unwrap_or_default();
    let mut book = Book {
        ground,
        urls: before.urls.max(next_number(ground, Space::Urls)?),
        pages: before.pages.max(next_number(ground, Space::Pages)?),
        sites: before.sites.max(next_number(ground, Space::Sites)?),
        site_numbers: HashMap::new(),
        batch: Batch::new(),
        made: 0,
    };
    book.urls = book.urls.max(rows.keys().map(|number| u64::from(*number) + 1).max().unwrap_or(0));
    book.pages = book.pages.max(traces.0.keys().map(|page| u64::from(page.0) + 1).max().unwrap_or(0));
    book.make_sites()?;
    book.make_urls(traces, rows)?;
    book.make_pages(traces)?;
    book.flush()?;
    book.drop_wrong_keys()?;
    book.drop_wrong_links()?;
    if ground.lost_commits {
        book.make_versions(traces)?;
    }
    book.drop_wrong_versions()?;
    book.flush()?;
    book.place_pages()?;
    book.flush()?;
    if book.made > 0 {
        said.push(format!("state: {} records of URLs, pages, sites and versions made again", book.made));
    }
    book.count(&before, tally)
}

fn next_number(ground: &Ground<'_>, space: Space) -> Result<u64, StoreError> {
    let last = ground.state.scan(space, KeyRange::all(), Direction::Backward).next().transpose()?;
    let number = last.and_then(|(key, _)| Some(u32::from_be_bytes(key.try_into().ok()?)));
    Ok(number.map_or(0, |number| u64::from(number) + 1))
}

impl Book<'_> {
    fn flush(&mut self) -> Result<(), StoreError> {
        self.ground.commit(std::mem::take(&mut self.batch))
    }

    /// Sets the value of a key, unless it has that value.
    fn put(&mut self, space: Space, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        let (key, value) = (key.into(), value.into());
        if !matches!(self.ground.state.get(space, &key), Ok(Some(found)) if found == value) {
            self.batch.put(space, key, value);
        }
    }

    fn flush_if_large(&mut self) -> Result<(), StoreError> {
        if self.batch.len() >= CHANGES_PER_COMMIT { self.flush() } else { Ok(()) }
    }

    /// The record with a number; none if it is lost.
    fn get<R: Record>(&self, space: Space, number: u32) -> Option<R> {
        read(self.ground.state, space, &number.to_be_bytes()).ok().flatten()
    }

    /// Restores the name of every lost site from its URLs.
    fn make_sites(&mut self) -> Result<(), StoreError> {
        let mut names: HashMap<SiteNumber, String> = HashMap::new();
        for entry in numbered::<UrlId, UrlRecord>(self.ground.state, Space::Urls, Vec::new(), UrlId::from_key)
        {
            let Ok((_, record)) = entry else { continue };
            names.entry(record.site).or_insert_with(|| site_of(&record.url).to_owned());
        }
        self.sites = self.sites.max(names.keys().map(|site| u64::from(site.0) + 1).max().unwrap_or(0));
        for number in 0..u32::try_from(self.sites).unwrap_or(u32::MAX) {
            let site = SiteNumber(number);
            let name = match self.get::<SiteRecord>(Space::Sites, number) {
                Some(record) => record.site,
                None => {
                    let name = names.get(&site).cloned().unwrap_or_else(|| format!("lost://site-{number}"));
                    self.put_site(site, &name);
                    name
                }
            };
            self.put(Space::SiteNames, name.as_bytes(), site.key());
            self.site_numbers.entry(name).or_insert(site);
            self.flush_if_large()?;
        }
        self.flush()
    }

    fn put_site(&mut self, site: SiteNumber, name: &str) {
        let record =
            SiteRecord { site: name.to_owned(), first_seen: self.ground.now, ..SiteRecord::default() };
        self.put(Space::Sites, site.key(), record.encode());
        self.put(Space::SiteNames, name.as_bytes(), site.key());
        self.made += 1;
    }

    fn site_of(&mut self, url: &str) -> SiteNumber {
        let name = site_of(url).to_owned();
        if let Some(site) = self.site_numbers.get(&name) {
            return *site;
        }
        let site = SiteNumber(u32::try_from(self.sites).unwrap_or(u32::MAX));
        self.sites += 1;
        self.put_site(site, &name);
        self.site_numbers.insert(name, site);
        site
    }

    /// Restores the text of every lost URL from the visits of its page.
    fn make_urls(&mut self, traces: &Traces, rows: &HashMap<u32, UrlRow>) -> Result<(), StoreError> {
        let mut of_url: HashMap<UrlId, (PageNumber, bool)> = HashMap::new();
        for entry in numbered::<PageNumber, PageRecord>(
            self.ground.state,
            Space::Pages,
            Vec::new(),
            PageNumber::from_key,
        ) {
            let Ok((page, record)) = entry else { continue };
            of_url.insert(record.url, (page, record.discarded.is_none()));
            self.urls = self.urls.max(u64::from(record.url.0) + 1);
        }
        let seed = u64::from_le_bytes(self.ground.identity.seed);
        for number in 0..u32::try_from(self.urls).unwrap_or(u32::MAX) {
            let id = UrlId(number);
            let record = match self.get::<UrlRecord>(Space::Urls, number) {
                Some(mut record) => {
                    let Standing::Kept(page) = record.standing else {
                        self.put(Space::UrlKeys, url_key(seed, &record.url), id.key());
                        self.flush_if_large()?;
                        continue;
                    };
                    self.pages = self.pages.max(u64::from(page.0) + 1);
                    let owner: Option<PageRecord> = self.get(Space::Pages, page.0);
                    if owner.is_none_or(|owner| owner.url == id) {
                        self.put(Space::UrlKeys, url_key(seed, &record.url), id.key());
                        self.flush_if_large()?;
                        continue;
                    }
                    record.standing = Standing::Waiting;
                    record
                }
                None => {
                    let page = of_url.get(&id);
                    let told = page.and_then(|(page, _)| Some((traces.0.get(page)?, page)));
                    let standing = match page {
                        Some((page, true)) if told.is_some() => Standing::Kept(*page),
                        _ => Standing::Discarded(Reason::Failing),
                    };
                    let row = rows.get(&number);
                    let standing = if row.is_some() && page.is_none() { Standing::Waiting } else { standing };
                    let url = match (told, row) {
                        (_, Some(row)) => row.url.clone(),
                        (Some((trace, _)), None) => trace.url.clone(),
                        (None, None) => format!("lost:/{number}"),
                    };
                    let site = self.site_of(&url);
                    self.made += 1;
                    let discovered = told.map_or(self.ground.now, |(trace, _)| trace.first);
                    let record = made_url(url, site, standing, discovered);
                    row.map_or(record.clone(), |row| of_row(record, row))
                }
            };
            self.put(Space::UrlKeys, url_key(seed, &record.url), id.key());
            self.put(Space::Urls, id.key(), record.encode());
            self.flush_if_large()?;
        }
        self.flush()
    }

    /// Restores every lost page from its visits.
    fn make_pages(&mut self, traces: &Traces) -> Result<(), StoreError> {
        let mut urls: HashMap<PageNumber, UrlId> = HashMap::new();
        for entry in numbered::<UrlId, UrlRecord>(self.ground.state, Space::Urls, Vec::new(), UrlId::from_key)
        {
            let (id, record) = entry?;
            if let Standing::Kept(page) = record.standing {
                urls.insert(page, id);
            }
        }
        for number in 0..u32::try_from(self.pages).unwrap_or(u32::MAX) {
            let page = PageNumber(number);
            if let Some(record) = self.get::<PageRecord>(Space::Pages, number)
                && u64::from(record.url.0) < self.urls
            {
                continue;
            }
            let trace = traces.0.get(&page).cloned();
            let kept = urls.get(&page).copied();
            let url = match kept {
                Some(url) => url,
                None => self.url_for(page, trace.as_ref())?,
            };
            let site = self.get::<UrlRecord>(Space::Urls, url.0).map_or(SiteNumber(0), |record| record.site);
            let record = made_page(url, site, trace.as_ref(), self.ground.now);
            self.put(Space::Pages, page.key(), record.encode());
            self.made += 1;
            self.flush()?;
        }
        Ok(())
    }

    /// The URL of a page that no URL refers to: the URL of its visits, which is added if it is unknown.
    fn url_for(&mut self, page: PageNumber, trace: Option<&Trace>) -> Result<UrlId, StoreError> {
        let seed = u64::from_le_bytes(self.ground.identity.seed);
        let text = trace.map_or_else(|| format!("lost:/page-{}", page.0), |trace| trace.url.clone());
        let key = url_key(seed, &text);
        let known = self.ground.state.get(Space::UrlKeys, &key)?.and_then(|value| UrlId::from_key(&value));
        let id = known.unwrap_or(UrlId(u32::try_from(self.urls).unwrap_or(u32::MAX)));
        let record: Option<UrlRecord> = self.get(Space::Urls, id.0);
        let standing = match &record {
            // Another page has this URL now; this page had it before.
            Some(record) if matches!(record.standing, Standing::Kept(_)) => return Ok(id),
            _ if trace.is_some() => Standing::Kept(page),
            _ => Standing::Discarded(Reason::Failing),
        };
        let site = self.site_of(&text);
        let discovered = trace.map_or(self.ground.now, |trace| trace.first);
        let record = match record {
            Some(record) => UrlRecord { standing, ..record },
            None => {
                self.urls += 1;
                self.made += 1;
                made_url(text, site, standing, discovered)
            }
        };
        self.put(Space::UrlKeys, key, id.key());
        self.put(Space::Urls, id.key(), record.encode());
        self.flush()?;
        Ok(id)
    }

    /// Removes lookup keys of URLs and sites that lead to other records.
    fn drop_wrong_keys(&mut self) -> Result<(), StoreError> {
        let seed = u64::from_le_bytes(self.ground.identity.seed);
        for entry in self.ground.state.scan(Space::UrlKeys, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let id = UrlId::from_key(&value);
            let record = id.and_then(|id| self.get::<UrlRecord>(Space::Urls, id.0));
            if record.is_none_or(|record| url_key(seed, &record.url) != *key) {
                self.batch.remove(Space::UrlKeys, key);
            }
        }
        for entry in self.ground.state.scan(Space::SiteNames, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let site = SiteNumber::from_key(&value);
            let record = site.and_then(|site| self.get::<SiteRecord>(Space::Sites, site.0));
            if record.is_none_or(|record| record.site.as_bytes() != key) {
                self.batch.remove(Space::SiteNames, key);
            }
        }
        self.flush()
    }

    fn drop_wrong_links(&mut self) -> Result<(), StoreError> {
        for entry in self.ground.state.scan(Space::Links, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let is_right = crate::links::decode(&value)
                .is_ok_and(|targets| targets.last().is_none_or(|last| u64::from(last.0) < self.urls));
            if !is_right {
                self.batch.remove(Space::Links, key);
            }
        }
        self.flush()
    }

    /// Adds versions for the records of the Collection that have none.
    fn make_versions(&mut self, traces: &Traces) -> Result<(), StoreError> {
        let pages: HashMap<&str, PageNumber> =
            traces.0.iter().map(|(page, trace)| (trace.url.as_str(), *page)).collect();
        let collection = self.ground.directory.join("collection");
        for entry in segments(self.ground.state).collect::<Vec<_>>() {
            let (number, segment) = entry?;
            // A version whose request and metadata records may still follow.
            let mut open: Option<(PageNumber, Timestamp, VersionRecord)> = None;
            for entry in SegmentRecords::open(&collection, number, segment.bytes)? {
                let (place, record) = entry?;
                if matches!(record.kind(), "request" | "metadata")
                    && let Some((.., version)) = &mut open
                {
                    version.extent = (place.offset + u64::from(place.length) - version.place.offset) as u32;
                    continue;
                }
                self.put_version(open.take())?;
                open = self.version_of(&record, place, &pages)?;
            }
            self.put_version(open.take())?;
        }
        self.flush()
    }

    fn version_of(
        &self,
        record: &WarcRecord,
        place: Place,
        pages: &HashMap<&str, PageNumber>,
    ) -> Result<Option<(PageNumber, Timestamp, VersionRecord)>, StoreError> {
        let status = record.status();
        let kind = match (record.kind(), status) {
            ("response", 200..=299) => VersionKind::Full,
            ("revisit", 304) => VersionKind::NotModified,
            ("revisit", _) => VersionKind::Identical,
            _ => return Ok(None),
        };
        let is_known = self.ground.state.get(Space::Places, &place_key(place))?.is_some();
        let (Some(page), Some(time), Some(payload_digest), false) =
            (self.page_of(record.url(), pages)?, record.time(), record.payload_digest(), is_known)
        else {
            return Ok(None);
        };
        if Versions(self.ground.state).get(page, time).is_ok_and(|version| version.is_some()) {
            return Ok(None);
        }
        let version = VersionRecord {
            place,
            extent: place.length,
            kind,
            status,
            payload_digest,
            raw_digest: None,
            text_digest: None,
            simhash: None,
        };
        Ok(Some((page, time, version)))
    }

    fn page_of(
        &self,
        url: &str,
        pages: &HashMap<&str, PageNumber>,
    ) -> Result<Option<PageNumber>, StoreError> {
        if let Some(page) = pages.get(url) {
            return Ok(Some(*page));
        }
        let key = url_key(u64::from_le_bytes(self.ground.identity.seed), url);
        let id = self.ground.state.get(Space::UrlKeys, &key)?.and_then(|value| UrlId::from_key(&value));
        let record = id.and_then(|id| self.get::<UrlRecord>(Space::Urls, id.0));
        Ok(record.and_then(|record| match record.standing {
            Standing::Kept(page) => Some(page),
            _ => None,
        }))
    }

    fn put_version(
        &mut self,
        version: Option<(PageNumber, Timestamp, VersionRecord)>,
    ) -> Result<(), StoreError> {
        let Some((page, time, version)) = version else { return Ok(()) };
        let key = version_key(page, time);
        self.put(Space::Places, place_key(version.place), key);
        self.put(Space::Versions, key, version.encode());
        self.made += 1;
        self.flush_if_large()
    }

    /// Removes versions and places without a counterpart, and revisits without the response that
    /// they refer to.
    fn drop_wrong_versions(&mut self) -> Result<(), StoreError> {
        let state = self.ground.state;
        let mut full_page = None;
        for entry in state.scan(Space::Versions, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let parsed = parse_version_key(&key).zip(VersionRecord::decode(&value).ok());
            let is_right = match &parsed {
                None => false,
                Some(((page, _), version)) => {
                    let has_place =
                        state.get(Space::Places, &place_key(version.place))?.as_deref() == Some(&*key);
                    let has_page = u64::from(page.0) < self.pages;
                    let has_bytes = version.kind == VersionKind::Full || full_page == Some(*page);
                    has_place && has_page && has_bytes
                }
            };
            match parsed {
                Some(((page, _), _)) if is_right => full_page = Some(page),
                Some((_, version)) => {
                    if state.get(Space::Places, &place_key(version.place))?.as_deref() == Some(&*key) {
                        self.batch.remove(Space::Places, place_key(version.place));
                    }
                    self.batch.remove(Space::Versions, key);
                }
                None => self.batch.remove(Space::Versions, key),
            }
        }
        for entry in state.scan(Space::Places, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let version =
                state.get(Space::Versions, &value)?.and_then(|value| VersionRecord::decode(&value).ok());
            if version.is_none_or(|version| place_key(version.place) != *key) {
                self.batch.remove(Space::Places, key);
            }
        }
        self.flush()
    }

    /// Sets the place of every page to its newest full version.
    fn place_pages(&mut self) -> Result<(), StoreError> {
        let state = self.ground.state;
        for entry in numbered::<PageNumber, PageRecord>(state, Space::Pages, Vec::new(), PageNumber::from_key)
        {
            let (page, record) = entry?;
            let is_right = match record.place {
                Some(place) => state
                    .get(Space::Places, &place_key(place))?
                    .and_then(|key| parse_version_key(&key))
                    .is_some_and(|(owner, _)| owner == page),
                None => record.visits == 0 || !self.ground.lost_commits,
            };
            if is_right {
                continue;
            }
            let newest = Versions(state).full_at(page, Timestamp::from_millis(i64::MAX))?;
            let place = newest.as_ref().map(|version| version.record.place);
            // Without digests the next visit keeps what it finds; with validators it might find nothing.
            let record = PageRecord {
                place,
                etag: None,
                last_modified: None,
                raw_digest: newest.as_ref().and_then(|version| version.record.raw_digest),
                text_digest: newest.as_ref().and_then(|version| version.record.text_digest),
                ..record
            };
            self.put(Space::Pages, page.key(), record.encode());
        }
        Ok(())
    }

    /// Recomputes all counters.
    fn count(&self, before: &Counters, tally: &Tally) -> Result<(), StoreError> {
        let state = self.ground.state;
        let mut counters = Counters {
            kinds: tally.kinds.clone(),
            visits: tally.visits(),
            settled: tally.visits() - tally.rows,
            bytes_received: before.bytes_received.max(tally.bytes),
            versions_dropped: before.versions_dropped,
            history_bytes: tally.file_bytes,
            pages: self.pages,
            sites: self.sites,
            urls_settled: self.ground.ledger.borrow().1.urls_settled,
            ..Counters::default()
        };
        for entry in numbered::<UrlId, UrlRecord>(state, Space::Urls, Vec::new(), UrlId::from_key) {
            *counters.standing(entry?.1.standing) += 1;
            counters.urls += 1;
        }
        counters.versions = state.scan(Space::Versions, KeyRange::all(), Direction::Forward).count() as u64;
        for entry in segments(state) {
            counters.collection_bytes += entry?.1.bytes;
        }
        self.ground.count(counters)
    }
}

/// The highest step in the names of files: a file is named after the step that registers it.
pub(super) fn last_serial(state: &dyn View) -> Result<u64, StoreError> {
    let files = crate::history::files::registered(state)?;
    let serial = |name: &str| name.strip_suffix(".parquet")?.rsplit('-').next()?.parse::<u64>().ok();
    Ok(files.keys().filter_map(|name| serial(name)).max().unwrap_or(0))
}

fn made_url(url: String, site: SiteNumber, standing: Standing, discovered: Timestamp) -> UrlRecord {
    UrlRecord {
        url,
        site,
        discovered,
        found_on: None,
        depth: 0,
        anchor: String::new(),
        source: Source::Link,
        listed_modified: None,
        standing,
        detail: "its record was damaged and made again".to_owned(),
    }
}

fn made_page(url: UrlId, site: SiteNumber, trace: Option<&Trace>, now: Timestamp) -> PageRecord {
    let Some(trace) = trace else {
        return PageRecord { discarded: Some(now), ..PageRecord::admitted(url, site, now) };
    };
    PageRecord {
        visits: trace.visits,
        changes: trace.changes,
        first_visit: Some(trace.first),
        last_visit: Some(trace.last),
        status: trace.status,
        outcome: Some(trace.kind),
        ..PageRecord::admitted(url, site, trace.first)
    }
}

/// The record of a URL, with the columns of its row in the URL files.
fn of_row(record: UrlRecord, row: &UrlRow) -> UrlRecord {
    UrlRecord {
        discovered: row.time,
        found_on: row.found_on.map(UrlId),
        depth: row.depth,
        anchor: row.anchor.clone(),
        source: row.source,
        ..record
    }
}
