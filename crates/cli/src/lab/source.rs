//! Reads a history from tables (described in `docs/histories.md`) or from a crawl, running or not.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use freshet_crawl::opening::is_crawl;
use freshet_crawl::queries::{Answer, Question};
use freshet_lab::history::crawl::{Blur, CrawlHistory};
use freshet_lab::history::{Mass, Tables};
use serde_json::{Value, json};

use crate::crawl::ask::ask;
use crate::crawl::words::span;

/// Default window of a history in tables, in days: three years.
const WINDOW_DAYS: f64 = 3.0 * 365.25;

/// Default download cycle of a history in tables, in days: as in the **sample** paper.
const CYCLE_DAYS: f64 = 14.0;

/// What becomes of changes that are part of a sweep over a whole site.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum MassChoice {
    /// They count: a crawler does see them
    Keep,
    /// They are left out
    Drop,
}

impl MassChoice {
    /// What is asked, in a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }

    /// What was done, in a word.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Keep => "kept",
            Self::Drop => "dropped",
        }
    }
}

impl From<MassChoice> for Mass {
    fn from(choice: MassChoice) -> Self {
        match choice {
            MassChoice::Keep => Self::Keep,
            MassChoice::Drop => Self::Drop,
        }
    }
}

/// A history, with defaults that suit it.
pub(super) struct Source {
    pub(super) tables: Tables,
    /// How exactly it is known; `Some` only for a crawl's own visits.
    pub(super) blur: Option<Blur>,
    pub(super) window_days: f64,
    pub(super) cycle_days: f64,
}

/// Reads the directory of tables or of a crawl.
pub(super) fn read(directory: &Path, window: Option<f64>) -> Result<Source> {
    if !is_crawl(directory) || directory.join("sites.parquet").exists() {
        let tables = Tables::read(directory).context("cannot read the data")?;
        let window_days = window.unwrap_or(WINDOW_DAYS);
        return Ok(Source { tables, blur: None, window_days, cycle_days: CYCLE_DAYS });
    }
    let history = read_crawl(directory)?;
    let window_days = window.unwrap_or_else(|| history.window_days());
    let cycle_days = history.cycle_days(window_days);
    let blur = Some(history.blur);
    Ok(Source { tables: history.recording.into(), blur, window_days, cycle_days })
}

/// The history of a crawl, from its visits.
pub(super) fn read_crawl(directory: &Path) -> Result<CrawlHistory> {
    match ask(directory, &Question::Past)? {
        Answer::Past(past) => CrawlHistory::of(&past),
        Answer::Unknown(why) => bail!("{why}"),
        _ => bail!("the crawl in {} does not tell its past", directory.display()),
    }
    .with_context(|| format!("cannot make a history of the crawl in {}", directory.display()))
}

/// Says in words how exactly a history is known that comes from visits.
pub(super) fn caveat(blur: &Blur) -> String {
    let mut text = format!(
        "  from {} visits of a crawl, {} from one to the next of a page (median); pages visited only once \
         are left out: {}\n",
        blur.visits,
        span(blur.visit_gap_days),
        blur.seen_once
    );
    if blur.events > 0 {
        text += &format!(
            "  a change lies between two visits, {} apart (median): it is placed in the middle, or where the \
             server dated\n  it and is believed ({} of {}); several between two visits are one\n",
            span(blur.event_gap_days),
            blur.dated,
            blur.events
        );
    }
    text
}

/// The same as JSON; null for a history from tables.
pub(super) fn caveat_object(blur: Option<&Blur>) -> Value {
    blur.map_or(Value::Null, |blur| {
        json!({
            "visits": blur.visits,
            "pages_seen_once": blur.seen_once,
            "events": blur.events,
            "events_dated_by_server": blur.dated,
            "visit_gap_days_median": blur.visit_gap_days,
            "event_gap_days_median": blur.event_gap_days,
        })
    })
}
