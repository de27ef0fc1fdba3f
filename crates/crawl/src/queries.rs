//! Queries about a crawl, and their answers, whether it runs or not.
//!
//! While a crawl runs, its process holds the stores. Queries reach it through a socket in the crawl's
//! directory (see [`crate::query_socket`]), and are answered from its own state. When it does not run, the
//! process that asks reads the stores itself ([`crate::stopped`]).

use std::net::IpAddr;

use freshet_fetch::change::Definition;
use freshet_fetch::change::ephemeral::{Ephemeral, Key, PageEphemera, TemplateEphemera, template_of};
use freshet_fetch::page::reading::{Limits, read_selecting};
use freshet_fetch::page::{Canonical, PageUrl, read};
use freshet_fetch::web::decoded;
use freshet_fetch::web::robots::RobotsPolicy;
use freshet_partition::policy::visit::Explanation;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Standing, UrlRecord};
use freshet_store::coll_urls::PageRecord;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitQuery};
use freshet_store::reader::Reader;
use freshet_theory::units::Days;
use serde::{Deserialize, Serialize};

use crate::audit::AuditReport;
use crate::last_run;
use crate::past::{Past, past};
use crate::status::{ChangeLine, Status};

/// Maximum number of lines of an answer, unless more are requested.
const LINES_MAX: usize = 1_000_000;
/// Maximum number of ephemeral parts of a page that are shown.
const PARTS_SHOWN: usize = 20;
/// Maximum length of the text of a part that is shown, in bytes.
const PART_TEXT: usize = 60;

/// A query about a crawl, or a command to it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// What is the status of the crawl?
    Status,
    /// Which pages are there?
    Pages {
        /// Only pages of this site.
        site: Option<String>,
        /// The sort order.
        sort: PageOrder,
        /// Maximum number of pages.
        limit: usize,
    },
    /// What is known of a URL, and why is it visited when it is?
    Explain {
        /// The URL.
        url: String,
    },
    /// Which changes were found?
    Changes {
        /// Since this time, in milliseconds since 1970.
        since_ms: i64,
        /// Only changes on this site.
        site: Option<String>,
        /// Maximum number of changes. The newest are returned.
        limit: usize,
    },
    /// What was the content of a page?
    Cat {
        /// The URL.
        url: String,
        /// At this time, in milliseconds since 1970. None: now.
        at_ms: Option<i64>,
        /// Only its visible text.
        text: bool,
    },
    /// What was the content of a page at two times?
    Diff {
        /// The URL.
        url: String,
        /// The earlier time, in milliseconds since 1970. None: that of the version before the later one.
        from_ms: Option<i64>,
        /// The later time, in milliseconds since 1970. None: now.
        to_ms: Option<i64>,
    },
    /// When did pages change, according to the visits?
    Past,
    /// Pin: visit a page at this interval. Zero: unpin, the policy decides.
    Pin {
        /// The URL.
        url: String,
        /// The interval, in milliseconds.
        every_ms: u64,
    },
    /// Start an audit: visit pages drawn at random, to measure how fresh the copies are.
    Audit {
        /// Number of pages.
        sample: usize,
    },
    /// What is the result of the audit so far?
    Audited {
        /// Whether to end the audit now.
        enough: bool,
    },
    /// Pause a site, or resume it.
    Pause {
        /// The site, or its host.
        site: String,
        /// Whether to pause it.
        paused: bool,
    },
    /// Lend a turn: may another program on this machine visit a host once, in the crawl's turn and on its
    /// budget?
    Turn {
        /// The host.
        host: String,
        /// The address of the connection, if it is known.
        address: Option<IpAddr>,
    },
}

/// The sort order of pages.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOrder {
    /// The page that is visited next first.
    #[default]
    Due,
    /// The page that changes most often first.
    Rate,
    /// The most important page first.
    Importance,
}

