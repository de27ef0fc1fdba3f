//! Policies against a recorded world.
//!
//! In reading order:
//! - [`copies`]: the local copies, and how fresh and old they are, exactly;
//! - [`run`]: a policy driven through the world, cycle by cycle.

pub mod copies;
pub mod run;
