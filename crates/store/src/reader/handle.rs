//! The read handle of a store, for any thread.
//!
//! # Promises
//! - A reader sees committed data only.
//! - Readers do not block the writer, and the writer does not block readers.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;

use crate::all_urls::{AllUrls, UrlRecord};
use crate::coll_urls::{CollUrls, PageRecord};
use crate::collection::StoredResponse;
use crate::collection::reading::{read_record, read_response};
use crate::collection::warc::WarcRecord;
use crate::counters::Counters;
use crate::directory::lock::Lock;
use crate::directory::readers::Reading;
use crate::error::StoreError;
use crate::history::columns::NumberedVisit;
use crate::history::{VisitOutcome, VisitQuery, query};
use crate::identity::{IDENTITY, Identity};
use crate::key_value::{Direction, KeyRange, Readable, Space};
use crate::links::Links;
use crate::opening::moment::latest_moment;
use crate::reader::scratch::Scratch;
use crate::sites::{SiteRecord, Sites};
use crate::startup_index::{Piece, Reach, StartupIndex};
use crate::versions::{Version, Versions};

/// The parts of a store that its writer and its readers share.
pub(crate) struct Shared {
    pub(crate) directory: PathBuf,
    pub(crate) view: Arc<dyn Readable>,
    pub(crate) seed: u64,
    /// Number of durable visits: those with lower numbers. Visits beyond it must not be published.
    pub(crate) durable_visits: AtomicU64,
    // Last, so that it is released after the state is closed.
    pub(crate) _hold: Hold,
}

/// What is held while a store is open.
pub(crate) enum Hold {
    /// The lock of the process that writes.
    Lock(#[expect(dead_code, reason = "it is held, not looked at")] Lock),
    /// A reader's copy of the state.
    Copy(
        #[expect(dead_code, reason = "it is held, not looked at")] Scratch,
        #[expect(dead_code, reason = "it is held, not looked at")] Reading,
    ),
}

impl Shared {
    pub(crate) fn collection(&self) -> PathBuf {
        self.directory.join("collection")
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.directory.join("history")
    }
}

/// The disk space that a store takes, in bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DiskUse {
    /// The key-value store, approximately.
    pub state: u64,
    /// The Collection.
    pub collection: u64,
    /// The History.
    pub history: u64,
    /// The limit on the Collection, if there is one.
    pub collection_limit: Option<u64>,
}

/// A handle to read the store. While the store is open for writing, every handle keeps its directory locked.
#[derive(Clone)]
pub struct Reader {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("directory", &self.shared.directory).finish()
    }
}

impl Reader {
    /// The directory of the store.
    pub fn directory(&self) -> &Path {
        &self.shared.directory
    }

    /// Whether the visit with this number is durable, so that it can be published.
    pub fn is_durable(&self, visit: u64) -> bool {
        visit < self.durable_visits()
    }

    /// Number of durable visits, which can be published: those below this number.
    pub fn durable_visits(&self) -> u64 {
        self.shared.durable_visits.load(Ordering::Acquire)
    }

    /// Opens the start-up index of this store read-only. `form` is the caller's version of the contents.
    /// Every piece is passed to `each`, which returns whether to accept it.
    pub fn startup_index(&self, form: u32, each: impl FnMut(&Piece<'_>) -> bool) -> StartupIndex {
        let identity = crate::records::read(self.shared.view.as_ref(), Space::Meta, IDENTITY);
        let id = identity.ok().flatten().map_or([0; 16], |identity: Identity| identity.id);
        let reach = self.counters().map_or(Reach::default(), |counters| Reach::of(&counters));
        StartupIndex::look(&self.shared.directory, id, form, reach, each)
    }

    /// The disk space that the store takes; for the state an approximation.
    pub fn disk_use(&self) -> Result<DiskUse, StoreError> {
        let counters = self.counters()?;
        Ok(DiskUse {
            state: bytes_within(&self.shared.directory.join("state")),
            collection: counters.collection_bytes,
            history: counters.history_bytes,
            collection_limit: None,
        })
    }

    /// The counters.
    pub fn counters(&self) -> Result<Counters, StoreError> {
        let counters = crate::records::read(self.shared.view.as_ref(), Space::Meta, b"counters")?;
        Ok(counters.unwrap_or_default())
    }

    /// AllUrls.
    pub fn all_urls(&self) -> AllUrls<'_> {
        AllUrls::new(self.shared.view.as_ref(), self.shared.seed)
    }

