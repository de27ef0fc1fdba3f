//! The status file: the status of a crawl, published after every sync for those who ask when its process does
//! not run or does not answer.
//!
//! `status.json` has two lines: the record [`Published`] as JSON, and the xxh3-64 of that line as sixteen
//! hexadecimal digits. It is replaced atomically.
//!
//! # Promises
//! - What it states was durable when it was published. No answer counts fewer visits than were durable when
//!   it was requested.
//! - A file that is damaged, of another crawl, or more than a few syncs old is not used.

use std::fs;
use std::io;
use std::path::Path;

use freshet_protocol::time::Timestamp;
use freshet_store::directory::odd_files::STATUS_FILE;
use freshet_store::synced::Synced;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::clock::wall_now;
use crate::status::{Process, Status};

/// Maximum size of a file that is read, in bytes.
const BYTES_MAX: u64 = 16 << 20;

/// Maximum number of syncs that the file may lag behind. A crawl may be killed between a sync and its
/// publication, and a crawl that opens syncs before it publishes.
const BEHIND_MAX: u64 = 3;

/// A published status, and which store and sync it belongs to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Published {
    /// Identity of the store, in hexadecimal.
    store: String,
    /// Number of the last sync before it.
    synced: u64,
    /// System time of the publication, in milliseconds since 1970.
    wall_ms: i64,
    /// Seconds of the crawl's time in one second of system time.
    speed: f64,
    /// The status of the crawl.
    status: Status,
    /// Forecasts of freshness if nothing is visited, nearest first.
    forecast: Vec<Forecast>,
}

/// The expected freshness and age of the copies at a moment.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Forecast {
    /// The moment in the crawl's time, in milliseconds since 1970.
    pub at_ms: i64,
    /// See [`Status::freshness`].
    pub freshness: (f64, f64),
    /// See [`Status::age_days`].
    pub age_days: (f64, f64),
}

impl Published {
    /// Creates a record of the current status.
    pub(crate) fn new(synced: &Synced, speed: f64, status: Status, forecast: Vec<Forecast>) -> Self {
        let store = hexadecimal(synced.store());
        let wall_ms = wall_now().millis();
        Self { store, synced: synced.number(), wall_ms, speed, status, forecast }
    }

    /// Writes the file into the directory of its crawl, in place of the last one.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let line = serde_json::to_string(self)?;
        let text = format!("{line}\n{:016x}\n", xxh3_64(line.as_bytes()));
        let unfinished = directory.join("status.json.unfinished");
        fs::write(&unfinished, text)?;
        fs::rename(&unfinished, directory.join(STATUS_FILE))
    }

    /// Reads the file in the directory of a store. None if there is no valid one.
    pub(crate) fn read(directory: &Path, synced: &Synced) -> Option<Self> {
        let path = directory.join(STATUS_FILE);
        if fs::metadata(&path).ok()?.len() > BYTES_MAX {
            return None;
        }
        let published = parse(&fs::read_to_string(path).ok()?)?;
        let is_recent = synced.number().saturating_sub(published.synced) <= BEHIND_MAX;
        (published.store == hexadecimal(synced.store()) && is_recent).then_some(published)
    }

    /// The status as of now, as far as it can be known: the copies have aged since it was published. `synced`
    /// must be as new as the file or newer.
    pub(crate) fn status_now(mut self, process: Process, synced: &Synced) -> Status {
        let passed = (wall_now().millis() - self.wall_ms).max(0);
        let mut status = std::mem::take(&mut self.status);
        status.visits = status.visits.max(synced.visits());
        status.urls_known = status.urls_known.max(synced.urls());
        status.running = process == Process::Running;
        status.process = process;
        status.published_ms = Some(self.wall_ms);
        let is_over = matches!(process, Process::Ended | Process::Killed);
        if is_over {
            // Nothing is visited any more.
            (status.visits_per_second, status.changes_per_second) = (0.0, 0.0);
            (status.under_way, status.limit) = (0, String::new());
        }
        // The time of a simulated web passes only while its crawl runs.
        if is_over && self.speed == 1.0 {
            status.now_ms += passed;
            if let Some(now) = self.at(Timestamp::from_millis(status.now_ms)) {
                status.freshness = Some(now.freshness);
                status.age_days = Some(now.age_days);
            }
        }
        status
    }

    /// The forecast for a moment: interpolated between two forecasts, or the last one.
    fn at(&self, moment: Timestamp) -> Option<Forecast> {
        let moment = moment.millis();
        let after = self.forecast.iter().position(|forecast| moment < forecast.at_ms);
        match after {
            None | Some(0) => {
                if after.is_none() { self.forecast.last() } else { self.forecast.first() }.copied()
            }
            Some(after) => {
                let (one, other) = (self.forecast[after - 1], self.forecast[after]);
                let part = (moment - one.at_ms) as f64 / (other.at_ms - one.at_ms).max(1) as f64;
                let between = |one: (f64, f64), other: (f64, f64)| {
                    (one.0 + part * (other.0 - one.0), one.1 + part * (other.1 - one.1))
                };
                Some(Forecast {
                    at_ms: moment,
                    freshness: between(one.freshness, other.freshness),
                    age_days: between(one.age_days, other.age_days),
                })
            }
        }
    }
}

fn parse(text: &str) -> Option<Published> {
    let (line, rest) = text.split_once('\n')?;
    let checksum = u64::from_str_radix(rest.trim_end(), 16).ok()?;
    if checksum != xxh3_64(line.as_bytes()) {
        return None;
    }
    serde_json::from_str(line).ok()
}

fn hexadecimal(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn published(wall_ms: i64) -> Published {
        let forecast =
            |at_ms, freshness| Forecast { at_ms, freshness: (freshness, 0.01), age_days: (1.0, 0.1) };
        Published {
            store: hexadecimal([7; 16]),
            synced: 5,
            wall_ms,
            speed: 1.0,
            status: Status { now_ms: wall_ms, visits: 40, visits_per_second: 3.0, ..Status::default() },
            forecast: vec![forecast(wall_ms, 0.8), forecast(wall_ms + 2 * 3_600_000, 0.6)],
        }
    }

    #[test]
    fn a_copy_grows_older_while_its_crawl_stands() {
        let hour_ago = wall_now().millis() - 3_600_000;
        let status = published(hour_ago).status_now(Process::Ended, &Synced::default());
        let (freshness, _) = status.freshness.expect("it was forecast");
        assert!((freshness - 0.7).abs() < 0.001, "{freshness}");
        assert!((status.now_ms - hour_ago - 3_600_000).abs() < 10_000);
        assert_eq!((status.visits, status.visits_per_second), (40, 0.0));
        // It is unknown what a frozen process will do next.
        assert_eq!(published(hour_ago).status_now(Process::Frozen, &Synced::default()).now_ms, hour_ago);
    }

    #[test]
    fn what_is_damaged_is_not_believed() {
        let line = serde_json::to_string(&published(0)).expect("it is written");
        let text = format!("{line}\n{:016x}\n", xxh3_64(line.as_bytes()));
        assert_eq!(parse(&text), Some(published(0)));
        assert_eq!(parse(&text.replace("40", "41")), None);
        assert_eq!(parse(&text[..text.len() / 2]), None);
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
