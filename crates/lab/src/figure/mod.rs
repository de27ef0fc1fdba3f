//! Draws results as SVG figures.
//!
//! In reading order:
//! - [`number`]: formats numbers for people;
//! - [`scale`]: linear and logarithmic axes;
//! - `svg`: the SVG sheet and its shapes;
//! - [`chart`]: curves, steps and points over labelled axes;
//! - [`bars`]: bars in panels side by side.

pub mod bars;
pub mod chart;
pub mod number;
pub mod scale;
pub(crate) mod svg;
