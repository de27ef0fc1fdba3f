//! Importance of pages, and crawling in order of importance (thesis, chapter 2).
//!
//! In reading order:
//! - [`graph`]: pages and the links between them, in rows;
//! - [`similarity`]: similarity of a page to a query, with and without idf;
//! - [`links`]: backlink and forward link counts;
//! - [`location`]: importance computed from the URL alone;
//! - [`pagerank`]: backlinks weighted by the importance of their source, of pages and of sites;
//! - [`combined`]: a weighted sum of several of these;
//! - [`crawl_order`]: the virtual crawler and its ordering metrics;
//! - [`topic_crawl`]: the crawler with a hot queue, for pages on a topic;
//! - [`quality`]: quality of a crawl: crawl and stop, with a threshold, with a limited buffer.

pub mod combined;
pub mod crawl_order;
mod frontier;
pub mod graph;
pub mod links;
pub mod location;
pub mod pagerank;
pub mod quality;
pub mod similarity;
pub mod topic_crawl;

pub use graph::Graph;
