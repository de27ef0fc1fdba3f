//! DEFLATE (RFC 1951) for pages as they are fetched: quick rather than small.
//!
//! A crawl compresses every page once, on the processors that also fetch and read, and nothing else that it does with a page costs as much. A
//! library's fastest level looks for a copy at every byte; text repeats itself by words. Here a copy of seven bytes at least is
//! looked for, with one guess a place in a table that stays in the nearest cache, and ever more rarely where nothing repeats.
//!
//! In reading order:
//! - `copies`: what stands before already.
//! - `prefix_code`: short codes for frequent symbols.
//! - `symbols`: the symbols of lengths and distances.
//! - `block`: one block of the format.
//! - `encoder`: bytes to DEFLATE.

mod block;
mod copies;
mod encoder;
mod prefix_code;
mod symbols;

pub use encoder::Encoder;
