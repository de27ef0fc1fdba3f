//! Importer: turns the files of other programs into URLs, visits and versions of the stores.
//!
//! Captures of WARC files are imported in order of time, across all files, as if we had made the visits then:
//! each is compared with the copy before it, stored as a version, and its links are followed. An index has no
//! content: its captures become visits, and a different digest means a change.
//!
//! # Promises
//! - Only captures later than the last known visit to their page are imported. So importing a file twice
//!   changes nothing.
//! - What cannot be read is counted and named. What was read before it is kept.
//!
//! # Departures
//! Records within one large gzip member cannot be read in another order. The captures of such files are
//! imported in file order.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use freshet_fetch::page::PageUrl;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::sitemap;
use freshet_fetch::web::{Answer, Fetch, Web};
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::history::VisitKind;
use freshet_store::store::Store;

use super::cdx::{CdxColumns, CdxEntry, LINE_BYTES_MAX};
use super::file_kind::FileKind;
use super::http_message;
use super::warc_file::{ForeignRecord, WarcFault, WarcFile};
use crate::clock::Clock;
use crate::crawl_module::CrawlModule;
use crate::opening::CrawlError;
use crate::settings::Settings;
use crate::visit::{Finding, PageVisit, Reason, Visit};
use crate::writer::{Admission, ImportedVisit, Writer};

/// Number of visits per commit.
const VISITS_PER_COMMIT: usize = 256;
/// Number of URLs of lists per commit.
const URLS_PER_COMMIT: usize = 4_096;

/// Maximum size of a sitemap file, as stored, in bytes.
const SITEMAP_BYTES_MAX: u64 = 64 << 20;

/// The result of an import.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Imported {
    /// URLs of lists and sitemaps.
    pub urls: u64,
    /// Imported visits.
    pub visits: u64,
    /// Imported visits with content.
    pub with_content: u64,
    /// Number of items that were left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Files that could not be read to their end, and why.
    pub faults: Vec<String>,
}

impl Imported {
    fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }
}

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be opened or read.
    #[error("cannot read {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The crawl cannot be opened or written.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The stores refused an operation.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Location of a capture that can be read again on its own.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Capture {
    time: Timestamp,
    file: usize,
    offset: u64,
}

/// Imports files into a crawl that does not run.
pub struct Importer {
    writer: Writer,
    module: CrawlModule,
    now: Timestamp,
    /// Pages with an uncommitted visit.
    in_step: HashSet<PageNumber>,
    /// Number of uncommitted URLs of lists.
    urls_in_step: usize,
    /// The last digest of each page in an index.
    digests: HashMap<PageNumber, String>,
    imported: Imported,
}

impl Importer {
    /// Opens the directory of a crawl, or creates one. Must be called within a tokio runtime.
    pub fn open(settings: &Settings, clock: Arc<Clock>) -> Result<Self, ImportError> {
        let web = Web::new(settings.web.clone()).map_err(CrawlError::from)?;
        let admission = Admission::new(settings).map_err(CrawlError::from)?;
        let store = Store::open(&settings.directory, settings.store())?;
        let reader = store.reader();
        let now = clock.now();
        let canonical = settings.canonical();
        let limits = Limits::default();
        let writer = Writer::new(store, admission)?;
        let module = CrawlModule::new(web, reader, canonical, clock, limits, settings.change.clone());
        let (in_step, digests) = (HashSet::new(), HashMap::new());
        Ok(Self { writer, module, now, in_step, urls_in_step: 0, digests, imported: Imported::default() })
    }

    /// Imports files, and closes the crawl.
    pub fn import(mut self, paths: &[PathBuf]) -> Result<Imported, ImportError> {
        let mut captures = Vec::new();
        for (file, path) in paths.iter().enumerate() {
            match kind_of(path)? {
                FileKind::Urls => self.take_urls(path)?,
                FileKind::Sitemap => self.take_sitemap(path)?,
                FileKind::Cdx => self.take_index(path)?,
                FileKind::Warc => self.survey(path, file, &mut captures)?,
            }
        }
        captures.sort_unstable();
        for capture in captures {
            self.take_capture(&paths[capture.file], capture.offset)?;
        }
        self.commit()?;
        self.writer.close(self.now)?;
        Ok(self.imported)
    }

    fn take_urls(&mut self, path: &Path) -> Result<(), ImportError> {
        for line in lines(path)? {
            let Some(line) = self.readable(path, line) else { break };
            let text = line.trim().trim_start_matches('\u{feff}');
            if !text.is_empty() && !text.starts_with('#') {
                self.take_url(text)?;
            }
        }
        Ok(())
    }

    fn take_url(&mut self, text: &str) -> Result<(), ImportError> {
        match self.module.canonical.of(text) {
            Ok(url) => self.know(&url, None),
            Err(refused) => {
                self.imported.leave_out(&format!("URLs that cannot be crawled: {refused}"));
                Ok(())
            }
        }
    }

