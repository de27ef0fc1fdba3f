//! The **thesis**, chapter 4: how pages change, on our own histories.
//!
//! In reading order:
//! - `pages_change_often_and_live_long`: Figures 4.2, 4.4 and 4.5;
//! - `changes_come_in_bursts`: Figure 4.6, and the effect of bursts on the estimators of chapter 6.

mod changes_come_in_bursts;
mod pages_change_often_and_live_long;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-4",
    title: "Thesis, chapter 4: how pages change",
    about: "The author watched 720,000 pages of 270 sites for four months in 1999. His data is not public: \
            here are the same questions, asked of recorded histories of our time.",
    exhibits: &[
        pages_change_often_and_live_long::CHANGE_INTERVALS,
        pages_change_often_and_live_long::LIFESPANS,
        pages_change_often_and_live_long::HALF_CHANGED,
        changes_come_in_bursts::POISSON_FIT,
        changes_come_in_bursts::ESTIMATORS,
    ],
};
