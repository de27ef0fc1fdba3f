//! Schedules summary refreshes: decides by a plan which summary is refreshed next.
//!
//! The schedule is a function of the content of the summary store. So a new run continues where the last one
//! ended.
//!
//! # Promises
//! - A database without a summary comes first. Then comes the most overdue one, measured in parts of its
//!   interval.
//! - A failed refresh is retried after an hour, then two, four, and so on up to a week. It is never retried
//!   later than its interval demands, if the interval is longer than an hour.

use std::fs;
use std::path::Path;

use freshet_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::TextError;
use crate::summary_store::{SummaryStore, append_line};
use crate::weeks::from_summary_store::WEEK_MS;

/// First pause after a failure, in milliseconds. Each further failure in a row doubles it.
const PAUSE_FIRST_MS: i64 = 3_600_000;

/// A failed refresh.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Attempt {
    /// Time of the attempt, in milliseconds since 1970.
    pub time_ms: i64,
    /// Cause of the failure.
    pub why: String,
}

/// State of a database in a refresh plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// When its summary was learned. `None` without a summary.
    pub learned: Option<Timestamp>,
    /// Weeks between two refreshes. Infinite means never again.
    pub interval: f64,
    /// Failed refreshes since then, oldest first.
    pub failures: Vec<Attempt>,
}

impl Standing {
    /// The state of a database, with the interval that a plan gives it.
    pub fn of(store: &SummaryStore, name: &str, interval: f64) -> Result<Self, TextError> {
        let learned = store.times(name)?.last().copied();
        let mut failures = attempts(&store.place(name)?.join("attempts.jsonl"))?;
        failures.retain(|attempt| learned.is_none_or(|learned| learned.millis() < attempt.time_ms));
        Ok(Self { name: name.to_owned(), learned, interval, failures })
    }

    /// Time of the next refresh. `None` means never.
    pub fn due(&self) -> Option<Timestamp> {
        let planned = match self.learned {
            None => Timestamp::from_millis(i64::MIN),
            Some(learned) if self.interval.is_finite() => learned.plus_millis(self.interval_ms()),
            Some(_) => return None,
        };
        let Some(last) = self.failures.last() else { return Some(planned) };
        let doublings = (self.failures.len() - 1).min(20) as u32;
        let pause = PAUSE_FIRST_MS.saturating_mul(1 << doublings).min(WEEK_MS);
        let pause =
            if self.interval.is_finite() { pause.min(self.interval_ms().max(PAUSE_FIRST_MS)) } else { pause };
        Some(planned.max(Timestamp::from_millis(last.time_ms).plus_millis(pause)))
    }

    fn interval_ms(&self) -> i64 {
        (self.interval * WEEK_MS as f64) as i64
    }

    /// How far it is overdue, in parts of its interval. Infinite before the first summary.
    fn overdue(&self, now: Timestamp) -> f64 {
        match (self.learned, self.due()) {
            (None, _) => f64::INFINITY,
            (_, Some(due)) => now.millis_since(due) as f64 / (self.interval_ms().max(1)) as f64,
            (_, None) => f64::NEG_INFINITY,
        }
    }
}

/// The database to refresh next, and when. `None` if none is ever refreshed.
pub fn next<'a>(standings: &'a [Standing], now: Timestamp) -> Option<(&'a Standing, Timestamp)> {
    let due = |standing: &'a Standing| Some((standing, standing.due()?));
    let waiting = || standings.iter().filter_map(due);
    let overdue = waiting().filter(|(_, due)| *due <= now);
    overdue
        .max_by(|a, b| a.0.overdue(now).total_cmp(&b.0.overdue(now)).then_with(|| b.0.name.cmp(&a.0.name)))
        .or_else(|| waiting().min_by_key(|(standing, due)| (*due, &standing.name)))
}

/// Records a failed refresh.
pub fn note_failure(store: &SummaryStore, name: &str, attempt: &Attempt) -> Result<(), TextError> {
    let path = store.place(name)?.join("attempts.jsonl");
    let line = serde_json::to_string(attempt).map_err(|error| TextError::damaged(&path, error))?;
    append_line(&path, &line)
}

fn attempts(path: &Path) -> Result<Vec<Attempt>, TextError> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        other => {
            let bytes = other.map_err(TextError::file("read", path))?;
            Ok(String::from_utf8_lossy(&bytes)
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(name: &str, learned_weeks: Option<i64>, interval: f64, failures: &[i64]) -> Standing {
        Standing {
            name: name.to_owned(),
            learned: learned_weeks.map(|weeks| Timestamp::from_millis(weeks * WEEK_MS)),
            interval,
            failures: failures
                .iter()
                .map(|hours| Attempt { time_ms: 10 * WEEK_MS + hours * PAUSE_FIRST_MS, why: String::new() })
                .collect(),
        }
    }

    #[track_caller]
    fn check(standings: &[Standing], name: Option<&str>) {
        let now = Timestamp::from_millis(10 * WEEK_MS);
        assert_eq!(next(standings, now).map(|(standing, _)| standing.name.as_str()), name);
    }

    #[test]
    fn who_has_no_summary_comes_first_and_then_who_is_overdue_longest() {
        check(&[standing("a", Some(0), 2.0, &[]), standing("b", None, 5.0, &[])], Some("b"));
        check(&[standing("slow", Some(0), 8.0, &[]), standing("quick", Some(6), 1.0, &[])], Some("quick"));
        check(&[standing("later", Some(9), 8.0, &[]), standing("sooner", Some(9), 4.0, &[])], Some("sooner"));
        check(&[standing("never", Some(0), f64::INFINITY, &[])], None);
    }

    #[test]
    fn failures_in_a_row_wait_longer_and_longer() {
        let due = |failures: &[i64]| {
            standing("a", Some(0), 2.0, failures)
                .due()
                .expect("it is due")
                .millis_since(Timestamp::from_millis(10 * WEEK_MS))
                / PAUSE_FIRST_MS
        };
        assert_eq!((due(&[0]), due(&[0, 1]), due(&[0, 1, 3])), (1, 3, 7));
        assert_eq!(due(&[0; 30]), WEEK_MS / PAUSE_FIRST_MS);
    }
}
