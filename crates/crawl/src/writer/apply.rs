//! Applying visits: turns the result of an order into records of the stores and events.

use std::collections::BTreeMap;

use freshet_fetch::change::ephemeral::PageEphemera;
use freshet_fetch::page::kind::Kind;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::simhash::change_size;
use freshet_fetch::page::{Canonical, PageUrl, Reading, read};
use freshet_fetch::web::robots::Robots;
use freshet_fetch::web::robots::policy::is_whole;
use freshet_fetch::web::{self, Answer, Fetch, PRODUCT_TOKEN, Response};
use freshet_partition::policy::Outcome;
use freshet_protocol::codec::Opaque;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};
use freshet_store::all_urls::{Reason, Source, Standing};
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind};
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::{ListCopy, RobotsCopy};

use super::dates::{self, Found, Said, Verdict};
use super::known::UrlHash;
use super::readings::Word;
use super::rhythm;
use super::troubles::Trouble;
use super::writer_thread::{Discovery, REDIRECTS_MAX, Writer};
use crate::archived::{exchange, response};
use crate::event::Event;
use crate::robots::trouble_after;
use crate::status::ChangeLine;
use crate::trust::has_same_validators;
use crate::visit::{Finding, PageVisit, Visit};

/// Milliseconds until the first retry of a failed visit. It doubles with every failure.
const RETRY_FIRST: i64 = 5 * 60_000;
/// Milliseconds until a failed visit is tried again, at most.
const RETRY_MAX: i64 = 7 * MILLIS_PER_DAY;
/// Number of consecutive failures after which a page without a copy is given up.
const FAILURES_MAX: u16 = 8;
/// Milliseconds until a page that is gone, or elsewhere for now, is asked for again.
const GONE_AGAIN: i64 = 30 * MILLIS_PER_DAY;

impl Writer {
    /// Applies the result of an order.
    pub fn apply(&mut self, visit: Visit) -> Result<(), StoreError> {
        match visit {
            Visit::Page(visit) => self.apply_page_visit(&visit),
            Visit::SecondLooks { page, site, again, .. } => {
                self.memory.event.push(Event::SecondLooks { page, site, again });
                Ok(())
            }
            Visit::Robots { site, time, fetches, .. } => {
                self.apply_robots(site, time, &fetches);
                Ok(())
            }
            Visit::Listing { site, url, time, fetch, reading } => {
                self.apply_listing(site, &url, time, &fetch, reading.as_deref())
            }
        }
    }

    fn apply_page_visit(&mut self, visit: &PageVisit) -> Result<(), StoreError> {
        let Some(mut record) = self.memory.page(visit.page)? else { return Ok(()) };
        #[cfg(test)]
        crate::tripwire::trip("panic-in-writer", visit.url.as_str());
        let looks = visit.fetch.iter().chain(&visit.second);
        let bytes = looks.map(|fetch| fetch.bytes_received).sum();
        let site = self.site_mut(visit.site);
        site.visits += 1;
        site.bytes += bytes;
        site.failures += u64::from(matches!(visit.finding, Finding::Failed(_)));
        self.meet(visit.site, Trouble::of_visit(visit));
        self.judge_dates(visit, &record);
        self.put_row(row(visit, bytes));
        self.tell_change_of(visit);
        let had_copy = record.text_digest.is_some() && !record.gone;
        let expected = rhythm::expected(&record, visit);
        count(&mut record, visit, bytes);
        self.keep_ephemera(visit, &mut record)?;
        self.note_likeness(visit, &mut record)?;
        match &visit.finding {
            Finding::New | Finding::Back | Finding::Changed(_) => {
                self.keep_copy(visit, &mut record, had_copy)?;
            }
            Finding::Unchanged | Finding::NotModified => self.keep_sameness(visit, &mut record),
            Finding::Gone => self.keep_loss(visit, &mut record, had_copy)?,
            Finding::Moved { to, for_good } => {
                self.keep_move(visit, &mut record, to, *for_good, had_copy)?;
            }
            Finding::Failed(_) => self.keep_failure(visit, &mut record, had_copy)?,
            // A copy is kept even if its host's address is refused: the host has moved, or the user forgot to
            // allow the address.
            Finding::Refused(_) if had_copy && visit.fetch.is_some() => {
                self.keep_failure(visit, &mut record, had_copy)?;
            }
            Finding::Refused(why) => {
                let reason = if visit.fetch.is_some() { Reason::Address } else { Reason::Robots };
                self.dismiss(visit.page, &mut record, Standing::Refused(reason), why, visit.time)?;
            }
        }
        let (page, site) = (visit.page, visit.site);
        self.memory.event.extend(expected.map(|change| Event::Expected { page, site, change }));
        self.put_page(page, record);
        Ok(())
    }

