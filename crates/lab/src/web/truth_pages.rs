//! The truth over HTTP: pages under `/-/` on every site, for tests and for people.
//!
//! | address | answer |
//! |---|---|
//! | `/-/clock` | the simulated time, and what another clock needs to agree |
//! | `/-/seeds` | URL of the root of each site |
//! | `/-/truth?since=MS&until=MS&of=text` | a JSON line for each event after `since` and up to `until` |
//! | `/-/truth/page?url=URL&at=MS` | the state of a URL |
//! | `/-/state?at=MS` | a JSON line for each page that exists |
//!
//! Moments are simulated milliseconds since 1970. The default of `since` is the start, that of `until` and
//! `at` is now. `of` is `text` (all that lasts) or `main` (without changes of templates). A copy is fresh if
//! its URL is in the state and was fetched no earlier than `changed_ms` (or `main_changed_ms`).
//!
//! # Promises
//! - A request that cannot be answered is refused with a sentence that says why.
//! - The answers agree with [`super::truth`].

use std::sync::Arc;

use bytes::Bytes;
use freshet_protocol::time::Timestamp;
use serde::Serialize;

use super::atlas::PageNumber;
use super::clock::{START, WebClock};
use super::lives::Standing;
use super::living_web::LivingWeb;
use super::truth::{Event, Happening, Part};

/// Number of lines that are made and sent in one piece.
const LINES_PER_PIECE: usize = 256;

/// An answer about the truth.
pub enum TruthPage {
    /// One text.
    Text(String),
    /// Lines, generated while they are sent.
    Lines(Box<dyn Iterator<Item = Bytes> + Send>),
    /// A request that cannot be answered, and why.
    Refused(String),
}

/// Answers a request about the truth. The path begins with `/-/`.
pub fn truth_page(web: &Arc<LivingWeb>, clock: &WebClock, path: &str, query: &str) -> TruthPage {
    let answer = match path {
        "/-/clock" => Ok(TruthPage::Text(json(&clock.reading()))),
        "/-/seeds" => Ok(TruthPage::Text(web.seeds().join("\n") + "\n")),
        "/-/truth" => happenings(web, clock, query),
        "/-/truth/page" => url_state(web, clock, query),
        "/-/state" => state(web, clock, query),
        _ => Err("ask for /-/clock, /-/seeds, /-/truth, /-/truth/page or /-/state".to_owned()),
    };
    answer.unwrap_or_else(TruthPage::Refused)
}

#[derive(Serialize)]
struct HappeningLine {
    time_ms: i64,
    url: String,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    lasting: bool,
    version: u32,
    template: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

#[derive(Serialize)]
struct PageLine {
    url: String,
    standing: &'static str,
    version: u32,
    template: u32,
    main_changed_ms: i64,
    changed_ms: i64,
    allowed: bool,
    noisy: bool,
    process: &'static str,
    changes_per_day: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

fn happenings(web: &Arc<LivingWeb>, clock: &WebClock, query: &str) -> Result<TruthPage, String> {
    let since = moment(query, "since", START)?;
    let until = moment(query, "until", clock.now())?;
    let main_only = match value(query, "of").as_deref() {
        None | Some("text") => false,
        Some("main") => true,
        Some(other) => return Err(format!("of={other}: it is text or main")),
    };
    let mut happenings = web.happenings(since, until);
    if main_only {
        happenings.retain(|happening| happening.event != Event::Changed(Part::Template));
    }
    let web = Arc::clone(web);
    Ok(lines(happenings.into_iter().map(move |happening| json(&happening_line(&web, &happening)))))
}

fn happening_line(web: &LivingWeb, happening: &Happening) -> HappeningLine {
    let Happening { time, page, event, main, template } = *happening;
    let (name, part) = match event {
        Event::Born => ("born", None),
        Event::Changed(Part::Main) => ("changed", Some("main")),
        Event::Changed(Part::Template) => ("changed", Some("template")),
        Event::Moved => ("moved", None),
        Event::Died => ("died", None),
    };
    let later_address = event != Event::Moved && web.has_moved(page, time);
    HappeningLine {
        time_ms: time.millis(),
        url: web.url(page, later_address),
        event: name,
        part,
        lasting: true,
        version: main,
        template,
        to: (event == Event::Moved).then(|| web.url(page, true)),
    }
}

fn url_state(web: &Arc<LivingWeb>, clock: &WebClock, query: &str) -> Result<TruthPage, String> {
    let url = value(query, "url").ok_or("name the page: /-/truth/page?url=URL")?;
    let at = moment(query, "at", clock.now())?;
    let (page, moved) = web.page_of(&url).ok_or_else(|| format!("{url} is never the URL of a page here"))?;
    let standing = web.life(page).standing(moved, at);
    let to = (standing == Standing::Moved).then(|| web.url(page, true));
    Ok(TruthPage::Text(json(&PageLine { url, to, ..page_line(web, page, standing, at) })))
}

fn state(web: &Arc<LivingWeb>, clock: &WebClock, query: &str) -> Result<TruthPage, String> {
    let at = moment(query, "at", clock.now())?;
    let (living, shown) = (Arc::clone(web), Arc::clone(web));
    let pages = (0..web.atlas.pages()).map(PageNumber).filter(move |page| living.life(*page).is_live_at(at));
    Ok(lines(pages.map(move |page| json(&page_line(&shown, page, Standing::Live, at)))))
}

fn page_line(web: &LivingWeb, page: PageNumber, standing: Standing, at: Timestamp) -> PageLine {
    let version = web.version(page, at);
    let process = web.process(page);
    PageLine {
        url: web.url(page, web.has_moved(page, at)),
        standing: match standing {
            Standing::Unborn => "unborn",
            Standing::Live => "live",
            Standing::Moved => "moved",
            Standing::Gone => "gone",
        },
        version: version.main,
        template: version.template,
        main_changed_ms: version.main_since.millis(),
        changed_ms: version.since.millis(),
        allowed: web.is_allowed(page),
        noisy: web.is_noisy(page),
        process: process.name(),
        changes_per_day: process.changes_per_day(),
        to: None,
    }
}

/// Joins lines into pieces: large enough to send efficiently, small enough to generate between two requests.
fn lines(mut lines: impl Iterator<Item = String> + Send + 'static) -> TruthPage {
    TruthPage::Lines(Box::new(std::iter::from_fn(move || {
        let mut piece = String::new();
        for line in lines.by_ref().take(LINES_PER_PIECE) {
            piece.push_str(&line);
        }
        (!piece.is_empty()).then(|| Bytes::from(piece))
    })))
}

/// A line of JSON.
fn json(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("these values are all writable");
    line.push('\n');
    line
}

/// A moment given in milliseconds in a query.
fn moment(query: &str, name: &str, otherwise: Timestamp) -> Result<Timestamp, String> {
    match value(query, name) {
        None => Ok(otherwise),
        Some(text) => match text.parse() {
            Ok(millis) => Ok(Timestamp::from_millis(millis)),
            Err(_) => Err(format!("{name}={text}: it is a number of milliseconds since 1970")),
        },
    }
}

/// The value of a query parameter.
fn value(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).next()
}

/// Decodes percent-encoding. Invalid sequences stay as they are.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
