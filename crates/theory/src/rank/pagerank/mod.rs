//! PageRank: backlinks weighted by the importance of the pages that link (thesis, section 2.2, item 3).
//!
//! In reading order:
//! - [`model`]: the equations, the damping, and the rule for pages without links;
//! - [`mod@approximate`]: large webs, in parallel, to a given error;
//! - [`propagate`]: one iteration as two sequential passes through memory, which makes it fast;
//! - [`mod@exact`]: the exact solution, for any damping below one;
//! - `eliminate`: its direct solver, without subtraction;
//! - `refine`: its iterative solver, with a proof of the error;
//! - `growing`: the ranks of a web that grows as it is crawled.
//!
//! Each works on pages and, with [`Graph::of_sites`](super::Graph::of_sites), on sites (section 4.2.2).

pub mod approximate;
mod eliminate;
pub mod exact;
pub(super) mod growing;
pub mod model;
pub mod propagate;
mod refine;

pub use approximate::approximate;
pub use exact::exact;
pub use model::{Damping, Dangling};
