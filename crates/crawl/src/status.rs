//! The status of a crawl: one value that screens, files and programs read.

use std::collections::VecDeque;

use freshet_store::counters::Counters;
use freshet_store::history::VisitKind;
use serde::{Deserialize, Serialize};

/// Number of recent changes in a status.
pub(crate) const LAST_CHANGES: usize = 12;

/// The status of a crawl.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Status {
    /// Whether the crawl runs.
    pub running: bool,
    /// The state of its process.
    #[serde(default)]
    pub process: Process,
    /// System time of the publication, in milliseconds since 1970. None if the process itself answered.
    #[serde(default)]
    pub published_ms: Option<i64>,
    /// The crawl's own time, in milliseconds since 1970.
    pub now_ms: i64,
    /// Start of this run in the crawl's own time, in milliseconds since 1970.
    pub started_ms: i64,
    /// Known URLs.
    pub urls_known: u64,
    /// Kept pages.
    pub pages_kept: u64,
    /// Kept pages that were copied at least once.
    pub pages_copied: u64,
    /// Pages that wait for their first visit.
    pub pages_waiting: u64,
    /// Known sites.
    pub sites: u64,
    /// All visits ever made.
    pub visits: u64,
    /// All changes ever found.
    pub changes: u64,
    /// All visits that ever failed.
    pub failures: u64,
    /// Visits that the server answered with "not modified".
    pub not_modified: u64,
    /// Pages found gone.
    pub gone: u64,
    /// All bytes ever received.
    pub bytes: u64,
    /// Recent visits per second of system time.
    pub visits_per_second: f64,
    /// Recent changes found per second of system time.
    pub changes_per_second: f64,
    /// Visits per day that the budget allows. None: no limit.
    pub budget_per_day: Option<f64>,
    /// Fraction of this run's budget that was used.
    pub budget_used: Option<f64>,
    /// Estimated fraction of copies that are up to date, calibrated by audits, and its standard error.
    pub freshness: Option<(f64, f64)>,
    /// The same before calibration by audits.
    #[serde(default)]
    pub freshness_uncalibrated: Option<f64>,
    /// Mean days since copies went out of date, and its standard error.
    pub age_days: Option<(f64, f64)>,
    /// Number of audits.
    #[serde(default)]
    pub audits: u64,
    /// Orders in queues.
    pub queued: u64,
    /// Visits in progress.
    pub under_way: u64,
    /// Sites that are visited as often as politeness allows.
    pub sites_at_limit: u64,
    /// Sites that asked us to wait, or do not answer.
    pub sites_closed: u64,
    /// Sites with troubles, and what they are.
    pub troubles: Vec<(String, String)>,
    /// Troubles of sites by kind, most frequent first.
    #[serde(default)]
    pub met: Vec<TroubleLine>,
    /// Number of URLs cut as traps, by reason.
    pub traps: Vec<(String, u64)>,
    /// Bytes on disk: state, Collection, History.
    pub disk: (u64, u64, u64),
    /// The file or directory that the disk has no room for. Empty if there is room.
    #[serde(default)]
    pub no_room: String,
    /// The latest changes, newest first.
    pub last_changes: VecDeque<ChangeLine>,
    /// What limits the crawl, in a sentence; empty if nothing does.
    pub limit: String,
}

impl Status {
    /// Sets the numbers that the counters of a store hold.
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

/// The state of the process of a crawl.
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

/// A kind of trouble of a site.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TroubleLine {
    /// The site.
    pub site: String,
    /// The kind of trouble.
    pub what: String,
    /// How often it happened.
    pub count: u64,
}

/// A line in a list of changes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ChangeLine {
    /// When it was found, in milliseconds since 1970.
    pub time_ms: i64,
    /// What happened: new, changed, gone, back, moved.
    pub what: String,
    /// The page.
    pub url: String,
    /// The fraction of its text that differs, if it changed.
    pub size: Option<f32>,
    /// The kinds of the change, separated by spaces: title, text, links, numbers.
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
