//! The difference between two readings of a page: whether it counts, its size and its kinds.
//!
//! # Promises
//! - Parts that do not count under the definition, and ephemeral parts, make no difference.
//! - The size of a difference is the share of the shingles that only one of the readings has, from 0 to 1.

use std::borrow::Cow;
use std::collections::HashSet;

use super::definition::{Definition, Extent};
use super::ephemeral::{Ephemeral, Key, without_numbers};
use crate::page::Reading;
use crate::page::simhash::change_size;

/// A change of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Size: the share of the counting part that differs, from 0 to 1.
    pub size: f32,
    /// Its kinds.
    pub kinds: Kinds,
}

/// The kinds of a change, as a bit set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Kinds(u8);

impl Kinds {
    /// The title changed.
    pub const TITLE: Self = Self(1);
    /// Words of the counting part changed.
    pub const TEXT: Self = Self(2);
    /// Links in the counting part changed.
    pub const LINKS: Self = Self(4);
    /// Numbers in the counting part changed, and none of its words.
    pub const NUMBERS: Self = Self(8);

    const WORDS: [(Self, &'static str); 4] =
        [(Self::TITLE, "title"), (Self::TEXT, "text"), (Self::LINKS, "links"), (Self::NUMBERS, "numbers")];

    /// Whether the set contains this kind.
    pub fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    /// The kinds as words separated by spaces; empty if there is none.
    pub fn words(self) -> String {
        let words: Vec<&str> =
            Self::WORDS.iter().filter(|(kind, _)| self.has(*kind)).map(|(_, word)| *word).collect();
        words.join(" ")
    }

    /// The kinds that these words name. Other words are ignored.
    pub fn of_words(words: &str) -> Self {
        let mut kinds = Self::default();
        for (kind, word) in Self::WORDS {
            kinds.add(kind, words.split(' ').any(|named| named == word));
        }
        kinds
    }

    fn add(&mut self, kind: Self, holds: bool) {
        self.0 |= if holds { kind.0 } else { 0 };
    }
}

/// A change with the parts that differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The change.
    pub change: Change,
    /// The parts of either reading that differ.
    pub parts: Vec<Key>,
}

/// Compares two readings of a page. None if nothing that counts differs.
///
/// # Examples
///
/// ```
/// use freshet_fetch::change::ephemeral::Ephemeral;
/// use freshet_fetch::change::{Definition, Kinds, difference};
/// use freshet_fetch::page::reading::Limits;
/// use freshet_fetch::page::{Canonical, read};
///
/// let canonical = Canonical::default();
/// let url = canonical.of("http://a.example/")?;
/// let limits = Limits::default();
/// let reading =
///     |body: &str| read(&url, Some("text/html"), &[], &[], body.as_bytes(), &canonical, &limits);
/// let old = reading("<nav>Home</nav><main><p>Twelve ducks on the pond.</main>");
/// let change_to =
///     |new| difference::between(&old, &reading(new), &Definition::default(), &Ephemeral::default());
///
/// // The menu does not count, the main text does.
/// assert_eq!(change_to("<nav>Home News</nav><main><p>Twelve ducks on the pond.</main>"), None);
/// let found = change_to("<nav>Home</nav><main><p>Thirteen ducks on the pond.</main>");
/// assert!(found.is_some_and(|found| found.change.kinds.has(Kinds::TEXT)));
/// # Ok::<(), freshet_fetch::page::UrlRefused>(())
/// ```
pub fn between(
    old: &Reading,
    new: &Reading,
    definition: &Definition,
    ephemeral: &Ephemeral,
) -> Option<Difference> {
    let has_text = !new.blocks.is_empty() || !old.blocks.is_empty();
    if definition.extent == Extent::Raw || !has_text {
        let change = Change { size: change_size(&old.text, &new.text), kinds: kinds_of_bytes(old, new) };
        return (old.raw_digest != new.raw_digest).then_some(Difference { change, parts: Vec::new() });
    }
    let (old_parts, new_parts) = (lasting(old, definition, ephemeral), lasting(new, definition, ephemeral));
    if old_parts.iter().map(|part| &part.text).eq(new_parts.iter().map(|part| &part.text)) {
        return None;
    }
    let (old_text, new_text) = (joined(&old_parts), joined(&new_parts));
    if words(&old_text).eq(words(&new_text)) {
        // The same words in other blocks.
        return None;
    }
    let size = change_size(&old_text, &new_text);
    if definition.more_than > 0.0 && size <= definition.more_than {
        return None;
    }
    let mut kinds = Kinds::default();
    kinds.add(Kinds::TITLE, old.title != new.title);
    let is_numbers = without_numbers(&old_text) == without_numbers(&new_text);
    kinds.add(if is_numbers { Kinds::NUMBERS } else { Kinds::TEXT }, true);
    kinds.add(Kinds::LINKS, links(old, definition, ephemeral) != links(new, definition, ephemeral));
    Some(Difference { change: Change { size, kinds }, parts: differing(&old_parts, &new_parts) })
}

/// The ephemeral parts with the same text in both readings: they have lasted.
pub fn lasted(old: &Reading, new: &Reading, ephemeral: &Ephemeral) -> Vec<Key> {
    let known: HashSet<(Key, &str)> = old
        .blocks
        .iter()
        .map(|block| (Key::of(block), block.text(&old.text)))
        .filter(|(key, _)| ephemeral.has(*key))
        .collect();
    let lasts = |key: &Key, text| known.contains(&(*key, text));
    let blocks = new.blocks.iter().map(|block| (Key::of(block), block.text(&new.text)));
    blocks.filter(|(key, text)| lasts(key, text)).map(|(key, _)| key).collect()
}

/// A part of a page that counts.
struct Part<'a> {
    key: Key,
    text: Cow<'a, str>,
}

