//! The **thesis**, chapter 2: which pages to visit first.
//!
//! In reading order:
//! - `webs`: the webs that virtual crawlers run on;
//! - `batched_pagerank`: crawls by PageRank with occasional reorders;
//! - `limited_buffer`: a crawler whose buffer holds only some of the pages;
//! - `performance`: fraction of the hot pages found, over the course of a crawl;
//! - `important_pages_come_early`: the backlink crawler with several targets (Figure 2.3);
//! - `pagerank_leads`: comparison of the orders (Figures 2.4, 2.6 and 2.7, and the limited buffer of section
//!   2.3);
//! - `reordering_now_and_then`: what batches of PageRank cost and lose;
//! - `small_sites_mislead`: the same on a single site (Figures 2.8 to 2.10);
//! - `topics_come_in_clusters`: the two crawlers with a hot queue (Figures 2.12, 2.14 and 2.15).

mod batched_pagerank;
mod important_pages_come_early;
mod limited_buffer;
mod pagerank_leads;
pub(super) mod performance;
mod reordering_now_and_then;
mod small_sites_mislead;
mod topics_come_in_clusters;
pub(super) mod webs;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-2",
    title: "Thesis, chapter 2: page selection",
    about: "A crawler that cannot visit every page should visit the important ones first, and has only the \
            links it has read to go by. The text crawls 179,000 pages of one university; here it is the web \
            graph of the data directory, or a generated one.",
    exhibits: &[
        important_pages_come_early::MAKER,
        pagerank_leads::MAKER,
        reordering_now_and_then::MAKER,
        small_sites_mislead::MAKER,
        topics_come_in_clusters::MAKER,
    ],
};
