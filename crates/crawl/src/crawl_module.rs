//! CrawlModule: visits a page and compares it with our copy (**thesis** 7.3).
//!
//! It reads our copy from the stores, fetches the page from the Web, and compares them. It decides nothing
//! and stores nothing.
//!
//! A redirect is a fact about the requested page. Its target is another page, visited in its own turn under
//! the politeness of its own site. So no visit follows a redirect chain, and a loop is only a handful of
//! pages that point at each other.
//!
//! A difference that may be ephemeral is not believed at once. The visit is held, and a second look is made
//! in a turn of its own a few moments later ([`freshet_fetch::change::look`]).
//!
//! # Promises
//! - An incomplete response is never taken for a change.
//! - Our copy and the response are compared under the current definition of change: changing the definition
//!   creates no changes.
//! - An answer that says nothing about the page (a busy server, a broken connection) is a failure, not a
//!   change.

use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::change::ephemeral::{Ephemeral, PageEphemera, TemplateEphemera, template_of};
use freshet_fetch::change::look::{self, Lesson};
use freshet_fetch::change::{Change, Definition, Definitions, Extent, Kinds, StandIn, difference};
use freshet_fetch::page::reading::{Limits, read_selecting};
use freshet_fetch::page::{Canonical, PageUrl, Reading};
use freshet_fetch::web::politeness::Experience;
use freshet_fetch::web::robots::{Chase, RobotsPolicy, Step};
use freshet_fetch::web::{
    Accept, Answer, Failure, Fetch, Request, Response, Truncation, Validators, Web, decoded,
};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;

use crate::clock::Clock;
use crate::second_looks::{FirstLook, SecondLook, SecondLooks};
use crate::trust::Trust;
use crate::update::Assignment;
use crate::visit::{Finding, Order, PageVisit, Reason, Visit, VisitFailure};

/// Number of consecutive visits whose text says that the page does not exist, after which it is believed.
const NOT_FOUND_BELIEVED: u16 = 3;
/// Number of consecutive second looks that may fail or come too late. Then the finding is believed without
/// one.
const TOO_LATE_MAX: u8 = 3;
/// Maximum delay of a second look in system time, for a crawl whose time runs faster.
const LOOK_WALL: Duration = Duration::from_secs(15);

/// Visits pages.
pub struct CrawlModule {
    /// The HTTP client.
    pub web: Web,
    /// The stores.
    pub reader: Reader,
    /// Canonicalization of URLs.
    pub canonical: Canonical,
    /// The crawl's clock.
    pub clock: Arc<Clock>,
    /// How much of a response is read.
    pub limits: Limits,
    /// Definitions of change.
    pub definitions: Definitions,
    /// Visits that wait for a second look.
    held: SecondLooks,
    /// How far the sites' validators are trusted.
    trust: Trust,
}

/// The finding of a visit, and what it taught about ephemeral parts.
struct Judgement {
    finding: Finding,
    lesson: Lesson,
    /// When to look again before the finding is believed, in milliseconds from now.
    look_after: Option<i64>,
}

impl CrawlModule {
    /// Creates a module that holds no visit.
    pub fn new(
        web: Web,
        reader: Reader,
        canonical: Canonical,
        clock: Arc<Clock>,
        limits: Limits,
        definitions: Definitions,
    ) -> Self {
        Self {
            web,
            reader,
            canonical,
            clock,
            limits,
            definitions,
            held: SecondLooks::default(),
            trust: Trust::default(),
        }
    }

    /// Carries out an order.
    pub async fn visit(&self, assignment: &Assignment) -> Result<Visit, StoreError> {
        match &assignment.order {
            Order::Page { page, site, reason } => {
                self.visit_page(*page, *site, *reason, assignment.rules.as_deref()).await
            }
            Order::Robots { site } => self.ask_for_rules(*site).await,
            Order::Listing { site, url } => Ok(self.read_listing(*site, url).await),
        }
    }

