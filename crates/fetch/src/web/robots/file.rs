//! A `robots.txt` parser (RFC 9309 section 2), for one robot.
//!
//! # Promises
//! - All groups that name the robot count as one; if none does, all groups for `*` do; if there is none,
//!   everything is allowed.
//! - The longest matching rule decides; among equals an allowing one. The verdict states its line.
//! - Unknown lines are ignored and end no group. Lines end with CR, LF or both; a byte order mark is ignored.
//! - Bytes beyond [`FILE_BYTES_MAX`] are ignored; no input makes it fail.
//!
//! # Departures
//! - `Crawl-delay`, which is not in the RFC, is read: the longest one of the groups that count.
//! - `Disalow` and other common misspellings of the two rules are not recognised.

use std::time::Duration;

use super::pattern::{NormalPath, Pattern};
use freshet_protocol::time::SECONDS_PER_DAY;

/// Maximum number of bytes of a file that are read: 500 KiB, the minimum that RFC 9309 section 2.5 asks for.
pub const FILE_BYTES_MAX: usize = 500 << 10;

/// Maximum number of sitemaps of a file.
const SITEMAPS_MAX: usize = 1000;

/// The rules of a `robots.txt` file for one robot.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use freshet_fetch::web::Robots;
///
/// let file = b"User-agent: *\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 2\n";
/// let robots = Robots::parse(file, "freshet");
/// assert!(robots.allows("/news"));
/// assert!(!robots.allows("/private/letters"));
/// // The longest rule that matches decides.
/// assert_eq!(robots.verdict("/private/open/1").rule.as_deref(), Some("Allow: /private/open"));
/// assert_eq!(robots.crawl_delay(), Some(Duration::from_secs(2)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// The longest first, and among equals those that allow first: the first that matches decides.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    allows: bool,
    pattern: Pattern,
    line: Box<str>,
}

/// Whether a path may be visited, and which line decided.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verdict {
    /// Whether it may.
    pub allowed: bool,
    /// The line that decided; none if no rule matches.
    pub rule: Option<String>,
}

impl Robots {
    /// Parses a file for the robot with this name.
    pub fn parse(bytes: &[u8], product_token: &str) -> Self {
        let mut groups = Groups::new(product_token);
        let mut sitemaps = Vec::new();
        for line in lines(bytes) {
            match Line::read(line) {
                Some(Line::UserAgent(name)) => groups.begin(name),
                Some(Line::Rule { allows, value }) => groups.add_rule(allows, value, line),
                Some(Line::CrawlDelay(delay)) => groups.add_delay(delay),
                Some(Line::Sitemap(url)) if sitemaps.len() < SITEMAPS_MAX => sitemaps.push(url),
                Some(Line::Sitemap(_)) | None => {}
            }
        }
        let Group { mut rules, crawl_delay, .. } = groups.that_counts();
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.length()), !rule.allows));
        Self { rules, crawl_delay, sitemaps }
    }

    /// Whether this path and query may be visited, and why.
    pub fn verdict(&self, path_and_query: &str) -> Verdict {
        match self.deciding(path_and_query) {
            Some(rule) => Verdict { allowed: rule.allows, rule: Some(rule.line.to_string()) },
            None => Verdict { allowed: true, rule: None },
        }
    }

    /// Whether this path and query may be visited.
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.deciding(path_and_query).is_none_or(|rule| rule.allows)
    }

    /// The delay between two visits that the site asks for.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps that the file lists, unparsed.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    fn deciding(&self, path_and_query: &str) -> Option<&Rule> {
        // RFC 9309 section 2.2.2: the file itself is always allowed.
        if self.rules.is_empty() || path_and_query == "/robots.txt" {
            return None;
        }
        let path = NormalPath::new(path_and_query);
        self.rules.iter().find(|rule| rule.pattern.matches(&path))
    }
}

/// A known line.
enum Line<'a> {
    UserAgent(&'a [u8]),
    Rule { allows: bool, value: &'a [u8] },
    CrawlDelay(Duration),
    Sitemap(String),
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (key, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        let is = |known: &str| key.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("user-agent") => Some(Self::UserAgent(value)),
            () if is("allow") => Some(Self::Rule { allows: true, value }),
            () if is("disallow") => Some(Self::Rule { allows: false, value }),
            () if is("crawl-delay") => seconds(value).map(Self::CrawlDelay),
            () if is("sitemap") && !value.is_empty() => {
                std::str::from_utf8(value).ok().map(|url| Self::Sitemap(url.to_owned()))
            }
            () => None,
        }
    }
}

