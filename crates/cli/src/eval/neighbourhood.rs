//! The neighbourhood of a changed sample, as functions of `freshet eval`.

use super::Function;

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[];
