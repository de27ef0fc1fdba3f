//! Pictures of what came out, as SVG.
//!
//! In reading order:
//! - [`bars`]: bars in panels side by side.

pub mod bars;
