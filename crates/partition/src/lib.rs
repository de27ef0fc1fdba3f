//! Refresh policies: decide which page to visit next. No I/O, no clock, no threads; the caller passes time
//! and random seeds.
//!
//! In reading order:
//! - [`policy`]: which page next, one file per policy: those of the papers, of other crawlers, and our own;
//! - [`budget`]: how much may be spent;
//! - [`topic`]: the importance of a page to a crawl about a topic.

pub mod budget;
pub mod policy;
pub mod topic;
