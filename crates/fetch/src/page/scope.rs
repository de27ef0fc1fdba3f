//! The scope of a crawl: user-defined include and exclude rules for the pages of a site.
//!
//! A pattern is a path with stars: `*` matches any characters but a slash, `**` any characters at all, and
//! everything else itself. It must match the whole path, or the whole path and query if it contains a
//! question mark:
//!
//! | pattern | matches | does not match |
//! |---|---|---|
//! | `/docs/**` | `/docs/`, `/docs/a/b?c` | `/docs`, `/old/docs/` |
//! | `/docs/*` | `/docs/a`, `/docs/a?c` | `/docs/a/b` |
//! | `**.pdf` | `/a/b.pdf` | `/a/b.pdf.html` |
//! | `/list?page=*` | `/list?page=2` | `/list`, `/list?sort=a` |
//!
//! A page is out of scope if a pattern excludes it, or if there are include patterns and none matches.
//! Exclusion takes precedence. The page window of **thesis** section 4.2 (the first pages of a site, breadth
//! first from its root) is a number of pages and a depth.
//!
//! # Promises
//! - Matching takes time proportional to the pattern times the path, whatever the stars.
//! - A refusal names the rule that caused it.

use super::address::PageUrl;

/// Maximum length of a pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 500;

/// Suffixes of files that are not pages: images, audio, video, programs, archives, style sheets, fonts.
pub const SKIPPED_SUFFIXES: [&str; 58] = [
    "7z", "apk", "avi", "avif", "bin", "bmp", "bz2", "class", "css", "deb", "dmg", "doc", "docx", "eot",
    "eps", "exe", "flac", "flv", "gif", "gz", "ico", "img", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v",
    "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "ogg", "otf", "png", "ppt", "pptx", "rar", "rpm",
    "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf", "wav", "webm", "webp", "wmv", "woff", "woff2", "xz",
    "zip",
];

/// Which pages of a site belong to a crawl.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// If there are any, a page must match one of them.
    pub include: Vec<Pattern>,
    /// A page must match none of them.
    pub exclude: Vec<Pattern>,
    /// Suffixes of paths that are not visited, without dot and in lower case.
    pub skipped_suffixes: Vec<String>,
    /// Maximum number of pages of the site, nearest to the root first; none for no limit.
    pub pages_max: Option<u32>,
    /// Maximum number of links from the root of the site, or from a seed; none for no limit.
    pub depth_max: Option<u16>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            skipped_suffixes: SKIPPED_SUFFIXES.map(str::to_owned).to_vec(),
            pages_max: None,
            depth_max: None,
        }
    }
}

/// Why a page is out of scope.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OutOfScope {
    /// A pattern excludes it.
    #[error("excluded by {0}")]
    Excluded(Pattern),
    /// No pattern includes it.
    #[error("no include rule of the site matches")]
    NotIncluded,
    /// Its name has a suffix of files that are not pages.
    #[error("files that end in .{0} are skipped")]
    Suffix(String),
    /// The page window of the site is full.
    #[error("the site has its {0} pages")]
    WindowFull(u32),
    /// It is too far from the root.
    #[error("more than {0} links from the start of the site")]
    TooDeep(u16),
}

impl Scope {
    /// Whether the rules allow this URL.
    pub fn judge(&self, url: &PageUrl) -> Result<(), OutOfScope> {
        if let Some(pattern) = self.exclude.iter().find(|pattern| pattern.matches(url)) {
            return Err(OutOfScope::Excluded(pattern.clone()));
        }
        if !self.include.is_empty() && !self.include.iter().any(|pattern| pattern.matches(url)) {
            return Err(OutOfScope::NotIncluded);
        }
        match suffix(url.path()).filter(|suffix| self.skips(suffix)) {
            Some(suffix) => Err(OutOfScope::Suffix(suffix.to_ascii_lowercase())),
            None => Ok(()),
        }
    }

    /// Whether a site that has `pages` pages may get one more, `depth` links from its start.
    pub fn admits(&self, pages: u32, depth: u16) -> Result<(), OutOfScope> {
        if let Some(depth_max) = self.depth_max.filter(|depth_max| *depth_max < depth) {
            return Err(OutOfScope::TooDeep(depth_max));
        }
        match self.pages_max.filter(|pages_max| *pages_max <= pages) {
            Some(pages_max) => Err(OutOfScope::WindowFull(pages_max)),
            None => Ok(()),
        }
    }

