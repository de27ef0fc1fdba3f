//! The incremental crawler: decides what to keep and what to visit next, and visits it.
//!
//! In reading order. What the modules hand each other:
//! - [`visit`]: an order, and the visit that came of it;
//! - [`event`]: what the stores have taken in, as the UpdateModule hears it;
//! - [`settings`], [`hours`]: how a crawl is set;
//! - [`clock`]: its own time; [`last_run`]: what it notes of itself;
//! - [`status`]: how it stands.
//!
//! The modules:
//! - [`update`]: UpdateModule, what to visit next; `robots`: what a site lets us do;
//! - [`crawl_module`]: CrawlModule, visits one page; `trust`: how far a server is believed; `second_looks`:
//!   findings that wait for a second look;
//! - [`ranking_module`]: RankingModule, what belongs in the collection;
//! - `archived`: a visit as the Collection keeps it;
//! - [`writer`]: the one writer, that makes visits part of the stores.
//!
//! Questions about a crawl:
//! - [`past`]: what its visits say of when pages changed;
//! - [`audit`]: how true what it says of its freshness is;
//! - [`queries`]: questions and their answers;
//! - `published`: how it stands, as a file.
//!
//! A crawl that runs:
//! - `containment`: what becomes of a defect of this program; `tripwire`: where a test puts one;
//! - [`crawler`]: the loop that joins the modules, short enough to compare with the figure;
//! - [`query_socket`]: where others ask a crawl that runs; `self_audit`: audits that it makes by itself;
//! - [`opening`]: a crawl from its directory; `defect_stories`: one with a defect in it;
//! - [`stopped`]: a crawl that is asked without its process;
//! - [`import`]: what others collected, taken in.

mod archived;
pub mod audit;
pub mod clock;
mod containment;
pub mod crawl_module;
pub mod crawler;
#[cfg(test)]
mod defect_stories;
pub mod event;
pub mod hours;
pub mod import;
pub mod last_run;
pub mod opening;
pub mod past;
mod published;
pub mod queries;
pub mod query_socket;
pub mod ranking_module;
mod robots;
mod second_looks;
mod self_audit;
pub mod settings;
pub mod status;
pub mod stopped;
#[cfg(test)]
mod tripwire;
mod trust;
pub mod update;
pub mod visit;
pub mod writer;