    /// The result of an order that failed because of a defect of this program: a failed visit. How far the
    /// order came is not known.
    pub fn visit_failed(&self, order: &Order, time: Timestamp, said: &str) -> Result<Visit, StoreError> {
        let fetch = || Fetch::defect(time, said.to_owned());
        Ok(match order {
            Order::Page { page, site, reason } => Visit::Page(Box::new(PageVisit {
                page: *page,
                site: *site,
                url: self.known(*page)?.1,
                reason: *reason,
                time,
                finding: Finding::Failed(VisitFailure::Exchange(Failure::Defect(said.to_owned()))),
                fetch: Some(fetch()),
                reading: None,
                second: None,
                lesson: None,
                folded: None,
            })),
            Order::Robots { site } => {
                Visit::Robots { site: *site, time, fetches: vec![fetch()], onward: None }
            }
            Order::Listing { site, url } => Visit::Listing {
                site: *site,
                url: url.clone(),
                time,
                fetch: Box::new(fetch()),
                reading: None,
            },
        })
    }

    async fn visit_page(
        &self,
        page: PageNumber,
        site: SiteNumber,
        reason: Reason,
        rules: Option<&RobotsPolicy>,
    ) -> Result<Visit, StoreError> {
        let (record, url) = self.known(page)?;
        #[cfg(test)]
        crate::tripwire::trip("panic-in-visit", url.as_str());
        let time = self.clock.now();
        let first = self.held.take(page);
        let reason = first.as_ref().map_or(reason, |first| first.reason);
        let too_late = first.as_ref().map_or(0, |first| first.too_late + 1);
        let first = first.filter(|first| time.millis_since(first.latest()) <= self.look_within());
        let visit = |time, judgement: Judgement, fetch, reading, second| {
            let Judgement { finding, lesson, .. } = judgement;
            let lesson = Some(lesson).filter(|lesson| !lesson.is_empty());
            let url = url.clone();
            let folded = None;
            let visit =
                PageVisit { page, site, url, reason, time, finding, fetch, reading, second, lesson, folded };
            Ok(Visit::Page(Box::new(visit)))
        };
        if let Some(rule) = rules.and_then(|rules| forbids(rules, &url)) {
            return visit(time, Finding::Refused(format!("robots.txt: {rule}")).into(), None, None, None);
        }
        let validators = match &first {
            Some(first) if first.second.is_none() => whole_response(&first.fetch)
                .and_then(|response| self.trust.validators_of_look(site, &record, response)),
            Some(_) => None,
            None if reason == Reason::Audit => None,
            None => self.trust.validators(site, &record),
        };
        let fetch = self.web.fetch(&request(&url, time, validators.clone(), Accept::Page)).await;
        let reading = whole_response(&fetch).map(|response| self.read(&url, response));
        let hold = |first: FirstLook, experience, bytes, after| {
            self.held.put(page, first);
            Ok(Visit::SecondLooks { page, site, again: time.plus_millis(after), experience, bytes })
        };
        let (experience, bytes) = (Experience::of(&fetch), fetch.bytes_received);
        if let Some(mut first) = first {
            let lesson = if validators.is_some() && is_not_modified(&fetch) {
                // A server that says "not modified" since the first look would have sent the same page again.
                Some(Lesson::of_looks(&first.reading, &first.reading))
            } else {
                self.learn(&record, &url, &mut first, reading, time)?
            };
            let Some(lesson) = lesson else { return hold(first, experience, bytes, look::SOON) };
            let judgement = self.compare_text(&record, &url, &first.reading, lesson)?;
            return visit(first.time, judgement, Some(first.fetch), Some(first.reading), Some(fetch));
        }
        let judgement = self.compare(&record, &url, validators.is_some(), &fetch, reading.as_ref())?;
        if let Some(response) = whole_response(&fetch) {
            self.trust.learn(site, &record, response, &judgement.finding);
        }
        let may_hold = || too_late < TOO_LATE_MAX && self.held.has_room(time, self.look_within());
        match (judgement.look_after.filter(|_| may_hold()), reading) {
            (Some(after), Some(reading)) => hold(
                FirstLook { time, reason, fetch, reading, second: None, too_late },
                experience,
                bytes,
                after,
            ),
            (_, reading) => visit(time, judgement, Some(fetch), reading, None),
        }
    }

