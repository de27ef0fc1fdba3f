//! The **thesis**, chapter 5: how to keep copies fresh.
//!
//! In reading order:
//! - `focus_on_what_can_be_tracked`: two pages, one of which changes too fast.

mod focus_on_what_can_be_tracked;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-5",
    title: "Thesis, chapter 5: page refresh policies",
    about: "How fresh and how old copies are when pages change by Poisson processes, in which order to visit them, and how to \
            divide visits among pages that change at different rates.",
    exhibits: &[focus_on_what_can_be_tracked::BENEFITS],
};