/// The answer to a question.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The status of the crawl.
    Status(Box<Status>),
    /// Pages.
    Pages(Vec<PageLine>),
    /// All that is known of a URL.
    Explain(Box<Account>),
    /// Changes, oldest first.
    Changes(Vec<ChangeLine>),
    /// The content of a page.
    Cat(Copy),
    /// The visible text of a page at two times.
    Diff(Copy, Copy),
    /// When pages changed, according to the visits.
    Past(Past),
    /// The result of an audit.
    Audit(AuditReport),
    /// The crawl is still being opened. Its progress, from 0 to 1.
    Opening(f64),
    /// The host may be visited once. The turn lasts until the connection ends, or reports how the host
    /// behaved.
    Turn,
    /// The host may not be visited yet: ask for a turn again.
    NoTurn,
    /// The command was carried out.
    Done(String),
    /// There is no answer, and why.
    Unknown(String),
}

/// A line in a list of pages.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PageLine {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Number of visits.
    pub visits: u32,
    /// Number of changes found.
    pub changes: u32,
    /// Time of the last visit, in milliseconds since 1970.
    pub last_visit_ms: Option<i64>,
    /// Estimated rate of change, per day.
    pub rate: Option<f64>,
    /// The probability that our copy is out of date.
    pub changed_probability: Option<f64>,
    /// Its importance; 1 on average.
    pub importance: f32,
    /// Expected time until the next visit, in days.
    pub next_visit_days: Option<f64>,
    /// Special state: gone, failing, waiting, pinned.
    pub note: String,
}

/// Everything that is known of a URL.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Account {
    /// The URL in canonical form.
    pub url: String,
    /// Whether it is kept, or why not.
    pub standing: String,
    /// How it was found.
    pub source: String,
    /// When it was found, in milliseconds since 1970.
    pub discovered_ms: Option<i64>,
    /// The page that it was found on.
    pub found_on: Option<String>,
    /// Number of links from a seed.
    pub depth: u16,
    /// Anchor text of the first link to it.
    pub anchor: String,
    /// The rule of robots.txt that applies.
    pub robots: String,
    /// Number of visits.
    pub visits: u32,
    /// Number of changes found.
    pub changes: u32,
    /// Number of consecutive failed visits, up to the last.
    pub failures: u16,
    /// Time of the first visit, in milliseconds since 1970.
    pub first_visit_ms: Option<i64>,
    /// Time of the last visit, in milliseconds since 1970.
    pub last_visit_ms: Option<i64>,
    /// Time of the last change, in milliseconds since 1970.
    pub last_change_ms: Option<i64>,
    /// Status of the last response.
    pub status: u16,
    /// Its importance; 1 on average.
    pub importance: f32,
    /// How much its copy is about the topic of the crawl, from 0 to 1, if the crawl has a topic.
    #[serde(default)]
    pub likeness: Option<f32>,
    /// Number of our pages that link to it.
    pub linked_from: usize,
    /// Estimated rate of change per day, with a 95% interval.
    pub rate: Option<(f64, f64, f64)>,
    /// The probability that our copy is out of date.
    pub changed_probability: Option<f64>,
    /// The index: what a visit is worth now, and the threshold for a visit.
    pub index: Option<(f64, f64)>,
    /// Rates of change of its directory and of its site, relative to what is usual.
    pub clocks: Option<(f64, f64)>,
    /// Whether the change dates of its site have proved true.
    pub dates_are_believed: bool,
    /// Expected time until the next visit, in days.
    pub next_visit_days: Option<f64>,
    /// The ETag of our copy.
    pub etag: Option<String>,
    /// The Last-Modified of our copy.
    pub last_modified: Option<String>,
    /// Number of "not modified" responses.
    pub not_modified: u32,
    /// How often its validators turned out to be wrong.
    pub validators_lied: u16,
    /// Interval of its pin, in milliseconds, if it is pinned.
    pub pinned_every_ms: Option<u64>,
    /// Whether its site is paused.
    #[serde(default)]
    pub paused: bool,
    /// Times of the stored versions, in milliseconds.
    pub versions_ms: Vec<i64>,
    /// Its definition of change.
    #[serde(default)]
    pub definition: String,
    /// The ephemeral parts of our copy, which do not count as changes.
    #[serde(default)]
    pub ephemeral: Vec<EphemeralPart>,
    /// Number of consecutive visits, up to the last, that found a change.
    #[serde(default)]
    pub changes_in_a_row: u8,
}

