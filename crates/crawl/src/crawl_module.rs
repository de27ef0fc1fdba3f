//! CrawlModule: visits a page, and says what it found beside our copy (**thesis** 7.3).
//!
//! It asks the stores what we hold, the Web what there is, and compares. It decides nothing and keeps nothing.
//!
//! A redirect is a fact about the page that was asked for. Where it leads is another page, visited in its own turn under
//! the politeness of its own site; so no visit follows a chain, and a loop is a handful of pages that point at each other.
//!
//! # Promises
//! - A response that is not whole is never taken for a change.
//! - An answer that says nothing about the page (a busy server, a broken connection) is a failure, not a change.

use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::ids::{PageNumber, SiteNumber};
use freshet_store::reader::Reader;
use freshet_store::time::Timestamp;
use std::sync::Arc;

use crate::clock::Clock;
use crate::page::reading::Limits;
use crate::page::simhash::change_size;
use crate::page::{Canonical, PageUrl, Reading, read};
use crate::update::Assignment;
use crate::visit::{Finding, Order, PageVisit, Reason, Visit};
use crate::web::robots::{Chase, RobotsPolicy, Step};
use crate::web::{Accept, Answer, Fetch, Request, Response, Validators, Web, decoded};

/// One visit in so many asks for the whole page although the server could say that nothing changed: so that a server whose
/// validators lie is found out.
const WHOLE_VISIT_EVERY: u32 = 8;

/// Visits pages.
pub struct CrawlModule {
    /// Where the pages are.
    pub web: Web,
    /// What we hold of them.
    pub reader: Reader,
    /// How URLs are written.
    pub canonical: Canonical,
    /// The crawl's time.
    pub clock: Arc<Clock>,
    /// How much of a response is read.
    pub limits: Limits,
}

impl CrawlModule {
    /// Carries out one order.
    pub async fn visit(&self, assignment: &Assignment) -> Result<Visit, StoreError> {
        match &assignment.order {
            Order::Page { page, site, reason } => {
                self.visit_page(*page, *site, *reason, assignment.rules.as_deref()).await
            }
            Order::Robots { site } => self.ask_for_rules(*site).await,
            Order::Listing { site, url } => Ok(self.read_listing(*site, url).await),
        }
    }

    async fn visit_page(
        &self,
        page: PageNumber,
        site: SiteNumber,
        reason: Reason,
        rules: Option<&RobotsPolicy>,
    ) -> Result<Visit, StoreError> {
        let (record, url) = self.known(page)?;
        let time = self.clock.now();
        let visit = |finding, fetch, reading| {
            let url = url.clone();
            Ok(Visit::Page(Box::new(PageVisit { page, site, url, reason, time, finding, fetch, reading })))
        };
        if let Some(rule) = rules.and_then(|rules| forbids(rules, &url)) {
            return visit(Finding::Refused(format!("robots.txt: {rule}")), None, None);
        }
        let validators = validators_to_send(&record);
        let fetch = self.web.fetch(&request(&url, time, validators.clone(), Accept::Page)).await;
        let reading = whole_response(&fetch).map(|response| self.read(&url, response));
        let finding = self.compare(&record, &url, validators.is_some(), &fetch, reading.as_ref());
        visit(finding, Some(fetch), reading)
    }

    /// What a response that somebody else fetched says beside our copy.
    pub fn judge(&self, record: &PageRecord, url: &PageUrl, fetch: &Fetch) -> (Finding, Option<Reading>) {
        let reading = whole_response(fetch).map(|response| self.read(url, response));
        (self.compare(record, url, false, fetch, reading.as_ref()), reading)
    }

    /// The rules of a site, which may be kept elsewhere (RFC 9309, 2.3.1.2).
    async fn ask_for_rules(&self, site: SiteNumber) -> Result<Visit, StoreError> {
        let time = self.clock.now();
        let name = self.reader.site(site)?.map(|record| record.site).unwrap_or_default();
        let mut fetches = Vec::new();
        if let Some(mut chase) = Chase::new(&name) {
            loop {
                let fetch = self.web.fetch(&chase.request(time)).await;
                let step = chase.take(&fetch);
                fetches.push(fetch);
                if matches!(step, Step::Done) {
                    break;
                }
            }
        }
        Ok(Visit::Robots { site, time, fetches })
    }

    async fn read_listing(&self, site: SiteNumber, url: &PageUrl) -> Visit {
        let time = self.clock.now();
        let fetch = Box::new(self.web.fetch(&request(url, time, None, Accept::Xml)).await);
        let reading = whole_response(&fetch).map(|response| Box::new(self.read(url, response)));
        Visit::Listing { site, url: url.clone(), time, fetch, reading }
    }

    fn known(&self, page: PageNumber) -> Result<(PageRecord, PageUrl), StoreError> {
        let record = self.reader.page(page)?;
        let url = record.as_ref().map(|record| self.reader.url(record.url)).transpose()?.flatten();
        let url = url.and_then(|known| PageUrl::stored(&known.url));
        record.zip(url).ok_or_else(|| StoreError::missing("page", page.0))
    }

