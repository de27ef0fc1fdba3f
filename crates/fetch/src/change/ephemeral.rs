//! Ephemeral parts of pages, which differ at every request: clocks, tokens, counters, advertisements,
//! related-page boxes.
//!
//! The only sound evidence that a part of a page is ephemeral is that it differs between two requests a few
//! moments apart (a *look*, [`super::look`]). That it differed at each of many visits is no evidence, since a
//! page may change daily and be visited weekly. Two small records keep what was learned: one by page, from
//! its own looks, and one by *template* (the pages of a site with similar URLs: its root, its directories,
//! its files, its queries), so that two looks at any of its pages are enough for all of them.
//!
//! Wrong results are corrected: a part that is the same at a later visit has lasted, and counts again.
//!
//! # Promises
//! - A page's own mask follows from one look. That of a template needs two, and ends when the part lasted
//!   over more visits than it differed at looks.
//! - A part that lasts until the next visit is no longer masked on its page.
//! - The records are bounded and survive a restart. Bytes that do not decode count as an empty record.

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_protocol::codec::{Field, Input, Malformed};

use super::look::Lesson;
use crate::page::PageUrl;
use crate::page::blocks::Block;

/// Version of the encoding.
const VERSION: u8 = 1;
/// Maximum number of masked parts of one page.
const MASK_MAX: usize = 64;
/// Maximum number of paths of a template. Those with the fewest looks are dropped first.
const PATHS_MAX: usize = 400;
/// Maximum number of parts of one path.
const PARTS_MAX: usize = 12;
/// Number of looks at which a part must have differed to be ephemeral on all pages of a template.
const LOOKS_ENOUGH: u8 = 2;
/// If this many parts of one path are ephemeral, all are: a list that is generated anew each time.
const PARTS_ALL: usize = 3;
/// Number of blocks of one path with counts of their own. Further blocks are counted like the last one.
const BLOCKS_APART: usize = 4;
/// A part that differed at a look is trusted to last after this many times as many looks at which it did not
/// differ.
const AGREED: u8 = 4;
/// Counts are halved when they reach this, so that old results count less.
const COUNT_MAX: u8 = 100;
/// Parts longer than this, of which only numbers differed, keep their words. In bytes.
const LONG: usize = 120;

/// A part of a page: the path of its element and which of the blocks of that path it is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key {
    /// The path of its element.
    pub path: u32,
    /// Which of the blocks of that path it is, from 0.
    pub ordinal: u16,
}

impl Key {
    /// The key of a block.
    pub fn of(block: &Block) -> Self {
        Self { path: block.path, ordinal: block.ordinal }
    }
}

/// A part that differed, and whether only its numbers did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Differing {
    /// The part.
    pub key: Key,
    /// Whether its words were the same.
    pub numbers_only: bool,
}

/// The record of one page: what was learned of its ephemeral parts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageEphemera {
    /// Number of consecutive visits, up to the last, that found a change.
    pub changes_in_a_row: u8,
    /// The parts that differed at its last look.
    pub mask: Vec<Differing>,
}

