//! Panic containment: catches panics (defects of this program) where they happen, and reports them.
//!
//! A panic in a visit, a ranking or an answer costs that visit, ranking or answer, and the crawl goes on. A
//! panic in the code that decides or writes ends the crawl with an error: its state may be half changed. The
//! next start rebuilds it from what was committed.
//!
//! # Promises
//! - What was lent to work that panicked is given back.
//! - No defect is silent: the status lists those that the crawl survived, the error names the one that ended
//!   it.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Maximum number of different defects that are recorded. Further ones only increase the count of the last.
const DEFECTS_MAX: usize = 20;
/// The message when a panic elsewhere is noticed first, as a poisoned lock.
pub(crate) const HALF_DONE: &str = "a panic has left it half done";
/// Maximum length of a message, in characters.
const MESSAGE_MAX: usize = 300;

/// Runs a piece of work and catches a panic as its message. The caller must not use what the work may have
/// left half changed.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words_of(panic.as_ref()))
}

/// Like [`contained`], for a future.
pub(crate) async fn contained_task<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|context| match contained(|| work.as_mut().poll(context)) {
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(said) => Poll::Ready(Err(said)),
    })
    .await
}

/// The message of a panic, in one line.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let line = said.unwrap_or("it did not say what").split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_MAX).collect()
}

/// A defect that the crawl survived.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Defect {
    doing: String,
    said: String,
    times: u64,
}

/// The defects of this run.
#[derive(Debug, Default)]
pub(crate) struct Defects {
    survived: Vec<Defect>,
    /// The defect that ended the crawl: what was being done, and the message.
    fatal: Option<(String, String)>,
}

impl Defects {
    /// Records a defect that the crawl survives.
    pub(crate) fn survive(&mut self, doing: &str, said: String) {
        let is_full = self.survived.len() == DEFECTS_MAX;
        let known = self.survived.iter().position(|known| known.said == said);
        match known.or(is_full.then_some(DEFECTS_MAX - 1)) {
            Some(place) => self.survived[place].times += 1,
            None => self.survived.push(Defect { doing: doing.to_owned(), said, times: 1 }),
        }
    }

    /// Records a defect that ends the crawl. The first one counts, but the consequence of a panic is replaced
    /// by the panic's own message.
    pub(crate) fn end(&mut self, doing: &str, said: &str) {
        let is_cause = self.fatal.as_ref().is_none_or(|(_, known)| known == HALF_DONE && said != HALF_DONE);
        if is_cause {
            self.fatal = Some((doing.to_owned(), said.to_owned()));
        }
    }

    /// The defect that ended the crawl: what was being done, and the message.
    pub(crate) fn fatal(&self) -> Option<(String, String)> {
        self.fatal.clone()
    }

    /// The survived defects, in the form of a status's troubles.
    pub(crate) fn troubles(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.survived.iter().map(|Defect { doing, said, times }| {
            let times = if *times == 1 { String::new() } else { format!(", {times} times") };
            (doing.clone(), format!("{said}{times}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_panic_said_comes_out_and_what_the_work_held_is_let_go() {
        let held = std::sync::Arc::new(());
        let lent = std::sync::Arc::clone(&held);
        let work = async move {
            tokio::task::yield_now().await;
            assert!(std::sync::Arc::strong_count(&lent) == 0, "two\nlines");
        };
        assert_eq!(contained_task(work).await, Err("two lines".to_owned()));
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
        assert_eq!(contained_task(async { 7 }).await, Ok(7));
        assert_eq!(contained(|| std::panic::panic_any(7)), Err::<(), _>("it did not say what".to_owned()));
    }

    #[test]
    fn the_same_defect_is_named_once_and_the_first_that_is_fatal_counts() {
        let mut defects = Defects::default();
        defects.end("deciding", HALF_DONE);
        for number in 0..100 {
            defects.survive("visiting a page", format!("internal error: {}", number % 50));
        }
        defects.survive("visiting another page", "internal error: 0".to_owned());
        let told: Vec<_> = defects.troubles().collect();
        assert_eq!(told.len(), DEFECTS_MAX);
        assert_eq!(told[0], ("visiting a page".to_owned(), "internal error: 0, 3 times".to_owned()));
        defects.end("writing", "the first");
        defects.end("writing", "the second");
        assert_eq!(defects.fatal(), Some(("writing".to_owned(), "the first".to_owned())));
    }
}
