//! Every parser of foreign bytes, each as a function that takes any bytes.
//!
//! The functions are called in two ways: by the driver in `main.rs`, which builds on a stable toolchain and
//! is part of `./test`, and by the targets of `cargo fuzz` in `fuzz_targets/`. In reading order:
//! - `page`: what a page is called, what its bytes mean, what has changed in it;
//! - `wire`: robots.txt, headers, content encodings;
//! - `archive`: messages, WARC files and indexes of other programs;
//! - `store`: records, Parquet files, and the encoder that packs pages;
//! - `text`: pages of search results, descriptions of search interfaces, words;
//! - `settings`: what a user writes into a configuration.
//!
//! What only the command line reads (CSV tables, configuration files, lines of `freshet eval`) is private to
//! its crate, and is tested there.
//!
//! # Promises
//! - A function panics only if what it calls panics, or breaks a promise that the function asserts.

mod archive;
mod page;
mod settings;
mod store;
mod text;
mod wire;

use std::hash::{DefaultHasher, Hash, Hasher as _};

use freshet_fetch::page::{Canonical, PageUrl};

pub use archive::{cdx, message, warc};
pub use page::{change, charset, feed, html, plain, sitemap, url};
pub use settings::settings;
pub use store::{compression, parquet, records};
pub use text::{open_search, results, words};
pub use wire::{decoding, headers, robots};

/// A parser, and what to begin with.
pub struct Parser {
    /// Its name: that of its function, and of its target in `fuzz_targets/`.
    pub name: &'static str,
    /// Inputs to begin with, valid or nearly so.
    pub seeds: Vec<Vec<u8>>,
    /// Pieces of input that mean something to it.
    pub words: &'static [&'static str],
    /// Reads any bytes, and returns a rough fingerprint of the outcome.
    pub read: fn(&[u8]) -> u64,
}

/// All of them.
pub fn parsers() -> Vec<Parser> {
    [
        page::parsers(),
        wire::parsers(),
        archive::parsers(),
        store::parsers(),
        text::parsers(),
        settings::parsers(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn seeds(seeds: &[&str]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

fn fingerprint(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A length as its order of magnitude, so that not every length has a fingerprint of its own.
fn size(length: usize) -> u32 {
    length.checked_ilog2().map_or(0, |log| log + 1)
}

/// The page on which references are found.
fn base() -> PageUrl {
    Canonical::default().of("http://a.example/dir/page?q=1").expect("it is a URL")
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