/// The record of a template: what was learned of the ephemeral parts of its pages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TemplateEphemera {
    paths: BTreeMap<u32, PathLore>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct PathLore {
    /// Number of looks at pages that have at least one, two, three, four blocks of the path.
    looks: Vec<u16>,
    /// Maximum number of blocks of the path on a page.
    blocks: u16,
    /// Its blocks that ever differed at a look.
    parts: Vec<PartLore>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct PartLore {
    ordinal: u16,
    /// Number of looks at which it differed, of later looks at which it did not, and of visits over which it
    /// lasted although it was masked.
    differed: u8,
    agreed: u8,
    lasted: u8,
    numbers_only: bool,
}

/// The key under which the stores keep the record of a page's template.
pub fn template_of(url: &PageUrl) -> String {
    let leaf = match url.path_and_query() {
        "/" => "root",
        path if path.contains('?') => "query",
        path if path.ends_with('/') => "directory",
        _ => "file",
    };
    format!("template {leaf} {}", url.site())
}

impl PageEphemera {
    /// Decodes the stored record of a page; an empty record if it is invalid.
    pub fn decode(bytes: &[u8]) -> Self {
        decode(bytes).unwrap_or_default()
    }

    /// Encodes the record for the stores; no bytes if it is empty.
    pub fn encode(&self) -> Vec<u8> {
        if *self == Self::default() { Vec::new() } else { encode(self) }
    }

    /// Learns from a visit.
    pub fn learn(&mut self, lesson: &Lesson) {
        self.mask.retain(|masked| !lesson.lasted.contains(&masked.key));
        for differing in &lesson.differed {
            if let Some(masked) = self.mask.iter_mut().find(|masked| masked.key == differing.key) {
                masked.numbers_only &= differing.numbers_only;
            } else if self.mask.len() < MASK_MAX {
                self.mask.push(*differing);
            }
        }
    }
}

impl TemplateEphemera {
    /// Decodes the stored record of a template; an empty record if it is invalid.
    pub fn decode(bytes: &[u8]) -> Self {
        decode(bytes).unwrap_or_default()
    }

    /// Encodes the record for the stores.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// Learns from a visit to one of its pages.
    pub fn learn(&mut self, lesson: &Lesson) {
        for (path, blocks) in &lesson.looked_at {
            let learned = self.paths.entry(*path).or_default();
            learned.look(*blocks, lesson.differed.iter().filter(|differing| differing.key.path == *path));
        }
        for key in &lesson.lasted {
            let parts = self.paths.get_mut(&key.path).map(|learned| &mut learned.parts);
            if let Some(part) =
                parts.and_then(|parts| parts.iter_mut().find(|part| part.ordinal == key.ordinal))
            {
                part.lasted += 1;
                part.settle();
            }
        }
        while self.paths.len() > PATHS_MAX {
            let least =
                self.paths.iter().min_by_key(|(_, learned)| learned.looks_at(0)).map(|(path, _)| *path);
            least.and_then(|path| self.paths.remove(&path));
        }
    }

    /// Whether enough looks have shown that this part lasts. One that ever differed at a look must have
    /// agreed at many since.
    pub fn knows(&self, key: Key) -> bool {
        self.paths.get(&key.path).is_some_and(|learned| {
            let is_doubtful = |part: &PartLore| {
                part.ordinal == key.ordinal && part.agreed < AGREED.saturating_mul(part.differed)
            };
            learned.looks_at(key.ordinal) >= u16::from(LOOKS_ENOUGH) && !learned.parts.iter().any(is_doubtful)
        })
    }

    /// Number of looks at pages that have this path.
    pub fn looks(&self, path: u32) -> u16 {
        self.paths.get(&path).map_or(0, |learned| learned.looks_at(0))
    }
}

impl PathLore {
    /// Number of looks at pages that have this block of the path. Blocks from the fourth on share one count.
    fn looks_at(&self, ordinal: u16) -> u16 {
        self.looks.get(usize::from(ordinal).min(BLOCKS_APART - 1)).copied().unwrap_or(0)
    }

    /// Records a look at a page with this many blocks of the path, of which these differed.
    fn look<'a>(&mut self, blocks: u16, differed: impl Iterator<Item = &'a Differing>) {
        self.blocks = self.blocks.max(blocks);
        self.looks.resize(BLOCKS_APART, 0);
        for looks in self.looks.iter_mut().take(usize::from(blocks)) {
            *looks = looks.saturating_add(1);
        }
        for part in self.parts.iter_mut().filter(|part| part.ordinal < blocks) {
            part.agreed += 1;
        }
        for differing in differed {
            let (ordinal, numbers_only) = (differing.key.ordinal, differing.numbers_only);
            if let Some(part) = self.parts.iter_mut().find(|part| part.ordinal == ordinal) {
                part.differed += 1;
                part.agreed = part.agreed.saturating_sub(1);
                part.numbers_only &= numbers_only;
            } else if self.parts.len() < PARTS_MAX {
                self.parts.push(PartLore { ordinal, differed: 1, agreed: 0, lasted: 0, numbers_only });
            }
        }
        self.parts.iter_mut().for_each(PartLore::settle);
    }
}

impl PartLore {
    fn settle(&mut self) {
        if self.differed.max(self.lasted).max(self.agreed) >= COUNT_MAX {
            self.differed = self.differed.div_ceil(2);
            self.agreed /= 2;
            self.lasted /= 2;
        }
    }

    fn is_ephemeral(self) -> bool {
        self.differed >= LOOKS_ENOUGH && self.lasted <= self.differed
    }
}

/// The parts of a page that do not count, from the records of the page and of its template.
#[derive(Debug, Default)]
pub struct Ephemeral {
    /// For each part, whether only its numbers do not count.
    parts: HashMap<Key, bool>,
    paths: HashSet<u32>,
}

