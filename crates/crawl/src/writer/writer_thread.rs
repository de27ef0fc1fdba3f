//! The writer: makes visits part of the stores, many per commit and each of them whole, and reports what
//! became known.
//!
//! A visit becomes a page record, a History row, bytes in the Collection, URLs in AllUrls and links between
//! them: all of it in the same commit, or none. The policy only learns what was committed ([`Event`]), so
//! that a fold over the History restores it.
//!
//! # Promises
//! - A visit is recorded once.
//! - A URL has one number, and a page that was kept has one number, for ever.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use freshet_fetch::change::ephemeral::{TemplateEphemera, template_of};
use freshet_fetch::change::look::Lesson;
use freshet_fetch::page::PageUrl;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Reason, Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::Folding;
use freshet_store::error::StoreError;
use freshet_store::history::VisitRow;
use freshet_store::log::event::{OPTIONS, pause_name, pin_name};
use freshet_store::reader::Reader;
use freshet_store::sites::SiteRecord;
use freshet_store::store::Store;
use freshet_store::synced::Synced;

use super::admission::Admission;
use super::memory::Memory;
use super::message::Message;
use super::startup_index::{FORM, Notebook, UrlEntries};
use crate::event::Event;
use crate::last_run::Note;
use crate::ranking_module::Ranking;
use crate::status::{ChangeLine, LAST_CHANGES, Status};

/// Minimum change of a page's importance that is stored, as a logarithm.
const IMPORTANCE_MOVED: f32 = 0.05;
/// Maximum number of URLs that are remembered to be admitted when there is room again. Others wait for the
/// RankingModule.
const IN_LINE_MAX: usize = 10_000;
/// Maximum number of consecutive redirects from one URL to another.
pub(super) const REDIRECTS_MAX: usize = 5;

/// The writer: the stores, and the changes that wait for the next commit.
pub struct Writer {
    store: Store,
    pub(super) memory: Memory,
    sites_touched: BTreeSet<SiteNumber>,
    kept: usize,
    /// URLs that were found while the collection was full, oldest first.
    next_in_line: VecDeque<UrlId>,
    last_changes: VecDeque<ChangeLine>,
    pub(super) changes: Changes,
    /// Records of templates that the next commit will write.
    pending_ephemera: HashMap<String, TemplateEphemera>,
    /// The end of the start-up index.
    notebook: Notebook,
}

/// Where and how a URL was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery<'a> {
    pub(super) url: &'a PageUrl,
    pub(super) anchor: &'a str,
    pub(super) found_on: Option<UrlId>,
    pub(super) depth: u16,
    pub(super) source: Source,
    pub(super) listed_modified: Option<Timestamp>,
}

impl Writer {
    /// Takes over a store, and restores the in-memory state. The first commit returns the events for what is
    /// known.
    pub fn new(store: Store, admission: Admission) -> Result<Self, StoreError> {
        let (memory, notebook) =
            Memory::recall(&store.reader(), admission, |each| store.startup_index(FORM, each))?;
        Ok(Self {
            kept: store.counters().kept as usize,
            store,
            memory,
            sites_touched: BTreeSet::new(),
            next_in_line: VecDeque::new(),
            last_changes: VecDeque::new(),
            changes: Changes::default(),
            pending_ephemera: HashMap::new(),
            notebook,
        })
    }

    /// The in-memory state of the crawl.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// The stores, to be read from any thread.
    pub fn reader(&self) -> Reader {
        self.memory.reader.clone()
    }

    /// Builds the records of visits, on any thread.
    pub fn folding(&self) -> Arc<Folding> {
        self.store.folding()
    }

