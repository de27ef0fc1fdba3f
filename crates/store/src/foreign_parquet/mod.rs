//! Parquet files that a user names: written by any program, and perhaps damaged on the way.
//!
//! In reading order:
//! - [`table`]: such a file, opened and read batch by batch;
//! - `footer`: what is wrong with the description of the file at its end, before it is decoded;
//! - `pages`: what is wrong with a page of a column, before it is decoded;
//! - [`contained`]: panics of the decoder, which become errors.

pub mod contained;
pub(crate) mod footer;
mod pages;
pub mod table;
