//! What is a change: what a user counts as one, what never lasts, and what differs beside our copy.
//!
//! In reading order:
//! - [`definition`]: which part of a page counts, for which pages;
//! - [`ephemeral`]: what differs at every look and never lasts, learned page by page and template by template;
//! - [`difference`]: what differs between two readings of a page, its size and its kinds;
//! - [`weights`]: what a change is worth by its kinds;
//! - [`look`]: when a second look is worth its cost, and what it taught;
//! - [`stand_in`]: what servers send in place of a page.

pub mod definition;
pub mod difference;
pub mod ephemeral;
pub mod look;
pub mod stand_in;
pub mod weights;

pub use definition::{Definition, Definitions, Extent};
pub use difference::{Change, Kinds};
pub use stand_in::StandIn;
