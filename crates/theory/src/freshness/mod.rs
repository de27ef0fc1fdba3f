//! Freshness and age of a copy and of a collection, at a time and on average.
//!
//! In reading order:
//! - [`measure`]: freshness and age as one value, and their weighted mean over a collection;
//! - [`after_visit`]: expected values a given time after a visit;
//! - [`order`]: averages over time when pages are visited in fixed, random or purely random order;
//! - [`trace`]: averages over time of changes and visits that are known;
//! - [`gamma_rates`]: a whole collection whose change rates follow a gamma distribution;
//! - [`visit_benefit`]: what visits gain for pages that change once in each of equal intervals;
//! - [`crawl_mode`]: steady and batch crawlers, updating in place or by shadowing.

pub mod after_visit;
pub mod crawl_mode;
pub mod gamma_rates;
pub mod measure;
pub mod order;
pub mod trace;
pub mod visit_benefit;