/// An ephemeral part of a page.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct EphemeralPart {
    /// Its element.
    pub element: String,
    /// Its number among the parts of such elements, from 1.
    pub number: u32,
    /// Its text in our copy, shortened.
    pub text: String,
    /// Whether it was learned on this page. If not, it was learned on other pages of its template.
    pub learned_here: bool,
    /// Number of second looks at pages of its template that have such an element.
    pub looks: u16,
}

/// The content of a page at a time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Copy {
    /// Its URL.
    pub url: String,
    /// Time of the version, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its content type.
    pub content_type: String,
    /// The body, or the text. Bytes that are not UTF-8 are replaced.
    pub content: String,
}

/// Questions that the stores alone cannot answer: answered by the running crawl, or by one that was opened
/// read-only.
pub trait Insight {
    /// The status of the crawl.
    fn status(&self) -> Status;
    /// Why the page is visited when it is.
    fn explain(&self, page: PageNumber) -> Option<Explanation>;
    /// The rule of robots.txt that applies to a URL.
    fn robots(&self, url: &PageUrl) -> String;
    /// The definition of change for a page.
    fn definition(&self, url: &PageUrl) -> Definition;
}

/// What the rules of a site say about a URL, as far as they are known.
pub(crate) fn verdict(rules: Option<&RobotsPolicy>, url: &PageUrl) -> String {
    match rules {
        None => "robots.txt was not read yet".to_owned(),
        Some(RobotsPolicy::AllowAll) => "the site has no robots.txt: all is allowed".to_owned(),
        Some(RobotsPolicy::Wait(_)) => "robots.txt cannot be had now: nothing is visited".to_owned(),
        Some(RobotsPolicy::Rules(robots)) => {
            let verdict = robots.verdict(url.path_and_query());
            let word = if verdict.allowed { "allowed" } else { "forbidden" };
            verdict
                .rule
                .map_or_else(|| format!("{word}: no rule applies"), |rule| format!("{word} by `{rule}`"))
        }
    }
}

/// Answers queries that need only reading.
pub fn answer(reader: &Reader, insight: &dyn Insight, question: &Question) -> Answer {
    let canonical = Canonical::default();
    let answered = match question {
        Question::Status => Ok(Answer::Status(Box::new(insight.status()))),
        Question::Pages { site, sort, limit } => pages(reader, insight, site.as_deref(), *sort, *limit),
        Question::Explain { url } => with_url(&canonical, url, |url| explain(reader, insight, url)),
        Question::Changes { since_ms, site, limit } => changes(reader, *since_ms, site.as_deref(), *limit),
        Question::Cat { url, at_ms, text } => {
            with_url(&canonical, url, |url| cat(reader, url, *at_ms, *text))
        }
        Question::Diff { url, from_ms, to_ms } => {
            with_url(&canonical, url, |url| diff(reader, url, *from_ms, *to_ms))
        }
        Question::Past => past(reader).map(|told| told.map_or_else(Answer::Unknown, Answer::Past)),
        Question::Pin { .. }
        | Question::Pause { .. }
        | Question::Audit { .. }
        | Question::Audited { .. }
        | Question::Turn { .. } => Ok(Answer::Unknown("only a writer can do that".to_owned())),
    };
    answered.unwrap_or_else(|error| Answer::Unknown(error.to_string()))
}

fn with_url(
    canonical: &Canonical,
    url: &str,
    act: impl FnOnce(&PageUrl) -> Result<Answer, StoreError>,
) -> Result<Answer, StoreError> {
    let with_scheme = if url.contains("://") { url.to_owned() } else { format!("https://{url}") };
    match canonical.of(&with_scheme) {
        Ok(url) => act(&url),
        Err(refused) => Ok(Answer::Unknown(format!("{url}: {refused}"))),
    }
}

