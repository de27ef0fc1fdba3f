//! Deciding which page is visited next. No I/O, no clock, no threads: time and chance are given.
//!
//! In reading order:
//! - [`policy`]: which page next, one file per policy of the texts, of peers, and our own;
//! - [`budget`]: what may be spent;
//! - [`topic`]: what a page is worth to a crawl about a topic.

pub mod budget;
pub mod policy;
pub mod topic;