/// The groups of a file that may apply to one robot.
struct Groups<'a> {
    product_token: &'a str,
    ours: Group,
    everyones: Group,
    /// Whether the current group is for us, for everyone, and whether its rules have begun.
    is_ours: bool,
    is_everyones: bool,
    has_rules: bool,
}

#[derive(Default)]
struct Group {
    is_there: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl<'a> Groups<'a> {
    fn new(product_token: &'a str) -> Self {
        let (ours, everyones) = (Group::default(), Group::default());
        Self { product_token, ours, everyones, is_ours: false, is_everyones: false, has_rules: false }
    }

    /// A line that names a robot: it belongs to the current group, or begins the next one.
    fn begin(&mut self, name: &[u8]) {
        if self.has_rules {
            (self.is_ours, self.is_everyones, self.has_rules) = (false, false, false);
        }
        if name.first() == Some(&b'*') && name.get(1).is_none_or(u8::is_ascii_whitespace) {
            self.is_everyones = true;
            self.everyones.is_there = true;
        } else if token(name).eq_ignore_ascii_case(self.product_token.as_bytes()) {
            self.is_ours = true;
            self.ours.is_there = true;
        }
    }

    fn add_rule(&mut self, allows: bool, value: &[u8], line: &[u8]) {
        self.has_rules = true;
        // An empty rule has no effect: `Disallow:` disallows nothing.
        if value.is_empty() || !(self.is_ours || self.is_everyones) {
            return;
        }
        let line = String::from_utf8_lossy(line.trim_ascii()).into();
        let rule = Rule { allows, pattern: Pattern::new(value), line };
        if self.is_everyones {
            self.everyones.rules.push(rule.clone());
        }
        if self.is_ours {
            self.ours.rules.push(rule);
        }
    }

    fn add_delay(&mut self, delay: Duration) {
        for (is_meant, group) in [(self.is_ours, &mut self.ours), (self.is_everyones, &mut self.everyones)] {
            if is_meant {
                group.crawl_delay = group.crawl_delay.max(Some(delay));
            }
        }
    }

    fn that_counts(self) -> Group {
        if self.ours.is_there { self.ours } else { self.everyones }
    }
}

/// The lines of a file, without their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = &bytes[..bytes.len().min(FILE_BYTES_MAX)];
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The product token of a robot's name: `freshet` of `Freshet/1.0 (robot)`.
fn token(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|byte| !(byte.is_ascii_alphabetic() || b"_-".contains(byte)));
    &name[..end.unwrap_or(name.len())]
}

