//! Content summaries of text databases, how they age and how long they last: the text **summary**.
//!
//! In reading order:
//! - [`document_frequencies`]: how many documents contain each word, the content summary itself;
//! - [`comparison`]: recall, precision and divergence of an old summary against the current one;
//! - [`survival_time`]: how long a summary lasts until its divergence exceeds a threshold;
//! - [`survival_model`]: how long it can be expected to last, given the size and the past of its database.

pub mod comparison;
pub mod document_frequencies;
pub mod survival_model;
pub mod survival_time;
