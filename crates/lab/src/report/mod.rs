//! Reproduces the texts: every figure and table, compared with the printed one, in one HTML page.
//!
//! In reading order:
//! - [`exhibit`]: one figure or table, and how it compares with the text;
//! - [`sources`]: what exhibits are made from: recorded histories, a web graph, text databases, chance;
//! - `text_databases`: the past of text databases, read and compared once;
//! - [`chapter`]: exhibits by chapter, and which of them are wanted;
//! - [`contents`]: all chapters;
//! - [`making`]: makes exhibits, several at once;
//! - [`page`]: the HTML page;
//! - `material`: worlds for replays, recorded or from a model;
//! - `replays`: short replays of policies by name;
//! - `thesis_5` and its neighbours: the exhibits of each chapter, with a file for each table or figure or
//!   family of them.

pub mod chapter;
pub mod contents;
pub mod exhibit;
pub mod making;
mod material;
mod neighbours;
pub mod page;
mod replays;
mod sample;
pub mod sources;
mod summary;
mod text_databases;
mod thesis_2;
mod thesis_3;
mod thesis_4;
mod thesis_5;
mod thesis_6;
mod thesis_7;
