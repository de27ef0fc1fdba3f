//! Policies against a recorded world.
//!
//! In reading order:
//! - [`stage`]: the world as a crawl with a given cycle meets it, and the downloads it may make;
//! - [`importance`]: how important each page is;
//! - [`copies`]: the local copies;
//! - [`timeline`]: how fresh and how old they are, exactly;
//! - [`run`]: a policy driven through the world, cycle by cycle;
//! - [`oracle`], [`rate_oracle`]: ceilings, which know what no crawler knows;
//! - [`contestant`]: policies and ceilings by name;
//! - [`score`]: what is said of a policy in the end;
//! - [`contest`]: all contestants, several times each.

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
