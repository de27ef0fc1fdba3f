//! How a crawl stands: one value that screens, files and programs read.

use std::collections::VecDeque;

use freshet_store::counters::Counters;
use freshet_store::history::VisitKind;
use serde::{Deserialize, Serialize};

/// Changes that a status tells of.
pub(crate) const LAST_CHANGES: usize = 12;

/// How a crawl stands.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Status {
    /// Whether the crawl runs.
    pub running: bool,
    /// What its process does.
    #[serde(default)]
    pub process: Process,
    /// When these figures were published, by the wall's clock in milliseconds since 1970; none if the process itself told them.
    #[serde(default)]
    pub published_ms: Option<i64>,
    /// The crawl's own time, in milliseconds since 1970.
    pub now_ms: i64,
    /// When this run began, in the crawl's own time.
    pub started_ms: i64,
    /// URLs that are known.
    pub urls_known: u64,
    /// Pages that are kept.
    pub pages_kept: u64,
    /// Of them, pages that have been copied at least once.
    pub pages_copied: u64,
    /// Pages that wait for their first visit.
    pub pages_waiting: u64,
    /// Sites that are known.
    pub sites: u64,
    /// Visits ever made.
    pub visits: u64,
    /// Changes ever found.
    pub changes: u64,
    /// Visits ever that failed.
    pub failures: u64,
    /// Visits that the server answered with: not modified.
    pub not_modified: u64,
    /// Pages found gone.
    pub gone: u64,
    /// Bytes ever received.
    pub bytes: u64,
    /// Visits in a second of the wall's time, lately.
    pub visits_per_second: f64,
    /// Changes found in a second of the wall's time, lately.
    pub changes_per_second: f64,
    /// Visits that the budget allows in a day; none if any number.
    pub budget_per_day: Option<f64>,
    /// Part of the budget of this run that was used.
    pub budget_used: Option<f64>,
    /// Part of the copies that is believed to be up to date, calibrated by audits, and its standard error.
    pub freshness: Option<(f64, f64)>,
    /// The same before audits calibrated it.
    #[serde(default)]
    pub freshness_uncalibrated: Option<f64>,
    /// Mean time in days since copies went out of date, and its standard error.
    pub age_days: Option<(f64, f64)>,
    /// Audits that were made.
    #[serde(default)]
    pub audits: u64,
    /// Orders that wait in queues.
    pub queued: u64,
    /// Visits under way.
    pub under_way: u64,
    /// Sites that are at the limit of what politeness allows.
    pub sites_at_limit: u64,
    /// Sites that asked us to wait, or do not answer.
    pub sites_closed: u64,
    /// Sites with trouble, and what it is.
    pub troubles: Vec<(String, String)>,
    /// What was met on sites, the most often met first.
    #[serde(default)]
    pub met: Vec<TroubleLine>,
    /// URLs that were cut as traps, by reason.
    pub traps: Vec<(String, u64)>,
    /// Bytes on disk: state, Collection, History.
    pub disk: (u64, u64, u64),
    /// The file or directory for which the disk has no room; empty if it has.
    #[serde(default)]
    pub no_room: String,
    /// What was found changed last, the newest first.
    pub last_changes: VecDeque<ChangeLine>,
    /// What limits the crawl, in a sentence; empty if nothing does.
    pub limit: String,
}

impl Status {
    /// Takes what is counted from the counters of a store.
    pub(crate) fn count(&mut self, counters: &Counters) {
        let of = |kind| counters.of_kind(kind);
        self.urls_known = counters.urls;
        self.pages_kept = counters.kept;
        self.visits = counters.visits;
        self.changes = of(VisitKind::Changed) + of(VisitKind::Gone) + of(VisitKind::Back);
        self.failures = of(VisitKind::Failed);
        self.not_modified = of(VisitKind::NotModified);
        self.gone = of(VisitKind::Gone);
        self.bytes = counters.bytes_received;
    }
}

/// What the process of a crawl does.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// It crawls.
    #[default]
    Running,
    /// It is opening the crawl.
    Opening,
    /// It was stopped by a signal, and can be continued by one.
    Frozen,
    /// It does not run: the crawl was closed.
    Ended,
    /// It does not run: it was killed, ended with an error, or the machine lost power.
    Killed,
}

/// A trouble that was met on a site.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TroubleLine {
    /// The site.
    pub site: String,
    /// The kind of trouble.
    pub what: String,
    /// How often it was met.
    pub count: u64,
}

/// A change, in a line.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ChangeLine {
    /// When it was found, in milliseconds since 1970.
    pub time_ms: i64,
    /// What happened: new, changed, gone, back, moved.
    pub what: String,
    /// The page.
    pub url: String,
    /// The part of its text that differs, if it was changed.
    pub size: Option<f32>,
    /// What kinds of change it is, with spaces between them: title, text, links, numbers.
    #[serde(default)]
    pub kinds: String,
    /// Where it moved, if it did.
    pub to: Option<String>,
}

impl Status {
    /// What limits the crawl, in a sentence; empty if nothing does.
    pub fn limiting(&self) -> String {
        let closed = self.sites_closed;
        match self.budget_used {
            _ if !self.no_room.is_empty() => {
                format!("waiting for room on the disk: {}; nothing is visited until then", self.no_room)
            }
            _ if self.pages_kept == 0 && self.visits > 0 => {
                "nothing is kept: every page was refused, gone or failing".to_owned()
            }
            Some(used) if used < 0.9 && self.sites_at_limit > 0 => format!(
                "{:.0}% of the budget is idle: {} of {} sites are at their politeness limit",
                100.0 * (1.0 - used),
                self.sites_at_limit,
                self.sites
            ),
            _ if closed > 0 && closed == self.sites => {
                "every site asked us to wait or does not answer".to_owned()
            }
            Some(used) if used >= 0.99 && self.pages_waiting > 0 => {
                format!("the budget is spent: {} pages wait for their first visit", self.pages_waiting)
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_budget_is_explained() {
        let status = Status {
            visits: 10,
            pages_kept: 5,
            budget_used: Some(0.07),
            sites_at_limit: 12,
            sites: 12,
            ..Status::default()
        };
        assert_eq!(
            status.limiting(),
            "93% of the budget is idle: 12 of 12 sites are at their politeness limit"
        );
        assert_eq!(Status::default().limiting(), "");
    }
}
