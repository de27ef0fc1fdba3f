//! Approximate summaries: learns a database by single-word queries (**summary**, Definition 2, after Callan
//! and Connell).
//!
//! In reading order:
//! - [`event`]: what happens in a sample, one fact after the other, and the journal of them;
//! - [`sampling`]: what is asked next, given what has happened;
//! - [`size`]: how many documents there are, by sample and resample;
//! - [`recapture`]: how many there are, by those that came again;
//! - [`sampler`]: the sample taken, from the first word to the summary.

pub mod event;
pub mod recapture;
pub mod sampler;
pub mod sampling;
pub mod size;

pub use crate::sample_rules::SampleRules;
pub use sampler::take_sample;
