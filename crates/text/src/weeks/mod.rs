//! How summaries change over weeks: studied, fitted, and used to plan.
//!
//! In reading order:
//! - [`chronicle`]: the summaries of a database, week by week;
//! - [`tables`], [`from_summary_store`]: chronicles from tables of document frequencies, and from the versions on a summary store;
//! - [`drift`]: every old summary against every current one;
//! - [`study`]: recall, precision and divergence by age;
//! - [`lives`]: how long summaries last, and the features of their databases;
//! - [`fit`]: survival by features: coefficients, baselines, validation;
//! - [`model`]: a fitted model, saved, or the published one;
//! - [`plan`]: how often each summary is worth a refresh;
//! - [`contest`]: plans that compete for the same budget;
//! - [`evaluation`]: plans held against what happened.

pub mod chronicle;
pub mod contest;
pub mod drift;
pub mod evaluation;
pub mod fit;
pub mod from_summary_store;
pub mod lives;
pub mod model;
pub mod plan;
pub mod study;
pub mod tables;
