//! The default policy: samples and history in one posterior.
//!
//! History gives every page a rate; the samples of this and of recent cycles give every directory and every site a clock; a small
//! calibration learns what the model misses; and the objective decides the index. In reading order:
//! - `index`: the objective, and what a page is worth under it;
//! - `moments`: time, in cycles;
//! - `clocks`: the sampling part;
//! - `posterior`: the history part, page by page and group by group;
//! - `dates`: of which sites the dates of changes are believed;
//! - `calibration`: what the model gets wrong;
//! - `telling`: the same for what is told of the copy;
//! - `groups`: which directories are a group of their own;
//! - `compact`: numbers in sixteen bits;
//! - `logarithms`: fast logarithms and exponentials;
//! - `records`: what is kept of every page;
//! - `thompson`: chance, from a seed;
//! - `model`: what is believed of every page, by all of these;
//! - `cells`: queues that make a sort over all pages unnecessary;
//! - `plan`: the pages from which the best are chosen;
//! - `choosing`: how pages are chosen from it, in a cycle and steadily;
//! - `policy`: the cycle that joins them;
//! - `account`: what the policy says about pages and about the copy.

mod account;
mod calibration;
mod cells;
mod choosing;
mod clocks;
mod compact;
mod dates;
mod groups;
mod index;
mod logarithms;
mod model;
mod moments;
#[cfg(test)]
mod plain;
mod plan;
mod policy;
mod posterior;
mod records;
mod reported_freshness;
mod thompson;

pub use index::Objective;
pub use policy::{Freshet, Settings};
