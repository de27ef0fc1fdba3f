//! Answers questions about a crawl, whether it runs or not.
//!
//! While a crawl runs its process holds the stores; questions reach it through a socket in the crawl's directory (see
//! [`crate::query_socket`]), and the answers are those it would give itself. When none runs, whoever asks opens the stores.

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

/// Lines of an answer at most, unless more are asked for.
const LINES_MAX: usize = 1_000_000;
/// Ephemeral parts of a page that are shown at most.
const PARTS_SHOWN: usize = 20;
/// Bytes of the text of a part that are shown.
const PART_TEXT: usize = 60;

/// A question about a crawl.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How does the crawl stand?
    Status,
    /// Which pages are there?
    Pages {
        /// Only of this site.
        site: Option<String>,
        /// In which order.
        sort: PageOrder,
        /// How many at most.
        limit: usize,
    },
    /// What is known of a URL, and why is it visited when it is visited?
    Explain {
        /// The URL.
        url: String,
    },
    /// What changed?
    Changes {
        /// Since when, in milliseconds since 1970.
        since_ms: i64,
        /// Only on this site.
        site: Option<String>,
        /// How many at most, the newest.
        limit: usize,
    },
    /// What did a page say?
    Cat {
        /// The URL.
        url: String,
        /// When, in milliseconds since 1970; now if nothing is said.
        at_ms: Option<i64>,
        /// Its visible text alone.
        text: bool,
    },
    /// What did a page say at two moments?
    Diff {
        /// The URL.
        url: String,
        /// The earlier moment, in milliseconds since 1970; that of the version before the later one if nothing is said.
        from_ms: Option<i64>,
        /// The later moment; now if nothing is said.
        to_ms: Option<i64>,
    },
    /// When did pages change, as far as visits can say?
    Past,
    /// Visit a page this often from now on, in milliseconds; as the policy says, if zero.
    Pin {
        /// The URL.
        url: String,
        /// How often.
        every_ms: u64,
    },
    /// Visit pages drawn at random, to see how fresh the copies are.
    Audit {
        /// How many.
        sample: usize,
    },
    /// What has the audit found so far?
    Audited {
        /// Whether it is enough, and the audit ends.
        enough: bool,
    },
    /// Visit a site no longer, or again.
    Pause {
        /// The site, or its host.
        site: String,
        /// Whether to pause it.
        paused: bool,
    },
    /// May another program of this machine ask a host once, in the crawl's turn and on its budget?
    Turn {
        /// The host.
        host: String,
        /// The address that will be connected to, if it is known.
        address: Option<IpAddr>,
    },
}

/// In which order pages are listed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOrder {
    /// The one that is visited next first.
    #[default]
    Due,
    /// The one that changes most often first.
    Rate,
    /// The most important first.
    Importance,
}

/// The answer to a question.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How the crawl stands.
    Status(Box<Status>),
    /// Pages.
    Pages(Vec<PageLine>),
    /// All that is known of a URL.
    Explain(Box<Account>),
    /// What changed, the oldest first.
    Changes(Vec<ChangeLine>),
    /// What a page said.
    Cat(Copy),
    /// What a page said at two moments: its visible text.
    Diff(Copy, Copy),
    /// What the visits say of when pages changed.
    Past(Past),
    /// What an audit found.
    Audit(AuditReport),
    /// The crawl is being opened; so much of it is done, from 0 to 1.
    Opening(f64),
    /// The host may be asked once. The turn lasts until the connection ends, or says how the host behaved.
    Turn,
    /// The host may not be asked yet: it is worth asking for a turn again.
    NoTurn,
    /// It was done.
    Done(String),
    /// It cannot be answered, and why.
    Unknown(String),
}

/// A page, in a line.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PageLine {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Visits made.
    pub visits: u32,
    /// Changes found.
    pub changes: u32,
    /// When it was visited last, in milliseconds since 1970.
    pub last_visit_ms: Option<i64>,
    /// How often it changes, per day.
    pub rate: Option<f64>,
    /// The probability that our copy is out of date.
    pub changed_probability: Option<f64>,
    /// How important it is; one on average.
    pub importance: f32,
    /// In how many days it is expected to be visited next.
    pub next_visit_days: Option<f64>,
    /// What stands out: gone, failing, waiting, pinned.
    pub note: String,
}

