//! The in-memory state of a crawl besides its stores: restored from them when the crawl is opened, for the
//! writer or for queries only.
//!
//! # Promises
//! - Nothing is written here.

use std::collections::{BTreeSet, HashMap};
use std::thread;

use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord};
use freshet_store::coll_urls::PageRecord;
use freshet_store::counters::Counters;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;
use freshet_store::sites::SiteRecord;
use freshet_store::startup_index::{Piece, StartupIndex};

use super::admission::Admission;
use super::dates::{Dates, LIST_EVERY, interval_of, is_silence_believed};
use super::duplicates::Duplicates;
use super::known::{Gathered, Known};
use super::readings::{ListReadings, recall_readings};
use super::recall::{Copies, Past, PastPage, PastPages, Recalled, recall, recall_pages, recall_some_pages};
use super::startup_index::{FORM, Notebook};
use super::writer_thread::{Discovery, REDIRECTS_MAX};
use crate::event::Event;
use crate::status::Status;

/// Maximum number of sites with troubles in a status.
const TROUBLES: usize = 20;
/// Maximum number of lines about troubles by kind in a status.
const MET_LINES: usize = 100;

/// The in-memory state of a crawl.
pub struct Memory {
    pub(super) reader: Reader,
    pub(super) admission: Admission,
    pub(super) known: Known,
    pub(super) site_numbers: HashMap<String, SiteNumber>,
    pub(super) sites: Vec<SiteRecord>,
    /// Page records that the next commit will write.
    pub(super) pending_pages: HashMap<PageNumber, PageRecord>,
    /// URL records that the next commit will write.
    pub(super) pending_urls: HashMap<UrlId, UrlRecord>,
    pub(super) duplicates: Duplicates,
    /// The pages that were kept when the stores were opened, until they are replayed; then none.
    pub(super) past: Option<Past>,
    pub(super) dates: Dates,
    pub(super) event: Vec<Event>,
}

