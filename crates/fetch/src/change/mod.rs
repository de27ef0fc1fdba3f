//! Change detection: what counts as a change, which parts are ephemeral, and how a page differs from our
//! copy.
//!
//! In reading order:
//! - [`definition`]: which part of a page counts, for which pages;
//! - [`ephemeral`]: parts that differ at every request, learned page by page and template by template;
//! - [`difference`]: the difference between two readings of a page, its size and its kinds;
//! - [`weights`]: the weight of a change by its kinds;
//! - [`look`]: when a second look is worth its cost, and what it showed;
//! - [`stand_in`]: error pages, login walls and captchas sent with status 200.

pub mod definition;
pub mod difference;
pub mod ephemeral;
pub mod look;
pub mod stand_in;
pub mod weights;

pub use definition::{Definition, Definitions, Extent};
pub use difference::{Change, Kinds};
pub use stand_in::StandIn;