    /// Learns from the visit which parts of the page, and of its template, are ephemeral.
    fn keep_ephemera(&mut self, visit: &PageVisit, record: &mut PageRecord) -> Result<(), StoreError> {
        let mut learned = PageEphemera::decode(&record.evidence.0);
        match visit.finding {
            Finding::Changed(_) => learned.changes_in_a_row = learned.changes_in_a_row.saturating_add(1),
            Finding::Unchanged | Finding::NotModified => learned.changes_in_a_row = 0,
            _ => {}
        }
        if let Some(lesson) = &visit.lesson {
            learned.learn(lesson);
            self.learn(&visit.url, lesson)?;
        }
        record.evidence = Opaque(learned.encode());
        Ok(())
    }

    fn tell_change_of(&mut self, visit: &PageVisit) {
        let (change, to) = match &visit.finding {
            Finding::Changed(change) => (Some(*change), None),
            Finding::Moved { to, .. } => (None, Some(to.as_str().to_owned())),
            Finding::Gone | Finding::Back => (None, None),
            _ => return,
        };
        let what = kind(&visit.finding).word().to_owned();
        let (time_ms, url) = (visit.time.millis(), visit.url.as_str().to_owned());
        let size = change.map(|change| change.size);
        let kinds = change.map(|change| change.kinds.words()).unwrap_or_default();
        self.tell_change(ChangeLine { time_ms, what, url, size, kinds, to });
    }

    /// Replaces the copy of a page that is new, back or changed.
    fn keep_copy(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        had_copy: bool,
    ) -> Result<(), StoreError> {
        let (Some(reading), Some(response)) = (&visit.reading, response(visit.fetch.as_ref())) else {
            return Ok(());
        };
        if !reading.robots.index {
            return self.dismiss(
                visit.page,
                record,
                Standing::Discarded(Reason::NoIndex),
                "the page asks not to be kept",
                visit.time,
            );
        }
        let same_validators = had_copy && has_same_validators(record, response);
        self.keep_links(visit, record.url, reading)?;
        record.etag = header(response, "etag");
        record.last_modified = header(response, "last-modified");
        record.validators_lied += u16::from(same_validators);
        self.meet(visit.site, same_validators.then_some(Trouble::LyingValidators));
        record.raw_digest = Some(reading.raw_digest);
        record.text_digest = Some(reading.text_digest);
        record.simhash = Some(reading.simhash);
        record.content_type = header(response, "content-type").unwrap_or_default();
        record.title = reading.title.clone().unwrap_or_default();
        record.body_bytes = u32::try_from(reading.bytes).unwrap_or(u32::MAX);
        record.gone = false;
        record.moved_to = None;
        record.failures = 0;
        self.changes.exchanges.extend(exchange(visit, ExchangeKind::Full, Some(visit.page)));
        if had_copy {
            record.changes += 1;
            record.last_change = Some(visit.time);
            self.tell(visit, record, Outcome::Changed);
        } else {
            let (page, site, time) = (visit.page, visit.site, visit.time);
            let path = visit.url.path_and_query().to_owned();
            self.memory.event.push(Event::Copied { page, site, path, importance: record.importance, time });
        }
        self.memory.duplicates.insert(visit.page, reading.simhash);
        if let Some(canonical) = reading.canonical.clone().filter(|canonical| *canonical != visit.url) {
            self.respect_canonical(visit, record, &canonical)?;
        }
        if !had_copy && record.discarded.is_none() {
            self.part_from_duplicate(visit, record, reading)?;
        }
        Ok(())
    }

