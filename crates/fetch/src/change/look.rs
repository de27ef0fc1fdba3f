//! A second look: requests a page again moments later, to separate changes from ephemeral parts.
//!
//! A second look costs a visit of the budget and is made only where it can teach something: if a part differs
//! and too little is known of its kind on the site, and now and then on a page that was found changed at
//! every visit, however well its parts are known.
//!
//! A part that differs between two looks may have changed just then. Unless it is known to be ephemeral
//! already, a third look decides: a change happens once, a clock goes on.
//!
//! # Promises
//! - A part is learned as ephemeral only if it differed between the first and the second look, and again
//!   between the second and the third.
//! - A site whose parts are known costs no second looks, except at pages that always change, and there at
//!   growing intervals.
//! - Text that merely moved because something was inserted before it does not count as differing.

use std::collections::HashMap;

use super::ephemeral::{Differing, Key, TemplateEphemera, without_numbers};
use crate::page::Reading;

/// Milliseconds until the second look: long enough for a clock that shows seconds.
pub const SOON: i64 = 2_000;
/// Milliseconds until the second look at a page that always changes: long enough for a clock that shows
/// minutes.
pub const LATER: i64 = 61_000;
/// Maximum time between two looks, in milliseconds. After a longer one the page may have changed each time.
pub const WITHIN: i64 = 6 * 3_600_000;
/// After this many consecutive changes a page is looked at again; then after twice as many, and so on.
const ALWAYS: u8 = 3;

/// What a visit showed about the parts of a page.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lesson {
    /// The paths that were looked at twice, with their number of blocks.
    pub looked_at: Vec<(u32, u16)>,
    /// Parts that differed between the two looks.
    pub differed: Vec<Differing>,
    /// Parts that were taken to be ephemeral, but equal our copy.
    pub lasted: Vec<Key>,
}

impl Lesson {
    /// Whether there is nothing to learn.
    pub fn is_empty(&self) -> bool {
        self.looked_at.is_empty() && self.lasted.is_empty()
    }

    /// The part of the lesson that another look confirms: the parts that differed both times.
    #[must_use]
    pub fn confirmed(mut self, again: &Self) -> Self {
        self.differed.retain_mut(|part| {
            let other = again.differed.iter().find(|other| other.key == part.key);
            part.numbers_only &= other.is_none_or(|other| other.numbers_only);
            other.is_some()
        });
        self
    }

    /// Compares two looks at a page.
    pub fn of_looks(first: &Reading, second: &Reading) -> Self {
        let (one, other) = (by_path(first), by_path(second));
        let mut lesson = Self::default();
        for (path, texts) in &one {
            let Some(others) = other.get(path) else { continue };
            lesson.looked_at.push((*path, u16::try_from(texts.len()).unwrap_or(u16::MAX)));
            for (ordinal, text) in texts.iter().enumerate() {
                let across = others.get(ordinal).copied();
                let key = Key { path: *path, ordinal: u16::try_from(ordinal).unwrap_or(u16::MAX) };
                let has_moved =
                    others.contains(text) && (texts.len() != others.len() || !is_order(texts, others));
                // A part that is the same moments later need not last.
                if across != Some(text) && !has_moved {
                    let words = across.map(without_numbers);
                    let numbers_only = words.as_deref() == Some(without_numbers(text).as_str());
                    lesson.differed.push(Differing { key, numbers_only });
                }
            }
        }
        lesson
    }
}

/// Whether two lists contain the same texts and differ only in their order.
fn is_order(texts: &[&str], others: &[&str]) -> bool {
    let sorted = |texts: &[&str]| {
        let mut sorted: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        sorted.sort_unstable();
        sorted
    };
    sorted(texts) == sorted(others)
}

/// The texts of the blocks of each path, in order.
fn by_path(reading: &Reading) -> HashMap<u32, Vec<&str>> {
    let mut paths: HashMap<u32, Vec<&str>> = HashMap::new();
    for block in &reading.blocks {
        paths.entry(block.path).or_default().push(block.text(&reading.text));
    }
    paths
}

/// When to look again before a change in these parts is trusted, in milliseconds from now; none if it can be
/// trusted.
///
/// `changes_in_a_row` is the number of consecutive visits before this one that found a change.
pub fn after(differing: &[Key], template: &TemplateEphemera, changes_in_a_row: u8) -> Option<i64> {
    if differing.iter().any(|key| !template.knows(*key)) {
        return Some(SOON);
    }
    let in_a_row = changes_in_a_row.saturating_add(1);
    let is_time =
        in_a_row >= ALWAYS && in_a_row.is_multiple_of(ALWAYS) && (in_a_row / ALWAYS).is_power_of_two();
    is_time.then_some(LATER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::reading::Limits;
    use crate::page::{Canonical, PageUrl, read};

    fn reading(html: &str) -> Reading {
        let url = PageUrl::stored("http://a.example/x").unwrap();
        read(&url, Some("text/html"), &[], &[], html.as_bytes(), &Canonical::default(), &Limits::default())
    }

    #[track_caller]
    fn check(first: &str, second: &str, expected: &[(u16, bool)]) {
        let lesson = Lesson::of_looks(&reading(first), &reading(second));
        let differed: Vec<(u16, bool)> =
            lesson.differed.iter().map(|part| (part.key.ordinal, part.numbers_only)).collect();
        assert_eq!(differed, expected);
    }

    #[test]
    fn what_differs_between_two_looks_is_named() {
        check("<p>a<p>seen 17 times", "<p>a<p>seen 18 times", &[(1, true)]);
        check("<p>a<p>b", "<p>a<p>c", &[(1, false)]);
        check("<p>a<p>b", "<p>a<p>b", &[]);
    }

    #[test]
    fn what_moved_does_not_differ_and_a_shuffled_list_does() {
        check("<p>a<p>b<p>c", "<p>new<p>a<p>b<p>c", &[]);
        check("<p>a<p>b<p>c", "<p>b<p>a<p>c", &[(0, false), (1, false)]);
    }

    #[test]
    fn what_differed_once_is_not_ephemeral() {
        let [first, second, third] = ["<p>a<p>1", "<p>b<p>2", "<p>b<p>3"].map(reading);
        let lesson = Lesson::of_looks(&first, &second).confirmed(&Lesson::of_looks(&second, &third));
        assert_eq!(lesson.differed.iter().map(|part| part.key.ordinal).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_second_look_is_made_where_it_teaches() {
        let key = Key { path: reading("<p>a").blocks[0].path, ordinal: 0 };
        let mut template = TemplateEphemera::default();
        assert_eq!(after(&[key], &template, 0), Some(SOON));
        for _ in 0..2 {
            template.learn(&Lesson::of_looks(&reading("<p>a"), &reading("<p>a")));
        }
        assert_eq!(after(&[key], &template, 0), None);
        let looks: Vec<u8> =
            (0..60).filter(|in_a_row| after(&[key], &template, *in_a_row).is_some()).collect();
        assert_eq!(looks, [2, 5, 11, 23, 47]);
        assert_eq!(after(&[Key { ordinal: 1, ..key }], &template, 0), Some(SOON));
    }
}
