//! What a crawl notes about itself in its stores: how it ran last, and what its readers may see.

use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::reader::Reader;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Pace, wall_now};
use crate::settings::Settings;

/// A note, and the name under which it is kept.
pub type Note = (String, Option<Vec<u8>>);

const LAST_RUN: &str = "crawl.last_run";
const VISIBLE: &str = "crawl.visible";

/// How a crawl ran last, so that questions asked later are answered as it would have answered them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct LastRun {
    /// Which page next.
    pub policy: String,
    /// Visits per day; none for as many as sites can take.
    pub visits_per_day: Option<f64>,
    /// Bytes per day; none for as many as come.
    pub bytes_per_day: Option<f64>,
    /// Pages to keep at most.
    pub pages_max: usize,
    /// Seconds of the crawl's time in one second of the wall's.
    pub speed: f64,
    /// The crawl's time when the run began, in milliseconds.
    pub began_ms: i64,
}

impl LastRun {
    /// A run that begins now.
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

    /// The run before, if it left a note that can be read.
    pub fn read(reader: &Reader) -> Result<Option<Self>, StoreError> {
        Ok(reader.note(LAST_RUN)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// The note.
    pub fn note(&self) -> Note {
        (LAST_RUN.to_owned(), serde_json::to_vec(self).ok())
    }

    /// What was set then holds again.
    pub fn restore(&self, settings: &mut Settings) {
        if let Ok(policy) = self.policy.parse() {
            settings.policy = policy;
        }
        settings.visits_per_day = self.visits_per_day.filter(|rate| rate.is_finite() && *rate >= 0.0);
        settings.bytes_per_day = self.bytes_per_day.filter(|rate| rate.is_finite() && *rate >= 0.0);
        settings.pages_max = self.pages_max;
    }

    /// The time for questions: the wall's, or, for a crawl whose time ran faster, that of its last visit.
    pub fn pace(&self, last_visit: Option<Timestamp>) -> Pace {
        if self.speed == 1.0 {
            return Pace::WALL;
        }
        let start = last_visit.unwrap_or_default().max(Timestamp::from_millis(self.began_ms));
        Pace { start, wall_start: wall_now(), speed: 1.0 }
    }
}

/// Up to when readers see what was found; none if they see all of it.
pub fn visible_until(reader: &Reader) -> Result<Option<Timestamp>, StoreError> {
    let bytes = reader.note(VISIBLE)?.and_then(|bytes| bytes.try_into().ok());
    Ok(bytes.map(|bytes| Timestamp::from_millis(i64::from_be_bytes(bytes))))
}

/// Readers see what was found up to a moment; all of it, if none is given.
pub fn see_until(moment: Option<Timestamp>) -> Note {
    (VISIBLE.to_owned(), moment.map(|moment| moment.millis().to_be_bytes().to_vec()))
}
