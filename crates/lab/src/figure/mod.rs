//! Pictures of what came out, as SVG.
//!
//! In reading order:
//! - [`number`]: numbers as people read them;
//! - [`scale`]: axes, linear and logarithmic;
//! - `svg`: the sheet and what is drawn on it;
//! - [`chart`]: curves, steps and points over labelled axes;
//! - [`bars`]: bars in panels side by side.

pub mod bars;
pub mod chart;
pub mod number;
pub mod scale;
pub(crate) mod svg;