impl Memory {
    /// Restores the state from the stores. `startup_index` opens the start-up index and passes each of its
    /// pieces to the given function.
    pub(super) fn recall(
        reader: &Reader,
        mut admission: Admission,
        startup_index: impl FnOnce(&mut dyn FnMut(&Piece<'_>) -> bool) -> StartupIndex + Send,
    ) -> Result<(Self, Notebook), StoreError> {
        let mut known = Gathered::with_room_for(reader.counters()?.urls as usize);
        let mut seeds = Vec::new();
        let (pages, recalled) = thread::scope(|scope| {
            let pages = scope.spawn(|| recall_pages(reader));
            let recalled = recall(reader, startup_index, |id, url| {
                known.add(url.hash, id);
                if let Some(traits) = &url.traits {
                    admission.replay(traits);
                }
                if url.is_seed {
                    seeds.push(id);
                }
            });
            (pages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), recalled)
        });
        let (PastPages { duplicates, pages, hot }, Recalled { notebook, paths }) = (pages?, recalled?);
        for seed in seeds {
            if let Some(url) = reader.url(seed)?.and_then(|record| PageUrl::stored(&record.url)) {
                admission.add_seed(&url);
            }
        }
        let mut memory = Self {
            reader: reader.clone(),
            admission,
            known: known.known(),
            site_numbers: HashMap::new(),
            sites: Vec::new(),
            pending_pages: HashMap::new(),
            pending_urls: HashMap::new(),
            duplicates,
            past: Some(Past { paths, pages, altered: BTreeSet::new() }),
            dates: Dates::default(),
            event: Vec::new(),
        };
        for entry in reader.sites() {
            let (site, record) = entry?;
            memory.site_numbers.insert(record.site.clone(), site);
            memory.sites.push(record);
        }
        for url in hot {
            memory.store_likeness(url)?;
        }
        Ok((memory, notebook))
    }

    /// Restores the state for queries only.
    pub fn of(reader: &Reader, admission: Admission) -> Result<Self, StoreError> {
        Ok(Self::recall(reader, admission, |each| reader.startup_index(FORM, each))?.0)
    }

    /// Reports every site, and every page that waits for a visit or is pinned, to `tell`. Returns what is
    /// needed to replay visits, and the last readings of lists, oldest first, to be replayed at their time.
    pub fn tell_all(
        &mut self,
        now: Timestamp,
        mut tell: impl FnMut(Event),
    ) -> Result<(Copies, ListReadings), StoreError> {
        let Past { paths, mut pages, altered } = self.past.take().unwrap_or_default();
        pages.retain(|page| !altered.contains(&page.number()));
        pages.append(&mut recall_some_pages(&self.reader, &altered)?);
        let mut copies = Copies::new(paths);
        let mut readings = recall_readings(&self.reader)?;
        // Drop readings from before their site was known, or from the future.
        readings.retain(|(_, reading)| {
            let site = self.sites.get(reading.head.site.index());
            site.is_some_and(|site| (site.first_seen..=now).contains(&reading.time()))
        });
        let last_read: HashMap<SiteNumber, Timestamp> =
            readings.iter().map(|(_, reading)| (reading.head.site, reading.time())).collect();
        let every: HashMap<&str, i64> =
            readings.iter().map(|(list, reading)| (&**list, interval_of(reading.head.every))).collect();
        for (site, record) in self.sites.iter().enumerate() {
            let site = SiteNumber(site as u32);
            tell(Event::Site { site, record: Box::new(record.clone()) });
            if is_silence_believed(record) {
                copies.believe(site, last_read.get(&site).copied());
            }
            for list in &record.lists {
                if let Some(url) = PageUrl::stored(&list.url) {
                    let every = every.get(list.url.as_str()).copied();
                    // If a sitemap is trusted and its last reading was not stored, it is read at once.
                    let is_lost = every.is_none() && !list.feed && is_silence_believed(record);
                    let fetched = list.fetched.filter(|_| !is_lost);
                    let due = fetched.map(|fetched| fetched.plus_millis(every.unwrap_or(LIST_EVERY)));
                    tell(Event::List { site, url, due: due.unwrap_or(record.first_seen) });
                }
            }
        }
        for page in pages {
            match page {
                PastPage::Kept { page, site, importance } => copies.add(page, site, importance),
                PastPage::Waits { page, site, url: id } => {
                    let url = self.reader.url(id)?;
                    let priority = url.map_or(0.0, |url| self.admission.priority(id, &url));
                    tell(Event::Admitted { page, site, priority });
                }
                PastPage::Told { event, .. } => tell(*event),
            }
        }
        Ok((copies, readings))
    }

    /// The record of a page, including changes that are not committed yet.
    pub(super) fn page(&self, page: PageNumber) -> Result<Option<PageRecord>, StoreError> {
        match self.pending_pages.get(&page) {
            Some(record) => Ok(Some(record.clone())),
            None => self.reader.page(page),
        }
    }

    /// The record of a URL, including changes that are not committed yet.
    pub(super) fn url(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError> {
        match self.pending_urls.get(&id) {
            Some(record) => Ok(Some(record.clone())),
            None => self.reader.url(id),
        }
    }

    /// Whether a URL is known.
    pub fn knows(&self, url: &PageUrl) -> bool {
        self.known.get(url.as_str()).is_some()
    }

    /// Whether a URL has a kept page.
    pub(crate) fn keeps(&self, url: &PageUrl) -> Result<bool, StoreError> {
        Ok(self.page_of(url)?.is_some())
    }

    /// The page of a URL, if it is kept.
    pub(super) fn page_of(&self, url: &PageUrl) -> Result<Option<PageNumber>, StoreError> {
        let Some(id) = self.known.get(url.as_str()) else { return Ok(None) };
        Ok(self.url(id)?.and_then(|record| match record.standing {
            Standing::Kept(page) => Some(page),
            _ => None,
        }))
    }

    /// Number of redirects that led to the URL.
    pub(super) fn redirects_before(&self, found: &Discovery<'_>) -> Result<usize, StoreError> {
        let (mut redirects, mut at) = (usize::from(found.source == Source::Redirect), found.found_on);
        while found.source == Source::Redirect
            && redirects <= REDIRECTS_MAX
            && let Some(id) = at
            && let Some(record) = self.url(id)?
            && record.source == Source::Redirect
        {
            redirects += 1;
            at = record.found_on;
        }
        Ok(redirects)
    }

    /// Adds what is known to a status.
    pub(crate) fn show(&self, counters: &Counters, status: &mut Status) {
        status.count(counters);
        status.traps = self.admission.traps_cut();
        status.met = self.met(MET_LINES);
        let troubled = self.sites.iter().filter(|site| !site.trouble.is_empty());
        status.troubles =
            troubled.take(TROUBLES).map(|site| (site.site.clone(), site.trouble.clone())).collect();
    }
}
