//! The History: every visit, first in the key-value store, then in Parquet files.
//!
//! In reading order:
//! - [`row`]: a visit.
//! - [`columns`]: visits as the columns of a Parquet file.
//! - [`files`]: the files, written, registered and merged.
//! - `lost_visits`: which visits were lost to damage.
//! - [`query`]: visits of a span of time, wherever they are.

pub mod columns;
pub mod files;
pub(crate) mod lost_visits;
pub mod query;
pub mod row;

pub use columns::VisitOutcome;
pub use query::VisitQuery;
pub use row::{VisitKind, VisitRow};
