//! UpdateModule: what to visit next (**thesis** 7.3).
//!
//! In reading order:
//! - [`module`]: the module: work by site, what sites can take, and the budget;
//! - [`refresh`]: pages that have been visited, and the policy that says which to visit again;
//! - [`discovery`]: pages that were never visited;
//! - [`calendar`]: what is to be done at a given time: pins, retries, lists, rules;
//! - `rules`: what a site lets us do, from the copy of its `robots.txt`.

pub mod calendar;
pub mod discovery;
pub mod module;
pub mod refresh;
mod rules;

pub use module::{Assignment, Next, UpdateModule, UpdateSettings};
