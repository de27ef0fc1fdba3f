//! The default policy: samples and history in one posterior.
//!
//! History gives every page a rate. The samples of this and of recent cycles give every directory and every
//! site a clock. A small calibration learns what the model misses. The objective decides the index. In
//! reading order:
//! - `index`: the objective, and what a visit to a page is worth under it;
//! - `moments`: time, in cycles;
//! - `clocks`: how fast directories, sites and the web change relative to their usual speed (the sampling
//!   part);
//! - `posterior`: the rates of pages and groups (the history part);
//! - `dates`: which sites' change dates are believed;
//! - `calibration`: the online correction of P(changed);
//! - `reported_freshness`: the same for the freshness that is reported;
//! - `groups`: which directories have a clock of their own;
//! - `compact`: numbers in sixteen bits;
//! - `logarithms`: fast logarithms and exponentials;
//! - `records`: the stored state of every page;
//! - `thompson`: random factors from a seed;
//! - `model`: the estimates for every page, from all of these;
//! - `cells`: queues that make a sort over all pages unnecessary;
//! - `plan`: the pages from which the best are chosen;
//! - `choosing`: how pages are chosen from it, in a cycle and steadily;
//! - `policy`: the cycle that joins them;
//! - `account`: reports about pages and about the copy.

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