/// A number of seconds, possibly fractional, at most a year.
fn seconds(value: &[u8]) -> Option<Duration> {
    /// Longer delays are cut to this.
    const YEAR: f64 = 365.0 * SECONDS_PER_DAY as f64;
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (0.0 <= seconds).then(|| Duration::from_secs_f64(seconds.min(YEAR)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(file: &str, allowed: &str, disallowed: &str) {
        let robots = Robots::parse(file.as_bytes(), "freshet");
        for path in allowed.split(' ').filter(|path| !path.is_empty()) {
            assert!(robots.allows(path), "{path} of {file}");
        }
        for path in disallowed.split(' ').filter(|path| !path.is_empty()) {
            assert!(!robots.allows(path), "{path} of {file}");
        }
    }

    #[test]
    fn the_group_that_names_us_counts_and_else_the_one_for_all() {
        check("user-agent: *\ndisallow: /a\n\nuser-agent: freshet\ndisallow: /b", "/a", "/b");
        check("user-agent: other\ndisallow: /\n\nuser-agent: *\ndisallow: /b", "/a", "/b");
        check("user-agent: other\ndisallow: /", "/a /", "");
        check("user-agent: FreSHet/2.0 (x)\ndisallow: /b", "/a", "/b");
        check("user-agent: freshetbot\ndisallow: /b", "/b", "");
        check("user-agent: fresh\ndisallow: /b", "/b", "");
        check("user-agent: freshet\nuser-agent: other\ndisallow: /b", "/a", "/b");
        check("user-agent: freshet\n\nuser-agent: *\ndisallow: /", "/robots.txt", "/a");
        check("user-agent: freshet\ndisallow:\n\nuser-agent: *\ndisallow: /", "/a", "");
    }

    #[test]
    fn groups_for_the_same_robot_are_one() {
        check(
            "user-agent: freshet\ndisallow: /a\nuser-agent: x\ndisallow: /c\nuser-agent: freshet\ndisallow: \
             /b",
            "/c",
            "/a /b",
        );
        check("user-agent: *\ndisallow: /a\nuser-agent: *\ndisallow: /b", "/c", "/a /b");
    }

    #[test]
    fn the_longest_rule_decides_and_of_equals_the_one_that_allows() {
        check("user-agent: *\nallow: /p\ndisallow: /", "/page", "/x");
        check("user-agent: *\nallow: /folder\ndisallow: /folder", "/folder/page", "");
        check("user-agent: *\nallow: /page\ndisallow: /*.htm", "/page", "/page.htm");
        check("user-agent: *\nallow: /$\ndisallow: /", "/", "/page.htm /?q");
        check(
            "user-agent: *\ndisallow: /example/page/\nallow: /example/page/disallowed.gif",
            "/example/page/disallowed.gif",
            "/example/page/x",
        );
    }

    #[test]
    fn how_lines_are_written_does_not_matter() {
        check("\u{feff}user-agent: *\ndisallow: /a", "/b", "/a");
        check("User-Agent : *\r\n  DISALLOW:/a  # no\r\nallow:\t/a/b", "/a/b", "/a");
        check("user-agent: *\rdisallow: /a\r", "/b", "/a");
        check("user-agent: *\n\n\ndisallow: /a\n\nallow: /a/b", "/a/b", "/a");
        check("user-agent: freshet\nsitemap: x\nunknown: y\nuser-agent: other\ndisallow: /a", "/b", "/a");
        check("user-agent: freshet\nnonsense\ndisallow: /a", "/b", "/a");
        check("disallow: /a\nuser-agent: *\ndisallow: /b", "/a", "/b");
        check("user-agent: *\ndisallow /a", "/a", "");
        check("user-agent: * \t # all\ndisallow: /a", "", "/a");
        check("", "/", "");
        check("<html><body>404: not found</body></html>", "/", "");
    }

    #[test]
    fn the_file_itself_is_always_allowed() {
        check("user-agent: *\ndisallow: /", "/robots.txt", "/robots.txt?x /robots");
    }

    #[test]
    fn the_verdict_names_its_line() {
        let robots = Robots::parse(b"User-agent: *\nDisallow: /a # keep out\nAllow: /a/b", "freshet");
        let line = |path| robots.verdict(path).rule;
        assert_eq!(line("/a/c").as_deref(), Some("Disallow: /a # keep out"));
        assert_eq!(line("/a/b").as_deref(), Some("Allow: /a/b"));
        assert_eq!(line("/c"), None);
    }

    #[track_caller]
    fn check_delay(file: &str, seconds: Option<f64>) {
        assert_eq!(
            Robots::parse(file.as_bytes(), "freshet").crawl_delay(),
            seconds.map(Duration::from_secs_f64)
        );
    }

    #[test]
    fn delays_are_kept_and_sitemaps_found_anywhere() {
        check_delay("user-agent: *\ncrawl-delay: 2.5", Some(2.5));
        check_delay(
            "user-agent: *\ncrawl-delay: 2\nuser-agent: freshet\ndisallow: /",
            Some(2.0).filter(|_| false),
        );
        check_delay("user-agent: *\ncrawl-delay: 2\ncrawl-delay: 9\ncrawl-delay: 1", Some(9.0));
        check_delay("user-agent: *\ncrawl-delay: -2", None);
        check_delay("user-agent: *\ncrawl-delay: NaN", None);
        check_delay("user-agent: *\ncrawl-delay: inf", Some(365.0 * 86_400.0));
        let robots =
            Robots::parse(b"Sitemap: http://a/1\nuser-agent: x\nsitemap:http://a/2\nSITEMAP:", "freshet");
        assert_eq!(robots.sitemaps(), ["http://a/1", "http://a/2"]);
    }

    #[test]
    fn nothing_is_read_beyond_the_limit() {
        let mut file = b"user-agent: *\ndisallow: /a\n".to_vec();
        file.resize(FILE_BYTES_MAX, b'\n');
        file.extend_from_slice(b"disallow: /b\n");
        let robots = Robots::parse(&file, "freshet");
        assert!(!robots.allows("/a"));
        assert!(robots.allows("/b"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_file(bytes in prop::collection::vec(any::<u8>(), 0..500), path in "/.{0,20}") {
            let robots = Robots::parse(&bytes, "freshet");
            prop_assert_eq!(robots.verdict(&path).allowed, robots.allows(&path));
        }

        #[test]
        fn words_in_any_order_are_a_file(
            file in "((user-agent|allow|disallow|crawl-delay|sitemap|x)? ?:? \
                     ?(\\*|freshet|/|/\\*a|\\$|9)?[\r\n#]{0,2}){0,20}",
        ) {
            let _ = Robots::parse(file.as_bytes(), "freshet").verdict("/a");
        }
    }
}
