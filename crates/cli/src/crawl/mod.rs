//! `freshet crawl` and the commands that work on a crawl.
//!
//! In reading order:
//! - [`run`]: `freshet crawl`, from its options to its end;
//! - [`config`], [`init`]: the configuration file, `freshet init` and `freshet check-config`;
//! - [`saved_options`]: the command line options that a crawl keeps when it is started again;
//! - [`manners`]: politeness and network options of commands outside of a crawl;
//! - [`demo`]: `freshet demo`;
//! - [`screen`]: the status shown while a crawl runs; [`terminal`]: redraws it in place;
//! - [`ask`]: `freshet status`, `pages`, `explain`, `changes`, `cat`, `pin`, `pause`;
//! - [`diff`]: `freshet diff`, what differs between two versions of a page;
//! - [`audit`]: `freshet audit`, the true freshness against what the crawl reports;
//! - [`fsck`]: `freshet fsck`; [`export`], [`import`]: `freshet export` and `freshet import`;
//! - [`words`]: formats times, amounts and shares.

pub(crate) mod ask;
pub(crate) mod audit;
mod config;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod fsck;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod manners;
pub(crate) mod run;
mod saved_options;
mod screen;
mod terminal;
pub(crate) mod words;
