//! Which versions are exported: of some sites, of a span of time.
//!
//! # Promises
//! - A revisit never goes without the response whose bytes it says are still there, even if that is older than the span.
//! - Versions come in the order in which they stand on disk.

use std::collections::{BTreeMap, HashSet};

use freshet_protocol::ids::{PageNumber, Place, SiteNumber};
use freshet_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::reader::Reader;
use crate::versions::{Version, VersionKind};

/// Which versions are exported.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Only of these sites; none for all.
    pub sites: Option<HashSet<SiteNumber>>,
    /// From this moment on.
    pub since: Timestamp,
    /// Before this moment.
    pub until: Timestamp,
}

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        let (since, until) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        Self { sites: None, since, until }
    }

    /// The versions that are selected, by their place.
    pub(super) fn versions(&self, reader: &Reader) -> Result<BTreeMap<Place, Chosen>, StoreError> {
        let mut chosen = BTreeMap::new();
        for entry in reader.pages() {
            let (page, record) = entry?;
            if self.sites.as_ref().is_some_and(|sites| !sites.contains(&record.site)) {
                continue;
            }
            let mut last_full: Option<Version> = None;
            for version in reader.all_versions().of(page) {
                let version = version?;
                let is_full = version.record.kind == VersionKind::Full;
                if is_full {
                    last_full = Some(version.clone());
                }
                if self.since <= version.time && version.time < self.until {
                    chosen.extend(last_full.as_ref().map(|full| Chosen::of(page, full)));
                    chosen.extend([Chosen::of(page, &version)]);
                }
            }
        }
        Ok(chosen)
    }
}

/// A version that is exported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) page: PageNumber,
    pub(super) time: Timestamp,
    pub(super) extent: u32,
    pub(super) kind: VersionKind,
}

impl Chosen {
    fn of(page: PageNumber, version: &Version) -> (Place, Self) {
        let record = &version.record;
        (record.place, Self { page, time: version.time, extent: record.extent, kind: record.kind })
    }
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Exported {
    /// Versions of pages, or visits.
    pub entries: u64,
    /// Bytes of the file.
    pub bytes: u64,
}
