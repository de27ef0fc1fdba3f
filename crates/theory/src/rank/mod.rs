//! Importance of pages, and crawling in its order (thesis, chapter 2).
//!
//! In reading order:
//! - [`graph`]: pages and the links between them, in rows;
//! - [`similarity`]: likeness of a page to a query, with and without idf;
//! - [`links`]: backlinks and forward links, counted;
//! - [`location`]: what the URL alone tells;
//! - [`pagerank`]: backlinks weighted by who links, of pages and of sites;
//! - [`combined`]: a weighted sum of several of these;
//! - [`crawl_order`]: the virtual crawler and its ordering metrics;
//! - [`topic_crawl`]: the crawler with a hot queue, for pages on a topic;
//! - [`quality`]: what a crawl is worth: crawl and stop, with a threshold, with a limited buffer.

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
