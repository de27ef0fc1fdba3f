//! Replays: runs policies against a recorded world.
//!
//! In reading order:
//! - [`stage`]: the world as a crawl with a given cycle sees it, and its download budget;
//! - [`importance`]: importance of pages;
//! - [`copies`]: the local copies;
//! - [`timeline`]: exact freshness and age of the copies over time;
//! - [`run`]: drives a policy through the world, cycle by cycle;
//! - [`oracle`], [`rate_oracle`]: ceilings, which know what no crawler knows;
//! - [`contestant`]: policies and ceilings by name;
//! - [`score`]: measures of a policy's result;
//! - [`contest`]: runs all contestants, several times each.

pub mod contest;
pub mod contestant;
pub mod copies;
pub mod importance;
pub mod oracle;
pub mod rate_oracle;
pub mod run;
pub mod score;
pub mod stage;
pub mod timeline;

pub use contest::Contest;
pub use contestant::{Contestant, Entry};
pub use score::{Range, Score};
pub use stage::Stage;
