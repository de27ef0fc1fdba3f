//! Refresh planning: how often to visit each page, given how often it changes.
//!
//! In reading order:
//! - `pages`: the pages to plan for, and the constraints;
//! - `allocation`: the optimal allocation, and the uniform and proportional ones for comparison;
//! - `response`: the visit frequency of one page at a price, for each objective;
//! - `price`: the price at which all pages together take the budget;
//! - `rough`: the same for many pages, in few passes;
//! - `scaled`: units in which no number of a plan is extreme;
//! - `market`: the demand of many pages at one price;
//! - `host_limits`: the price under limits per host, for pages that `host_order` has sorted, with
//!   the kinks of `host_edge`;
//! - `inverse`: the curves of freshness and age, kept as tables by `tabulated`;
//! - [`survival`]: laws of survival other than the exponential, planned for by `for_survival`;
//! - [`index`]: the same policies as a threshold: when a page is due;
//! - `collection`: freshness and age of a collection under an allocation;
//! - `page_classes`: allocation to classes of pages;
//! - [`rate_classes`]: a new plan in less than a millisecond, from sums over classes.

mod allocation;
mod collection;
mod for_survival;
mod host_edge;
mod host_limits;
mod host_order;
pub mod index;
mod inverse;
mod market;
mod page_classes;
mod pages;
mod price;
pub mod rate_classes;
mod response;
mod rough;
mod scaled;
pub mod survival;
mod tabulated;

pub use allocation::{Allocation, Objective, allocate, allocate_by_law, proportional, uniform};
pub use collection::evaluate;
pub use for_survival::LawPages;
pub use page_classes::{AllocationPolicy, allocate_to_classes};
pub use pages::{Constraints, HostLimits, Infeasible, Pages};
