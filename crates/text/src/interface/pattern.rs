//! Where on a page something stands: a CSS selector, a JSON path (it begins with `$`), or a regular expression (between slashes).
//!
//! # Promises
//! - Every text is a pattern or is refused with a reason that says what sort it was taken for.

use regex::{Regex, RegexBuilder};
use scraper::Selector;

use super::json_path::JsonPath;

/// Bytes that a compiled regular expression may take.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// The longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 10_000;

/// A pattern of one of three sorts.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// CSS.
    Css(Selector),
    /// A JSON path.
    Json(JsonPath),
    /// A regular expression; its first group, or all of it, is what is meant.
    Regex(Regex),
}

impl Pattern {
    /// Reads a pattern, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if PATTERN_BYTES_MAX < text.len() {
            return Err(format!("it is longer than {PATTERN_BYTES_MAX} bytes"));
        }
        if text.starts_with('$') {
            return JsonPath::parse(text).map(Self::Json).map_err(|why| format!("as a JSON path: {why}"));
        }
        if let Some(inner) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            let regex = RegexBuilder::new(inner).size_limit(REGEX_BYTES_MAX).build();
            return regex.map(Self::Regex).map_err(|why| format!("as a regular expression: {why}"));
        }
        Selector::parse(text).map(Self::Css).map_err(|why| format!("as a CSS selector: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_character_tells_the_sort() {
        assert!(matches!(Pattern::parse("$.a"), Ok(Pattern::Json(_))));
        assert!(matches!(Pattern::parse("/of (\\d+)/"), Ok(Pattern::Regex(_))));
        assert!(matches!(Pattern::parse("ol > li.result a"), Ok(Pattern::Css(_))));
        for (text, word) in [("$[", "JSON path"), ("/(/", "regular expression"), ("li[", "CSS")] {
            assert!(Pattern::parse(text).expect_err(text).contains(word));
        }
    }

    proptest! {
        #[test]
        fn every_text_is_a_pattern_or_refused(text in "[a-z.#>\\[\\]()*:=\"' $/]{0,20}|\\PC{0,20}") {
            let _ = Pattern::parse(&text);
        }
    }
}
