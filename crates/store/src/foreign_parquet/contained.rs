//! Panics of the Parquet decoder, which become errors.
//!
//! The decoder asserts what a sound file keeps: a length that is negative in a damaged one is a panic, not an error. That is no
//! defect of ours and cannot be foreseen byte by byte, so its calls, and nothing else, are contained. Nothing of a call that
//! panicked is used again. What would be printed about such a panic tells a user nothing: the thread that decodes is quiet.
//!
//! # Promises
//! - A panic in the call is an error.

use freshet_protocol::containment::contained_quietly;

/// Why a file cannot be read as Parquet. It names no file: who opened it knows the name.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(super) String);

impl Unreadable {
    /// The file was sound once.
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