    fn know(&mut self, url: &PageUrl, modified: Option<Timestamp>) -> Result<(), ImportError> {
        let is_page = self.writer.bring(url, modified, self.now)?.is_some();
        if is_page || self.writer.memory().knows(url) {
            self.imported.urls += 1;
        } else {
            self.imported.leave_out("URLs that the settings or the defence against traps leave out");
        }
        self.urls_in_step += 1;
        if self.urls_in_step >= URLS_PER_COMMIT { self.commit() } else { Ok(()) }
    }

    fn take_sitemap(&mut self, path: &Path) -> Result<(), ImportError> {
        let mut body = Vec::new();
        let file = File::open(path).map_err(failed(path))?;
        file.take(SITEMAP_BYTES_MAX).read_to_end(&mut body).map_err(failed(path))?;
        // The sitemap's own URL is unknown. A placeholder will do, since its URLs are absolute.
        let Ok(base) = self.module.canonical.of("http://sitemap.invalid/sitemap.xml") else { return Ok(()) };
        let read = sitemap::read(&base, None, &body, &self.module.canonical);
        for listed in &read.pages {
            self.know(&listed.url, listed.modified)?;
        }
        if !read.sitemaps.is_empty() {
            let fault = format!("{}: it lists other sitemaps, which must be imported too", path.display());
            self.imported.faults.push(fault);
        } else if read.is_cut {
            self.imported.faults.push(format!("{}: it breaks off, or is over the limits", path.display()));
        }
        Ok(())
    }

    fn take_index(&mut self, path: &Path) -> Result<(), ImportError> {
        let mut columns = CdxColumns::default();
        for line in lines(path)? {
            let Some(line) = self.readable(path, line) else { break };
            if let Some(named) = CdxColumns::of_header(&line) {
                columns = named;
            } else if let Some(entry) = columns.entry(&line) {
                self.take_entry(&entry)?;
            } else if !line.trim().is_empty() && !line.starts_with('!') {
                self.imported.leave_out("lines that are none of an index");
            }
        }
        Ok(())
    }

    fn take_entry(&mut self, entry: &CdxEntry) -> Result<(), ImportError> {
        let Some((url, page, record)) = self.page_for(&entry.url, entry.time)? else { return Ok(()) };
        let before = self.digests.get(&page);
        let is_same =
            entry.is_revisit || before.is_some_and(|digest| !digest.is_empty() && *digest == entry.digest);
        let kind = match entry.status {
            _ if record.visits == 0 && !matches!(entry.status, 0 | 200..=299) => {
                self.imported.leave_out("captures of errors and redirects before any content");
                return Ok(());
            }
            _ if record.visits == 0 => VisitKind::New,
            0 | 200..=299 | 304 if is_same => VisitKind::Unchanged,
            0 | 200..=299 => VisitKind::Changed,
            304 => VisitKind::NotModified,
            _ => VisitKind::Failed,
        };
        if matches!(kind, VisitKind::New | VisitKind::Changed) {
            self.digests.insert(page, entry.digest.clone());
        }
        self.writer.take_imported(&ImportedVisit {
            page,
            url: &url,
            time: entry.time,
            kind,
            status: entry.status,
        })?;
        self.count_visit(page)
    }

    /// Finds the captures of a WARC file. Captures that cannot be read again on their own are imported at
    /// once.
    fn survey(&mut self, path: &Path, file: usize, captures: &mut Vec<Capture>) -> Result<(), ImportError> {
        let source = BufReader::new(File::open(path).map_err(failed(path))?);
        let result = WarcFile::new(source, 0).and_then(|mut warc| {
            let mut within = Vec::new();
            while let Some(record) = warc.next_record()? {
                if !matches!(record.kind(), "response" | "revisit") {
                    continue;
                }
                match (record.time(), record.offset) {
                    (Some(time), Some(offset)) => captures.push(Capture { time, file, offset }),
                    (Some(_), None) => within.push(record),
                    (None, _) => self.imported.leave_out("records without a time"),
                }
                if within.len() >= VISITS_PER_COMMIT {
                    return Ok(Some((warc, within)));
                }
            }
            Ok((!within.is_empty()).then_some((warc, within)))
        });
        match result {
            Ok(None) => Ok(()),
            Ok(Some((warc, within))) => self.take_in_order(path, warc, within),
            Err(fault) => {
                self.imported.faults.push(format!("{}: {fault}", path.display()));
                Ok(())
            }
        }
    }

