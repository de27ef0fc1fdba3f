//! Sampling policies: which sites to visit in a cycle, decided by samples (the text **sample**).
//!
//! In reading order:
//! - [`site`]: the result of sampling a site;
//! - [`greedy`], [`proportional`]: how the downloads left after sampling are allocated;
//! - [`interval`]: confidence intervals of a sample;
//! - [`adaptive`]: sampling until a site is decided;
//! - [`sample_size`]: how many pages to sample of each site;
//! - [`subset`]: what to do when the budget cannot sample every site;
//! - [`change_ratio`], [`fairness`]: measures of a policy;
//! - `count_distribution`: distribution of the changed pages in a sample;
//! - [`two_sites`], [`many_sites`]: the expected result of a policy, computed;
//! - [`simulation`]: the same, simulated.

pub mod adaptive;
pub mod change_ratio;
mod count_distribution;
pub mod fairness;
pub mod greedy;
pub mod interval;
pub mod many_sites;
pub mod proportional;
pub mod sample_size;
pub mod simulation;
pub mod site;
pub mod subset;
pub mod two_sites;
