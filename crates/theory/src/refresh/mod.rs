//! How to spend visits: how often to refresh each page, given how often it changes.
//!
//! In reading order:
//! - [`pages`]: what is planned for, and within which limits;
//! - [`allocation`]: the optimal allocation, and the uniform and proportional ones beside it;
//! - [`collection`]: how fresh and how old a collection is under an allocation;
//! - [`classes`]: a plan from a histogram, whatever the number of pages;
//! - [`lifetime`] and [`index`]: the index form, visit when the gain of a visit reaches a threshold;
//! - [`schedule`]: the exact schedule for any lifetime.

pub mod allocation;
pub mod classes;
pub mod collection;
mod host_limits;
mod incomplete_gamma;
pub mod index;
mod inverse;
pub mod lifetime;
mod market;
pub mod pages;
mod price;
mod response;
mod rough;
pub mod schedule;
mod tabulated;

pub use allocation::{Allocation, Objective, allocate, proportional, uniform};
pub use collection::evaluate;
pub use pages::{Constraints, HostLimits, Infeasible, Pages};
