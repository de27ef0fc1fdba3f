//! A panic that is contained where it happens, and becomes a value.
//!
//! A panic is a defect of ours, which must cost no more than the work in which it shows; or, within a decoder
//! of files that others wrote, a sign that a file is damaged. What is printed of a panic is the business of
//! the program's panic hook. No library replaces that: work whose panics tell a user nothing is marked on its
//! thread, and the hook may ask for the mark ([`is_quiet`]).
//!
//! # Promises
//! - A panic in contained work is a value; nothing of it passes to the caller but what it said.
//! - The mark is gone when the marked work has ended, however it ended.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Characters of a message that are told.
const MESSAGE_MAX: usize = 300;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does a piece of work; if it panics, what it said. Whoever calls must not use what the work may have left
/// half changed.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words_of(panic.as_ref()))
}

/// The same for work whose panics nobody needs to see: meanwhile its thread [`is_quiet`].
pub fn contained_quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let was_quiet = IS_QUIET.replace(true);
    let done = contained(work);
    IS_QUIET.set(was_quiet);
    done
}

/// Whether a panic hook should print nothing of a panic on this thread.
pub fn is_quiet() -> bool {
    IS_QUIET.get()
}

/// What a panic said, in one line.
pub fn words_of(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let line = said.unwrap_or("it did not say what").split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_said_comes_out_in_one_line() {
        assert_eq!(contained(|| panic!("two\nlines")), Err::<(), _>("two lines".to_owned()));
        assert_eq!(contained(|| std::panic::panic_any(7)), Err::<(), _>("it did not say what".to_owned()));
        assert_eq!(contained(|| 7), Ok(7));
    }

    #[test]
    fn a_thread_is_quiet_for_as_long_as_the_work_takes() {
        assert_eq!(contained_quietly(is_quiet), Ok(true));
        assert!(!is_quiet());
        assert!(contained_quietly(|| -> u8 { panic!("a column has a negative length") }).is_err());
        assert!(!is_quiet());
        let within = contained_quietly(|| (contained_quietly(is_quiet), is_quiet()));
        assert_eq!(within, Ok((Ok(true), true)));
    }
}