    /// Adds a seed. If it cannot be crawled the error states the reason.
    pub fn add_seed(&mut self, url: &PageUrl, now: Timestamp) -> Result<(), String> {
        self.memory.admission.add_seed(url);
        let seed = Discovery {
            url,
            anchor: "",
            found_on: None,
            depth: 0,
            source: Source::Seed,
            listed_modified: None,
        };
        match self.discover(&seed, now) {
            Ok(Some(id)) => self.look_again(id, now).map_err(|error| error.to_string()),
            Ok(None) => Err(self
                .memory
                .admission
                .judge(url, 0, now)
                .map_or_else(|refusal| refusal.detail, |()| "unknown".to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Admits a URL whose address was not allowed before, when a user names it again: the address may be
    /// allowed now.
    fn look_again(&mut self, id: UrlId, now: Timestamp) -> Result<(), StoreError> {
        let standing = self.memory.url(id)?.map(|record| record.standing);
        if standing == Some(Standing::Refused(Reason::Address)) {
            self.admit(id, now)?;
        }
        Ok(())
    }

    /// Returns the number of a URL, and adds the URL if it is new. None if it is out of scope or a trap.
    pub(super) fn discover(
        &mut self,
        found: &Discovery<'_>,
        now: Timestamp,
    ) -> Result<Option<UrlId>, StoreError> {
        if let Some(id) = self.memory.known.get(found.url.as_str()) {
            return Ok(Some(id));
        }
        if self.memory.admission.judge(found.url, found.depth, now).is_err()
            || self.memory.redirects_before(found)? > REDIRECTS_MAX
        {
            return Ok(None);
        }
        let site = self.site(found.url.site(), now)?;
        // A list is read as a list, and is not also a page.
        if self.memory.sites[site.index()].lists.iter().any(|list| list.url == found.url.as_str()) {
            return Ok(None);
        }
        let id = self.store.url_number(found.url.as_str())?.number();
        let startup_index = UrlEntries::of(found.url.as_str(), Some(found.url), found.source);
        self.memory.known.insert(startup_index.hash, id);
        self.notebook.add_url(id, &startup_index);
        self.memory.sites[site.index()].urls += 1;
        self.sites_touched.insert(site);
        let record = UrlRecord {
            url: found.url.as_str().to_owned(),
            site,
            discovered: now,
            found_on: found.found_on,
            depth: found.depth,
            anchor: found.anchor.to_owned(),
            source: found.source,
            listed_modified: found.listed_modified,
            standing: Standing::Waiting,
            detail: String::new(),
        };
        self.memory.pending_urls.insert(id, record);
        if self.kept < self.memory.admission.pages_max()
            && self.memory.admission.site_has_room(found.url, self.memory.sites[site.index()].pages)
        {
            self.admit(id, now)?;
        } else if self.next_in_line.len() < IN_LINE_MAX {
            self.next_in_line.push_back(id);
        }
        Ok(Some(id))
    }

    /// Fills the room that discarded pages left. The RankingModule has the last word on what belongs in the
    /// collection.
    fn fill_room(&mut self, now: Timestamp) -> Result<(), StoreError> {
        while self.kept < self.memory.admission.pages_max()
            && let Some(id) = self.next_in_line.pop_front()
        {
            let waits = self.memory.url(id)?.filter(|record| record.standing == Standing::Waiting);
            let Some((record, url)) =
                waits.and_then(|record| Some((record.site, PageUrl::stored(&record.url)?)))
            else {
                continue;
            };
            if self.memory.admission.site_has_room(&url, self.memory.sites[record.index()].pages) {
                self.admit(id, now)?;
            }
        }
        Ok(())
    }

    /// Makes a known URL a page of the collection.
    pub(super) fn admit(&mut self, id: UrlId, now: Timestamp) -> Result<(), StoreError> {
        let Some(mut record) = self.memory.url(id)? else { return Ok(()) };
        let page = self.store.page_number()?;
        self.kept += 1;
        record.standing = Standing::Kept(page);
        let site = record.site;
        self.memory.sites[site.index()].pages += 1;
        self.sites_touched.insert(site);
        let priority = self.memory.admission.priority(id, &record);
        let url = PageUrl::stored(&record.url);
        self.notebook.add_page(page, url.as_ref().map_or("", PageUrl::path_and_query));
        self.memory.pending_urls.insert(id, record);
        self.memory.pending_pages.insert(page, PageRecord::admitted(id, site, now));
        self.memory.event.push(Event::Admitted { page, site, priority });
        Ok(())
    }

    /// Removes a page from the collection. Its stored versions stay readable.
    pub(super) fn dismiss(
        &mut self,
        page: PageNumber,
        record: &mut PageRecord,
        standing: Standing,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        record.discarded = Some(now);
        self.memory.duplicates.remove(page);
        if let Some(mut url) = self.memory.url(record.url)? {
            if matches!(url.standing, Standing::Kept(_)) {
                self.kept = self.kept.saturating_sub(1);
                let site = &mut self.memory.sites[record.site.index()];
                site.pages = site.pages.saturating_sub(1);
                self.sites_touched.insert(record.site);
            }
            url.standing = standing;
            url.detail = detail.to_owned();
            self.memory.pending_urls.insert(record.url, url);
        }
        self.memory.event.push(Event::Left { page, time: now });
        Ok(())
    }

    pub(super) fn put_page(&mut self, page: PageNumber, record: PageRecord) {
        self.memory.pending_pages.insert(page, record);
    }

    /// Learns which parts of a page's template are ephemeral.
    pub(super) fn learn(&mut self, url: &PageUrl, lesson: &Lesson) -> Result<(), StoreError> {
        let name = template_of(url);
        let mut learned = match self.pending_ephemera.remove(&name) {
            Some(learned) => learned,
            None => self
                .memory
                .reader
                .note(&name)?
                .map_or_else(TemplateEphemera::default, |bytes| TemplateEphemera::decode(&bytes)),
        };
        learned.learn(lesson);
        self.pending_ephemera.insert(name, learned);
        Ok(())
    }

    pub(super) fn put_row(&mut self, row: VisitRow) {
        self.changes.visits.push(row);
    }

    /// The record of a site, to be changed.
    pub(super) fn site_mut(&mut self, site: SiteNumber) -> &mut SiteRecord {
        self.sites_touched.insert(site);
        &mut self.memory.sites[site.index()]
    }

    /// Returns the number of a site, and adds the site if it is new.
    fn site(&mut self, name: &str, now: Timestamp) -> Result<SiteNumber, StoreError> {
        if let Some(site) = self.memory.site_numbers.get(name) {
            return Ok(*site);
        }
        let site = self.store.site_number(name)?.number();
        let record = SiteRecord { site: name.to_owned(), first_seen: now, ..SiteRecord::default() };
        self.memory.site_numbers.insert(name.to_owned(), site);
        self.memory.event.push(Event::Site { site, record: Box::new(record.clone()) });
        self.memory.sites.push(record);
        self.sites_touched.insert(site);
        Ok(site)
    }

    /// Applies a message. Returns whether it was a visit.
    pub fn take(&mut self, message: Message, now: Timestamp) -> Result<bool, StoreError> {
        match message {
            Message::Visit(visit, site, politeness) => {
                self.site_mut(site).politeness = politeness;
                self.apply(*visit)?;
                self.fill_room(now)?;
                return Ok(true);
            }
            Message::Ranking(ranking) => self.take_ranking(&ranking, now)?,
            Message::Pin(url, every) => self.pin(&url, every, now)?,
            Message::Pause(site, paused) => {
                self.site_mut(site).paused = paused;
                let name = pause_name(&self.memory.sites[site.index()].site);
                self.changes.commands.push((name, paused.then(Vec::new)));
                self.tell_site(site);
            }
            Message::Note(name, note) => self.changes.notes.push((name, Some(note))),
            Message::Pulse | Message::End => {}
        }
        Ok(false)
    }

    /// Applies a ranking: new importances, discarded and admitted pages.
    fn take_ranking(&mut self, ranking: &Ranking, now: Timestamp) -> Result<(), StoreError> {
        for (page, importance) in &ranking.importance {
            let Some(mut record) = self.memory.page(*page)? else { continue };
            if (record.importance / importance).ln().abs() > IMPORTANCE_MOVED {
                record.importance = *importance;
                self.put_page(*page, record);
                self.memory.event.push(Event::Weighed { page: *page, importance: *importance });
            }
        }
        for page in &ranking.discard {
            let Some(mut record) = self.memory.page(*page)?.filter(|record| record.discarded.is_none())
            else {
                continue;
            };
            let standing = Standing::Discarded(Reason::Unimportant);
            self.dismiss(*page, &mut record, standing, "more important pages fill the collection", now)?;
            self.put_page(*page, record);
        }
        for url in &ranking.admit {
            let waits = self.memory.url(*url)?.is_some_and(|record| record.standing == Standing::Waiting);
            if waits && self.kept < self.memory.admission.pages_max() {
                self.admit(*url, now)?;
            }
        }
        Ok(())
    }

    /// Pins a page at this interval, in milliseconds. Zero: unpins it.
    fn pin(&mut self, url: &PageUrl, every: u64, now: Timestamp) -> Result<(), StoreError> {
        let Some(page) = self.memory.page_of(url)? else { return Ok(()) };
        let Some(mut record) = self.memory.page(page)? else { return Ok(()) };
        record.pinned_every = Some(every).filter(|every| *every > 0);
        let command = record.pinned_every.map(|every| every.to_be_bytes().to_vec());
        self.changes.commands.push((pin_name(url.as_str()), command));
        let site = record.site;
        self.put_page(page, record);
        self.memory.event.push(Event::Pinned { page, site, every, due: now });
        Ok(())
    }

    /// Stores the options of the crawl's command line with the next commit.
    pub fn save_options(&mut self, text: &str) -> Result<(), StoreError> {
        if self.memory.reader.command(OPTIONS)?.as_deref() != Some(text.as_bytes()) {
            self.changes.commands.push((OPTIONS.to_owned(), Some(text.as_bytes().to_vec())));
        }
        Ok(())
    }

    /// Whether the last run closed the crawl, and was not killed or cut off by a loss of power.
    pub fn ended_cleanly(&self) -> bool {
        self.store.ended_cleanly()
    }

    /// Stores a note with the next commit.
    pub fn write_note(&mut self, note: Note) {
        self.changes.notes.push(note);
    }

    /// Queues an event with the record of a site.
    pub(super) fn tell_site(&mut self, site: SiteNumber) {
        self.memory
            .event
            .push(Event::Site { site, record: Box::new(self.memory.sites[site.index()].clone()) });
    }

    /// Adds a change to the latest ones.
    pub(super) fn tell_change(&mut self, change: ChangeLine) {
        self.last_changes.push_front(change);
        self.last_changes.truncate(LAST_CHANGES);
    }

    /// Adds what the writer knows to a status.
    pub fn show(&self, status: &mut Status) {
        self.memory.show(self.store.counters(), status);
        status.last_changes = self.last_changes.clone();
    }

    /// The bytes on disk: state, Collection, History.
    pub fn disk(&self) -> (u64, u64, u64) {
        let used = self.store.disk_use();
        (used.state, used.collection, used.history)
    }

    /// Returns an error if the directory of the crawl no longer exists.
    pub fn is_still_there(&self) -> Result<(), StoreError> {
        self.store.is_still_there()
    }

    /// Syncs what was committed, so that it survives a loss of power, and runs a step of the store's
    /// maintenance.
    pub fn sync(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.store.sync()?;
        self.store.tidy(now)?;
        Ok(())
    }

    /// What the last sync made durable.
    pub fn synced(&self) -> &Synced {
        self.store.synced()
    }

    /// Commits all changes in one step, and returns the resulting events. After an error it can be tried
    /// again.
    pub fn commit(&mut self) -> Result<Vec<Event>, StoreError> {
        self.changes.urls.extend(self.memory.pending_urls.drain());
        if let Some(past) = &mut self.memory.past {
            past.altered.extend(self.memory.pending_pages.keys());
        }
        self.changes.pages.extend(self.memory.pending_pages.drain());
        let learned = self.pending_ephemera.drain().map(|(name, learned)| (name, Some(learned.encode())));
        self.changes.notes.extend(learned);
        let touched = std::mem::take(&mut self.sites_touched);
        let sites = touched.into_iter().map(|site| (site, self.memory.sites[site.index()].clone()));
        self.changes.sites.extend(sites);
        self.store.try_commit(&mut self.changes)?;
        self.changes = Changes::default();
        self.notebook.committed();
        Ok(std::mem::take(&mut self.memory.event))
    }

    /// Commits what is left, and closes the stores.
    pub fn close(mut self, now: Timestamp) -> Result<Synced, StoreError> {
        match self.commit() {
            // The second attempt reopens the key-value store.
            Err(StoreError::Poisoned { .. }) => self.commit()?,
            done => done?,
        };
        self.notebook.write();
        self.store.close(now)
    }
}
