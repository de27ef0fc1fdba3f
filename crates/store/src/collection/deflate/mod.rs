//! DEFLATE (RFC 1951) for pages as they are fetched: quick rather than small.
//!
//! A crawl compresses every page once, on the processors that also fetch and read, and nothing else that it does with a page costs as much. A
//! library's fastest level looks for a copy at every byte; text repeats itself by words. Here a copy of seven bytes at least is
//! looked for, with one guess a place in a table that stays in the nearest cache, and ever more rarely where nothing repeats. What a processor cannot foresee
//! costs it more than what it does in vain, so the loops over bytes decide nothing.
//!
//! In reading order:
//! - `copies`: what stands before already.
//! - `window`: the bytes that a copy can reach.
//! - `items`: a block as a list without branches.
//! - `prefix_code`: short codes for frequent symbols.
//! - `symbols`: the symbols of lengths and distances.
//! - `block`: one block of the format.
//! - `encoder`: bytes to DEFLATE.

mod block;
mod copies;
mod encoder;
mod items;
mod prefix_code;
mod symbols;
mod window;

pub use encoder::Encoder;
