//! Whether everything on disk is as `docs/FORMAT.md` says, and fits together.
//!
//! Every record of the key-value store is decoded, every member of every segment unfolded and its digest computed, every file of the History
//! read; and what refers to another thing is followed. Each fault is named with the file or the record it is in, and with what is lost by it.
//!
//! # Promises
//! - A byte that was flipped, a file that was cut and a file that is missing are found.
//! - Nothing is altered. What a crash may leave is no fault, and is left to the next start.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::Record as _;
use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};
use xxhash_rust::xxh3::xxh3_64;

use crate::all_urls::{Standing, UrlRecord, numbered, url_key};
use crate::check_log::{LoggedVisits, check_log, check_options, check_url_files};
use crate::coll_urls::PageRecord;
use crate::collection::digest::sha1;
use crate::collection::index::{IndexLine, LINE_BYTES_MAX};
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::{self, SegmentRecord};
use crate::collection::warc::WarcRecord;
use crate::counters::Counters;
use crate::error::{StoreError, hexadecimal};
use crate::history::files::{FileRecord, checksum, read_file, registered};
use crate::history::lost_visits;
use crate::history::{VisitKind, VisitQuery};
use crate::inspect::{Inspected, inspect};
use crate::key_value::{Direction, KeyRange, Space, View};
use crate::lock::Lock;
use crate::reader::{Reader, Shared};
use crate::startup_index::{self, Reach};
use crate::store::{COUNTERS, IDENTITY, Identity, place_key, segments};
use crate::versions::{VersionKind, VersionRecord, Versions, parse_version_key};

/// The most faults that are listed; the others are only counted.
const FAULTS_MAX: usize = 1000;

/// How often a directory is checked that a process writes meanwhile, until nothing is found wrong or it is believed.
const TRIES: u32 = 3;

/// Something that is not as it should be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The file, or the keyspace, it is in.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What it holds that cannot be read; empty if nothing is lost by it.
    pub holds: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.place, self.problem)?;
        if self.holds.is_empty() { Ok(()) } else { write!(formatter, " (it holds {})", self.holds) }
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Findings {
    /// The faults, as many as are listed.
    pub faults: Vec<Fault>,
    /// All faults.
    pub fault_count: u64,
    /// What is there because a process was killed, and goes at the next start: no fault.
    pub leftovers: Vec<String>,
    /// URLs that were looked at.
    pub urls: u64,
    /// Pages that were looked at.
    pub pages: u64,
    /// Records of the Collection that were read.
    pub records: u64,
    /// Visits that were read.
    pub visits: u64,
}

impl Findings {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }

    pub(crate) fn add(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.add_loss(place, problem, String::new());
    }

    pub(crate) fn add_loss(&mut self, place: impl Into<String>, problem: impl Into<String>, holds: String) {
        self.fault_count += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(Fault { place: place.into(), problem: problem.into(), holds });
        }
    }

    fn add_error(&mut self, place: &str, error: &StoreError) {
        self.add(place, error.to_string());
    }
}

/// Checks everything in a directory. It reads all that is there, and takes as long as that. A process that crawls goes on meanwhile.
pub fn check_directory(directory: &Path) -> Result<Findings, StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let found = check_as_it_is(directory);
        // What is wrong beside a process that writes may have been in the making.
        let is_sure = match &found {
            Ok(found) => found.is_clean(),
            Err(error) => !matches!(error, StoreError::File { .. } | StoreError::Damaged { .. }),
        };
        if is_sure || tries == TRIES || Lock::holder(directory).is_none() {
            return found;
        }
    }
}

fn check_as_it_is(directory: &Path) -> Result<Findings, StoreError> {
    let Inspected { findings, reader, refused } = inspect(directory)?;
    let Some(reader) = reader else { return Ok(findings) };
    let mut findings = check_into(&reader, findings)?;
    if let Some((place, problem)) = refused.filter(|_| findings.is_clean()) {
        findings.add(place, problem);
    }
    if Lock::holder(directory).is_some() {
        // They are the business of the process that has it open.
        findings.leftovers.clear();
    }
    Ok(findings)
}

/// Checks everything in an open store.
pub fn check(reader: &Reader) -> Result<Findings, StoreError> {
    check_into(reader, Findings::default())
}

