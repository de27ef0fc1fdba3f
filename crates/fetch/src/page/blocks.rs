//! Blocks: the visible text of a page in pieces, one per element, so that changes can be located.
//!
//! A block is identified by the path of its element and its number among the blocks of that path, as in "the
//! second `p.meta`". It belongs to the *main text* if no element around it is navigation, header, footer or
//! sidebar (`zones`) and, on a page that marks its main part, it is inside of that part: `<main>`, or if
//! there is none an `<article>`.
//!
//! # Promises
//! - The blocks are all of the text, in its order.
//! - A page with text has main text: a mark that leaves next to nothing of the text is ignored.

use std::ops::Range;

use super::number_map::{NumberMap, Seed};
use super::open_elements::Place;

/// Maximum number of blocks of a page. Further text belongs to the last block.
const BLOCKS_MAX: usize = 20_000;

/// Initial capacity for blocks and paths: enough for most pages.
const BLOCKS_USUAL: usize = 64;
const PATHS_USUAL: usize = 28;

/// A marked main part is accepted if it holds at least this many bytes, or at least one part in `MAIN_SHARE`
/// of the text.
const MAIN_BYTES: usize = 16;
const MAIN_SHARE: usize = 20;

/// A piece of the visible text of one element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block {
    /// The hash of the path of its element.
    pub path: u32,
    /// Its number among the blocks of its path, from 0.
    pub ordinal: u16,
    /// Whether it belongs to the main text.
    pub is_main: bool,
    /// Whether an including selector matches it.
    pub is_included: bool,
    /// Whether an excluding selector matches it.
    pub is_excluded: bool,
    start: u32,
    end: u32,
}

impl Block {
    /// The text of the block; `text` is the whole text of the page.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range()).unwrap_or("").trim_ascii()
    }

    /// Its range in the whole text, including the space before it.
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Its start in the whole text.
    pub fn start(&self) -> u32 {
        self.start
    }
}

/// Collects blocks while a page is parsed.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: Vec<(Block, Place)>,
    /// Number of blocks of each path, and the label of its element.
    paths: NumberMap<u32, u16>,
    labels: Vec<(u32, String)>,
}

impl Default for Blocks {
    fn default() -> Self {
        let (blocks, labels) = (Vec::with_capacity(BLOCKS_USUAL), Vec::with_capacity(PATHS_USUAL));
        Self { blocks, paths: NumberMap::with_capacity_and_hasher(PATHS_USUAL, Seed::default()), labels }
    }
}

impl Blocks {
    /// Adds text from `start` on, in this place. It continues the last block if that has the same place.
    pub(super) fn push(
        &mut self,
        place: Place,
        start: usize,
        begins_line: bool,
        label: impl FnOnce() -> String,
    ) {
        let goes_on = self.blocks.last().is_some_and(|(_, last)| *last == place);
        if goes_on && !begins_line || self.blocks.len() >= BLOCKS_MAX {
            return;
        }
        let count = self.paths.entry(place.path).or_insert(0);
        if *count == 0 {
            self.labels.push((place.path, label()));
        }
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let block = Block {
            path: place.path,
            ordinal: *count,
            is_main: false,
            is_included: place.is_included,
            is_excluded: place.is_excluded,
            start,
            end: start,
        };
        *count = count.saturating_add(1);
        self.blocks.push((block, place));
    }

    /// The blocks of the whole text, and the labels of the elements of their paths.
    pub(super) fn finish(mut self, text: &str) -> (Vec<Block>, Vec<(u32, String)>) {
        let mut end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        for (block, _) in self.blocks.iter_mut().rev() {
            // A text that was cut between characters may end before its last block begins.
            block.start = block.start.min(end);
            block.end = end;
            end = block.start;
        }
        self.mark_main();
        (self.blocks.into_iter().map(|(block, _)| block).collect(), self.labels)
    }

    fn mark_main(&mut self) {
        let bytes = |which: &dyn Fn(&Place) -> bool| -> usize {
            let marked = self.blocks.iter().filter(|(_, place)| which(place));
            marked.map(|(block, _)| (block.end - block.start) as usize).sum()
        };
        let all = bytes(&|_| true);
        let rules: [fn(&Place) -> bool; 3] = [
            |place| place.zone.in_main && !place.zone.surrounds,
            |place| place.zone.in_article && !place.zone.surrounds,
            |place| !place.zone.surrounds,
        ];
        let is_enough = |bytes: usize| MAIN_BYTES <= bytes || 0 < bytes && all <= bytes * MAIN_SHARE;
        let believed = rules.into_iter().find(|rule| is_enough(bytes(rule)));
        for (block, place) in &mut self.blocks {
            block.is_main = believed.is_none_or(|rule| rule(place));
        }
    }
}

