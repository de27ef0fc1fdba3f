//! A DEFLATE encoder (RFC 1951) for fetched pages, built for speed rather than ratio.
//!
//! A crawl compresses every page once, on the processors that also fetch and parse, and no other work on a
//! page costs as much. The fastest level of a library looks for a copy at every byte, but text repeats itself
//! by words. This encoder looks for copies of at least seven bytes, with one candidate per place in a table
//! that fits the L1 cache, and less and less often where nothing repeats. Mispredicted branches cost more
//! than useless work, so the loops over bytes have none.
//!
//! In reading order:
//! - `copies`: finds repeated bytes;
//! - `window`: the bytes that a copy can reach;
//! - `items`: a block as a list without branches;
//! - `prefix_code`: Huffman codes of limited length;
//! - `symbols`: the symbols of lengths and distances;
//! - `block`: writes one block;
//! - `encoder`: the encoder.

mod block;
mod copies;
mod encoder;
mod items;
mod prefix_code;
mod symbols;
mod window;

pub use encoder::Encoder;