    /// Dismisses a new page if it is a duplicate of a kept one.
    fn part_from_duplicate(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        reading: &Reading,
    ) -> Result<(), StoreError> {
        // Most pages are near only to themselves.
        let mut near = self.memory.duplicates.near(reading.simhash);
        near.retain(|page| *page != visit.page);
        if near.is_empty() || reading.text.len() < DUPLICATE_BYTES {
            return Ok(());
        }
        let own = self.copy(visit.page, record, &visit.url);
        let text = own.map(|own| own.main_text()).unwrap_or_default();
        if text.len() < DUPLICATE_BYTES {
            return Ok(());
        }
        for page in near {
            let Some(other) = self.memory.page(page)?.filter(|other| !other.gone) else {
                continue;
            };
            let Some(url) = self.memory.url(other.url)? else { continue };
            let copy = PageUrl::stored(&url.url).and_then(|url| self.copy(page, &other, &url));
            if copy.is_some_and(|copy| change_size(&copy.main_text(), &text) <= DUPLICATE_DIFFERS) {
                let detail = format!("it says the same as {}", url.url);
                let standing = Standing::Discarded(Reason::Duplicate);
                return self.dismiss(visit.page, record, standing, &detail, visit.time);
            }
        }
        Ok(())
    }

    /// Reads our copy of a page from the Collection, or from the changes about to be committed. None if it
    /// cannot be read.
    fn copy(&self, page: PageNumber, record: &PageRecord, url: &PageUrl) -> Option<Reading> {
        let is_copy =
            |exchange: &&Exchange| exchange.page == Some(page) && exchange.kind == ExchangeKind::Full;
        let body = match self.changes.exchanges.iter().rev().find(is_copy) {
            Some(waiting) => web::decoded(waiting.header("content-encoding"), waiting.whole_body()?),
            None => {
                let stored = record.place.and_then(|place| self.reader().read_version(place).ok())?;
                web::decoded(stored.header("content-encoding"), stored.body.clone())
            }
        };
        let (content_type, canonical) = (Some(record.content_type.as_str()), Canonical::default());
        Some(read(url, content_type, &[], &[], &body, &canonical, &Limits::default()))
    }

    /// Keeps another URL of the site instead, if the page declares it as its canonical URL.
    fn respect_canonical(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        canonical: &PageUrl,
    ) -> Result<(), StoreError> {
        if canonical.site() != visit.url.site() {
            return Ok(());
        }
        let depth = self.memory.url(record.url)?.map_or(0, |url| url.depth);
        let found = Discovery { depth, ..found(canonical, Some(record.url), Source::Canonical) };
        if self.discover(&found, visit.time)?.is_some() {
            let detail = format!("its canonical URL is {canonical}");
            self.dismiss(visit.page, record, Standing::Discarded(Reason::Duplicate), &detail, visit.time)?;
        }
        Ok(())
    }

    /// Records that the page is the same as our copy.
    fn keep_sameness(&mut self, visit: &PageVisit, record: &mut PageRecord) {
        record.failures = 0;
        let raw_is_same = visit.reading.as_ref().map(|reading| reading.raw_digest) == record.raw_digest;
        let kind = match visit.finding {
            Finding::NotModified => Some(ExchangeKind::NotModified),
            // Different bytes with the same text are not a version: the History row records them.
            _ => raw_is_same.then_some(ExchangeKind::Identical),
        };
        record.not_modified += u32::from(visit.finding == Finding::NotModified);
        if let (Some(response), Finding::Unchanged) = (response(visit.fetch.as_ref()), &visit.finding) {
            record.etag = header(response, "etag");
            record.last_modified = header(response, "last-modified");
        }
        self.changes.exchanges.extend(kind.and_then(|kind| exchange(visit, kind, Some(visit.page))));
        self.tell(visit, record, Outcome::Unchanged);
    }

