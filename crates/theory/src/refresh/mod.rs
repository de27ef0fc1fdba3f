//! How to spend visits: how often to refresh each page, given how often it changes.
//!
//! In reading order:
//! - [`pages`]: what is planned for, and within which limits;
//! - [`allocation`]: the optimal allocation, and the uniform and proportional ones beside it;
//! - [`collection`]: how fresh and how old a collection is under an allocation.

mod allocation;
mod collection;
mod host_limits;
mod inverse;
mod market;
mod pages;
mod price;
mod response;
mod tabulated;

pub use allocation::{Allocation, Objective, allocate, proportional, uniform};
pub use collection::{CollectionQuality, VisitOrder, evaluate};
pub use pages::{Constraints, HostLimits, Infeasible, Pages};