    /// Learns from another look at a page. None if one more look is needed.
    fn learn(
        &self,
        record: &PageRecord,
        url: &PageUrl,
        first: &mut FirstLook,
        reading: Option<Reading>,
        time: Timestamp,
    ) -> Result<Option<Lesson>, StoreError> {
        // A stand-in for the page teaches nothing about it: it is requested again.
        let Some(reading) = reading.filter(|reading| StandIn::of(reading).is_none()) else {
            first.too_late += 1;
            return Ok((first.too_late >= TOO_LATE_MAX).then(Lesson::default));
        };
        if let Some(second) = first.second.take() {
            return Ok(Some(second.lesson.confirmed(&Lesson::of_looks(&second.reading, &reading))));
        }
        let lesson = Lesson::of_looks(&first.reading, &reading);
        let (page, template) = self.learned(record, url)?;
        if Ephemeral::new(&page, &template).has_all(&lesson.differed) {
            return Ok(Some(lesson));
        }
        first.second = Some(SecondLook { time, reading, lesson });
        Ok(None)
    }

    /// Maximum time between two looks that show what is ephemeral, in milliseconds.
    fn look_within(&self) -> i64 {
        look::WITHIN.max(self.clock.millis_in(LOOK_WALL))
    }

    /// Compares a response that another program fetched with our copy.
    pub fn judge(
        &self,
        record: &PageRecord,
        url: &PageUrl,
        fetch: &Fetch,
    ) -> Result<(Finding, Option<Reading>), StoreError> {
        let reading = whole_response(fetch).map(|response| self.read(url, response));
        Ok((self.compare(record, url, false, fetch, reading.as_ref())?.finding, reading))
    }

    /// Requests the robots.txt of a site. It may redirect elsewhere (RFC 9309, 2.3.1.2); then the result says
    /// how to go on.
    async fn ask_for_rules(&self, site: SiteNumber) -> Result<Visit, StoreError> {
        let time = self.clock.now();
        let name = self.reader.site(site)?.map(|record| record.site).unwrap_or_default();
        let mut fetches = Vec::new();
        let mut onward = None;
        if let Some(chase) = Chase::new(&name) {
            onward = self.follow(chase, &mut fetches).await;
        }
        Ok(Visit::Robots { site, time, fetches, onward })
    }

    /// Makes one exchange of a robots.txt request. Returns the rest of the redirect chain, if there is one.
    pub async fn follow(&self, mut chase: Chase, fetches: &mut Vec<Fetch>) -> Option<Chase> {
        let fetch = self.web.fetch(&chase.request(self.clock.now())).await;
        let step = chase.take(&fetch);
        fetches.push(fetch);
        match step {
            Step::Again => Some(chase),
            Step::Done => None,
        }
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
        let selectors = self.definitions.of(url).selectors();
        let (body, canonical, limits) = (&response.body, &self.canonical, &self.limits);
        read_selecting(url, content_type, &robots, &links, body, canonical, limits, selectors)
    }

    /// Compares a fetch with the copy that `record` describes.
    fn compare(
        &self,
        record: &PageRecord,
        url: &PageUrl,
        was_conditional: bool,
        fetch: &Fetch,
        reading: Option<&Reading>,
    ) -> Result<Judgement, StoreError> {
        let response = match &fetch.answer {
            Answer::Response(response) => response,
            Answer::Failed(failure) => {
                return Ok(Finding::Failed(VisitFailure::Exchange(failure.clone())).into());
            }
            Answer::Refused(refusal) => return Ok(Finding::Refused(refusal.to_string()).into()),
        };
        let finding = match response.status {
            304 if was_conditional => Finding::NotModified,
            200..=299 => match (reading, response.truncated) {
                (Some(reading), cut) if cut.is_none_or(Truncation::is_steady) => match StandIn::of(reading) {
                    Some(stand_in) => no_page(record, stand_in),
                    None => return self.compare_text(record, url, reading, Lesson::default()),
                },
                (_, cut) => Finding::Failed(cut.map_or(VisitFailure::NoBody, VisitFailure::Truncated)),
            },
            301 | 302 | 303 | 307 | 308 => match redirect(&self.canonical, url, fetch) {
                Some(to) if to == *url => Finding::Failed(VisitFailure::RedirectsToItself),
                Some(to) => Finding::Moved { to, for_good: matches!(response.status, 301 | 308) },
                None => Finding::Failed(VisitFailure::RedirectsNowhere(response.status)),
            },
            404 | 410 => Finding::Gone,
            status => Finding::Failed(VisitFailure::Status(status)),
        };
        Ok(finding.into())
    }