    /// Imports records in file order.
    fn take_in_order<R: io::BufRead>(
        &mut self,
        path: &Path,
        mut warc: WarcFile<R>,
        first: Vec<ForeignRecord>,
    ) -> Result<(), ImportError> {
        for record in first {
            self.take_record(&record)?;
        }
        loop {
            match warc.next_record() {
                Ok(Some(record)) if matches!(record.kind(), "response" | "revisit") => {
                    self.take_record(&record)?;
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(fault) => {
                    self.imported.faults.push(format!("{}: {fault}", path.display()));
                    return Ok(());
                }
            }
        }
    }

    fn take_capture(&mut self, path: &Path, offset: u64) -> Result<(), ImportError> {
        let mut file = File::open(path).map_err(failed(path))?;
        file.seek(SeekFrom::Start(offset)).map_err(failed(path))?;
        let read = WarcFile::new(BufReader::new(file), offset).and_then(|mut warc| warc.next_record());
        match read {
            Ok(Some(record)) => self.take_record(&record),
            Ok(None) => Ok(()),
            Err(fault) => {
                self.note_fault(path, &fault);
                Ok(())
            }
        }
    }

    fn take_record(&mut self, record: &ForeignRecord) -> Result<(), ImportError> {
        let Some(time) = record.time() else { return Ok(()) };
        let Some(response) = http_message::response(&record.block) else {
            self.imported.leave_out("records that hold no response of HTTP");
            return Ok(());
        };
        if record.is_cut {
            self.imported.leave_out("responses beyond 64 MiB");
            return Ok(());
        }
        let Some((url, page, known)) = self.page_for(record.url(), time)? else { return Ok(()) };
        let is_revisit = record.kind() == "revisit";
        if is_revisit && known.text_digest.is_none() {
            self.imported.leave_out("revisits without the response that they refer to");
            return Ok(());
        }
        let fetch = Fetch {
            started: time,
            address: record.field("WARC-IP-Address").and_then(|address| address.parse().ok()),
            request_head: Vec::new(),
            bytes_received: record.block.len() as u64,
            elapsed: Duration::ZERO,
            answer: Answer::Response(response),
        };
        let (finding, reading) = if is_revisit {
            (Finding::NotModified, None)
        } else {
            self.module.judge(&known, &url, &fetch)?
        };
        let reason = if known.visits == 0 { Reason::First } else { Reason::Refresh };
        let site = known.site;
        let (fetch, second, lesson) = (Some(fetch), None, None);
        let folded = None;
        let visit =
            PageVisit { page, site, url, reason, time, finding, fetch, reading, second, lesson, folded };
        self.writer.apply(Visit::Page(Box::new(visit)))?;
        self.imported.with_content += u64::from(!is_revisit);
        self.count_visit(page)
    }

    /// The page of a captured URL, if the capture is later than its last known visit.
    fn page_for(
        &mut self,
        text: &str,
        time: Timestamp,
    ) -> Result<Option<(PageUrl, PageNumber, PageRecord)>, ImportError> {
        let url = match self.module.canonical.of(text) {
            Ok(url) => url,
            Err(refused) => {
                self.imported.leave_out(&format!("URLs that cannot be crawled: {refused}"));
                return Ok(None);
            }
        };
        let Some((page, _)) = self.writer.bring(&url, None, time)? else {
            self.imported.leave_out("captures of URLs that are not kept");
            return Ok(None);
        };
        // A visit is compared with the copy before it, which must have been committed.
        if self.in_step.contains(&page) {
            self.commit()?;
        }
        let Some((page, record)) = self.writer.bring(&url, None, time)? else { return Ok(None) };
        if record.last_visit.is_some_and(|last| time <= last) {
            self.imported.leave_out("captures no later than the last known visit");
            return Ok(None);
        }
        Ok(Some((url, page, record)))
    }

    fn count_visit(&mut self, page: PageNumber) -> Result<(), ImportError> {
        self.imported.visits += 1;
        self.in_step.insert(page);
        if self.in_step.len() >= VISITS_PER_COMMIT { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), ImportError> {
        self.writer.commit()?;
        self.in_step.clear();
        self.urls_in_step = 0;
        Ok(())
    }

    fn note_fault(&mut self, path: &Path, fault: &WarcFault) {
        self.imported.faults.push(format!("{}: {fault}", path.display()));
    }

    /// A line of a file. On an error a fault is recorded.
    fn readable(&mut self, path: &Path, line: io::Result<String>) -> Option<String> {
        line.map_err(|error| self.imported.faults.push(format!("{}: {error}", path.display()))).ok()
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ImportError {
    move |source| ImportError::File { path: path.to_path_buf(), source }
}

fn kind_of(path: &Path) -> Result<FileKind, ImportError> {
    const START: u64 = 64 << 10;
    let mut start = Vec::new();
    let file = File::open(path).map_err(failed(path))?;
    file.take(START).read_to_end(&mut start).map_err(failed(path))?;
    Ok(FileKind::of(&start))
}

/// The lines of a file, decompressed if needed. Lines that are too long are returned empty.
fn lines(path: &Path) -> Result<impl Iterator<Item = io::Result<String>>, ImportError> {
    let mut file = BufReader::new(File::open(path).map_err(failed(path))?);
    let is_packed = file.fill_buf().map_err(failed(path))?.starts_with(&[0x1f, 0x8b]);
    let mut reader: Box<dyn io::BufRead> =
        if is_packed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    Ok(std::iter::from_fn(move || next_line(&mut reader).transpose()))
}

fn next_line(reader: &mut Box<dyn io::BufRead>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let count = reader.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    if count == 0 {
        return Ok(None);
    }
    if line.len() > LINE_BYTES_MAX {
        // Skip the rest of the line piece by piece.
        while !line.ends_with(b"\n") {
            line.clear();
            if reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)? == 0 {
                break;
            }
        }
        return Ok(Some(String::new()));
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
}