    /// CollUrls.
    pub fn coll_urls(&self) -> CollUrls<'_> {
        CollUrls(self.shared.view.as_ref())
    }

    /// The sites.
    pub fn all_sites(&self) -> Sites<'_> {
        Sites(self.shared.view.as_ref())
    }

    /// The links.
    pub fn all_links(&self) -> Links<'_> {
        Links(self.shared.view.as_ref())
    }

    /// The versions.
    pub fn all_versions(&self) -> Versions<'_> {
        Versions(self.shared.view.as_ref())
    }

    /// The number of a URL, if it is known.
    pub fn url_id(&self, url: &str) -> Result<Option<UrlId>, StoreError> {
        self.all_urls().find(url)
    }

    /// The record of a URL.
    pub fn url(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError> {
        self.all_urls().get(id)
    }

    /// The record of a page.
    pub fn page(&self, page: PageNumber) -> Result<Option<PageRecord>, StoreError> {
        self.coll_urls().get(page)
    }

    /// The number of a site, by scheme and authority.
    pub fn site_number(&self, site: &str) -> Result<Option<SiteNumber>, StoreError> {
        self.all_sites().find(site)
    }

    /// The record of a site.
    pub fn site(&self, site: SiteNumber) -> Result<Option<SiteRecord>, StoreError> {
        self.all_sites().get(site)
    }

    /// All URLs, ordered by number.
    pub fn urls(&self) -> impl Iterator<Item = Result<(UrlId, UrlRecord), StoreError>> {
        self.all_urls().from(UrlId(0))
    }

    /// All pages, ordered by number.
    pub fn pages(&self) -> impl Iterator<Item = Result<(PageNumber, PageRecord), StoreError>> {
        self.coll_urls().from(PageNumber(0))
    }

    /// All sites, ordered by number.
    pub fn sites(&self) -> impl Iterator<Item = Result<(SiteNumber, SiteRecord), StoreError>> {
        self.all_sites().from(SiteNumber(0))
    }

    /// The URLs that a page links to, sorted; empty if its links are unknown.
    pub fn links(&self, page: PageNumber) -> Result<Vec<UrlId>, StoreError> {
        Ok(self.all_links().get(page)?.unwrap_or_default())
    }

    /// The versions of a page, the oldest first.
    pub fn versions(&self, page: PageNumber) -> Result<Vec<Version>, StoreError> {
        self.all_versions().of(page).collect()
    }

    /// The version of a page at a time: the newest one not later.
    pub fn version_at(&self, page: PageNumber, time: Timestamp) -> Result<Option<Version>, StoreError> {
        self.all_versions().at(page, time)
    }

    /// The response with the bytes of a page at a time. For a revisit it is the full response that the
    /// revisit refers to.
    pub fn response_at(
        &self,
        page: PageNumber,
        time: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let Some(version) = self.all_versions().full_at(page, time)? else {
            return Ok(None);
        };
        match self.read_version(version.record.place) {
            // The record may have been moved after it was looked up, so look it up once more.
            Err(StoreError::Dropped { .. }) => match self.all_versions().full_at(page, time)? {
                Some(version) => self.read_version(version.record.place).map(Some),
                None => Ok(None),
            },
            other => other.map(Some),
        }
    }

    /// The response at a place: head and body of a full response, the head alone of a revisit.
    pub fn read_version(&self, place: Place) -> Result<StoredResponse, StoreError> {
        read_response(&self.shared.collection(), place)
    }

    /// The record at a place, with all its fields.
    pub fn read_record(&self, place: Place) -> Result<WarcRecord, StoreError> {
        read_record(&self.shared.collection(), place)
    }

    /// The matching visits, ordered by time. All are held in memory; see also [`Self::for_each_visit`].
    pub fn visits(&self, query: &VisitQuery) -> Result<Vec<NumberedVisit>, StoreError> {
        query::visits(self.shared.view.as_ref(), &self.shared.history(), query)
    }

    /// Passes every matching visit to `each`, in no particular order.
    pub fn for_each_visit(
        &self,
        query: &VisitQuery,
        mut each: impl FnMut(NumberedVisit),
    ) -> Result<(), StoreError> {
        query::for_each(self.shared.view.as_ref(), &self.shared.history(), query, &mut each)
    }

    /// Passes the outcome of every visit to `each`, in no particular order. Reads only the columns
    /// of outcomes.
    pub fn for_each_outcome(&self, mut each: impl FnMut(VisitOutcome<'_>)) -> Result<(), StoreError> {
        query::for_each_outcome(self.shared.view.as_ref(), &self.shared.history(), &mut each)
    }

    /// The latest time of an exchange or a visit in the store; none if there are none.
    pub fn latest_moment(&self) -> Result<Option<Timestamp>, StoreError> {
        latest_moment(self.shared.view.as_ref())
    }

    /// The value of a user command, if it is active.
    pub fn command(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared.view.get(Space::Commands, name.as_bytes())?)
    }

    /// The value stored under a name by [`crate::changes::Changes::notes`].
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared.view.get(Space::Notes, name.as_bytes())?)
    }

    /// The names and values of the notes with this prefix.
    pub fn notes(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.shared
            .view
            .scan(Space::Notes, KeyRange::prefix(prefix.as_bytes()), Direction::Forward)
            .map(|entry| {
                let (key, value) = entry?;
                Ok((String::from_utf8_lossy(&key).into_owned(), value))
            })
            .collect()
    }
}

/// Disk usage of the files below a folder in bytes, without holes.
fn bytes_within(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => bytes_within(&entry.path()),
            Ok(found) => 512 * found.blocks(),
            Err(_) => 0,
        })
        .sum()
}
