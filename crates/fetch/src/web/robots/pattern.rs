//! Patterns of `robots.txt` and the URL paths that they match.
//!
//! RFC 9309 sections 2.2.2 and 2.2.3: a pattern matches the beginning of a path; `*` matches any bytes, a
//! final `$` the end of the path. Both are normalised before they are compared: percent-encoded bytes that
//! need no encoding are decoded, hexadecimal digits are upper case, bytes beyond ASCII and those that a URL
//! cannot contain are encoded. A `*` or `$` of the path itself is encoded, so `%2A` and `%24` in a pattern
//! match it.
//!
//! # Promises
//! - Matching takes time at most linear in the sum of the lengths of path and pattern for each `*`-free part.
//! - Two spellings of the same path match the same patterns.

use std::fmt::Write as _;

/// A normalised path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NormalPath(String);

impl NormalPath {
    /// Normalises the path and query of a URL; a fragment is left out.
    pub fn new(path_and_query: &str) -> Self {
        let path = path_and_query.split('#').next().unwrap_or_default();
        let mut normal = String::with_capacity(path.len());
        for unit in Units(path.as_bytes()) {
            match unit {
                Unit::Byte(byte @ (b'*' | b'$')) => encode(byte, &mut normal),
                other => write(other, &mut normal),
            }
        }
        Self(normal)
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A normalised pattern.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Pattern {
    /// ASCII; a `*` in it is a wildcard.
    text: String,
    /// Whether it must match to the end of the path.
    anchored: bool,
}

impl Pattern {
    pub(super) fn new(value: &[u8]) -> Self {
        let (value, anchored) = match value.strip_suffix(b"$") {
            Some(value) => (value, true),
            None => (value, false),
        };
        let mut text = String::with_capacity(value.len());
        for unit in Units(value) {
            match unit {
                Unit::Byte(b'*') => text.push('*'),
                Unit::Byte(b'$') => encode(b'$', &mut text),
                other => write(other, &mut text),
            }
        }
        Self { text, anchored }
    }

    /// Its specificity: its length in octets.
    pub(super) fn length(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    pub(super) fn matches(&self, path: &NormalPath) -> bool {
        let path = path.as_str();
        let mut parts = self.text.split('*');
        let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
            return false;
        };
        // The first match of a part leaves the most room for the following parts. Only the last part of an
        // anchored pattern must match at the end.
        let mut parts = parts.peekable();
        let mut has_wildcard = false;
        while let Some(part) = parts.next() {
            has_wildcard = true;
            if self.anchored && parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(place) => rest = &rest[place + part.len()..],
                None => return false,
            }
        }
        has_wildcard || !self.anchored || rest.is_empty()
    }
}

/// One byte of a path, literal or percent-encoded.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Byte(u8),
    Encoded(u8),
}

/// The bytes of a path, with percent-encoding decoded and marked.
struct Units<'a>(&'a [u8]);

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let (unit, rest) = match self.0 {
            [] => return None,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (Unit::Encoded(hex(*high) << 4 | hex(*low)), rest)
            }
            [byte, rest @ ..] => (Unit::Byte(*byte), rest),
        };
        self.0 = rest;
        Some(unit)
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        other => (other | 0x20) - b'a' + 10,
    }
}

fn write(unit: Unit, normal: &mut String) {
    let (byte, may_stand) = match unit {
        Unit::Encoded(byte) => (byte, byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)),
        // A URL cannot contain any other byte literally.
        Unit::Byte(byte) => (byte, byte.is_ascii_graphic() && !b"\"<>`{}|\\^".contains(&byte)),
    };
    if may_stand {
        normal.push(byte.into());
    } else {
        encode(byte, normal);
    }
}

fn encode(byte: u8, normal: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(normal, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(pattern: &str, matched: &str, unmatched: &str) {
        let compiled = Pattern::new(pattern.as_bytes());
        for path in matched.split(' ').filter(|path| !path.is_empty()) {
            assert!(compiled.matches(&NormalPath::new(path)), "{pattern} {path}");
        }
        for path in unmatched.split(' ').filter(|path| !path.is_empty()) {
            assert!(!compiled.matches(&NormalPath::new(path)), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_matches_the_beginning_of_a_path() {
        check("/", "/ /a /?q", "");
        check(
            "/fish",
            "/fish /fish.html /fish/salmon /fishheads /fish.php?id=1",
            "/Fish.asp /catfish /?id=fish",
        );
        check("/fish/", "/fish/ /fish/?id=1 /fish/salmon.htm", "/fish /fish.html /Fish/Salmon.asp");
        check("fish", "", "/fish /");
    }

    #[test]
    fn a_star_stands_for_any_bytes_and_a_dollar_for_the_end() {
        check("/fish*", "/fish /fish.html /fish/x", "/catfish");
        check("/*.php", "/a.php /a.php?x /folder/a.php/ /folder/a.php.x", "/ /a.PHP");
        check("/*.php$", "/a.php /folder/a.php /.php.php", "/a.php? /a.php/ /a.php5");
        check("/fish*.php", "/fish.php /fishheads/cat.php?x", "/Fish.PHP");
        check("/a*b*c$", "/abc /axbxc /abcbc", "/abcx /acb");
        check("/$", "/", "/a");
        check("*", "/ /a", "");
        check("*$", "/ /a", "");
        check("/a*$", "/a /ab", "/ /b");
        check("$", "", "/ /a");
        check("/**a", "/a /ba", "/b");
    }

    #[test]
    fn two_spellings_of_a_path_are_one() {
        check(
            "/foo/bar?baz=http://foo.bar",
            "/foo/bar?baz=http://foo.bar",
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
        );
        check("/foo/bar/ツ", "/foo/bar/%E3%83%84 /foo/bar/%e3%83%84 /foo/bar/ツ", "/foo/bar/");
        check("/foo/bar/%E3%83%84", "/foo/bar/ツ /foo/bar/%E3%83%84", "");
        check("/foo/bar/%62%61%7A", "/foo/bar/baz /foo/bar/%62%61%7A", "/foo/bar/ba");
        check("/%3c", "/%3C /%3c /<", "/3c");
        check("/a%2fb", "/a%2Fb", "/a/b");
        check("/file-with-a-%2A.html", "/file-with-a-*.html /file-with-a-%2a.html", "/file-with-a-x.html");
        check("/%24", "/$ /%24", "/");
        check("/a$b", "/a$b /a%24b", "/a");
        check("/100%", "/100% /100%zz", "/100");
    }

    proptest! {
        #[test]
        fn a_normal_path_is_its_own_normal_form(path in "/[ -~é%*$]{0,20}") {
            let once = NormalPath::new(&path);
            prop_assert_eq!(NormalPath::new(once.as_str()), once.clone());
            prop_assert!(once.as_str().is_ascii());
        }

        #[test]
        fn a_path_matches_its_beginnings(path in "/[a-z%*$é]{0,12}", cut in 0usize..14) {
            let normal = NormalPath::new(&path);
            let beginning = &normal.as_str()[..cut.min(normal.as_str().len())];
            // A cut through an encoded byte is not a beginning.
            prop_assume!(
                !beginning.ends_with('%') && beginning.as_bytes().iter().rev().nth(1) != Some(&b'%')
            );
            prop_assert!(Pattern::new(beginning.as_bytes()).matches(&normal));
        }

        #[test]
        fn any_bytes_are_a_pattern(value in prop::collection::vec(any::<u8>(), 0..30), path in "/.{0,20}") {
            let _ = Pattern::new(&value).matches(&NormalPath::new(&path));
        }
    }
}
