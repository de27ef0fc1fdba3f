//! UpdateModule: decides what to visit next (**thesis** 7.3).
//!
//! In reading order:
//! - [`module`]: the module: a queue of orders per site, filled within the budget and what sites can take;
//!   `site`: a site and its queue;
//! - [`refresh`]: pages that were visited, and the policy that chooses which to visit again;
//! - [`discovery`]: pages that were never visited;
//! - [`calendar`]: what is to be done at a given time: pins, retries, lists, rules;
//! - [`overrides`]: what users wish of sites and pages;
//! - [`intervals`]: how long pages are left alone, at least and at most;
//! - `worth`: what a page weighs in the objective;
//! - [`shadow`]: when readers see what was found.

pub mod calendar;
pub mod discovery;
#[cfg(test)]
mod every_policy;
pub mod intervals;
pub mod module;
pub mod overrides;
pub mod refresh;
pub mod shadow;
mod site;
mod worth;

pub use module::{Assignment, Next, UpdateModule, UpdateSettings};
pub use overrides::Overrides;
