//! Lives of pages: converts changes of files into events of pages.
//!
//! - A commit that alters more than 50 pages and more than a fifth of the existing pages is a sweep. Its
//!   changes are marked.
//! - A page that is deleted while its content appears elsewhere in the same commit has moved away. The new
//!   page records where it came from.
//! - An absence of at most 28 days is a revert or a switch of branches, not a death. If the content came back
//!   unchanged, nothing happened. Otherwise the page changed when it came back.
//!
//! # Promises
//! - The times of events never decrease, even if the authors' clocks did.

use std::collections::{HashMap, HashSet};

use freshet_protocol::time::SECONDS_PER_DAY;

use super::super::recording::{Event, EventKind};
use super::address::is_page;
use super::log::{Commit, FileChange};

/// A sweep alters more pages than this.
const SWEEP_PAGES: usize = 50;
/// A sweep alters more than this fraction of the existing pages.
const SWEEP_SHARE: f64 = 0.2;
/// Longest absence that does not count as a deletion, in seconds: 28 days.
const ABSENCE_MAX: i64 = 28 * SECONDS_PER_DAY;

/// A page and its source file.
#[derive(Clone, Debug)]
pub(super) struct FilePage {
    /// Path of its source file.
    pub(super) file: String,
    /// When it first existed.
    pub(super) first_seen: i64,
    /// Whether it existed in the first commit.
    pub(super) initial: bool,
    /// The page it moved from.
    pub(super) moved_from: Option<usize>,
    /// Whether it exists.
    pub(super) alive: bool,
    /// Its content, or its last content.
    pub(super) blob: String,
    /// Its events.
    pub(super) events: Vec<Event>,
}

/// All pages of a repository, updated commit by commit.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// Pages in order of appearance.
    pub(super) pages: Vec<FilePage>,
    /// Time of the first commit.
    pub(super) start: i64,
    /// Time of the last commit.
    pub(super) end: i64,
    /// Number of commits that touched pages.
    pub(super) commits: u32,
    /// The last commit.
    pub(super) head: String,
    /// Indices of pages, by file.
    by_file: HashMap<String, usize>,
    /// Number of existing pages.
    alive: usize,
}

impl Lives {
    /// Applies a commit. Commits must come in first-parent order.
    pub(super) fn observe(&mut self, commit: &Commit) {
        let first = self.head.is_empty();
        self.start = if first { commit.time } else { self.start };
        self.end = if first { commit.time } else { self.end.max(commit.time) };
        self.head.clone_from(&commit.hash);
        let altered: Vec<&FileChange> = commit
            .files
            .iter()
            .filter(|change| is_page(&change.file) && change.before != change.after)
            .collect();
        if altered.is_empty() {
            return;
        }
        self.commits += 1;
        let mass = altered.len() > SWEEP_PAGES && altered.len() as f64 > SWEEP_SHARE * self.alive as f64;
        let time = self.end;
        let event = move |kind| Event { time, kind, mass };
        let removed = self.removed(&altered);
        let appeared: HashSet<&str> = altered.iter().filter_map(|change| change.after.as_deref()).collect();
        for change in &altered {
            match (&change.after, self.by_file.get(&change.file).copied()) {
                (None, Some(page)) => {
                    let moved = change.before.as_deref().is_some_and(|blob| appeared.contains(blob));
                    let kind = if moved { EventKind::MovedAway } else { EventKind::Deleted };
                    self.delete(page, event(kind));
                }
                (None, None) => {}
                (Some(blob), Some(page)) => self.put(page, blob, event(EventKind::Modified)),
                (Some(blob), None) => {
                    let from = removed.get(blob.as_str()).copied();
                    self.create(&change.file, blob, from);
                }
            }
        }
    }

