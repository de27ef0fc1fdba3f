//! Approximate summaries: learns a database by single-word queries (**summary**, Definition 2, after Callan
//! and Connell).
//!
//! In reading order:
//! - `rules`: size and budget of a sample;
//! - [`event`]: events of a sample, and the journal that records them;
//! - [`sampling`]: chooses the next query from past events;
//! - [`size`]: estimates the number of documents by sample and resample;
//! - [`recapture`]: estimates the number of documents by capture and recapture;
//! - [`sampler`]: runs a sample, from the first word to the summary.

pub mod event;
pub mod recapture;
mod rules;
pub mod sampler;
pub mod sampling;
pub mod size;

pub use rules::SampleRules;
pub use sampler::take_sample;