fn lasting<'a>(reading: &'a Reading, definition: &Definition, ephemeral: &Ephemeral) -> Vec<Part<'a>> {
    let counted = reading.blocks.iter().filter(|block| definition.counts(block));
    counted
        .filter_map(|block| {
            let key = Key::of(block);
            let text = ephemeral.lasting(key, block.text(&reading.text))?;
            (!text.is_empty()).then_some(Part { key, text })
        })
        .collect()
}

fn joined(parts: &[Part<'_>]) -> String {
    let mut text = String::new();
    for part in parts {
        text.push_str(&part.text);
        text.push('\n');
    }
    text
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace()
}

/// The parts of either reading whose text the other does not have under the same path.
fn differing(old: &[Part<'_>], new: &[Part<'_>]) -> Vec<Key> {
    let texts = |parts: &'_ [Part<'_>]| -> HashSet<(u32, String)> {
        parts.iter().map(|part| (part.key.path, part.text.clone().into_owned())).collect()
    };
    let (in_old, in_new) = (texts(old), texts(new));
    let only = |parts: &[Part<'_>], others: &HashSet<(u32, String)>| -> Vec<Key> {
        let missing = |part: &&Part<'_>| !others.contains(&(part.key.path, part.text.clone().into_owned()));
        parts.iter().filter(missing).map(|part| part.key).collect()
    };
    let mut keys = only(old, &in_new);
    keys.extend(only(new, &in_old));
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The pages that the counting parts link to.
fn links<'a>(reading: &'a Reading, definition: &Definition, ephemeral: &Ephemeral) -> HashSet<&'a str> {
    let counts = |place: u32| {
        let at = reading.blocks.partition_point(|block| block.start() <= place);
        let block = at.checked_sub(1).and_then(|at| reading.blocks.get(at));
        block.is_some_and(|block| definition.counts(block) && !ephemeral.has(Key::of(block)))
    };
    reading.links.iter().filter(|link| counts(link.place)).map(|link| link.url).collect()
}

fn kinds_of_bytes(old: &Reading, new: &Reading) -> Kinds {
    let mut kinds = Kinds::default();
    kinds.add(Kinds::TITLE, old.title != new.title);
    kinds.add(Kinds::TEXT, old.text_digest != new.text_digest);
    kinds
}

#[cfg(test)]
mod tests {
    use super::super::ephemeral::{Differing, PageEphemera, TemplateEphemera};
    use super::*;
    use crate::page::reading::{Limits, read_selecting};
    use crate::page::selector::Selector;
    use crate::page::{Canonical, PageUrl};

