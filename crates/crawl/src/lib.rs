//! The incremental crawler: decides what to keep and what to visit next, and visits it.
//!
//! In reading order:
//! - [`crawler`]: the main loop that connects the modules, short enough to compare with the figure of the
//!   thesis;
//! - [`visit`]: orders and visits, the values that the modules exchange;
//! - [`update`]: UpdateModule, decides what to visit next;
//! - [`crawl_module`]: CrawlModule, visits one page; `second_looks`: visits that wait for a second look;
//!   `trust`: how far a server's "not modified" is trusted;
//! - `archived`: conversion of a visit to WARC records; [`writer`]: the only writer, which makes visits part
//!   of the stores;
//! - [`ranking_module`]: RankingModule, decides what belongs in the collection;
//! - [`import`]: import of data that other programs collected;
//! - [`opening`]: opens and runs the crawl of a directory; [`settings`], [`clock`]: its settings and its
//!   time; [`last_run`]: notes about its last run;
//! - `containment`: panic containment;
//! - [`status`], [`queries`]: the status of a crawl, and queries about it; [`query_socket`]: queries to a
//!   running crawl; [`stopped`]: queries without a running crawl; `published`: the status file;
//! - [`audit`], `self_audit`: measure how fresh the copies really are; [`past`]: when pages changed,
//!   according to the visits.

mod archived;
pub mod audit;
pub mod clock;
mod containment;
pub mod crawl_module;
pub mod crawler;
#[cfg(test)]
mod defect_stories;
pub mod import;
pub mod last_run;
pub mod opening;
pub mod past;
mod published;
pub mod queries;
pub mod query_socket;
pub mod ranking_module;
mod second_looks;
mod self_audit;
pub mod settings;
pub mod status;
pub mod stopped;
mod trust;
pub mod update;
pub mod visit;
pub mod writer;