    fn keep_loss(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        had_copy: bool,
    ) -> Result<(), StoreError> {
        if !had_copy && !record.gone {
            return self.dismiss(
                visit.page,
                record,
                Standing::Discarded(Reason::Gone),
                "it was not there",
                visit.time,
            );
        }
        self.changes.exchanges.extend(exchange(visit, ExchangeKind::Full, None));
        if had_copy {
            record.last_change = Some(visit.time);
            record.changes += 1;
            self.tell(visit, record, Outcome::Gone);
        }
        record.gone = true;
        let again = visit.time.plus_millis(GONE_AGAIN);
        self.memory.event.push(Event::Unsettled {
            page: visit.page,
            site: visit.site,
            is_first: false,
            again,
        });
        Ok(())
    }

    fn keep_move(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        to: &PageUrl,
        for_good: bool,
        had_copy: bool,
    ) -> Result<(), StoreError> {
        let depth = self.memory.url(record.url)?.map_or(0, |url| url.depth);
        let found = Discovery { depth, ..found(to, Some(record.url), Source::Redirect) };
        record.moved_to = self.discover(&found, visit.time)?;
        let is_endless = record.moved_to.is_none() && self.memory.redirects_before(&found)? > REDIRECTS_MAX;
        self.meet(visit.site, is_endless.then_some(Trouble::RedirectLoop));
        self.changes.exchanges.extend(exchange(visit, ExchangeKind::Full, None));
        if for_good {
            return self.dismiss(
                visit.page,
                record,
                Standing::Discarded(Reason::Moved),
                &format!("it moved to {to}"),
                visit.time,
            );
        }
        if had_copy {
            self.tell(visit, record, Outcome::Failed);
        } else {
            let again = visit.time.plus_millis(GONE_AGAIN);
            self.memory.event.push(Event::Unsettled {
                page: visit.page,
                site: visit.site,
                is_first: true,
                again,
            });
        }
        Ok(())
    }

    fn keep_failure(
        &mut self,
        visit: &PageVisit,
        record: &mut PageRecord,
        had_copy: bool,
    ) -> Result<(), StoreError> {
        record.failures = record.failures.saturating_add(1);
        if had_copy {
            self.tell(visit, record, Outcome::Failed);
            return Ok(());
        }
        if record.failures >= FAILURES_MAX {
            let detail = format!("{} visits failed in a row", record.failures);
            return self.dismiss(
                visit.page,
                record,
                Standing::Discarded(Reason::Failing),
                &detail,
                visit.time,
            );
        }
        let again = visit.time.plus_millis(retry_wait(record));
        self.memory.event.push(Event::Unsettled {
            page: visit.page,
            site: visit.site,
            is_first: true,
            again,
        });
        Ok(())
    }

    fn tell(&mut self, visit: &PageVisit, record: &PageRecord, outcome: Outcome) {
        let (page, time, bytes_expected) = (visit.page, visit.time, record.transfer_bytes as f32);
        let prompted = visit.reason.is_prompted();
        let kinds = match &visit.finding {
            Finding::Changed(change) => Some(change.kinds),
            _ => None,
        };
        let date = stated_date(visit);
        self.memory.event.push(Event::Visited { page, time, outcome, prompted, date, bytes_expected, kinds });
    }

    /// Records the links of a copy: new URLs, lists, and the link graph.
    fn keep_links(&mut self, visit: &PageVisit, from: UrlId, reading: &Reading) -> Result<(), StoreError> {
        let depth = self.memory.url(from)?.map_or(0, |url| url.depth).saturating_add(1);
        let mut targets = Vec::with_capacity(reading.links.len());
        for link in reading.followed_links() {
            // Nearly all are known already; their text is not needed then.
            if let Some(known) = self.memory.known.get_by_hash(UrlHash(link.hash)) {
                targets.push(known);
                continue;
            }
            let url = link.to_url();
            let found = Discovery { anchor: link.anchor, depth, ..found(&url, Some(from), Source::Link) };
            targets.extend(self.discover(&found, visit.time)?);
        }
        for url in reading.named_pages() {
            let found = Discovery { depth, ..found(url, Some(from), Source::Link) };
            targets.extend(self.discover(&found, visit.time)?);
        }
        self.memory.warm(from, &targets)?;
        self.changes.links.push((visit.page, targets));
        for feed in &reading.feeds {
            self.know_list(visit.site, feed, true, visit.time);
        }
        if matches!(reading.kind, Kind::Feed | Kind::Sitemap) {
            self.know_list(visit.site, &visit.url, reading.kind == Kind::Feed, visit.time);
            self.keep_listed(visit.site, &visit.url, reading, None, visit.time)?;
        }
        Ok(())
    }