    fn reading(html: &str, definition: &Definition) -> Reading {
        let url = PageUrl::stored("http://a.example/x").unwrap();
        let (canonical, limits) = (Canonical::default(), Limits::default());
        let selectors = definition.selectors();
        read_selecting(&url, Some("text/html"), &[], &[], html.as_bytes(), &canonical, &limits, selectors)
    }

    fn difference(old: &str, new: &str, definition: &Definition) -> Option<Difference> {
        let (old, new) = (reading(old, definition), reading(new, definition));
        between(&old, &new, definition, &Ephemeral::default())
    }

    #[track_caller]
    fn check(extent: Extent, old: &str, new: &str, expected: bool) {
        let definition = Definition { extent, ..Definition::default() };
        assert_eq!(difference(old, new, &definition).is_some(), expected, "{extent:?}: {old} {new}");
    }

    #[test]
    fn each_definition_counts_its_part() {
        let (page, script) =
            ("<nav>n</nav><main>a b c</main>", "<script>1</script><nav>n</nav><main>a b c</main>");
        let (menu, main) = ("<nav>m</nav><main>a b c</main>", "<nav>n</nav><main>a b d</main>");
        check(Extent::Raw, page, script, true);
        check(Extent::Text, page, script, false);
        check(Extent::Text, page, menu, true);
        check(Extent::Main, page, menu, false);
        check(Extent::Main, page, main, true);
        check(Extent::Main, "<main><p>a b c</p></main>", "<main><div>a<p>b c</div></main>", false);
    }

    #[test]
    fn selectors_include_and_exclude() {
        let include = Selector::list("#price").unwrap();
        let selected = Definition { extent: Extent::Selected, include, ..Definition::default() };
        let page = |price: &str, text: &str| format!("<p id=price>{price}</p><p class=text>{text}</p>");
        assert!(difference(&page("1", "a"), &page("1", "b"), &selected).is_none());
        assert!(difference(&page("1", "a"), &page("2", "a"), &selected).is_some());
        let exclude = Selector::list(".text").unwrap();
        let excluding = Definition { exclude, ..Definition::default() };
        assert!(difference(&page("1", "a"), &page("1", "b"), &excluding).is_none());
    }

    #[test]
    fn a_small_change_is_not_significant() {
        let words =
            |new: &str| format!("<p>{} {new}", (0..200).map(|word| format!("w{word} ")).collect::<String>());
        let significant = Definition { more_than: 0.05, ..Definition::default() };
        assert!(difference(&words("a"), &words("b"), &significant).is_none());
        assert!(difference(&words("a"), &words("b"), &Definition::default()).is_some());
        assert!(difference(&words("a"), "<p>something else", &significant).is_some());
    }

    #[test]
    fn what_is_ephemeral_makes_no_difference_and_may_last() {
        let definition = Definition::default();
        let (old, new) = (reading("<p>a<p>17", &definition), reading("<p>a<p>18", &definition));
        let mask = vec![Differing { key: Key::of(&old.blocks[1]), numbers_only: true }];
        let page = PageEphemera { mask, ..PageEphemera::default() };
        let ephemeral = Ephemeral::new(&page, &TemplateEphemera::default());
        assert_eq!(between(&old, &new, &definition, &ephemeral), None);
        assert_eq!(lasted(&old, &new, &ephemeral), []);
        assert_eq!(lasted(&old, &old, &ephemeral), [Key::of(&old.blocks[1])]);
    }

    #[test]
    fn a_change_has_kinds_and_parts() {
        let of = |old: &str, new: &str| difference(old, new, &Definition::default()).unwrap();
        assert_eq!(of("<p>now 17", "<p>now 18").change.kinds.words(), "numbers");
        assert_eq!(of("<title>a</title><p>x", "<title>b</title><p>y").change.kinds.words(), "title text");
        assert_eq!(of("<p><a href=a>x</a>", "<p><a href=b>y</a>").change.kinds.words(), "text links");
        let parts = of("<p>a<p>b<p>c", "<p>a<p>d<p>c").parts;
        assert_eq!(parts.iter().map(|key| key.ordinal).collect::<Vec<_>>(), [1]);
    }
}