pub(crate) fn check_into(reader: &Reader, findings: Findings) -> Result<Findings, StoreError> {
    let shared = reader.shared.as_ref();
    let snapshot = shared.view.snapshot();
    let mut check = Check { shared, view: snapshot.as_ref(), findings };
    if let Some(problem) = unreadable_space(check.view) {
        // What stands in one keyspace is looked for from the others: with one unreadable, every finding would repeat it.
        check.findings.add_loss(
            format!("state ({})", problem.0.name()),
            problem.1,
            problem.0.holds().to_owned(),
        );
        return Ok(check.findings);
    }
    let counters = match crate::all_urls::read(check.view, Space::Meta, COUNTERS) {
        Ok(counters) => counters.unwrap_or_default(),
        Err(error) => {
            check.findings.add_error("meta", &error);
            Counters::default()
        }
    };
    let directory = &shared.directory;
    let logged = check_log(directory, check.view, &counters, &mut check.findings)?;
    check_url_files(directory, check.view, &counters, &mut check.findings)?;
    check_options(directory, check.view, &mut check.findings)?;
    check.urls(&counters);
    check.pages(&counters);
    check.sites(&counters);
    check.links(&counters);
    check.segments();
    check.versions(&counters);
    check.history(reader, &counters, logged);
    if let Ok(Some(identity)) = crate::all_urls::read::<Identity>(check.view, Space::Meta, IDENTITY) {
        startup_index::check(&shared.directory, identity.id, Reach::of(&counters), &mut check.findings);
    }
    Ok(check.findings)
}

/// The first keyspace that cannot be read to its end, and why.
pub(crate) fn unreadable_space(view: &dyn View) -> Option<(Space, String)> {
    Space::ALL.iter().find_map(|space| {
        let error = view.scan(*space, KeyRange::all(), Direction::Forward).find_map(Result::err)?;
        let error = StoreError::from(error);
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        Some((*space, format!("{error}{cause}")))
    })
}

struct Check<'a> {
    shared: &'a Shared,
    view: &'a dyn View,
    findings: Findings,
}