    /// Records a list of pages of a site, to be read when it is due. Known lists are not changed.
    fn know_list(&mut self, site: SiteNumber, url: &PageUrl, feed: bool, now: Timestamp) {
        let is_own = url.site() == self.memory.sites[site.index()].site;
        let lists = &self.memory.sites[site.index()].lists;
        if !is_own
            || lists.len() >= LISTS_MAX
            || self.memory.knows(url)
            || lists.iter().any(|list| list.url == url.as_str())
        {
            return;
        }
        let list = ListCopy { url: url.as_str().to_owned(), feed, ..ListCopy::default() };
        self.site_mut(site).lists.push(list);
        self.memory.event.push(Event::List { site, url: url.clone(), due: now });
    }

    fn apply_robots(&mut self, site: SiteNumber, time: Timestamp, fetches: &[Fetch]) {
        let Some(fetch) = fetches.last() else { return };
        let (status, failure, body) = match &fetch.answer {
            // The part that is missing might forbid something.
            Answer::Response(response) if (200..300).contains(&response.status) && !is_whole(response) => {
                (0, "it broke off".to_owned(), Vec::new())
            }
            Answer::Response(response) => (response.status, String::new(), response.body.to_vec()),
            Answer::Failed(failure) => (0, failure.to_string(), Vec::new()),
            Answer::Refused(refusal) => (0, refusal.to_string(), Vec::new()),
        };
        let sitemaps = match status {
            200..=299 => Robots::parse(&body, PRODUCT_TOKEN).sitemaps().to_vec(),
            _ => Vec::new(),
        };
        self.meet(site, Trouble::of(fetch));
        let record = self.site_mut(site);
        record.bytes += fetches.iter().map(|fetch| fetch.bytes_received).sum::<u64>();
        record.trouble = if failure.is_empty() { String::new() } else { format!("robots.txt: {failure}") };
        let copy = RobotsCopy { fetched: time, status, failure, body: Opaque(body) };
        record.robots_trouble = trouble_after(&copy, record.robots.as_ref(), record.robots_trouble.take());
        record.robots = Some(copy);
        self.tell_site(site);
        let sitemaps = if sitemaps.is_empty() && (200..500).contains(&status) {
            vec![format!("{}{USUAL_SITEMAP}", self.memory.sites[site.index()].site)]
        } else {
            sitemaps
        };
        for sitemap in sitemaps {
            if let Ok(url) = self.memory.admission.canonical().of(&sitemap) {
                self.know_list(site, &url, false, time);
            }
        }
    }

    fn apply_listing(
        &mut self,
        site: SiteNumber,
        url: &PageUrl,
        time: Timestamp,
        fetch: &Fetch,
        reading: Option<&Reading>,
    ) -> Result<(), StoreError> {
        let status = response(Some(fetch)).map_or(0, |response| response.status);
        let entries = reading.map_or(0, |reading| reading.listed.len() + reading.sitemaps.len());
        self.meet(site, Trouble::of(fetch));
        let record = self.site_mut(site);
        record.bytes += fetch.bytes_received;
        let Some(list) = record.lists.iter_mut().find(|list| list.url == url.as_str()) else { return Ok(()) };
        let before = list.fetched.replace(time);
        list.status = status;
        list.entries = u32::try_from(entries).unwrap_or(u32::MAX);
        let every = match reading {
            Some(reading) => self.keep_listed(site, url, reading, before, time)?,
            None => self.memory.dates.next_reading(url.as_str(), 0),
        };
        self.memory.event.push(Event::List { site, url: url.clone(), due: time.plus_millis(every) });
        Ok(())
    }