    fn read(&self, url: &PageUrl, response: &Response) -> Reading {
        let values =
            |name| response.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        let robots: Vec<&str> = values("x-robots-tag");
        let links: Vec<&str> = values("link");
        let content_type = response.headers.get("content-type").and_then(|value| value.to_str().ok());
        read(url, content_type, &robots, &links, &response.body, &self.canonical, &self.limits)
    }

    /// What was found, beside the copy that `record` tells of.
    fn compare(
        &self,
        record: &PageRecord,
        url: &PageUrl,
        was_conditional: bool,
        fetch: &Fetch,
        reading: Option<&Reading>,
    ) -> Finding {
        let response = match &fetch.answer {
            Answer::Response(response) => response,
            Answer::Failed(failure) => return Finding::Failed(failure.to_string()),
            Answer::Refused(refusal) => return Finding::Refused(refusal.to_string()),
        };
        match response.status {
            304 if was_conditional => Finding::NotModified,
            200..=299 => match (reading, response.truncated) {
                (Some(reading), None) => self.compare_text(record, url, reading),
                (Some(reading), Some(cut)) if cut.is_steady() => self.compare_text(record, url, reading),
                (_, cut) => Finding::Failed(cut.map_or("no body".to_owned(), |cut| cut.to_string())),
            },
            301 | 302 | 303 | 307 | 308 => match redirect(&self.canonical, url, fetch) {
                Some(to) if to == *url => Finding::Failed("redirects to itself".to_owned()),
                Some(to) => Finding::Moved { to, for_good: matches!(response.status, 301 | 308) },
                None => Finding::Failed(format!("status {} without a place to go", response.status)),
            },
            404 | 410 => Finding::Gone,
            status => Finding::Failed(format!("status {status}")),
        }
    }

    fn compare_text(&self, record: &PageRecord, url: &PageUrl, reading: &Reading) -> Finding {
        match record.text_digest {
            _ if record.gone => Finding::Back,
            None => Finding::New,
            Some(digest) if digest == reading.text_digest => Finding::Unchanged,
            Some(_) => Finding::Changed(self.size_of_change(record, url, reading)),
        }
    }

    /// The part of the text that differs from our copy; the whole, if the copy cannot be read.
    fn size_of_change(&self, record: &PageRecord, url: &PageUrl, reading: &Reading) -> f32 {
        let old = record.place.and_then(|place| self.reader.read_version(place).ok());
        old.map_or(1.0, |old| {
            let content_type = Some(record.content_type.as_str());
            let body = decoded(old.header("content-encoding"), old.body.clone());
            let old = read(url, content_type, &[], &[], &body, &self.canonical, &self.limits);
            change_size(&old.text, &reading.text)
        })
    }
}

/// The rule that forbids a URL, if one does.
fn forbids(rules: &RobotsPolicy, url: &PageUrl) -> Option<String> {
    match rules {
        RobotsPolicy::Rules(robots) => {
            let verdict = robots.verdict(url.path_and_query());
            (!verdict.allowed).then(|| verdict.rule.unwrap_or_default())
        }
        RobotsPolicy::AllowAll => None,
        RobotsPolicy::Wait(_) => Some("it cannot be had now".to_owned()),
    }
}

/// The body of a good answer, if there is one.
fn whole_response(fetch: &Fetch) -> Option<&Response> {
    match &fetch.answer {
        Answer::Response(response) if (200..300).contains(&response.status) => Some(response),
        _ => None,
    }
}

/// Where a response sends us.
fn redirect(canonical: &Canonical, url: &PageUrl, fetch: &Fetch) -> Option<PageUrl> {
    let Answer::Response(response) = &fetch.answer else { return None };
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get("location")?.to_str().ok()?;
    canonical.join(url, location).ok()
}

fn request(url: &PageUrl, started: Timestamp, validators: Option<Validators>, accept: Accept) -> Request {
    Request {
        https: url.is_https(),
        host: url.host().to_owned(),
        port: url.port(),
        path_and_query: url.path_and_query().to_owned(),
        validators,
        accept,
        address: None,
        started,
    }
}

/// What the server said of our copy, unless there is none, or it lied before, or it is time to look for ourselves.
fn validators_to_send(record: &PageRecord) -> Option<Validators> {
    let is_trusted = record.validators_lied == 0 && !record.gone && record.text_digest.is_some();
    let is_probe = record.visits.wrapping_add(record.url.0).is_multiple_of(WHOLE_VISIT_EVERY);
    let validators = Validators { etag: record.etag.clone(), last_modified: record.last_modified.clone() };
    let has_any = validators.etag.is_some() || validators.last_modified.is_some();
    (is_trusted && !is_probe && has_any).then_some(validators)
}
