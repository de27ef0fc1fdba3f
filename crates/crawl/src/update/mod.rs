//! UpdateModule: decides what to visit next (**thesis** 7.3).
//!
//! In reading order:
//! - [`module`]: the module: a queue of orders per site, filled within the budget and what sites can take;
//!   `site`: a site and its queue;
//! - [`refresh`]: pages that were visited, and the policy that chooses which to visit again;
//! - [`discovery`]: pages that were never visited;
//! - [`calendar`]: orders that are due at a given time: pins, retries, lists, rules;
//! - [`overrides`]: what users set for sites and pages, over the policy;
//! - [`hours`]: when a site may be visited;
//! - [`intervals`]: minimum and maximum intervals between visits;
//! - `worth`: the weight of a page in the objective;
//! - [`shadow`]: when readers see results;
//! - `rules`: what a site allows, according to its stored `robots.txt`.

pub mod calendar;
pub mod discovery;
#[cfg(test)]
mod every_policy;
pub mod hours;
pub mod intervals;
pub mod module;
pub mod overrides;
pub mod refresh;
mod rules;
pub mod shadow;
mod site;
mod worth;

pub use module::{Assignment, Next, UpdateModule, UpdateSettings};
pub use overrides::Overrides;
pub(crate) use rules::trouble_after;
