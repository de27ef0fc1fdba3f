//! What Freshet holds on disk. It answers what it is asked and keeps what it is told; it never decides.
//!
//! In reading order:
//! - [`time`]: moments, in milliseconds.

pub mod time;
