//! Notes that a crawl stores about itself: the settings of its last run, and up to when its readers may see
//! results.

use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Pace, wall_now};
use crate::settings::Settings;

/// The key of a note and its bytes; none to delete it.
pub type Note = (String, Option<Vec<u8>>);

const LAST_RUN: &str = "crawl.last_run";
const VISIBLE: &str = "crawl.visible";

/// Settings of the last run, so that later queries are answered as that run would have answered them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct LastRun {
    /// The policy.
    pub policy: String,
    /// Visits per day. None: no limit.
    pub visits_per_day: Option<f64>,
    /// Bytes per day. None: no limit.
    pub bytes_per_day: Option<f64>,
    /// Maximum number of pages to keep.
    pub pages_max: usize,
    /// Seconds of the crawl's time in one second of system time.
    pub speed: f64,
    /// Start of the run in the crawl's time, in milliseconds.
    pub began_ms: i64,
}

impl LastRun {
    /// The settings of a run that starts now.
    pub fn of(settings: &Settings, clock: &Clock) -> Self {
        Self {
            policy: settings.policy.to_string(),
            visits_per_day: settings.visits_per_day,
            bytes_per_day: settings.bytes_per_day,
            pages_max: settings.pages_max,
            speed: clock.speed(),
            began_ms: clock.now().millis(),
        }
    }

    /// Reads the note of the last run, if there is a valid one.
    pub fn read(reader: &Reader) -> Result<Option<Self>, StoreError> {
        Ok(reader.note(LAST_RUN)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// The note to store.
    pub fn note(&self) -> Note {
        (LAST_RUN.to_owned(), serde_json::to_vec(self).ok())
    }

    /// Restores the settings of that run.
    pub fn restore(&self, settings: &mut Settings) {
        if let Ok(policy) = self.policy.parse() {
            settings.policy = policy;
        }
        settings.visits_per_day = self.visits_per_day.filter(|rate| rate.is_finite() && *rate >= 0.0);
        settings.bytes_per_day = self.bytes_per_day.filter(|rate| rate.is_finite() && *rate >= 0.0);
        settings.pages_max = self.pages_max;
    }

    /// The clock for queries: the system time, or, for a crawl whose time ran faster, one that starts at its
    /// last visit.
    pub fn pace(&self, last_visit: Option<Timestamp>) -> Pace {
        if self.speed == 1.0 {
            return Pace::WALL;
        }
        let start = last_visit.unwrap_or_default().max(Timestamp::from_millis(self.began_ms));
        Pace { start, wall_start: wall_now(), speed: 1.0 }
    }
}

/// Up to when readers see results. None if they see all.
pub fn visible_until(reader: &Reader) -> Result<Option<Timestamp>, StoreError> {
    let bytes = reader.note(VISIBLE)?.and_then(|bytes| bytes.try_into().ok());
    Ok(bytes.map(|bytes| Timestamp::from_millis(i64::from_be_bytes(bytes))))
}

/// The note that lets readers see results up to a moment, or all if none is given.
pub fn see_until(moment: Option<Timestamp>) -> Note {
    (VISIBLE.to_owned(), moment.map(|moment| moment.millis().to_be_bytes().to_vec()))
}
