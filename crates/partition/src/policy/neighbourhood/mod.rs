//! Samples at random, and the neighbours of those that changed: the policies of **neighbours**.
//!
//! In reading order:
//! - `links`: neighbours by links;
//! - `directories`: neighbours by directories;
//! - `clusters`: neighbours by what is known of the pages;
//! - `eagerness`: whether a sample has its neighbours downloaded;
//! - `policy`: the cycle that joins them.

mod clusters;
mod directories;
mod download_probability;
mod links;
mod policy;

pub use download_probability::DownloadProbability;
pub use policy::Kinship;
pub(super) use policy::Neighbourhood;
