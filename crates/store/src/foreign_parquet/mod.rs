//! Reads Parquet files given by the user: written by any program, and perhaps damaged.
//!
//! In reading order:
//! - [`table`]: opens such a file and reads it batch by batch;
//! - `footer`: validates the footer before it is decoded;
//! - `pages`: validates pages of columns before they are decoded;
//! - [`contained`]: turns panics of the decoder into errors.

pub mod contained;
pub(crate) mod footer;
mod pages;
pub mod table;
