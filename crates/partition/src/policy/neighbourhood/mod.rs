//! The policies of **neighbours**: random samples, and the neighbours of those that changed.
//!
//! In reading order:
//! - `links`: neighbours by links;
//! - `directories`: neighbours by directory;
//! - `clusters`: neighbours by the features of pages;
//! - `download_probability`: whether the neighbours of a sample are downloaded;
//! - `policy`: the cycle that joins them.

mod clusters;
mod directories;
mod download_probability;
mod links;
mod policy;

pub use download_probability::DownloadProbability;
pub use policy::Kinship;
pub(super) use policy::Neighbourhood;
