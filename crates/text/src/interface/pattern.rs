//! Patterns that locate something on a page: a CSS selector, a JSON path (starts with `$`), or a regular
//! expression (between slashes).
//!
//! # Promises
//! - Every text is a pattern or is refused with a reason that names the kind of pattern it was parsed as.

use regex::{Regex, RegexBuilder};
use scraper::Selector;

use super::json_path::JsonPath;

/// Maximum size of a compiled regular expression, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Maximum length of a pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 10_000;

/// A pattern of one of three kinds.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A CSS selector.
    Css(Selector),
    /// A JSON path.
    Json(JsonPath),
    /// A regular expression. Its first group is the match, or all of it if it has no group.
    Regex(Regex),
}

impl Pattern {
    /// Parses a pattern, or returns what is wrong with it.
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