fn pages(
    reader: &Reader,
    insight: &dyn Insight,
    site: Option<&str>,
    sort: PageOrder,
    limit: usize,
) -> Result<Answer, StoreError> {
    let mut lines = Vec::new();
    for entry in reader.pages() {
        let (page, record) = entry?;
        if record.discarded.is_some() {
            continue;
        }
        let Some(url) = reader.url(record.url)? else { continue };
        if site.is_some_and(|site| !is_of_site(&url.url, site)) {
            continue;
        }
        lines.push(page_line(insight, page, &record, url.url));
    }
    let far = f64::INFINITY;
    match sort {
        PageOrder::Due => lines.sort_by(|one, other| {
            one.next_visit_days.unwrap_or(far).total_cmp(&other.next_visit_days.unwrap_or(far))
        }),
        PageOrder::Rate => {
            lines.sort_by(|one, other| other.rate.unwrap_or(0.0).total_cmp(&one.rate.unwrap_or(0.0)));
        }
        PageOrder::Importance => lines.sort_by(|one, other| other.importance.total_cmp(&one.importance)),
    }
    lines.truncate(limit.min(LINES_MAX));
    Ok(Answer::Pages(lines))
}

fn page_line(insight: &dyn Insight, page: PageNumber, record: &PageRecord, url: String) -> PageLine {
    let explanation = insight.explain(page);
    let note = match () {
        () if record.gone => "gone",
        () if record.failures > 0 => "failing",
        () if record.text_digest.is_none() => "waiting",
        () if record.pinned_every.is_some() => "pinned",
        () => "",
    };
    PageLine {
        url,
        title: record.title.clone(),
        visits: record.visits,
        changes: record.changes,
        last_visit_ms: record.last_visit.map(Timestamp::millis),
        rate: explanation.map(|explanation| explanation.change_rate.get()),
        changed_probability: explanation.map(|explanation| explanation.changed_probability),
        importance: record.importance,
        next_visit_days: explanation.and_then(|explanation| explanation.next_visit_in).map(Days::get),
        note: note.to_owned(),
    }
}

/// The site that a user names as `scheme://host`, `host:port` or `host`.
pub fn site_named(reader: &Reader, name: &str) -> Result<Option<(SiteNumber, String)>, StoreError> {
    for entry in reader.sites() {
        let (site, record) = entry?;
        if is_of_site(&format!("{}/", record.site), name) {
            return Ok(Some((site, record.site)));
        }
    }
    Ok(None)
}

/// All sites that a user names. A host means all its schemes and ports.
pub fn sites_named(reader: &Reader, name: &str) -> Result<Vec<(SiteNumber, String)>, StoreError> {
    let mut named = Vec::new();
    for entry in reader.sites() {
        let (site, record) = entry?;
        if is_of_site(&format!("{}/", record.site), name) {
            named.push((site, record.site));
        }
    }
    Ok(named)
}

/// Whether a URL belongs to a site, given as `scheme://host`, `host:port` or `host`.
fn is_of_site(url: &str, site: &str) -> bool {
    let site = site.trim_end_matches('/');
    PageUrl::stored(url).is_some_and(|url| {
        url.site() == site
            || url.host() == site
            || url.site().split_once("://").is_some_and(|(_, rest)| rest == site)
    })
}

fn explain(reader: &Reader, insight: &dyn Insight, url: &PageUrl) -> Result<Answer, StoreError> {
    let Some(id) = reader.url_id(url.as_str())? else {
        return Ok(Answer::Unknown(format!(
            "{url} is not known: no page that was visited links to it, or it is out of scope"
        )));
    };
    let Some(known) = reader.url(id)? else { return Ok(Answer::Unknown(format!("{url} is not known"))) };
    let mut account = Account {
        url: url.as_str().to_owned(),
        standing: standing(&known),
        source: known.source.word().to_owned(),
        discovered_ms: Some(known.discovered.millis()),
        found_on: known.found_on.map(|id| reader.url(id)).transpose()?.flatten().map(|record| record.url),
        depth: known.depth,
        anchor: known.anchor.clone(),
        robots: insight.robots(url),
        linked_from: linked_from(reader, id)?,
        ..Account::default()
    };
    if let Some(page) = page_of(reader, &known)? {
        describe(&mut account, reader, insight, page)?;
        describe_parts(&mut account, reader, &insight.definition(url), url, page)?;
    }
    Ok(Answer::Explain(Box::new(account)))
}