impl Ephemeral {
    /// Combines the two records.
    pub fn new(page: &PageEphemera, template: &TemplateEphemera) -> Self {
        let mut ephemeral = Self::default();
        for (path, learned) in &template.paths {
            let parts: Vec<PartLore> =
                learned.parts.iter().copied().filter(|part| part.is_ephemeral()).collect();
            for part in &parts {
                ephemeral.parts.insert(Key { path: *path, ordinal: part.ordinal }, part.numbers_only);
            }
            if parts.len() >= PARTS_ALL && usize::from(learned.blocks) <= 2 * parts.len() {
                ephemeral.paths.insert(*path);
            }
        }
        for masked in &page.mask {
            let numbers_only = ephemeral.parts.entry(masked.key).or_insert(masked.numbers_only);
            *numbers_only &= masked.numbers_only;
        }
        ephemeral
    }

    /// Whether all of these parts are known to be ephemeral.
    pub fn has_all(&self, parts: &[Differing]) -> bool {
        parts.iter().all(|part| self.has(part.key))
    }

    /// Whether a part is known to be ephemeral.
    pub fn has(&self, key: Key) -> bool {
        self.parts.contains_key(&key) || self.paths.contains(&key.path)
    }

    /// The counting text of a part; none if the part is ephemeral.
    pub fn lasting<'a>(&self, key: Key, text: &'a str) -> Option<std::borrow::Cow<'a, str>> {
        match self.parts.get(&key) {
            Some(true) if text.len() > LONG => Some(without_numbers(text).into()),
            Some(_) => None,
            None if self.paths.contains(&key.path) => None,
            None => Some(text.into()),
        }
    }
}

/// A text with each number, including its separators, replaced by `#`.
pub fn without_numbers(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut after_digit = false;
    for letter in text.chars() {
        let is_digit = letter.is_ascii_digit() || after_digit && matches!(letter, '.' | ',' | ':');
        if is_digit && !after_digit {
            words.push('#');
        } else if !is_digit {
            words.push(letter);
        }
        after_digit = is_digit;
    }
    words
}

fn encode(learned: &impl Field) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    learned.put(&mut bytes);
    bytes
}

fn decode<L: Field>(bytes: &[u8]) -> Option<L> {
    let mut input = Input::new(bytes);
    (input.take_byte().ok()? == VERSION).then_some(())?;
    let learned = L::take(&mut input).ok()?;
    input.end().ok().map(|()| learned)
}

/// Encodes a struct field by field, as described in `docs/FORMAT.md`.
macro_rules! fields {
    ($name:ident { $($field:ident: $type:ty),+ }) => {
        impl Field for $name {
            fn describe() -> String {
                stringify!($name).to_owned()
            }
            fn put(&self, output: &mut Vec<u8>) {
                $(self.$field.put(output);)+
            }
            fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
                Ok(Self { $($field: <$type>::take(input)?),+ })
            }
        }
    };
}

fields!(Key { path: u32, ordinal: u16 });
fields!(Differing { key: Key, numbers_only: bool });
fields!(PageEphemera { changes_in_a_row: u8, mask: Vec<Differing> });
fields!(PartLore { ordinal: u16, differed: u8, agreed: u8, lasted: u8, numbers_only: bool });
fields!(PathLore { looks: Vec<u16>, blocks: u16, parts: Vec<PartLore> });

impl Field for TemplateEphemera {
    fn describe() -> String {
        "TemplateEphemera".to_owned()
    }