/// All that is known of a URL.
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
    /// The page it was found on.
    pub found_on: Option<String>,
    /// Links from a seed.
    pub depth: u16,
    /// What the first link to it is called.
    pub anchor: String,
    /// The rule of robots.txt that applies.
    pub robots: String,
    /// Visits made.
    pub visits: u32,
    /// Changes found.
    pub changes: u32,
    /// Visits that failed, in a row, up to now.
    pub failures: u16,
    /// The first and the last visit and the last change, in milliseconds since 1970.
    pub first_visit_ms: Option<i64>,
    /// See above.
    pub last_visit_ms: Option<i64>,
    /// See above.
    pub last_change_ms: Option<i64>,
    /// The status of the last answer.
    pub status: u16,
    /// How important it is, one on average, and from what.
    pub importance: f32,
    /// How much its copy is about the topic of the crawl, from 0 to 1, if that has one.
    #[serde(default)]
    pub likeness: Option<f32>,
    /// Pages we hold that link to it.
    pub linked_from: usize,
    /// How often it changes per day, with a 95% interval.
    pub rate: Option<(f64, f64, f64)>,
    /// The probability that our copy is out of date.
    pub changed_probability: Option<f64>,
    /// What a visit is worth now, and what it must be worth to be made.
    pub index: Option<(f64, f64)>,
    /// How fast its directory and its site change beside what is usual.
    pub clocks: Option<(f64, f64)>,
    /// Whether its site has proved to tell truly when its pages change.
    pub dates_are_believed: bool,
    /// In how many days it is expected to be visited next.
    pub next_visit_days: Option<f64>,
    /// What the server says of our copy.
    pub etag: Option<String>,
    /// See above.
    pub last_modified: Option<String>,
    /// Answers that nothing changed, and whether the validators were found to lie.
    pub not_modified: u32,
    /// See above.
    pub validators_lied: u16,
    /// How often it is visited whatever the policy says, in milliseconds.
    pub pinned_every_ms: Option<u64>,
    /// Whether its site is paused.
    #[serde(default)]
    pub paused: bool,
    /// Versions that are kept, by time in milliseconds.
    pub versions_ms: Vec<i64>,
    /// What is a change of it.
    #[serde(default)]
    pub definition: String,
    /// The parts of our copy that never last, and do not count.
    #[serde(default)]
    pub ephemeral: Vec<EphemeralPart>,
    /// Visits in a row that found it changed, up to now.
    #[serde(default)]
    pub changes_in_a_row: u8,
}

/// A part of a page that never lasts.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct EphemeralPart {
    /// Its element.
    pub element: String,
    /// Which of the parts of such elements it is, from 1.
    pub number: u32,
    /// What it says in our copy, shortened.
    pub text: String,
    /// Whether it was learned on this page; else on others of its template.
    pub learned_here: bool,
    /// Second looks at pages of its template that have such an element.
    pub looks: u16,
}

/// What a page said.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Copy {
    /// Its URL.
    pub url: String,
    /// When it said so, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its type.
    pub content_type: String,
    /// The body, or the text; bytes that are no UTF-8 are marked.
    pub content: String,
}

/// What is asked of the crawl that runs, or of one that was opened for the purpose.
pub trait Insight {
    /// How the crawl stands.
    fn status(&self) -> Status;
    /// Why the page is visited when it is visited.
    fn explain(&self, page: PageNumber) -> Option<Explanation>;
    /// The rule of robots.txt that applies to a URL.
    fn robots(&self, url: &PageUrl) -> String;
    /// What is a change of a page.
    fn definition(&self, url: &PageUrl) -> Definition;
}

/// What the rules of a site, as far as they are known, say of a URL.
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

/// Answers what can be answered by reading.
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

/// The site that a user means by `scheme://host`, `host:port` or `host`.
pub fn site_named(reader: &Reader, name: &str) -> Result<Option<(SiteNumber, String)>, StoreError> {
    for entry in reader.sites() {
        let (site, record) = entry?;
        if is_of_site(&format!("{}/", record.site), name) {
            return Ok(Some((site, record.site)));
        }
    }
    Ok(None)
}

/// The sites that a user means: of a host those of all its schemes and ports.
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

/// Whether a URL is of a site, given as `scheme://host`, `host:port` or `host`.
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

/// The page of a URL; for one that is no longer kept, that which it was.
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

/// What is a change of the page, and which parts of our copy do not count.
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

/// Two versions of a page: unless moments are given, the newest and the one before it.
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

/// What a page said at a moment, or why that is not known.
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