    /// Records what a list names: new pages, further lists, and what it says about pages that we have.
    /// Returns the milliseconds until it is read again.
    fn keep_listed(
        &mut self,
        site: SiteNumber,
        list: &PageUrl,
        reading: &Reading,
        before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        let is_feed = reading.kind == Kind::Feed;
        let source = if is_feed { Source::Feed } else { Source::Sitemap };
        for list in &reading.sitemaps {
            self.know_list(site, &list.url, false, now);
        }
        let urls_before = self.memory.known.len();
        let (mut told, mut altered, mut unaltered) = (Vec::new(), Vec::new(), Vec::new());
        let mut words = BTreeMap::new();
        // If its previous reading was not stored, every date that it has is treated as new.
        let is_known = self.memory.dates.has_read(list.as_str());
        for listed in &reading.listed {
            let found =
                Discovery { depth: 1, listed_modified: listed.modified, ..found(&listed.url, None, source) };
            self.discover(&found, now)?;
            // What a site says about pages of other sites is ignored.
            if listed.url.site() != list.site() {
                continue;
            }
            let Some((page, visited)) = self.last_visit(&listed.url)? else { continue };
            if !is_feed {
                words.insert(page, Word::Named);
            }
            let late = listed.modified.filter(|_| !is_feed);
            if let Some(verdict) = late.and_then(|modified| self.memory.dates.judge_late(page, modified)) {
                self.count_verdict(site, verdict);
            }
            match listed.modified {
                Some(modified) if visited < modified => {
                    self.memory.dates.say(page, Said::Changed);
                    words.insert(page, Word::Changed);
                    altered.push(page);
                    // Only a date that is newer than the last reading can be new.
                    told.extend(before.filter(|before| !is_known || *before < modified).map(|_| page));
                }
                // A feed dates new items, and says nothing about the others.
                Some(_) if !is_feed => {
                    self.memory.dates.say(page, Said::Unaltered);
                    words.insert(page, Word::Unaltered);
                    unaltered.push(page);
                }
                _ => {}
            }
        }
        let record = &self.memory.sites[site.index()];
        let (mut told, are_believed) = dates::used(record, told);
        let mut new_entries =
            self.memory.known.len() - urls_before + if are_believed { told.len() } else { 0 };
        if dates::are_trusted(record) {
            self.memory.event.push(Event::Altered { pages: altered });
        }
        if dates::is_silence_believed(record) {
            self.memory.event.push(Event::Unaltered { pages: unaltered, time: now });
        }
        if !is_feed {
            let missing = self.memory.dates.missing(site, list.as_str(), words.keys().copied().collect());
            new_entries += missing.len();
            words.extend(missing.iter().map(|page| (*page, Word::Missing)));
            told.extend(missing);
        }
        self.memory.event.extend(told.into_iter().map(|page| Event::Signal { page, site }));
        let every = self.memory.dates.next_reading(list.as_str(), new_entries);
        let of_site = (site, &self.memory.sites[site.index()]);
        let reading = self.memory.dates.reading(of_site, list.as_str(), &words, now);
        self.changes.notes.push(reading.note(list.as_str()));
        Ok(every)
    }

    /// The page of a URL and its last visit, if we have a copy of it.
    fn last_visit(&self, url: &PageUrl) -> Result<Option<(PageNumber, Timestamp)>, StoreError> {
        let Some(page) = self.memory.page_of(url)? else { return Ok(None) };
        let visited =
            self.memory.page(page)?.filter(|record| !record.gone).and_then(|record| record.last_visit);
        Ok(visited.map(|visited| (page, visited)))
    }

    /// Checks what sitemaps said about the page against the result of a visit.
    fn judge_dates(&mut self, visit: &PageVisit, record: &PageRecord) {
        let found = match visit.finding {
            Finding::Changed(_) => Found::Changed,
            Finding::Gone | Finding::Moved { .. } => Found::Lost,
            Finding::Unchanged | Finding::NotModified => Found::Unaltered,
            Finding::New | Finding::Back | Finding::Failed(_) | Finding::Refused(_) => return,
        };
        let Some(before) = record.last_visit else { return };
        if let Some(verdict) = self.memory.dates.judge((visit.site, visit.page), before, found) {
            self.count_verdict(visit.site, verdict);
        }
    }

