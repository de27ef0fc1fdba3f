//! Laws of survival of copies other than the exponential, and the gain of one more visit under each.
//!
//! In reading order:
//! - [`law`]: the trait of all laws, and how the threshold policy uses it;
//! - [`poisson`]: changes at a known rate;
//! - [`weibull`]: changes that come in bursts, as text databases have them;
//! - [`gamma_posterior`]: changes at a rate that has a gamma distribution;
//! - [`class_mixture`]: changes at a rate given by probabilities of classes;
//! - `incomplete_gamma`: the special functions of the Weibull law.

pub mod class_mixture;
pub mod gamma_posterior;
mod incomplete_gamma;
pub mod law;
pub mod poisson;
pub mod weibull;
