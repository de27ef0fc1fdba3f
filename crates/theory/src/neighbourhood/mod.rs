//! Predicts which other pages have changed when a sampled page has: the text **neighbours**.
//!
//! In reading order:
//! - [`granularity`]: how far from a sample the downloads go;
//! - [`link`]: neighbours by links;
//! - [`directory`]: neighbours by the directories of their URLs;
//! - [`vectors`]: sparse vectors of length one;
//! - [`words`]: pages as vectors of their words;
//! - [`bisection`]: clustering of vectors by repeated bisection;
//! - [`centroids`]: distances between clusters;
//! - [`features`]: pages as feature vectors;
//! - [`cluster`]: neighbours by the cluster of their features;
//! - [`probability`]: whether the neighbours of a sample are downloaded at all;
//! - [`cycle`]: a download cycle made of these.

pub mod bisection;
pub mod centroids;
pub mod cluster;
pub mod cycle;
pub mod directory;
pub mod features;
pub mod granularity;
pub mod link;
pub mod probability;
pub mod vectors;
pub mod words;
