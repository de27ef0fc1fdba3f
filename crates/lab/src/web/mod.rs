//! The living web: many sites on loopback whose pages change, are born, move and die. It knows and reports
//! the truth about them.
//!
//! It tests a crawler as the Web would: over sockets, with robots.txt, sitemaps, feeds, validators that lie
//! and text that differs at every request. All events are a function of the settings, so every result of a
//! crawl can be checked.
//!
//! In reading order:
//! - [`settings`]: settings of a web;
//! - [`clock`]: its time, which may run faster than wall-clock time;
//! - `chance`: random numbers as a function of the question;
//! - [`hosts`]: addresses and host names of sites;
//! - [`character`]: properties of a site: its validators, noise, robots.txt, sitemaps and feeds;
//! - [`atlas`]: all sites, directories and pages, and their addresses;
//! - [`lives`]: when a page is born, moves and dies;
//! - [`changes`]: when a page changes;
//! - `edits`: which parts of a page each change touches;
//! - `words`: generates text;
//! - `links`: links in the text of a page;
//! - `noise`: what differs at every request;
//! - `article`: the main text of an article;
//! - `overview`: roots and listings;
//! - `document`: renders a page as bytes;
//! - `lists`: robots.txt, sitemaps, feeds and the calendar;
//! - `dates`: formats moments for HTTP, XML and people;
//! - [`living_web`]: all of the above as one value;
//! - [`validators`]: ETag and Last-Modified, honest or not;
//! - [`answer`]: answers to requests;
//! - [`truth`]: what happened, and how fresh copies are;
//! - [`truth_pages`]: the truth over HTTP;
//! - [`request_log`]: records every request;
//! - [`server`]: the HTTP server.

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
