//! `freshet crawl` and the commands that ask about a crawl.
//!
//! In reading order:
//! - [`run`]: `freshet crawl`, from its options to its end;
//! - [`config`], [`init`]: the configuration file, `freshet init` and `freshet check-config`;
//! - [`told`]: what a crawl was told on its command line, and goes on with;
//! - [`manners`]: how commands outside of a crawl reach the Web;
//! - [`demo`]: `freshet demo`;
//! - [`screen`]: what is shown while a crawl runs; [`terminal`]: how it is drawn over itself;
//! - [`ask`]: `freshet status`, `pages`, `explain`, `changes`, `cat`, `pin`, `pause`;
//! - [`diff`]: `freshet diff`, what differs between two versions of a page;
//! - [`audit`]: `freshet audit`, how true what a crawl says of itself is;
//! - [`fsck`]: `freshet fsck`; [`export`], [`import`]: `freshet export` and `freshet import`;
//! - [`words`]: times, amounts and shares as people read them.

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
