//! The living web: many sites on loopback whose pages change, are born, move and die, and which knows the truth about it.
//!
//! A crawler is tried on it as on the Web: over sockets, with robots, sitemaps, feeds, validators that lie and text that
//! differs at every request. What happens is a function of the settings, so every figure of a crawl can be checked.
//!
//! In reading order:
//! - [`settings`]: what web it is to be;
//! - [`clock`]: its time, which may run faster than that on the wall;
//! - `chance`: random numbers that depend on what is asked, never on when;
//! - [`hosts`]: the addresses and names of sites;
//! - [`character`]: what a site is like: its validators, noise, robots, sitemaps and feeds;
//! - [`atlas`]: the pages of sites, their directories and addresses;
//! - [`lives`]: when a page is born, moves and dies;
//! - [`changes`]: when a page changes;
//! - `edits`: which parts of a page each change touches;
//! - `words`: text out of chance;
//! - `links`: where the text of a page points;
//! - `noise`: what differs at every request;
//! - `article`: the main text of an article;
//! - `overview`: roots and listings;
//! - `document`: the page as bytes, with what surrounds the main text;
//! - `lists`: robots.txt, sitemaps, feeds and the calendar;
//! - `dates`: moments as HTTP, XML and people write them;
//! - [`living_web`]: all of the above as one value;
//! - [`validators`]: ETag and Last-Modified, honest or not;
//! - [`answer`]: what a request gets;
//! - [`truth`]: what happened, and how fresh copies are;
//! - [`truth_pages`]: the truth over HTTP;
//! - [`request_log`]: every request, written down;
//! - [`server`]: the sockets.

pub mod answer;
mod article;
pub mod atlas;
mod chance;
pub mod changes;
pub mod character;
pub mod clock;
mod dates;
mod document;
mod edits;
pub mod hosts;
mod links;
mod lists;
pub mod lives;
pub mod living_web;
mod noise;
mod overview;
pub mod request_log;
pub mod server;
pub mod settings;
pub mod truth;
pub mod truth_pages;
pub mod validators;
mod words;
