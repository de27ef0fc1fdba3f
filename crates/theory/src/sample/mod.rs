//! Which sites to visit this cycle, decided by samples: the text **sample**.
//!
//! In reading order:
//! - [`site`]: what a sample of a site showed;
//! - [`greedy`], [`proportional`]: how the downloads left after sampling are spread;
//! - [`interval`]: how sure a sample makes us;
//! - [`adaptive`]: sampling on until a site is decided;
//! - [`sample_size`]: how many pages to sample of each site;
//! - [`subset`]: what to do when the budget cannot sample every site;
//! - [`change_ratio`], [`fairness`]: how a policy is judged;
//! - `count_distribution`: how many pages of a sample turn out changed;
//! - [`two_sites`], [`many_sites`]: what a policy is expected to find, computed;
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
