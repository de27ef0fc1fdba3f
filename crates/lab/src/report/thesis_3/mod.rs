//! The **thesis**, chapter 3: several processes crawl one web.
//!
//! In reading order:
//! - `divided_webs`: webs with sites, and their division among processes;
//! - `course`: coverage and overlap over the course of a crawl;
//! - `independent`: processes that do not coordinate;
//! - `dynamic_assignment`: a coordinator that hands out sites;
//! - `backlink_exchange`: processes that order by backlinks and periodically exchange their counts;
//! - `modes_beside_each_other`: strengths and weaknesses of each way of sharing (section 3.2, Table 3.1);
//! - `firewalls_lose_pages`: coverage without any exchange (Figures 3.4 and 3.5);
//! - `crossing_over_repeats_pages`: overlap of the cross-over mode (Figure 3.6);
//! - `links_between_sites_are_few`: messages of the exchange mode (Figures 3.7 and 3.8);
//! - `few_exchanges_suffice`: quality against the number of exchanges (Figures 3.9 to 3.11);
//! - `bandwidths`: the calculations of the text (Examples 3.1 to 3.3).

mod backlink_exchange;
mod bandwidths;
mod course;
mod crossing_over_repeats_pages;
mod divided_webs;
mod dynamic_assignment;
mod few_exchanges_suffice;
mod firewalls_lose_pages;
mod independent;
mod links_between_sites_are_few;
mod modes_beside_each_other;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-3",
    title: "Thesis, chapter 3: parallel crawlers",
    about: "Several processes share a web: they may miss pages, download some twice, or send each other \
            URLs. The text has 40 million pages; here are the web graph of the data directory, whose sites \
            are taken to be ranges of its pages in the order of their URLs, and the links of the recorded \
            histories, which have sites and paths. Without data, a generated web.",
    exhibits: &[
        modes_beside_each_other::MAKER,
        firewalls_lose_pages::MAKER,
        crossing_over_repeats_pages::MAKER,
        links_between_sites_are_few::MAKER,
        few_exchanges_suffice::MAKER,
        bandwidths::MAKER,
    ],
};
