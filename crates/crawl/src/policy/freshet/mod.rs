//! The default policy: samples and history in one posterior.
//!
//! History gives every page a rate; the samples of this and of recent cycles give every directory and every site a clock; a small
//! calibration learns what the model misses; and the objective decides the index. In reading order:
//! - `index`: the objective, and what a page is worth under it;
//! - `clocks`: the sampling part;
//! - `posterior`: the history part, page by page and group by group;
//! - `calibration`: what the model gets wrong;
//! - `groups`: which directories are a group of their own;
//! - `columns`: what is kept of every page;
//! - `cells`: queues that make a sort over all pages unnecessary;
//! - `thompson`: chance, from a seed;
//! - `policy`: the cycle that joins them.

mod calibration;
mod cells;
mod clocks;
mod columns;
mod groups;
mod index;
#[cfg(test)]
mod plain;
mod policy;
mod posterior;
mod thompson;

pub use index::Objective;
pub use policy::{Freshet, Settings};
