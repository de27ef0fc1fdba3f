//! Policies: which page to visit next. One file per policy: those of the papers, of other crawlers, and our
//! own.
//!
//! In reading order:
//! - [`catalogue`]: everything known of pages without visiting them;
//! - [`visit`]: the `Policy` trait, and the outcomes of visits;
//! - [`name`]: the names of all policies, and how a policy is made from its name; [`name_examples`]: more of
//!   them, for tests;
//! - `considerate`: room of sites, for policies that do not handle it;
//! - `selective`: which pages may be visited in a cycle, and policies that can be part of another one;
//! - `random_draw`, `ranking`, `due_queue`: pages at random, by a key, by date;
//! - `round_robin`, `random`: policies that ignore what was found;
//! - `estimates`, `allocation`, `frequency`: by the history of every page;
//! - `sampled_sites`, `sampling`, `adaptive`, `subset`: by samples of sites;
//! - `neighbourhood`: by samples and their neighbours;
//! - `mixture`: two policies that share the downloads;
//! - `steady`: every page at a frequency of its own;
//! - `intervals`, `nutch`, `stormcrawler`: schedules of other crawlers;
//! - [`freshet`]: the default policy.

mod adaptive;
mod allocation;
pub mod catalogue;
mod considerate;
mod due_queue;
mod estimates;
mod frequency;
pub mod freshet;
mod intervals;
mod mixture;
pub mod name;
pub mod name_examples;
mod neighbourhood;
mod nutch;
mod random;
mod random_draw;
mod ranking;
mod round_robin;
mod sampled_sites;
mod sampling;
mod selective;
mod steady;
mod stormcrawler;
mod subset;
pub mod visit;

#[cfg(test)]
mod small_worlds;

pub use allocation::Allocation;
pub use catalogue::{Catalogue, DirectoryId, PageId, SiteId};
pub use estimates::Estimator;
pub use frequency::Standing;
pub use name::{CyclePolicy, Form, PolicyName, PolicyNameError, Setting, SteadyPolicy};
pub use neighbourhood::{DownloadProbability, Kinship};
pub use steady::VisitOrder;
pub use visit::{CopyEstimate, Explanation, Observation, Outcome, Policy};
