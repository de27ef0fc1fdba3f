//! Copies that survive by other laws than the exponential: what one more visit to them gains.
//!
//! In reading order:
//! - [`law`]: what a law of survival offers, and how the threshold policy uses it;
//! - [`poisson`]: changes at a known rate;
//! - [`weibull`]: changes that come in bursts, as text databases have them;
//! - [`gamma_posterior`]: changes at a rate that is known as a gamma distribution;
//! - [`class_mixture`]: changes at a rate that is known as weights on classes;
//! - `incomplete_gamma`: the special functions of the Weibull law.

pub mod class_mixture;
pub mod gamma_posterior;
mod incomplete_gamma;
pub mod law;
pub mod poisson;
pub mod weibull;
