//! The incremental crawler: what to keep, what to visit next, and visiting it.
//!
//! In reading order:
//! - [`crawler`]: the loop that joins the modules, short enough to compare with the figure;
//! - [`visit`]: what the modules hand each other;
//! - [`update`]: UpdateModule, what to visit next; [`budget`]: what may be spent;
//! - [`crawl_module`]: CrawlModule, visits one page; [`web`]: the only code that talks to sites; [`page`]: what their bytes mean; [`change`]: what is a change;
//! - `archived`: a visit as the Collection keeps it; [`writer`]: the one writer, that makes visits part of the stores;
//! - [`ranking_module`]: RankingModule, what belongs in the collection; [`topic`]: what a page is worth to a crawl about a topic;
//! - [`policy`]: which page next: the policies, which the lab runs too;
//! - [`import`]: what others collected, taken in;
//! - [`opening`]: a crawl from its directory; [`settings`], [`clock`], [`last_run`]: how it is set, its time, what it notes of itself;
//! - `containment`: what becomes of a defect of this program;
//! - [`status`], [`queries`], [`query_socket`]: how it stands, and questions about it; [`audit`], `self_audit`: how true what it says is; [`past`]: what its visits say of when pages changed.

mod archived;
pub mod audit;
pub mod clock;
mod containment;
pub mod crawl_module;
pub mod crawler;
#[cfg(test)]
mod defect_stories;
pub mod import;
pub mod last_run;
pub mod opening;
pub mod past;
mod published;
pub mod queries;
pub mod query_socket;
pub mod ranking_module;
mod second_looks;
mod self_audit;
pub mod settings;
pub mod status;
pub mod stopped;
mod trust;
pub mod update;
pub mod visit;
pub mod writer;
