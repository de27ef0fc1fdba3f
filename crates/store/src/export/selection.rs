//! Which versions are exported, by site and time.
//!
//! # Promises
//! - A revisit is exported together with the response that it refers to, even if that is older than
//!   the time range.
//! - Versions are in the order of their places on disk.

use std::collections::{BTreeMap, HashSet};

use freshet_protocol::ids::{PageNumber, Place, SiteNumber};
use freshet_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::reader::Reader;
use crate::versions::{Version, VersionKind};

/// Which versions are exported.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Only versions of these sites; none for all sites.
    pub sites: Option<HashSet<SiteNumber>>,
    /// Only versions from this time on.
    pub since: Timestamp,
    /// Only versions before this time.
    pub until: Timestamp,
}

impl Selection {
    /// Selects all versions.
    pub fn all() -> Self {
        let (since, until) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        Self { sites: None, since, until }
    }

    /// The selected versions, by place.
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

/// A selected version.
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

/// The size of an export.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Exported {
    /// Number of versions of pages, or of visits.
    pub entries: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}