    fn skips(&self, suffix: &str) -> bool {
        self.skipped_suffixes.iter().any(|skipped| skipped.eq_ignore_ascii_case(suffix))
    }
}

/// The suffix of the last name of a path, without its dot.
fn suffix(path: &str) -> Option<&str> {
    let (_, name) = path.rsplit_once('/')?;
    name.rsplit_once('.').map(|(_, suffix)| suffix)
}

/// A path pattern with stars.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Byte(u8),
    /// Any characters but a slash.
    Star,
    /// Any characters.
    DoubleStar,
}

/// Why a text is not a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadPattern {
    /// It would match nothing.
    #[error("a pattern begins with / or with **, since every path begins with /")]
    Start,
    /// Canonical URLs are ASCII.
    #[error("a pattern is written in ASCII without spaces; write other characters as %XX, as URLs do")]
    Character,
    /// Longer than [`PATTERN_BYTES_MAX`].
    #[error("a pattern is at most {PATTERN_BYTES_MAX} bytes long")]
    TooLong,
}

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Result<Self, BadPattern> {
        if !text.starts_with('/') && !text.starts_with("**") {
            return Err(BadPattern::Start);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadPattern::Character);
        }
        if PATTERN_BYTES_MAX < text.len() {
            return Err(BadPattern::TooLong);
        }
        let mut parts = Vec::new();
        for byte in text.bytes() {
            match (byte, parts.last_mut()) {
                (b'*', Some(star @ (Part::Star | Part::DoubleStar))) => *star = Part::DoubleStar,
                (b'*', _) => parts.push(Part::Star),
                (other, _) => parts.push(Part::Byte(other)),
            }
        }
        Ok(Self { text: text.into(), parts })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches the URL's path, or path and query if it contains a question mark.
    pub fn matches(&self, url: &PageUrl) -> bool {
        let subject = if self.text.contains('?') { url.path_and_query() } else { url.path() };
        self.matches_text(subject.as_bytes())
    }

    /// Matches in one pass over the text, keeping all places of the pattern that the text so far can reach.
    fn matches_text(&self, text: &[u8]) -> bool {
        let end = self.parts.len();
        let mut places = vec![false; end + 1];
        places[0] = true;
        self.skip_stars(&mut places);
        let mut next = vec![false; end + 1];
        for byte in text {
            next.fill(false);
            for (place, part) in self.parts.iter().enumerate().filter(|(place, _)| places[*place]) {
                match part {
                    Part::Byte(wanted) => next[place + 1] |= wanted == byte,
                    Part::Star => next[place] |= *byte != b'/',
                    Part::DoubleStar => next[place] = true,
                }
            }
            self.skip_stars(&mut next);
            std::mem::swap(&mut places, &mut next);
        }
        places[end]
    }

    /// A star may match nothing.
    fn skip_stars(&self, places: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            if places[place] && !matches!(part, Part::Byte(_)) {
                places[place + 1] = true;
            }
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Whether a site name as written by a user matches a URL: a host, a host with port, or scheme and host;
/// `*.example.org` matches it and all its subdomains.
pub fn names_site(name: &str, url: &PageUrl) -> bool {
    let name = name.trim_end_matches('/');
    match name.strip_prefix("*.") {
        Some(domain) => {
            url.host() == domain || url.host().strip_suffix(domain).is_some_and(|sub| sub.ends_with('.'))
        }
        None => {
            name == url.host()
                || name == url.site()
                || url.site().split_once("://").is_some_and(|(_, host)| host == name)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::stored(&format!("http://a.example{path}")).unwrap()
    }

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let pattern = Pattern::new(pattern).unwrap();
        for path in matching {
            assert!(pattern.matches(&url(path)), "{pattern} {path}");
        }
        for path in others {
            assert!(!pattern.matches(&url(path)), "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_match_whole_paths() {
        check("/docs/**", &["/docs/", "/docs/a/b", "/docs/a?c"], &["/docs", "/old/docs/", "/"]);
        check("/docs/*", &["/docs/a", "/docs/", "/docs/a?c"], &["/docs/a/b"]);
        check("**.pdf", &["/a/b.pdf", "/.pdf"], &["/a/b.pdf.html", "/pdf"]);
        check("/list?page=*", &["/list?page=2", "/list?page="], &["/list", "/list?sort=a", "/list?page=a/b"]);
        check("/a*b*/c", &["/ab/c", "/axbx/c", "/abab/c"], &["/a/b/c", "/ab/c/"]);
        check("/**/x/**", &["/a/x/", "/a/b/x/c", "//x/"], &["/x/", "/a/x"]);
        check("/", &["/", "/?q"], &["/a"]);
    }

    #[test]
    fn a_text_that_would_never_match_is_no_pattern() {
        assert_eq!(Pattern::new("docs/**"), Err(BadPattern::Start));
        assert_eq!(Pattern::new(""), Err(BadPattern::Start));
        assert_eq!(Pattern::new("/a b"), Err(BadPattern::Character));
        assert_eq!(Pattern::new("/ü"), Err(BadPattern::Character));
        assert_eq!(Pattern::new(&"/".repeat(PATTERN_BYTES_MAX + 1)), Err(BadPattern::TooLong));
    }

    #[track_caller]
    fn check_scope(include: &[&str], exclude: &[&str], path: &str, expected: Option<&str>) {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(text).unwrap()).collect();
        let scope = Scope { include: patterns(include), exclude: patterns(exclude), ..Scope::default() };
        let refused = scope.judge(&url(path)).err().map(|reason| reason.to_string());
        assert_eq!(refused.as_deref(), expected, "{path}");
    }

    #[test]
    fn exclusion_is_stronger_and_reasons_are_named() {
        check_scope(&[], &[], "/a", None);
        check_scope(&["/docs/**"], &[], "/a", Some("no include rule of the site matches"));
        check_scope(&["/docs/**", "/a"], &[], "/a", None);
        check_scope(&["/docs/**"], &["/docs/old/**"], "/docs/old/x", Some("excluded by /docs/old/**"));
        check_scope(&[], &[], "/a.JPG", Some("files that end in .jpg are skipped"));
        check_scope(&[], &[], "/a.jpg/b", None);
        check_scope(&[], &[], "/a.html", None);
        check_scope(&[], &[], "/?x=a.jpg", None);
    }

    #[test]
    fn a_window_is_full_at_its_number_of_pages() {
        let scope = Scope { pages_max: Some(3_000), depth_max: Some(5), ..Scope::default() };
        assert_eq!(scope.admits(2_999, 5), Ok(()));
        assert_eq!(scope.admits(3_000, 0), Err(OutOfScope::WindowFull(3_000)));
        assert_eq!(scope.admits(0, 6), Err(OutOfScope::TooDeep(5)));
        assert_eq!(Scope::default().admits(u32::MAX, u16::MAX), Ok(()));
    }

    /// The definition, by recursive backtracking.
    fn matches_slowly(parts: &[Part], text: &[u8]) -> bool {
        match (parts, text) {
            ([], _) => text.is_empty(),
            ([Part::Byte(wanted), rest @ ..], [byte, after @ ..]) => {
                wanted == byte && matches_slowly(rest, after)
            }
            ([Part::Byte(_), ..], []) => false,
            ([star, rest @ ..], _) => {
                matches_slowly(rest, text)
                    || text.split_first().is_some_and(|(byte, after)| {
                        (*star == Part::DoubleStar || *byte != b'/') && matches_slowly(parts, after)
                    })
            }
        }
    }

    proptest! {
        #[test]
        fn matching_is_the_definition(pattern in "/[ab/*]{0,8}", path in "/[ab/]{0,10}") {
            let pattern = Pattern::new(&pattern).unwrap();
            prop_assert_eq!(pattern.matches(&url(&path)), matches_slowly(&pattern.parts, path.as_bytes()));
        }

        #[test]
        fn any_text_is_a_pattern_or_is_refused(text in any::<String>()) {
            if let Ok(pattern) = Pattern::new(&text) {
                pattern.matches(&url("/a/b?c"));
            }
        }
    }
}