    fn put(&self, output: &mut Vec<u8>) {
        (self.paths.len() as u64).put(output);
        for (path, learned) in &self.paths {
            path.put(output);
            learned.put(output);
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let count = u64::take(input)?;
        let mut paths = BTreeMap::new();
        for _ in 0..count {
            paths.insert(u32::take(input)?, PathLore::take(input)?);
        }
        Ok(Self { paths })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLOCK: Key = Key { path: 7, ordinal: 1 };

    fn look(differs: bool) -> Lesson {
        let differing = Differing { key: CLOCK, numbers_only: true };
        Lesson {
            looked_at: vec![(7, 2)],
            differed: if differs { vec![differing] } else { Vec::new() },
            lasted: if differs { Vec::new() } else { vec![CLOCK] },
        }
    }

    /// Whether the clock is ephemeral on the page that was looked at, and on others.
    fn after(looks: &[bool]) -> (bool, bool) {
        let (mut page, mut template) = (PageEphemera::default(), TemplateEphemera::default());
        for differs in looks {
            page.learn(&look(*differs));
            template.learn(&look(*differs));
        }
        let other = Ephemeral::new(&PageEphemera::default(), &template).has(CLOCK);
        (Ephemeral::new(&page, &TemplateEphemera::default()).has(CLOCK), other)
    }

    #[test]
    fn one_look_is_enough_for_a_page_and_two_for_a_template() {
        assert_eq!(after(&[]), (false, false));
        assert_eq!(after(&[true]), (true, false));
        assert_eq!(after(&[true, true]), (true, true));
    }

    #[test]
    fn what_lasts_counts_again() {
        assert_eq!(after(&[true, false]), (false, false));
        assert_eq!(after(&[true, true, false]), (false, true));
        assert_eq!(after(&[true, true, false, false, false]), (false, false));
    }

    #[test]
    fn a_part_is_known_when_looks_have_shown_that_it_lasts() {
        let mut template = TemplateEphemera::default();
        let steady = |blocks| Lesson { looked_at: vec![(7, blocks)], ..Lesson::default() };
        template.learn(&steady(1));
        template.learn(&steady(1));
        assert!(template.knows(Key { path: 7, ordinal: 0 }) && !template.knows(CLOCK));
        template.learn(&steady(2));
        template.learn(&steady(2));
        assert!(template.knows(CLOCK));
        template.learn(&look(true));
        assert!(!template.knows(CLOCK), "it differed");
        (0..4).for_each(|_| template.learn(&steady(2)));
        assert!(template.knows(CLOCK), "it differed once, long ago");
    }

    #[test]
    fn a_list_that_is_made_anew_is_ephemeral_whole() {
        let differed = (0..4).map(|ordinal| Differing { key: Key { path: 3, ordinal }, numbers_only: false });
        let lesson = Lesson { looked_at: vec![(3, 5)], differed: differed.collect(), lasted: Vec::new() };
        let mut template = TemplateEphemera::default();
        template.learn(&lesson);
        template.learn(&lesson);
        let ephemeral = Ephemeral::new(&PageEphemera::default(), &template);
        assert!(ephemeral.has(Key { path: 3, ordinal: 17 }));
    }

    #[test]
    fn a_long_part_keeps_its_words() {
        let page = PageEphemera {
            mask: vec![Differing { key: CLOCK, numbers_only: true }],
            ..PageEphemera::default()
        };
        let ephemeral = Ephemeral::new(&page, &TemplateEphemera::default());
        assert_eq!(ephemeral.lasting(CLOCK, "seen 17 times"), None);
        let long = format!("{} seen 1,734 times", "word ".repeat(40));
        assert_eq!(ephemeral.lasting(CLOCK, &long).unwrap(), long.replace("1,734", "#"));
        assert_eq!(ephemeral.lasting(Key { path: 1, ordinal: 0 }, "x 1").unwrap(), "x 1");
    }

    #[test]
    fn pages_are_of_one_template_by_their_names() {
        let of = |url: &str| template_of(&PageUrl::stored(url).unwrap());
        assert_eq!(of("http://a.example/x/1"), of("http://a.example/y/2.html"));
        assert_ne!(of("http://a.example/x/"), of("http://a.example/x/1"));
        assert_eq!(of("http://a.example/"), "template root http://a.example");
    }

    proptest! {
        #[test]
        fn lore_comes_back(
            in_a_row: u8,
            mask in prop::collection::vec((any::<u32>(), any::<u16>(), any::<bool>()), 0..9),
        ) {
            let mask: Vec<Differing> = mask
                .into_iter()
                .map(|(path, ordinal, numbers_only)| Differing { key: Key { path, ordinal }, numbers_only })
                .collect();
            let looked_at = mask.iter().map(|masked| (masked.key.path, 3)).collect();
            let mut template = TemplateEphemera::default();
            template.learn(&Lesson { looked_at, differed: mask.clone(), lasted: Vec::new() });
            prop_assert_eq!(TemplateEphemera::decode(&template.encode()), template);
            let page = PageEphemera { changes_in_a_row: in_a_row, mask };
            prop_assert_eq!(PageEphemera::decode(&page.encode()), page);
        }

        #[test]
        fn any_bytes_are_something_learned_or_nothing(
            mut bytes in prop::collection::vec(any::<u8>(), 1..60),
        ) {
            PageEphemera::decode(&bytes);
            bytes[0] = VERSION;
            PageEphemera::decode(&bytes);
            TemplateEphemera::decode(&bytes);
        }
    }
}
