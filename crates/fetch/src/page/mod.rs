//! What a page is called and what its bytes mean.
//!
//! In reading order:
//! - [`address`]: a URL in canonical form.
//! - [`canonical`]: how a URL, or a reference found on a page, becomes one.
//! - [`parameters`]: parts of a URL that name no page.
//! - `plain`: references that need no parser.
//! - [`kind`]: what sort of document a response is.
//! - [`charset`]: from bytes to text.
//! - `text`: visible text in canonical form.
//! - [`robots_meta`]: what a page asks of robots.
//! - `link_header`: links that a response carries outside of its body.
//! - [`selector`]: which elements of a page a user means.
//! - `zones`: which part of a page an element belongs to.
//! - `number_map`: maps by numbers that are hashes already.
//! - `open_elements`: where in a page a piece of text stands.
//! - [`blocks`]: the text in pieces that can be named, and which of them are the main text.
//! - `document`: a document as the tokenizer reads it.
//! - `html`: what an HTML document says.
//! - [`listed`]: a page that a sitemap or a feed names.
//! - `dates`: dates as others write them.
//! - `xml`: a walk through foreign XML.
//! - [`sitemap`]: lists of pages for crawlers.
//! - [`feed`]: lists of news for readers.
//! - [`digest`]: short names of contents.
//! - `word_hashes`: the words of a text, each as a hash.
//! - [`simhash`]: how much two texts have in common.
//! - [`links`]: the links of a page.
//! - [`reading`]: all of that, for the bytes of one response.
//! - [`scope`]: which pages of a site belong to a crawl.
//! - [`traps`]: parts of a site that go on for ever.

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
