//! The **thesis**, chapter 7: how a crawler works.
//!
//! In reading order:
//! - `shadowing_costs_freshness`: steady and batch crawlers, in place and
//!   shadowed (Figures 7.1 and 7.2, Table 7.1).

mod shadowing_costs_freshness;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-7",
    title: "Thesis, chapter 7: crawler architecture",
    about: "A crawler works all the time or in batches, and shows new copies at once or all together when a \
            crawl is over. The other figures of the chapter are of the crawler's parts.",
    exhibits: &[
        shadowing_costs_freshness::EVOLUTION,
        shadowing_costs_freshness::SHADOWING,
        shadowing_costs_freshness::CHOICES,
    ],
};
