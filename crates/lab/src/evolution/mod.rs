//! How recorded pages change: the study of **thesis**, chapter 4, on any history.
//!
//! In reading order:
//! - [`daily`]: what daily visits see of a page;
//! - [`change_interval`]: how often pages change (section 4.3);
//! - [`lifespan`]: how long pages exist (4.4);
//! - [`unchanged`]: how long until half of the pages changed (4.5);
//! - [`poisson_fit`]: whether changes are a Poisson process (4.6);
//! - [`estimator_bias`]: how much the deviation from a Poisson process biases the estimators of chapter 6;
//! - [`study`]: all of these, over all sites and by family;
//! - [`figures`]: the figures.

pub mod change_interval;
pub mod daily;
pub mod estimator_bias;
pub mod figures;
pub mod lifespan;
pub mod poisson_fit;
pub mod study;
pub mod unchanged;

pub use study::{Group, Study};
