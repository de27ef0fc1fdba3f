//! The text **neighbours** (Tan, Zhuang, Mitra and Giles): which pages change together with a changed sample.
//!
//! In reading order:
//! - `nearby_pages_change_together`: Figures 5 and 6;
//! - `longer_cycles_find_more`: Figure 7;
//! - `eagerness_pays_later`: Figures 8 and 9.

mod eagerness_pays_later;
mod longer_cycles_find_more;
mod nearby_pages_change_together;

use anyhow::Result;

use super::chapter::Chapter;
use super::material::{Material, recorded};
use super::sources::Sources;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "neighbours",
    title: "Neighbours of changed samples (Tan, Zhuang, Mitra and Giles)",
    about: "Pages are sampled by lot; when a sample has changed, its neighbours are downloaded: by links \
            (LB), by directories (DB) or by clusters of similar pages (CB), within a granularity d. The \
            authors' snapshots of 284,692 pages are not public; their experiments are repeated on recorded \
            histories. Positive d means upper directories and out-links, as their prose and results have it; \
            their equation 2 prints the opposite sign.",
    exhibits: &[
        nearby_pages_change_together::GRANULARITIES,
        nearby_pages_change_together::POLICIES,
        longer_cycles_find_more::CYCLES_AND_DOWNLOADS,
        eagerness_pays_later::WEIGHTED,
        eagerness_pays_later::HISTORY,
    ],
};

/// Why a printed value cannot be reproduced.
const DATA: &str = "the authors' snapshots are not public";

/// Granularities of the text.
const GRANULARITIES: std::ops::RangeInclusive<i64> = -6..=8;

/// Downloads per page and cycle: 25,000 of 284,692 pages.
const BUDGET: f64 = 25_000.0 / 284_692.0;

/// Days per week.
const WEEK: f64 = 7.0;

/// Recorded sites over this many weeks, with at most this many pages each. More pages would thin out fewer
/// directories, and take longer.
fn histories(sources: &Sources, weeks: f64, pages_per_site_max: usize) -> Result<Material> {
    recorded(sources, weeks * WEEK, pages_per_site_max)
}
