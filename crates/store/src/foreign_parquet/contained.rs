//! Panics of the Parquet decoder, which become errors.
//!
//! The decoder asserts what a sound file keeps: a length that is negative in a damaged one is a panic, not an error. That is no
//! defect of ours and cannot be foreseen byte by byte, so its calls, and nothing else, are made under
//! [`catch_unwind`](std::panic::catch_unwind). Nothing of a call that panicked is used again. What would be printed about such a
//! panic tells a user nothing, and is left out for the thread that decodes; other threads are not touched.
//!
//! # Promises
//! - A panic in the call is an error and prints nothing; afterwards panics are reported as before.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

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

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Calls the decoder.
pub fn contained<T>(decode: impl FnOnce() -> T) -> Result<T, Unreadable> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_DECODING.get() {
                hook(panic);
            }
        }));
    });
    let was_decoding = IS_DECODING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(was_decoding);
    result.map_err(|_| Unreadable("the Parquet file is damaged".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_call_is_as_before() {
        let result = contained(|| -> u8 { panic!("column start and length should not be negative") });
        assert_eq!(result, Err(Unreadable("the Parquet file is damaged".to_owned())));
        assert!(!IS_DECODING.get());
        assert_eq!(contained(|| 1), Ok(1));
    }
}
