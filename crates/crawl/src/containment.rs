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

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use freshet_protocol::containment::contained;

/// Maximum number of different defects that are recorded. Further ones only increase the count of the last.
const DEFECTS_MAX: usize = 20;

/// What [`contained`] does, for a task.
pub(crate) async fn contained_task<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|context| match contained(|| work.as_mut().poll(context)) {
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(said) => Poll::Ready(Err(said)),
    })
    .await
}

/// A defect that the crawl survived.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Defect {
    doing: String,
    said: String,
    times: u64,
}

/// Why a crawl cannot go on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FatalDefect {
    /// A panic, and what it said.
    Panic(String),
    /// Something is half changed: it follows from a panic, which is noticed elsewhere too.
    HalfDone,
}

impl fmt::Display for FatalDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(said) => f.write_str(said),
            Self::HalfDone => f.write_str("a panic has left it half done"),
        }
    }
}

/// The defects of this run.
#[derive(Debug, Default)]
pub(crate) struct Defects {
    survived: Vec<Defect>,
    /// What was being done when the crawl could not go on, and why it could not.
    fatal: Option<(String, FatalDefect)>,
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

    /// One that ends the crawl; the first counts, but what followed from a panic gives way to what the panic
    /// said.
    pub(crate) fn end(&mut self, doing: &str, defect: FatalDefect) {
        let counts = match (&self.fatal, &defect) {
            (None, _) | (Some((_, FatalDefect::HalfDone)), FatalDefect::Panic(_)) => true,
            (Some(_), _) => false,
        };
        if counts {
            self.fatal = Some((doing.to_owned(), defect));
        }
    }

    /// The defect that ended the crawl: what was being done, and the message.
    pub(crate) fn fatal(&self) -> Option<(String, String)> {
        self.fatal.as_ref().map(|(doing, defect)| (doing.clone(), defect.to_string()))
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
    }

    #[test]
    fn the_same_defect_is_named_once_and_the_first_that_is_fatal_counts() {
        let mut defects = Defects::default();
        defects.end("deciding", FatalDefect::HalfDone);
        for number in 0..100 {
            defects.survive("visiting a page", format!("internal error: {}", number % 50));
        }
        defects.survive("visiting another page", "internal error: 0".to_owned());
        let told: Vec<_> = defects.troubles().collect();
        assert_eq!(told.len(), DEFECTS_MAX);
        assert_eq!(told[0], ("visiting a page".to_owned(), "internal error: 0, 3 times".to_owned()));
        defects.end("writing", FatalDefect::Panic("the first".to_owned()));
        defects.end("deciding", FatalDefect::HalfDone);
        defects.end("writing", FatalDefect::Panic("the second".to_owned()));
        assert_eq!(defects.fatal(), Some(("writing".to_owned(), "the first".to_owned())));
    }
}
