//! How a crawl stands, as a file that it publishes after every sync: for those who ask when its process does not run, or does not answer.
//!
//! `status.json` is two lines: the record [`Published`] as JSON, and the xxh3-64 of that line as sixteen hexadecimal digits. It is replaced in one step.
//!
//! # Promises
//! - What it says was durable when it was published, and no answer counts fewer visits than were durable when it was asked for.
//! - One that is damaged, of another crawl, or more than a few syncs old is not believed.

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

/// The largest file that is read.
const BYTES_MAX: u64 = 16 << 20;

/// Syncs that the file may lie behind: a crawl may be killed between a sync and its publication, and one that opens syncs before it publishes.
const BEHIND_MAX: u64 = 3;

/// A status, and of what it is the status.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Published {
    /// The identity of the store, in hexadecimal.
    store: String,
    /// The number of the sync that came before it.
    synced: u64,
    /// The wall's time, in milliseconds since 1970.
    wall_ms: i64,
    /// Seconds of the crawl's time in one second of the wall's.
    speed: f64,
    /// How the crawl stood.
    status: Status,
    /// How its copy will stand if nothing is visited, the nearest moment first.
    forecast: Vec<Forecast>,
}

/// How the copy is believed to stand at a moment.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Forecast {
    /// The crawl's time, in milliseconds since 1970.
    pub at_ms: i64,
    /// See [`Status::freshness`].
    pub freshness: (f64, f64),
    /// See [`Status::age_days`].
    pub age_days: (f64, f64),
}

impl Published {
    /// A status as of now.
    pub(crate) fn new(synced: &Synced, speed: f64, status: Status, forecast: Vec<Forecast>) -> Self {
        let store = hexadecimal(synced.store());
        let wall_ms = wall_now().millis();
        Self { store, synced: synced.number(), wall_ms, speed, status, forecast }
    }

    /// Puts it in the directory of its crawl, in place of the one before.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let line = serde_json::to_string(self)?;
        let text = format!("{line}\n{:016x}\n", xxh3_64(line.as_bytes()));
        let unfinished = directory.join("status.json.unfinished");
        fs::write(&unfinished, text)?;
        fs::rename(&unfinished, directory.join(STATUS_FILE))
    }

    /// What was published last of the store that is in this directory; none if there is nothing to be believed.
    pub(crate) fn read(directory: &Path, synced: &Synced) -> Option<Self> {
        let path = directory.join(STATUS_FILE);
        if fs::metadata(&path).ok()?.len() > BYTES_MAX {
            return None;
        }
        let published = parse(&fs::read_to_string(path).ok()?)?;
        let is_recent = synced.number().saturating_sub(published.synced) <= BEHIND_MAX;
        (published.store == hexadecimal(synced.store()) && is_recent).then_some(published)
    }

    /// The status now, as far as it can be known: copies have grown older since it was published.
    /// `synced` is newer than the file, or as old.
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
            // Nobody visits any more.
            (status.visits_per_second, status.changes_per_second) = (0.0, 0.0);
            (status.under_way, status.limit) = (0, String::new());
        }
        // The time of a living web passes while its crawl runs.
        if is_over && self.speed == 1.0 {
            status.now_ms += passed;
            if let Some(now) = self.at(Timestamp::from_millis(status.now_ms)) {
                status.freshness = Some(now.freshness);
                status.age_days = Some(now.age_days);
            }
        }
        status
    }

    /// The forecast for a moment: between two that were made, or the last.
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
        // Of a process that stands still nobody knows what it will do next.
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
