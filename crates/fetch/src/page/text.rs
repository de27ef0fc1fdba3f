//! Visible text in canonical form: words separated by single spaces, blocks by single line ends.
//!
//! # Promises
//! - No space or line end is at the start, at the end, or next to another. No-break spaces and control
//!   characters count as spaces.
//! - Text never exceeds its limit, and is valid UTF-8 even where it was cut.

/// The separator between the last word and the next.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Gap {
    None,
    Space,
    Line,
}

/// Builds a canonical text.
#[derive(Debug)]
pub(super) struct TextBuilder {
    text: Vec<u8>,
    gap: Gap,
    bytes_max: usize,
}

impl TextBuilder {
    /// A text of at most `bytes_max` bytes; the rest is left out.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self::with_capacity(0, bytes_max)
    }

    /// The same, with an initial capacity.
    pub(super) fn with_capacity(bytes: usize, bytes_max: usize) -> Self {
        Self { text: Vec::with_capacity(bytes.min(bytes_max)), gap: Gap::None, bytes_max }
    }

    /// Adds a piece of running text. Words may continue across pieces.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !rest.is_empty() {
            let words = &rest[..words_bytes(rest)];
            if !words.is_empty() {
                self.push_words(words);
                rest = &rest[words.len()..];
            }
            let mut space = space_bytes(rest);
            while 0 < space {
                self.gap = self.gap.max(Gap::Space);
                rest = &rest[space..];
                space = space_bytes(rest);
            }
        }
    }

    /// Ends the block: the next text starts a new line.
    pub(super) fn end_block(&mut self) {
        self.gap = Gap::Line;
    }

    /// Whether the next word starts a line.
    pub(super) fn begins_line(&self) -> bool {
        self.gap == Gap::Line || self.text.is_empty()
    }

    /// Length of the text so far, in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The finished text.
    pub(super) fn finish(self) -> String {
        String::from_utf8(self.text).unwrap_or_else(|error| {
            // Pieces may end within a character, and so may a text that was cut.
            let whole = error.utf8_error().valid_up_to();
            let mut text = error.into_bytes();
            text.truncate(whole);
            String::from_utf8(text).unwrap_or_default()
        })
    }

    /// Adds words with single spaces between them.
    fn push_words(&mut self, words: &[u8]) {
        let separator = match self.gap {
            _ if self.text.is_empty() => None,
            Gap::None => None,
            Gap::Space => Some(b' '),
            Gap::Line => Some(b'\n'),
        };
        self.gap = Gap::None;
        let room = self.bytes_max.saturating_sub(self.text.len() + usize::from(separator.is_some()));
        if words.len() <= room {
            self.text.extend(separator);
            self.text.extend_from_slice(words);
            return;
        }
        // The limit is reached: what fits of these words is the last.
        let fitting = whole_characters(words, room);
        let fitting = fitting.strip_suffix(b" ").unwrap_or(fitting);
        if !fitting.is_empty() {
            self.text.extend(separator);
            self.text.extend_from_slice(fitting);
        }
        self.bytes_max = self.text.len();
    }
}

/// The text cut to at most `bytes_max` bytes, between characters.
pub(super) fn shortened(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The longest prefix of at most `bytes_max` bytes that ends between characters.
fn whole_characters(text: &[u8], bytes_max: usize) -> &[u8] {
    let mut end = bytes_max.min(text.len());
    while 0 < end && text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    &text[..end]
}

/// Length in bytes of the leading words with single spaces between them. Nearly all text is like this and is
/// copied unchanged.
fn words_bytes(text: &[u8]) -> usize {
    if text.is_empty() || 0 < space_bytes(text) {
        return 0;
    }
    let mut end = 1;
    loop {
        end = first_odd(text, end);
        // A byte that may begin a space more often begins a letter.
        if end == text.len() || text[end] <= b' ' || 0 < space_bytes(&text[end..]) {
            break;
        }
        end += 1;
    }
    // A space counts only between words.
    if text[end - 1] == b' ' { end - 1 } else { end }
}

/// Bytes that are scanned together, if there are as many.
const STRIDE: usize = 32;

/// The position of the first odd byte from `start` on; the length of the text if there is none. `start` must
/// be at least 1.
fn first_odd(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while text.get(at - 1..at + STRIDE).is_some_and(is_plain) {
        at += STRIDE;
    }
    while let Some(nine) = text.get(at - 1..).and_then(|rest| rest.first_chunk()) {
        match odd_of_eight(*nine) {
            0 => at += 8,
            odd => return at + odd.trailing_zeros() as usize / 8,
        }
    }
    while text.get(at).is_some_and(|byte| !is_odd(text[at - 1], *byte)) {
        at += 1;
    }
    at
}

/// Whether a byte is neither part of a word nor a single space, or might not be.
fn is_odd(before: u8, byte: u8) -> bool {
    (byte < b' ') | (byte == 0xC2) | ((byte == b' ') & (before == b' '))
}

/// Whether no byte after the first is odd. Without branches, so that it can be vectorised.
fn is_plain(window: &[u8]) -> bool {
    let pairs = window.iter().zip(&window[1..]);
    !pairs.fold(false, |odd, (before, byte)| odd | is_odd(*before, *byte))
}

/// The highest bit of each odd byte among the last eight. A borrow may also set it for bytes after an odd
/// one.
fn odd_of_eight([before, eight @ ..]: [u8; 9]) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x80 * LOWEST;
    let eight = u64::from_le_bytes(eight);
    let less = |bytes: u64, than: u64| bytes.wrapping_sub(LOWEST * than) & !bytes & HIGHEST;
    let same = |byte: u8| less(eight ^ (LOWEST * u64::from(byte)), 1);
    let spaces = same(b' ');
    let after_space = spaces << 8 | u64::from(before == b' ') << 7;
    less(eight, 0x20) | same(0xC2) | spaces & after_space
}

