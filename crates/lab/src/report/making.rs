//! Makes exhibits, several at once.
//!
//! # Promises
//! - The result does not depend on how many are made at once.
//! - An exhibit whose data is missing or invalid is replaced by a message. The others are still made.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::chapter::{Chapter, Maker, Selected};
use super::exhibit::Exhibit;
use super::sources::Sources;

/// A chapter with its exhibits made.
#[derive(Debug)]
pub struct MadeChapter {
    /// The chapter.
    pub chapter: &'static Chapter,
    /// Its exhibits in reading order.
    pub exhibits: Vec<(&'static Maker, Made)>,
}

/// Result of making an exhibit.
#[derive(Debug)]
pub enum Made {
    /// It was made.
    Exhibit(Exhibit),
    /// The data that it needs is missing.
    Absent,
    /// Making it failed; the reason.
    Failed(String),
}

/// Callback for the exhibit in work and the fraction of it that is done; 1 when it is finished.
pub type Watch<'a> = dyn Fn(&'static Maker, f64) + Sync + 'a;

/// Makes exhibits, `threads` at once.
pub fn make(selected: &[Selected], sources: &Sources, threads: usize, watch: &Watch<'_>) -> Vec<MadeChapter> {
    let makers: Vec<&'static Maker> = selected.iter().flat_map(|chapter| chapter.exhibits.clone()).collect();
    let made: Vec<Mutex<Option<Made>>> = makers.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|next| *next < makers.len())
        {
            let outcome = make_one(makers[index], sources, watch);
            *made[index].lock().expect("no other thread panics with it") = Some(outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, makers.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut made = made.into_iter().map(|made| {
        made.into_inner().expect("all threads have ended well").expect("every exhibit was taken by a thread")
    });
    let chapter = |selected: &Selected| MadeChapter {
        chapter: selected.chapter,
        exhibits: selected.exhibits.iter().copied().zip(made.by_ref()).collect(),
    };
    selected.iter().map(chapter).collect()
}

fn make_one(maker: &'static Maker, sources: &Sources, watch: &Watch<'_>) -> Made {
    if !sources.meet(maker.needs) {
        watch(maker, 1.0);
        return Made::Absent;
    }
    watch(maker, 0.0);
    // Only a finished exhibit counts as 1, whatever its maker reports.
    let made = (maker.make)(sources, &|share| watch(maker, share.clamp(0.0, 0.99)));
    watch(maker, 1.0);
    match made {
        Ok(exhibit) => Made::Exhibit(exhibit),
        Err(error) => Made::Failed(format!("{error:#}")),
    }
}

/// Makes an exhibit that needs no data. Panics unless every printed value agrees or has a verdict with a
/// reason.
#[cfg(test)]
pub(crate) fn check(maker: &Maker) -> Exhibit {
    use super::exhibit::Verdict;

    let sources = Sources::new(None, 1).expect("no data is no error");
    let exhibit = (maker.make)(&sources, &|_| {}).expect("it needs no data");
    assert!(!exhibit.shows.is_empty());
    for comparison in &exhibit.comparisons {
        assert_ne!(comparison.verdict, Verdict::Differs, "{comparison:?}");
        let needs_reason = matches!(comparison.verdict, Verdict::TextIsWrong);
        assert!(!needs_reason || !comparison.note.is_empty(), "{comparison:?}");
    }
    exhibit
}
