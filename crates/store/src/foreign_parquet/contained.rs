//! Turns panics of the Parquet decoder into errors.
//!
//! The decoder asserts properties of valid files: a negative length in a damaged file is a panic, not an
//! error. That is not our defect, and cannot be ruled out byte by byte. So its calls, and nothing else, run
//! under [`catch_unwind`](std::panic::catch_unwind). Nothing of a call that panicked is used again. The
//! message of such a panic does not help users, and is suppressed on the decoding thread only.
//!
//! # Promises
//! - A panic in the call is an error.

use freshet_protocol::containment::contained_quietly;

/// Why a file cannot be read as Parquet. It does not name the file: the caller knows it.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(super) String);

impl Unreadable {
    /// The error of a Parquet file that was damaged.
    pub(super) fn damaged(why: &impl ToString) -> Self {
        Self(format!("the Parquet file is damaged: {}", why.to_string()))
    }
}

/// Calls the decoder.
pub fn contained<T>(decode: impl FnOnce() -> T) -> Result<T, Unreadable> {
    contained_quietly(decode).map_err(|_| Unreadable("the Parquet file is damaged".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_call_is_as_before() {
        let result = contained(|| -> u8 { panic!("column start and length should not be negative") });
        assert_eq!(result, Err(Unreadable("the Parquet file is damaged".to_owned())));
        assert_eq!(contained(|| 1), Ok(1));
    }
}
