//! Estimators of how often a page changes, from visits that see only a part of its
//! changes (thesis, chapter 6).
//!
//! In reading order:
//! - [`rate`]: an estimated rate, its confidence interval, and the confidence of that interval;
//! - [`choose`]: which estimator fits the available information;
//! - [`even`]: visits at even intervals as running counts, with the exact interval;
//! - [`naive`] and [`improved`]: the rate from those counts;
//! - [`quality`]: bias and deviation of these two;
//! - [`irregular`]: the maximum-likelihood rate from visits at any intervals, exactly;
//! - [`irregular_visits`]: the same as running state of fixed size;
//! - [`complete`]: the rate when every change is known;
//! - [`last_modified`]: the rate from the date of the last change;
//! - [`last_modified_quality`]: bias and deviation of that;
//! - [`bayes`]: the probability of each of several classes of rates;
//! - [`bayes_accuracy`]: how often the most probable class is the right one;
//! - [`shared_prior`]: the prior of these classes, learned from many pages at once;
//! - [`visit_history`]: the rates of many pages from a history of their visits;
//! - [`gamma`]: a posterior of the rate that forgets, with a prior shared by similar pages;
//! - [`look`]: how often to visit in order to learn the rate, and when to change that;
//! - `binomial`, `quantile` and `root`: the numerics beneath.

pub mod bayes;
pub mod bayes_accuracy;
mod binomial;
pub mod choose;
pub mod complete;
pub mod even;
pub mod gamma;
pub mod improved;
pub mod irregular;
pub mod irregular_visits;
pub mod last_modified;
pub mod last_modified_quality;
pub mod look;
pub mod naive;
pub mod quality;
mod quantile;
pub mod rate;
mod root;
pub mod shared_prior;
pub mod visit_history;
