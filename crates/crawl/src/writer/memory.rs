//! What a crawl knows beside its stores: read back from them when it is opened, to be written or only to be asked.
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

/// Sites with trouble that a status names.
const TROUBLES: usize = 20;
/// Lines of a status that tell what was met.
const MET_LINES: usize = 100;

/// What a crawl knows beside its stores.
pub struct Memory {
    pub(super) reader: Reader,
    pub(super) admission: Admission,
    pub(super) known: Known,
    pub(super) site_numbers: HashMap<String, SiteNumber>,
    pub(super) sites: Vec<SiteRecord>,
    /// Pages as the next commit leaves them.
    pub(super) pending_pages: HashMap<PageNumber, PageRecord>,
    /// URLs as the next commit leaves them.
    pub(super) pending_urls: HashMap<UrlId, UrlRecord>,
    pub(super) duplicates: Duplicates,
    /// The pages that were kept when the stores were opened, until they are told; none from then on.
    pub(super) past: Option<Past>,
    pub(super) dates: Dates,
    pub(super) event: Vec<Event>,
}

impl Memory {
    /// Reads all that is known once. `startup_index` gives each of the pieces of the start-up index that it opens to what it is given.
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

    /// The same for those who only ask.
    pub fn of(reader: &Reader, admission: Admission) -> Result<Self, StoreError> {
        Ok(Self::recall(reader, admission, |each| reader.startup_index(FORM, each))?.0)
    }

    /// Tells of every site and of every page that waits for a visit or is pinned, and gives what will be told of pages when they were copied, and the
    /// last readings of lists, the oldest first, to be recalled at their moment.
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
        // Nothing was read before its site was known, or will have been.
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
                    // A sitemap that is believed, and of which it was not kept what it said before, is read at once.
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

    /// The record of a page, as the next commit leaves it.
    pub(super) fn page(&self, page: PageNumber) -> Result<Option<PageRecord>, StoreError> {
        match self.pending_pages.get(&page) {
            Some(record) => Ok(Some(record.clone())),
            None => self.reader.page(page),
        }
    }

    /// The record of a URL, as the next commit leaves it.
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

    /// Whether a page of a URL is kept.
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

    /// Redirects that led to where the URL was found.
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

    /// What is known of how the crawl stands.
    pub(crate) fn show(&self, counters: &Counters, status: &mut Status) {
        status.count(counters);
        status.traps = self.admission.traps_cut();
        status.met = self.met(MET_LINES);
        let troubled = self.sites.iter().filter(|site| !site.trouble.is_empty());
        status.troubles =
            troubled.take(TROUBLES).map(|site| (site.site.clone(), site.trouble.clone())).collect();
    }
}
