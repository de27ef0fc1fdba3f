//! The History: every visit, first in the key-value store, later in Parquet files.
//!
//! In reading order:
//! - [`row`]: the row of a visit;
//! - [`columns`]: visits as columns of a Parquet file;
//! - [`files`]: the files, written, registered and merged;
//! - `lost_visits`: the visits that were lost to damage;
//! - [`query`]: visits of a time range, wherever they are stored.

pub mod columns;
pub mod files;
pub(crate) mod lost_visits;
pub mod query;
pub mod row;

pub use columns::VisitOutcome;
pub use query::VisitQuery;
pub use row::{VisitKind, VisitRow};