impl Check<'_> {
    fn urls(&mut self, counters: &Counters) {
        let mut found = Counters::default();
        for entry in numbered::<UrlId, UrlRecord>(self.view, Space::Urls, Vec::new(), UrlId::from_key) {
            let (id, record) = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.findings.add_error("urls", &error);
                    continue;
                }
            };
            *found.standing(record.standing) += 1;
            found.urls += 1;
            let key = url_key(self.shared.seed, &record.url);
            match self.view.get(Space::UrlKeys, &key) {
                Ok(Some(value)) if value == id.key() => {}
                Ok(_) => self.findings.add("url-keys", format!("{} is not found by its hash", record.url)),
                Err(error) => self.findings.add_error("url-keys", &error.into()),
            }
        }
        self.findings.urls = found.urls;
        self.compare("urls", "URLs", found.urls, counters.urls);
        self.compare("urls", "URLs waiting", found.waiting, counters.waiting);
        self.compare("urls", "URLs kept", found.kept, counters.kept);
        self.compare("urls", "URLs refused", found.refused, counters.refused);
        self.compare("urls", "URLs discarded", found.discarded, counters.discarded);
        let keys = self.view.scan(Space::UrlKeys, KeyRange::all(), Direction::Forward).count() as u64;
        self.compare("url-keys", "hashes of URLs", keys, counters.urls);
    }

    fn pages(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in
            numbered::<PageNumber, PageRecord>(self.view, Space::Pages, Vec::new(), PageNumber::from_key)
        {
            match entry {
                Ok((page, record)) => self.page(page, &record),
                Err(error) => self.findings.add_error("pages", &error),
            }
            count += 1;
        }
        self.findings.pages = count;
        self.compare("pages", "pages", count, counters.pages);
    }

    fn page(&mut self, page: PageNumber, record: &PageRecord) {
        let number = page.0;
        match crate::all_urls::read::<UrlRecord>(self.view, Space::Urls, &record.url.key()) {
            Ok(None) => self.findings.add("pages", format!("page {number} has a URL that is not known")),
            Ok(Some(url)) => {
                if let Standing::Kept(kept) = url.standing
                    && kept != page
                {
                    self.findings.add("pages", format!("page {number}: its URL is kept as page {}", kept.0));
                }
            }
            Err(error) => self.findings.add_error("urls", &error),
        }
        let Some(place) = record.place else { return };
        match self.view.get(Space::Places, &place_key(place)) {
            Ok(Some(key)) if parse_version_key(&key).is_some_and(|(found, _)| found == page) => {}
            Ok(_) => {
                self.findings.add("pages", format!("page {number}: its response is not among its versions"));
            }
            Err(error) => self.findings.add_error("places", &error.into()),
        }
    }

    fn sites(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in crate::sites::Sites(self.view).from(SiteNumber(0)) {
            match entry {
                Ok((number, record)) => match crate::sites::Sites(self.view).find(&record.site) {
                    Ok(Some(found)) if found == number => {}
                    Ok(_) => {
                        self.findings.add("site-names", format!("{} is not found by its name", record.site));
                    }
                    Err(error) => self.findings.add_error("site-names", &error),
                },
                Err(error) => self.findings.add_error("sites", &error),
            }
            count += 1;
        }
        self.compare("sites", "sites", count, counters.sites);
    }

    fn links(&mut self, counters: &Counters) {
        for entry in crate::links::Links(self.view).from(PageNumber(0)) {
            match entry {
                Ok((page, targets)) => {
                    if targets.last().is_some_and(|last| u64::from(last.0) >= counters.urls) {
                        self.findings
                            .add("links", format!("page {} links to a URL that is not known", page.0));
                    }
                }
                Err(error) => self.findings.add_error("links", &error),
            }
        }
    }

    /// Reads every segment to its end.
    fn segments(&mut self) {
        for entry in segments(self.view) {
            match entry {
                Ok((number, record)) => self.segment(number, &record),
                Err(error) => self.findings.add_error("segments", &error),
            }
        }
    }

    fn segment(&mut self, number: u32, record: &SegmentRecord) {
        let directory = self.shared.collection();
        let path = directory.join(segment::file_name(number));
        let name = relative(&path, &self.shared.directory);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) => {
                let holds = self.held(number, 0..u64::MAX);
                return self.findings.add_loss(name, format!("it cannot be read: {error}"), holds);
            }
        };
        if length < record.bytes {
            let problem = format!("it has {length} bytes, and {} count", record.bytes);
            self.findings.add_loss(&name, problem, self.held(number, length..u64::MAX));
        } else if record.closed && length > record.bytes {
            self.findings.add(&name, format!("it has {length} bytes, and only {} count", record.bytes));
        } else if length > record.bytes {
            let surplus = length - record.bytes;
            self.findings.leftovers.push(format!("{name}: {surplus} bytes that no commit knows of"));
        }
        let mut records = match SegmentRecords::open(&directory, number, record.bytes) {
            Ok(records) => records,
            Err(error) => return self.findings.add_error(&name, &error),
        };
        let (mut versions, mut of_pages, mut lines) = (0, 0, 0_u64);
        loop {
            let from = records.offset();
            let Some(entry) = records.next() else { break };
            self.findings.records += 1;
            let (place, warc) = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.findings.add_loss(&name, error.to_string(), self.held(number, from..from + 1));
                    return;
                }
            };
            if matches!(warc.kind(), "response" | "revisit") {
                versions += 1;
                lines = lines.wrapping_add(line_hash(&warc, place));
                of_pages += u64::from(self.is_version(&name, place, &warc));
            }
            let digest = warc.payload_digest();
            if warc.kind() == "response" && digest != Some(sha1(warc.http().1)) {
                self.findings.add(&name, format!("the payload at byte {} has another digest", place.offset));
            }
        }
        self.compare(&name, "versions", versions, record.versions);
        let known =
            self.view.scan(Space::Places, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward);
        self.compare(&name, "versions of pages", of_pages, known.count() as u64);
        if record.indexed {
            self.index(number, lines);
        } else {
            self.kept_lines(number, lines);
            self.unfinished_index(number);
        }
    }

    /// The index of the segment that is appended to is written at a clean stop: it has the lines that there were then.
    fn unfinished_index(&mut self, number: u32) {
        let path = self.shared.collection().join(segment::index_name(number));
        let name = relative(&path, &self.shared.directory);
        let is_clean = crate::synced::read(&self.shared.directory).is_ok_and(|synced| synced.clean);
        let Ok(bytes) = fs::read(&path) else {
            if is_clean {
                self.findings.add(name, "it cannot be read");
            }
            return;
        };
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let ends = lines.pop_if(|last| last.is_empty()).is_some() || bytes.is_empty();
        let is_kept = |line: &&[u8]| {
            let key = [&number.to_be_bytes(), *line].concat();
            matches!(self.view.get(Space::Index, &key), Ok(Some(_)))
        };
        let are_kept = lines.iter().all(is_kept) && lines.is_sorted() && ends;
        let kept = self.view.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward);
        if !are_kept || is_clean && kept.count() != lines.len() {
            self.findings.add(name, "it is damaged: its lines are not those of the segment's records");
        }
    }

    /// The versions that stand in these bytes of a segment, in words.
    fn held(&self, number: u32, bytes: Range<u64>) -> String {
        const NAMED: usize = 3;
        let from = place_key(Place { segment: number, offset: bytes.start, length: 0 }).to_vec();
        let to = match bytes.end {
            u64::MAX => KeyRange::prefix(&number.to_be_bytes()).to,
            end => Some(place_key(Place { segment: number, offset: end, length: 0 }).to_vec()),
        };
        let mut versions = 0_u64;
        let mut named = Vec::new();
        for entry in self.view.scan(Space::Places, KeyRange { from, to }, Direction::Forward) {
            let Ok((_, key)) = entry else { break };
            versions += 1;
            if named.len() < NAMED {
                named.extend(parse_version_key(&key).and_then(|(page, time)| self.version_name(page, time)));
            }
        }
        match versions {
            0 => "no version of a page".to_owned(),
            1 => format!("1 version: {}", named.join(", ")),
            _ => format!("{versions} versions: {}, ...", named.join(", ")),
        }
    }

    fn version_name(&self, page: PageNumber, time: freshet_protocol::time::Timestamp) -> Option<String> {
        let record: PageRecord = crate::all_urls::read(self.view, Space::Pages, &page.key()).ok()??;
        let url: UrlRecord = crate::all_urls::read(self.view, Space::Urls, &record.url.key()).ok()??;
        Some(format!("{} of {}", url.url, time.iso()))
    }

    /// Whether the lines that are kept of a segment are those that its records give: their hashes have the same sum.
    fn kept_lines(&mut self, number: u32, expected: u64) {
        let mut sum = 0_u64;
        for entry in self.view.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward)
        {
            match entry {
                Ok((key, _)) => sum = sum.wrapping_add(xxh3_64(key.get(4..).unwrap_or_default())),
                Err(error) => return self.findings.add_error("index", &error.into()),
            }
        }
        if sum != expected {
            let problem = format!("the lines of segment {number} are not those of its records");
            self.findings.add("index", problem);
        }
    }

    /// Whether this record is a version of a page; that it is the one that the page has.
    fn is_version(&mut self, name: &str, place: Place, warc: &WarcRecord) -> bool {
        let Ok(Some(key)) = self.view.get(Space::Places, &place_key(place)) else {
            return false;
        };
        let Some((page, time)) = parse_version_key(&key) else {
            self.findings.add("places", "a version has a key of the wrong length");
            return true;
        };
        match Versions(self.view).get(page, time) {
            Ok(Some(version)) => {
                let full = version.kind == VersionKind::Full;
                let same = version.place == place && warc.time() == Some(time);
                if !same || full != (warc.kind() == "response") {
                    let problem = format!(
                        "the record at byte {} is not the version that page {} has",
                        place.offset, page.0
                    );
                    self.findings.add(name, problem);
                }
            }
            Ok(None) => self.findings.add("versions", format!("page {} has none at {}", page.0, time.iso())),
            Err(error) => self.findings.add_error("versions", &error),
        }
        true
    }

    /// Whether the index has the lines that the records give: their hashes have the same sum.
    fn index(&mut self, number: u32, expected: u64) {
        let path = self.shared.collection().join(segment::index_name(number));
        let name = relative(&path, &self.shared.directory);
        match fs::read(&path) {
            Ok(bytes) => {
                let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
                // What stands after the last line feed is no line.
                lines.pop_if(|last| last.is_empty());
                let sum = lines.iter().fold(0_u64, |sum, line| sum.wrapping_add(xxh3_64(line)));
                if sum != expected || !lines.is_sorted() {
                    self.findings
                        .add(name, "it is damaged: its lines are not those of the segment's records");
                }
            }
            Err(error) => self.findings.add(name, format!("it cannot be read: {error}")),
        }
    }

    fn versions(&mut self, counters: &Counters) {
        let mut count = 0;
        for entry in self.view.scan(Space::Versions, KeyRange::all(), Direction::Forward) {
            count += 1;
            if let Err(error) =
                entry.map_err(StoreError::from).and_then(|(key, value)| self.version(&key, &value))
            {
                self.findings.add_error("versions", &error);
            }
        }
        self.compare("versions", "versions", count, counters.versions);
        let places = self.view.scan(Space::Places, KeyRange::all(), Direction::Forward).count() as u64;
        self.compare("places", "places", places, counters.versions);
    }

    fn version(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let record = VersionRecord::decode(value).map_err(StoreError::corrupt(Space::Versions, key))?;
        if self.view.get(Space::Places, &place_key(record.place))?.as_deref() != Some(key) {
            let problem = format!("the version {} stands where none is known", hexadecimal(key));
            self.findings.add("versions", problem);
        }
        Ok(())
    }

    fn history(&mut self, reader: &Reader, counters: &Counters, mut logged: LoggedVisits) {
        let directory = self.shared.history();
        let files = match registered(self.view) {
            Ok(files) => files,
            Err(error) => return self.findings.add_error("files", &error),
        };
        let mut whole = true;
        let mut settled = 0;
        let lost = match lost_visits::read(self.view) {
            Ok(lost) => lost,
            Err(error) => return self.findings.add_error("notes", &error),
        };
        for (name, record) in files {
            let path = directory.join(&name);
            match read_file(&path) {
                Ok(summary) => {
                    let name = relative(&path, &self.shared.directory);
                    self.compare(&name, "rows", summary.rows, record.rows);
                    if checksum(&path).ok() != Some(record.checksum) {
                        let problem = "it is damaged: its checksum is another one";
                        self.findings.add_loss(&name, problem, held_by_file(&record));
                    }
                    if !summary.sorted {
                        self.findings.add(name, "it is not sorted");
                    }
                    settled += summary.rows;
                }
                Err(error) => {
                    whole = false;
                    let name = relative(&path, &self.shared.directory);
                    let cause =
                        std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
                    self.findings.add_loss(name, format!("{error}{cause}"), held_by_file(&record));
                }
            }
        }
        if !whole {
            return;
        }
        let lost_count: u64 = lost.iter().map(|range| range.end - range.start).sum();
        self.compare("files", "visits in files", settled + lost_count, counters.settled);
        let mut seen = vec![false; usize::try_from(counters.visits).unwrap_or(0)];
        let (mut doubled, mut kinds) = (Vec::new(), vec![0; VisitKind::ALL.len()]);
        let mut altered = 0_u64;
        let read = reader.for_each_visit(&VisitQuery::all(), |visit| {
            kinds[visit.row.kind as usize] += 1_u64;
            let expected = logged.remove(&visit.number);
            altered += u64::from(expected.is_some_and(|expected| expected != xxh3_64(&visit.row.encode())));
            match seen.get_mut(visit.number as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => doubled.push(visit.number),
            }
        });
        if let Err(error) = read {
            return self.findings.add_error("visits", &error);
        }
        if altered > 0 || !logged.is_empty() {
            let problem =
                format!("of the visits in the log {} are missing and {altered} are others", logged.len());
            self.findings.add("history", problem);
        }
        self.findings.visits = seen.iter().filter(|seen| **seen).count() as u64;
        doubled
            .iter()
            .for_each(|number| self.findings.add("visits", format!("visit {number} is there twice")));
        self.compare("visits", "visits", self.findings.visits + lost_count, counters.visits);
        for kind in VisitKind::ALL {
            self.compare("visits", kind.word(), kinds[*kind as usize], counters.of_kind(*kind));
        }
    }

    fn compare(&mut self, place: &str, what: &str, found: u64, expected: u64) {
        if found != expected {
            self.findings.add(place, format!("{what}: {found} are there, {expected} should be"));
        }
    }
}

/// What a file of the History holds, in words.
fn held_by_file(record: &FileRecord) -> String {
    format!("{} visits from {} to {}", record.rows, record.first.iso(), record.last.iso())
}

/// The hash of the line that a record has in the index; 0 if it has none.
fn line_hash(record: &WarcRecord, place: Place) -> u64 {
    let (Some(time), Some(digest)) = (record.time(), record.payload_digest()) else {
        return 0;
    };
    let line = IndexLine::of(record, time, &digest, place).text();
    if line.len() <= LINE_BYTES_MAX { xxh3_64(line.as_bytes()) } else { 0 }
}

pub(crate) fn relative(path: &Path, directory: &Path) -> String {
    let path: PathBuf = path.strip_prefix(directory).unwrap_or(path).to_path_buf();
    path.display().to_string()
}