    /// The pages that this commit removes, by their content.
    fn removed<'a>(&self, altered: &[&'a FileChange]) -> HashMap<&'a str, usize> {
        let removed = altered.iter().filter(|change| change.after.is_none());
        removed
            .filter_map(|change| Some((change.before.as_deref()?, *self.by_file.get(&change.file)?)))
            .collect()
    }

    fn create(&mut self, file: &str, blob: &str, moved_from: Option<usize>) {
        self.by_file.insert(file.to_owned(), self.pages.len());
        self.alive += 1;
        self.pages.push(FilePage {
            file: file.to_owned(),
            first_seen: self.end,
            initial: self.end == self.start,
            moved_from,
            alive: true,
            blob: blob.to_owned(),
            events: Vec::new(),
        });
    }

    fn delete(&mut self, page: usize, event: Event) {
        let page = &mut self.pages[page];
        if page.alive {
            page.alive = false;
            self.alive -= 1;
            page.events.push(event);
        }
    }

    /// Sets the content of a known page: it changed, or came back.
    fn put(&mut self, page: usize, blob: &str, changed: Event) {
        let page = &mut self.pages[page];
        let absent_since = if page.alive { None } else { page.events.last().map(|event| event.time) };
        if !page.alive {
            page.alive = true;
            self.alive += 1;
        }
        match absent_since {
            Some(since) if changed.time - since > ABSENCE_MAX => {
                page.events.push(Event { kind: EventKind::Recreated, ..changed });
            }
            _ => {
                if absent_since.is_some() {
                    page.events.pop();
                }
                if page.blob != blob {
                    page.events.push(changed);
                }
            }
        }
        blob.clone_into(&mut page.blob);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = SECONDS_PER_DAY;

    /// A file with its content before and after; `-` for none.
    type Change<'a> = (&'a str, &'a str, &'a str);

    /// Applies commits made on these days.
    fn lives(commits: &[(i64, &[Change<'_>])]) -> Lives {
        let mut lives = Lives::default();
        let blob = |name: &str| (name != "-").then(|| name.to_owned());
        for (day, files) in commits {
            let change = |(file, before, after): &Change<'_>| FileChange {
                file: (*file).to_owned(),
                before: blob(before),
                after: blob(after),
            };
            let files = files.iter().map(change).collect();
            lives.observe(&Commit { hash: format!("c{day}"), time: day * DAY, files });
        }
        lives
    }

    fn events(lives: &Lives, page: usize) -> Vec<(i64, EventKind)> {
        lives.pages[page].events.iter().map(|event| (event.time / DAY, event.kind)).collect()
    }

    #[test]
    fn a_page_is_born_changes_and_dies() {
        let lives = lives(&[
            (1, &[("a.md", "-", "x"), ("logo.png", "-", "p")]),
            (2, &[("a.md", "x", "y")]),
            (3, &[("b.md", "-", "z")]),
            (4, &[("a.md", "y", "-")]),
        ]);
        assert_eq!(events(&lives, 0), [(2, EventKind::Modified), (4, EventKind::Deleted)]);
        assert!(lives.pages[0].initial && !lives.pages[1].initial);
        assert_eq!((lives.start / DAY, lives.end / DAY, lives.commits), (1, 4, 4));
        assert_eq!(lives.head, "c4");
    }

    #[test]
    fn a_page_moves() {
        let lives = lives(&[(1, &[("a.md", "-", "x")]), (2, &[("a.md", "x", "-"), ("b.md", "-", "x")])]);
        assert_eq!(events(&lives, 0), [(2, EventKind::MovedAway)]);
        assert_eq!(lives.pages[1].moved_from, Some(0));
    }

    #[test]
    fn a_short_absence_is_folded() {
        let same =
            lives(&[(1, &[("a.md", "-", "x")]), (5, &[("a.md", "x", "-")]), (33, &[("a.md", "-", "x")])]);
        assert!(events(&same, 0).is_empty());
        assert!(same.pages[0].alive);
        let other =
            lives(&[(1, &[("a.md", "-", "x")]), (5, &[("a.md", "x", "-")]), (9, &[("a.md", "-", "y")])]);
        assert_eq!(events(&other, 0), [(9, EventKind::Modified)]);
        let long =
            lives(&[(1, &[("a.md", "-", "x")]), (5, &[("a.md", "x", "-")]), (34, &[("a.md", "-", "x")])]);
        assert_eq!(events(&long, 0), [(5, EventKind::Deleted), (34, EventKind::Recreated)]);
    }

    #[test]
    fn a_sweep_is_marked() {
        let files: Vec<String> = (0..100).map(|page| format!("{page}.md")).collect();
        let first: Vec<_> = files.iter().map(|file| (file.as_str(), "-", "x")).collect();
        let some = |count: usize, before, after| -> Vec<_> {
            files[..count].iter().map(|file| (file.as_str(), before, after)).collect()
        };
        let lives = lives(&[(1, &first), (2, &some(50, "x", "y")), (3, &some(51, "y", "z"))]);
        let masses: Vec<_> = lives.pages[0].events.iter().map(|event| event.mass).collect();
        assert_eq!(masses, [false, true]);
    }

    #[test]
    fn time_never_goes_back() {
        let lives =
            lives(&[(5, &[("a.md", "-", "x")]), (3, &[("a.md", "x", "y")]), (6, &[("a.md", "y", "z")])]);
        assert_eq!(events(&lives, 0), [(5, EventKind::Modified), (6, EventKind::Modified)]);
        assert_eq!((lives.start / DAY, lives.end / DAY), (5, 6));
    }

    #[test]
    fn a_changed_mode_is_no_change() {
        let lives = lives(&[(1, &[("a.md", "-", "x")]), (2, &[("a.md", "x", "x")])]);
        assert!(events(&lives, 0).is_empty());
        assert_eq!(lives.commits, 1);
    }
}
