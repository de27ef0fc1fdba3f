//! Which other pages are likely to have changed when a sampled page has: the text **neighbours**.
//!
//! In reading order:
//! - [`granularity`]: how far from a sample the downloads go;
//! - [`link`]: neighbours by links;
//! - [`directory`]: neighbours by the directories of their URLs;
//! - [`vectors`]: sparse vectors of length one;
//! - [`words`]: pages as vectors of their words;
//! - [`bisection`]: vectors grouped by repeated bisection;
//! - [`centroids`]: how far groups are from each other;
//! - [`features`]: pages as vectors of all that goes with how they change;
//! - [`cluster`]: neighbours by the group of their features;
//! - [`probability`]: whether a sample has its neighbours downloaded at all;
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
