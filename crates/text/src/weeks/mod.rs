//! Changes of summaries over weeks: studied, fitted to a model, and used to plan refreshes.
//!
//! In reading order:
//! - [`chronicle`]: the weekly summaries of a database;
//! - [`tables`], [`from_summary_store`]: read chronicles from tables of document frequencies, and from a
//!   summary store;
//! - [`drift`]: compares every old summary with every current one;
//! - [`study`]: recall, precision and divergence by age;
//! - [`lives`]: how long summaries stay valid, and the features of their databases;
//! - [`fit`]: fits survival by features: coefficients, baselines, validation;
//! - [`model`]: a fitted model, saved, or the published one;
//! - [`plan`]: how often to refresh each summary on a budget;
//! - [`contest`]: plans that compete for the same budget;
//! - [`evaluation`]: evaluates plans against history.

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
