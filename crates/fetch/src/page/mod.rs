//! Page parsing: URLs, and what the bytes of a response contain.
//!
//! In reading order:
//! - [`address`]: a URL in canonical form.
//! - [`canonical`]: URL canonicalisation.
//! - [`parameters`]: tracking parameters and session ids.
//! - `plain`: a fast path for references that need no parser.
//! - [`kind`]: the type of a document.
//! - [`charset`]: character encoding detection and decoding.
//! - `text`: visible text in canonical form.
//! - [`robots_meta`]: robots rules of a page.
//! - `link_header`: `Link` headers.
//! - [`selector`]: CSS selectors.
//! - `zones`: recognises navigation, header, footer and sidebars.
//! - `number_map`: hash maps with keys that are hashes already.
//! - `open_elements`: the stack of open elements.
//! - [`blocks`]: the text in pieces, and which of them are the main text.
//! - `document`: the input reader of the tokenizer.
//! - `html`: the HTML reader.
//! - [`listed`]: an entry of a sitemap or a feed.
//! - `dates`: a parser for dates.
//! - `xml`: a lenient XML walker.
//! - [`sitemap`][]: sitemaps.
//! - [`feed`][]: feeds.
//! - [`digest`]: content digests.
//! - `word_hashes`: the words of a text, each as a hash.
//! - [`simhash`]: similarity of texts.
//! - [`links`]: the links of a page.
//! - [`reading`]: all of that, for one response.
//! - [`scope`]: which pages of a site belong to a crawl.
//! - [`traps`]: crawler traps.

pub mod address;
pub mod blocks;
pub mod canonical;
pub mod charset;
mod dates;
pub mod digest;
mod document;
pub mod feed;
mod html;
pub mod kind;
mod link_header;
pub mod links;
pub mod listed;
mod number_map;
mod open_elements;
pub mod parameters;
mod plain;
pub mod reading;
pub mod robots_meta;
pub mod scope;
pub mod selector;
pub mod simhash;
pub mod sitemap;
mod text;
pub mod traps;
mod word_hashes;
mod xml;
mod zones;

pub use address::PageUrl;
pub use canonical::{Canonical, UrlRefused};
pub use reading::{Reading, read};