/// Length in bytes of the space at the start; 0 if the text starts with a word.
fn space_bytes(text: &[u8]) -> usize {
    match text {
        [first, ..] if *first <= b' ' => 1,
        // U+00A0, the no-break space, and the control characters U+0080 to U+009F.
        [0xC2, 0x80..=0xA0, ..] => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], bytes_max: usize, expected: &str) {
        let mut text = TextBuilder::new(bytes_max);
        for piece in pieces {
            if *piece == "|" { text.end_block() } else { text.push(piece.as_bytes()) }
        }
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn space_is_collapsed_and_blocks_are_lines() {
        check(&["  a \t\r\n b\u{a0}\u{a0}c "], 99, "a b c");
        check(&["|", "a", "|", "|", " b ", "|"], 99, "a\nb");
        check(&["wo", "rd", " ", "next"], 99, "word next");
        check(&["a", " ", "|", " b"], 99, "a\nb");
        check(&["ü\0ß\u{85}§"], 99, "ü ß §");
    }

    #[test]
    fn a_full_text_ends_between_characters() {
        check(&["aü"], 2, "a");
        check(&["aü"], 3, "aü");
        check(&["ab cd", " e"], 4, "ab c");
        check(&["ab cd", " e"], 3, "ab");
        check(&["ab", "cd"], 0, "");
        let mut text = TextBuilder::new(2);
        "ü€".bytes().for_each(|byte| text.push(&[byte]));
        assert_eq!(text.finish(), "ü");
        let mut text = TextBuilder::new(4);
        "ü€".bytes().for_each(|byte| text.push(&[byte]));
        assert_eq!(text.finish(), "ü");
    }

    #[test]
    fn text_is_shortened_between_characters() {
        assert_eq!(shortened("aüb", 2), "a");
        assert_eq!(shortened("aüb", 9), "aüb");
    }

    proptest! {
        #[test]
        fn words_are_those_between_spaces(
            text in "([a-cü§]{1,9}| |  |\n|\u{a0}|\u{0}|[a-z]{30,70}| [a-z] [a-z] ){0,30}",
        ) {
            let mut built = TextBuilder::new(usize::MAX);
            built.push(text.as_bytes());
            let words: Vec<&str> =
                text.split([' ', '\n', '\u{a0}', '\0']).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(built.finish(), words.join(" "));
        }

        #[test]
        fn any_text_becomes_canonical_and_stays_so(
            pieces in proptest::collection::vec("(\\PC|\u{a0}|\\s|\u{0}){0,12}", 0..6),
            bytes_max in 0usize..40,
        ) {
            let mut text = TextBuilder::new(bytes_max);
            for piece in &pieces {
                text.push(piece.as_bytes());
                text.end_block();
            }
            let once = text.finish();
            prop_assert!(once.len() <= bytes_max);
            let words: Vec<&str> = once.split(['\n', ' ']).collect();
            prop_assert!(once.is_empty() || words.iter().all(|word| !word.is_empty()), "{once:?}");
            let mut again = TextBuilder::new(bytes_max);
            for line in once.lines() {
                again.push(line.as_bytes());
                again.end_block();
            }
            prop_assert_eq!(again.finish(), once);
        }
    }
}
