//! The incremental crawler.
//!
//! Today it holds its policies: which page to visit next on a fixed budget. They see only what a crawler can see, and the
//! lab runs these very policies against recorded histories.

pub mod policy;
