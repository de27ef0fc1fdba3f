//! Which page next: one file per policy of the texts, of peers, and our own.
//!
//! In reading order:
//! - [`catalogue`]: what is known of pages without visiting them;
//! - [`visit`]: what one visit tells a policy, and how a policy is driven;
//! - [`freshet`]: the default policy.

pub mod catalogue;
pub mod freshet;
pub mod visit;

pub use catalogue::{Catalogue, DirectoryId, PageId, SiteId};
pub use visit::{Observation, Outcome, Policy};
