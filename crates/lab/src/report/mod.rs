//! The texts reproduced: every figure and table beside what is printed, in one page of HTML.
//!
//! In reading order:
//! - [`exhibit`]: one figure or table, and how it compares with the text;
//! - [`sources`]: what exhibits are made from: recorded histories, a web graph, chance;
//! - [`chapter`]: exhibits by chapter, and which of them are wanted;
//! - [`contents`]: all chapters;
//! - [`making`]: exhibits made, several at once;
//! - [`page`]: the page;
//! - `thesis_5` and its neighbours: the exhibits of each chapter, a file for each table or figure or family of them.

pub mod chapter;
pub mod contents;
pub mod exhibit;
pub mod making;
pub mod page;
pub mod sources;
mod thesis_5;