    /// Compares a reading with our copy. `lesson` is what two looks taught, empty if there was only one.
    fn compare_text(
        &self,
        record: &PageRecord,
        url: &PageUrl,
        reading: &Reading,
        mut lesson: Lesson,
    ) -> Result<Judgement, StoreError> {
        let definition = self.definitions.of(url);
        let judged = |finding, lesson| Ok(Judgement { finding, lesson, look_after: None });
        let Some(digest) = record.text_digest else { return judged(Finding::New, lesson) };
        if record.gone {
            return judged(Finding::Back, lesson);
        }
        let (mut page, template) = self.learned(record, url)?;
        let before = Ephemeral::new(&page, &template);
        let same_text = digest == reading.text_digest;
        if same_text && (definition.extent != Extent::Raw || record.raw_digest == Some(reading.raw_digest)) {
            lesson.lasted.extend(difference::lasted(reading, reading, &before));
            return judged(Finding::Unchanged, lesson);
        }
        let Some(copy) = self.copy(record, url, definition) else {
            let change = Change { size: 1.0, kinds: Kinds::TEXT };
            return judged(Finding::Changed(change), lesson);
        };
        let looked_twice = !lesson.looked_at.is_empty();
        lesson.lasted.extend(difference::lasted(&copy, reading, &before));
        page.learn(&lesson);
        let ephemeral = Ephemeral::new(&page, &template);
        let Some(found) = difference::between(&copy, reading, definition, &ephemeral) else {
            return judged(Finding::Unchanged, lesson);
        };
        let is_learned = looked_twice || definition.extent == Extent::Raw;
        let look_after =
            if is_learned { None } else { look::after(&found.parts, &template, page.changes_in_a_row) };
        Ok(Judgement { finding: Finding::Changed(found.change), lesson, look_after })
    }

    /// The ephemeral parts that were learned of a page and of its template.
    fn learned(
        &self,
        record: &PageRecord,
        url: &PageUrl,
    ) -> Result<(PageEphemera, TemplateEphemera), StoreError> {
        let template = self.reader.note(&template_of(url))?;
        let template =
            template.map_or_else(TemplateEphemera::default, |bytes| TemplateEphemera::decode(&bytes));
        Ok((PageEphemera::decode(&record.evidence.0), template))
    }

    /// Reads our copy of a page with the selectors of the definition. None if it cannot be read.
    fn copy(&self, record: &PageRecord, url: &PageUrl, definition: &Definition) -> Option<Reading> {
        let stored = record.place.and_then(|place| self.reader.read_version(place).ok())?;
        let content_type = Some(record.content_type.as_str());
        let body = decoded(stored.header("content-encoding"), stored.body.clone());
        let (canonical, limits, selectors) = (&self.canonical, &self.limits, definition.selectors());
        Some(read_selecting(url, content_type, &[], &[], &body, canonical, limits, selectors))
    }
}

impl From<Finding> for Judgement {
    fn from(finding: Finding) -> Self {
        Self { finding, lesson: Lesson::default(), look_after: None }
    }
}

/// The finding when a stand-in came in place of the page. A page that repeatedly says that it does not exist
/// is gone.
fn no_page(record: &PageRecord, stand_in: StandIn) -> Finding {
    if stand_in == StandIn::NotFound && record.failures + 1 >= NOT_FOUND_BELIEVED {
        return Finding::Gone;
    }
    Finding::Failed(VisitFailure::StandIn(stand_in))
}

/// The rule that forbids a URL, if there is one.
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

/// The response of a fetch, if its status is a success.
fn whole_response(fetch: &Fetch) -> Option<&Response> {
    match &fetch.answer {
        Answer::Response(response) if (200..300).contains(&response.status) => Some(response),
        _ => None,
    }
}

/// Whether the server answered "not modified".
fn is_not_modified(fetch: &Fetch) -> bool {
    matches!(&fetch.answer, Answer::Response(response) if response.status == 304)
}

/// The target of a redirect.
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