/// The lines of a text without elements, as blocks of one path.
pub(super) fn of_lines(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n').take(BLOCKS_MAX) {
        let end = start + line.len();
        let is_last = blocks.len() + 1 == BLOCKS_MAX;
        blocks.push(Block {
            path: 0,
            ordinal: u16::try_from(blocks.len()).unwrap_or(u16::MAX),
            is_main: true,
            is_included: false,
            is_excluded: false,
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(if is_last { text.len() } else { end }).unwrap_or(u32::MAX),
        });
        start = end;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::html::Markup;
    use super::super::selector::Selector;
    use super::*;

    fn read(document: &str) -> Markup {
        Markup::read(document, false, 10_000, 1_000)
    }

    fn main_text(document: &str) -> String {
        let markup = read(document);
        let texts = markup.blocks.iter().filter(|block| block.is_main).map(|block| block.text(&markup.text));
        texts.collect::<Vec<_>>().join("|")
    }

    #[track_caller]
    fn check_main(document: &str, expected: &str) {
        assert_eq!(main_text(document), expected, "{document}");
    }

    #[test]
    fn the_main_text_is_what_a_page_marks_as_such() {
        check_main("<header>h</header><main><p>a<p>b</main><footer>f</footer>", "a|b");
        check_main("<nav>n</nav><article><header>t</header>a</article><div>x</div>", "t|a");
        check_main("<div role=main>a<aside>r</aside></div>x", "a");
        check_main("<header>h<p>x</header><div id=content>a</div><div class=related>r</div><footer>f", "a");
        check_main("<p>a<p>b", "a|b");
    }

    #[test]
    fn a_page_has_main_text_whatever_it_marks() {
        check_main("<nav>only a menu</nav>", "only a menu");
        let long = "word ".repeat(100);
        check_main(&format!("<main>a</main><p>{long}"), &format!("a|{}", long.trim()));
        check_main(&format!("<main>a short but whole text</main><p>{long}"), "a short but whole text");
        check_main("", "");
    }

    #[test]
    fn blocks_are_named_by_their_elements() {
        let markup = read(
            "<p class=meta>one</p><p>two <b>bold</b></p><p class=meta>three <span class=n>4</span> five</p>",
        );
        let named = |block: &Block| {
            let label = &markup.labels.iter().find(|(path, _)| *path == block.path).unwrap().1;
            format!("{label}[{}]={}", block.ordinal, block.text(&markup.text))
        };
        let blocks: Vec<String> = markup.blocks.iter().map(named).collect();
        assert_eq!(
            blocks,
            ["p.meta[0]=one", "p[0]=two bold", "p.meta[1]=three", "span.n[0]=4", "p.meta[2]=five"]
        );
    }

    #[test]
    fn selectors_mark_blocks() {
        let document = "<h1>t</h1><table id=prices><tr><td>1<td class=old>2</table><p data-x=y>3</p>";
        let include = Selector::list("#prices td, [data-x=y]").unwrap();
        let exclude = Selector::list(".old").unwrap();
        let markup = Markup::read_selecting(document, false, 1_000, 10, [&include, &exclude]);
        let chosen = markup.blocks.iter().filter(|block| block.is_included && !block.is_excluded);
        assert_eq!(chosen.map(|block| block.text(&markup.text)).collect::<Vec<_>>(), ["1", "3"]);
    }

    proptest! {
        #[test]
        fn the_blocks_are_all_of_the_text(
            document in "(<(p|div|main|nav|b|span class=x)>|</(p|div|main)>|[a-z ]{1,5}){0,20}",
            most in 0usize..60,
        ) {
            let markup = Markup::read(&document, false, most, 10);
            let words = |text: &str| text.split_ascii_whitespace().collect::<String>();
            let joined: String = markup.blocks.iter().map(|block| words(block.text(&markup.text))).collect();
            prop_assert_eq!(joined, words(&markup.text));
            prop_assert!(markup.text.is_empty() || markup.blocks.iter().any(|block| block.is_main));
        }
    }
}