fn standing(known: &UrlRecord) -> String {
    let detail = if known.detail.is_empty() { String::new() } else { format!(": {}", known.detail) };
    match known.standing {
        Standing::Waiting => "known, not kept: more important pages fill the collection".to_owned(),
        Standing::Kept(_) => "kept".to_owned(),
        Standing::Refused(reason) => format!("not kept ({}){detail}", reason.word()),
        Standing::Discarded(reason) => format!("no longer kept ({}){detail}", reason.word()),
    }
}

/// The page of a URL. For a URL that is no longer kept, its former page.
fn page_of(reader: &Reader, known: &UrlRecord) -> Result<Option<PageNumber>, StoreError> {
    if let Standing::Kept(page) = known.standing {
        return Ok(Some(page));
    }
    let visits = reader.visits(&VisitQuery::of_url(&known.url))?;
    Ok(visits.into_iter().rev().find_map(|visit| visit.row.page))
}

fn linked_from(reader: &Reader, id: UrlId) -> Result<usize, StoreError> {
    let mut pages = 0;
    for entry in reader.all_links().from(PageNumber(0)) {
        pages += usize::from(entry?.1.binary_search(&id).is_ok());
    }
    Ok(pages)
}

fn describe(
    account: &mut Account,
    reader: &Reader,
    insight: &dyn Insight,
    page: PageNumber,
) -> Result<(), StoreError> {
    let Some(record) = reader.page(page)? else { return Ok(()) };
    account.visits = record.visits;
    account.changes = record.changes;
    account.failures = record.failures;
    account.first_visit_ms = record.first_visit.map(Timestamp::millis);
    account.last_visit_ms = record.last_visit.map(Timestamp::millis);
    account.last_change_ms = record.last_change.map(Timestamp::millis);
    account.status = record.status;
    account.importance = record.importance;
    account.likeness = record.likeness;
    account.etag = record.etag;
    account.last_modified = record.last_modified;
    account.not_modified = record.not_modified;
    account.validators_lied = record.validators_lied;
    account.pinned_every_ms = record.pinned_every;
    account.paused = reader.site(record.site)?.is_some_and(|site| site.paused);
    account.versions_ms = reader.versions(page)?.iter().map(|version| version.time.millis()).collect();
    if let Some(explanation) = insight.explain(page) {
        let rates = (explanation.change_rate, explanation.change_rate_low, explanation.change_rate_high);
        account.rate = Some((rates.0.get(), rates.1.get(), rates.2.get()));
        account.changed_probability = Some(explanation.changed_probability);
        account.index = Some((explanation.index, explanation.threshold));
        account.clocks = Some((explanation.directory_clock, explanation.site_clock));
        account.dates_are_believed = explanation.dates_are_believed;
        account.next_visit_days = explanation.next_visit_in.map(Days::get);
    }
    Ok(())
}

/// Adds the definition of change of the page, and the ephemeral parts of our copy.
fn describe_parts(
    account: &mut Account,
    reader: &Reader,
    definition: &Definition,
    url: &PageUrl,
    page: PageNumber,
) -> Result<(), StoreError> {
    account.definition = definition.to_string();
    let Some(record) = reader.page(page)? else { return Ok(()) };
    let learned = PageEphemera::decode(&record.evidence.0);
    account.changes_in_a_row = learned.changes_in_a_row;
    let template = reader.note(&template_of(url))?;
    let template = template.map_or_else(TemplateEphemera::default, |bytes| TemplateEphemera::decode(&bytes));
    let Some(stored) = record.place.and_then(|place| reader.read_version(place).ok()) else { return Ok(()) };
    let body = decoded(stored.header("content-encoding"), stored.body.clone());
    let content_type = Some(record.content_type.as_str());
    let (canonical, limits) = (Canonical::default(), Limits::default());
    let copy =
        read_selecting(url, content_type, &[], &[], &body, &canonical, &limits, definition.selectors());
    let ephemeral = Ephemeral::new(&learned, &template);
    let own = Ephemeral::new(&learned, &TemplateEphemera::default());
    for block in copy.blocks.iter().filter(|block| ephemeral.has(Key::of(block))).take(PARTS_SHOWN) {
        let label = copy.labels.iter().find(|(path, _)| *path == block.path).map(|(_, label)| label.clone());
        let text = block.text(&copy.text);
        account.ephemeral.push(EphemeralPart {
            element: label.unwrap_or_default(),
            number: u32::from(block.ordinal) + 1,
            text: text[..text.floor_char_boundary(PART_TEXT)].to_owned(),
            learned_here: own.has(Key::of(block)),
            looks: template.looks(block.path),
        });
    }
    Ok(())
}