    fn count_verdict(&mut self, site: SiteNumber, verdict: Verdict) {
        let site = self.site_mut(site);
        dates::count(site, verdict);
        if let Some(list) = site.lists.first_mut() {
            list.dates_right += u32::from(verdict == Verdict::Right);
            list.dates_wrong += u32::from(verdict == Verdict::Wrong);
        }
    }
}

/// Default sitemap path for a site whose `robots.txt` names none.
const USUAL_SITEMAP: &str = "/sitemap.xml";
/// Minimum length of a main text for the detection of duplicates, in bytes. Shorter texts may be the same by
/// chance.
const DUPLICATE_BYTES: usize = 600;
/// Maximum fraction of shingles in which duplicates differ: a counter, a date.
const DUPLICATE_DIFFERS: f32 = 0.03;

/// Maximum number of lists of a site.
const LISTS_MAX: usize = 1_000;

/// Milliseconds until a page without a copy is requested again.
pub(super) fn retry_wait(record: &PageRecord) -> i64 {
    if record.gone || record.failures == 0 {
        return GONE_AGAIN;
    }
    RETRY_FIRST.saturating_mul(1 << record.failures.min(20).saturating_sub(1)).min(RETRY_MAX)
}

fn found(url: &PageUrl, found_on: Option<UrlId>, source: Source) -> Discovery<'_> {
    Discovery { url, anchor: "", found_on, depth: 0, source, listed_modified: None }
}

/// Updates the record of a page with what every visit adds to it.
fn count(record: &mut PageRecord, visit: &PageVisit, bytes: u64) {
    record.visits += 1;
    record.first_visit = record.first_visit.or(Some(visit.time));
    record.last_visit = Some(visit.time);
    record.outcome = Some(kind(&visit.finding));
    if let Some(response) = response(visit.fetch.as_ref()) {
        record.status = response.status;
        record.last_success = Some(visit.time).filter(|_| response.status < 400).or(record.last_success);
    }
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    // A running mean over the last few visits.
    record.transfer_bytes =
        if record.visits == 1 { bytes } else { record.transfer_bytes / 4 * 3 + bytes / 4 };
}

fn kind(finding: &Finding) -> VisitKind {
    match finding {
        Finding::New => VisitKind::New,
        Finding::Unchanged => VisitKind::Unchanged,
        Finding::NotModified => VisitKind::NotModified,
        Finding::Changed(_) => VisitKind::Changed,
        Finding::Gone => VisitKind::Gone,
        Finding::Back => VisitKind::Back,
        Finding::Moved { .. } => VisitKind::Moved,
        Finding::Failed(_) => VisitKind::Failed,
        Finding::Refused(_) => VisitKind::Refused,
    }
}

/// The date of the page's last change according to the response.
fn stated_date(visit: &PageVisit) -> Option<Timestamp> {
    response(visit.fetch.as_ref()).and_then(|response| web::dates::last_modified(&response.headers))
}

fn row(visit: &PageVisit, bytes: u64) -> VisitRow {
    let mut row = VisitRow::new(visit.time, visit.url.as_str(), kind(&visit.finding));
    let response = response(visit.fetch.as_ref());
    row.page = Some(visit.page);
    row.reason = Some(visit.reason.word().to_owned());
    row.status = response.map_or(0, |response| response.status);
    row.bytes = bytes;
    row.millis =
        visit.fetch.as_ref().map_or(0, |fetch| u32::try_from(fetch.elapsed.as_millis()).unwrap_or(u32::MAX));
    row.raw_digest = visit.reading.as_ref().map(|reading| reading.raw_digest);
    row.text_digest = visit.reading.as_ref().map(|reading| reading.text_digest);
    row.simhash = visit.reading.as_ref().map(|reading| reading.simhash);
    row.last_modified = stated_date(visit);
    match &visit.finding {
        Finding::Changed(change) => {
            row.change_size = Some(change.size);
            row.change_kinds = Some(change.kinds.words());
        }
        Finding::Moved { to, .. } => row.moved_to = Some(to.as_str().to_owned()),
        Finding::Failed(why) => row.error = Some(why.to_string()),
        Finding::Refused(why) => row.error = Some(why.clone()),
        _ => {}
    }
    row
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