fn changes(reader: &Reader, since_ms: i64, site: Option<&str>, limit: usize) -> Result<Answer, StoreError> {
    let visits = reader.visits(&VisitQuery::since(Timestamp::from_millis(since_ms)))?;
    let visible = last_run::visible_until(reader)?;
    let mut lines: Vec<ChangeLine> = visits
        .into_iter()
        .filter(|visit| reader.is_durable(visit.number))
        .map(|visit| visit.row)
        .filter(|row| visible.is_none_or(|visible| row.time <= visible))
        .filter(|row| {
            !matches!(
                row.kind,
                VisitKind::Unchanged | VisitKind::NotModified | VisitKind::Failed | VisitKind::Refused
            )
        })
        .filter(|row| site.is_none_or(|site| is_of_site(&row.url, site)))
        .map(|row| ChangeLine {
            time_ms: row.time.millis(),
            what: row.kind.word().to_owned(),
            url: row.url,
            size: row.change_size,
            kinds: row.change_kinds.unwrap_or_default(),
            to: row.moved_to,
        })
        .collect();
    let surplus = lines.len().saturating_sub(limit);
    lines.drain(..surplus);
    Ok(Answer::Changes(lines))
}

fn cat(reader: &Reader, url: &PageUrl, at_ms: Option<i64>, text: bool) -> Result<Answer, StoreError> {
    let copied = copy_at(reader, url, Timestamp::from_millis(at_ms.unwrap_or(i64::MAX)), text)?;
    Ok(copied.map_or_else(Answer::Unknown, Answer::Cat))
}

/// Two versions of a page. By default the newest and the one before it.
fn diff(
    reader: &Reader,
    url: &PageUrl,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
) -> Result<Answer, StoreError> {
    let later = match copy_at(reader, url, Timestamp::from_millis(to_ms.unwrap_or(i64::MAX)), true)? {
        Ok(later) => later,
        Err(why) => return Ok(Answer::Unknown(why)),
    };
    let from = Timestamp::from_millis(from_ms.unwrap_or(later.time_ms - 1));
    Ok(match copy_at(reader, url, from, true)? {
        Ok(earlier) => Answer::Diff(earlier, later),
        Err(_) if from_ms.is_none() => Answer::Unknown(format!("{url}: there is only one version of it")),
        Err(why) => Answer::Unknown(why),
    })
}

/// The content of a page at a time, or why it is not known.
fn copy_at(
    reader: &Reader,
    url: &PageUrl,
    at: Timestamp,
    text: bool,
) -> Result<Result<Copy, String>, StoreError> {
    let unknown = |why: &str| Ok(Err(format!("{url}: {why}")));
    let Some(known) = reader.url_id(url.as_str())?.map(|id| reader.url(id)).transpose()?.flatten() else {
        return unknown("it is not known");
    };
    let Some(page) = page_of(reader, &known)? else { return unknown("it was never visited") };
    let visible = last_run::visible_until(reader)?.unwrap_or(Timestamp::from_millis(i64::MAX));
    if visible == Timestamp::default() {
        return unknown("with shadowing it can be read when the first cycle is over");
    }
    let at = at.min(visible);
    let Some(version) = reader.all_versions().full_at(page, at)? else {
        return unknown("there is no copy of that time");
    };
    let Some(response) = reader.response_at(page, at)? else {
        return unknown("there is no copy of that time");
    };
    let content_type = response.header("content-type").unwrap_or_default().to_owned();
    let body = decoded(response.header("content-encoding"), response.body.clone());
    let content = if text {
        read(url, Some(&content_type), &[], &[], &body, &Canonical::default(), &Limits::default()).text
    } else {
        String::from_utf8_lossy(&body).into_owned()
    };
    Ok(Ok(Copy { url: url.as_str().to_owned(), time_ms: version.time.millis(), content_type, content }))
}
