//! Crawler traps: detects endless parts of a site, accidental or malicious, that are not worth following.
//!
//! Every new URL is checked once, before it is kept. Some traps show in a single URL: a path that repeats
//! itself or is too deep, a calendar far in the past or future. Others show only in numbers: one page with
//! ever new parameters, the same pages with ever new session ids, an endless site. For these the kept URLs of
//! each site are counted.
//!
//! # Promises
//! - Every cut URL has a reason. The report gives the number and one example for each site and reason.
//! - Memory is bounded: at most [`SITES_MAX`] sites and [`COUNTERS_MAX`] counters, of which one site has at
//!   most [`SITE_COUNTERS_MAX`]. URLs that cannot be counted are kept, and only the limits for single URLs
//!   apply to them.
//! - Ordinary sites pass whole: dated archives, forums with one page for each number, pages with a few
//!   parameters.

use std::collections::HashMap;
use std::fmt;

use freshet_protocol::time::Timestamp;
use xxhash_rust::xxh3::Xxh3;

use super::address::PageUrl;
use super::parameters::is_token;

/// Maximum number of counted sites. At 24 bytes per site they take 24 MB plus the table's slack.
pub const SITES_MAX: usize = 1_000_000;

/// Maximum number of counters of all sites. At 16 bytes per counter they take 16 MB plus the table's slack.
pub const COUNTERS_MAX: usize = 1_000_000;

/// Maximum number of counters of one site, so that no site can use up those of the others.
pub const SITE_COUNTERS_MAX: u32 = 20_000;

/// Maximum number of rows of the report. Further sites are only counted by reason.
pub const REPORT_ROWS_MAX: usize = 10_000;

/// Limits beyond which URLs are cut. Zero cuts everything; to disable a limit, set it to its type's maximum.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrapLimits {
    /// Maximum number of links from the nearest seed.
    pub link_depth: u16,
    /// Maximum number of segments of a path.
    pub path_segments: usize,
    /// Maximum number of occurrences of a name in a path. A run of names that is repeated this often in a row
    /// is cut, too.
    pub path_repeats: usize,
    /// Maximum number of years that a calendar may lead into the future.
    pub years_ahead: i64,
    /// Maximum number of years that a calendar may lead into the past.
    pub years_back: i64,
    /// Maximum number of parameters of a query.
    pub parameters: usize,
    /// Maximum number of kept URLs of one path with different queries.
    pub queries_per_path: u32,
    /// Maximum number of kept lists of parameter names of one path: a page with many filters has very many.
    pub parameter_lists_per_path: u32,
    /// Maximum number of kept URLs that differ only in a probable session id.
    pub sessions_per_page: u32,
    /// A path with more segments than this is deep.
    pub deep_path_segments: usize,
    /// Maximum number of kept URLs of a site with deep paths.
    pub deep_paths_per_site: u32,
    /// Maximum number of kept URLs of a site.
    pub urls_per_site: u32,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self {
            link_depth: 100,
            path_segments: 20,
            path_repeats: 3,
            years_ahead: 2,
            years_back: 80,
            parameters: 12,
            queries_per_path: 20_000,
            parameter_lists_per_path: 64,
            sessions_per_page: 50,
            deep_path_segments: 10,
            deep_paths_per_site: 5_000,
            urls_per_site: 1_000_000,
        }
    }
}

/// Why a URL was cut.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Trap {
    /// Too many links from the nearest seed.
    LinkDepth,
    /// Too many segments in the path.
    PathDepth,
    /// The path repeats itself.
    PathRepeats,
    /// A date in the far past or future.
    Calendar,
    /// Too many parameters.
    Parameters,
    /// Too many queries, or lists of parameter names, for one path.
    QueryExplosion,
    /// The same page under too many session ids.
    SessionMaze,
    /// Too many deep paths on the site.
    DeepPaths,
    /// Too many URLs on the site.
    SiteFull,
}

impl Trap {
    /// All traps.
    pub const ALL: [Self; 9] = [
        Self::LinkDepth,
        Self::PathDepth,
        Self::PathRepeats,
        Self::Calendar,
        Self::Parameters,
        Self::QueryExplosion,
        Self::SessionMaze,
        Self::DeepPaths,
        Self::SiteFull,
    ];

    /// Its name in reports and stores.
    pub fn name(self) -> &'static str {
        match self {
            Self::LinkDepth => "link-depth",
            Self::PathDepth => "path-depth",
            Self::PathRepeats => "path-repeats",
            Self::Calendar => "calendar",
            Self::Parameters => "parameters",
            Self::QueryExplosion => "query-explosion",
            Self::SessionMaze => "session-maze",
            Self::DeepPaths => "deep-paths",
            Self::SiteFull => "site-full",
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LinkDepth => "too many links away from the seeds",
            Self::PathDepth => "the path is too deep",
            Self::PathRepeats => "the path repeats itself",
            Self::Calendar => "a calendar that leads far from now",
            Self::Parameters => "too many parameters in the query",
            Self::QueryExplosion => "too many different queries for one page",
            Self::SessionMaze => "the same page under ever new session ids",
            Self::DeepPaths => "too many deep paths on the site",
            Self::SiteFull => "too many pages on the site",
        })
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The URL is worth keeping.
    Keep,
    /// The URL is part of a trap.
    Cut(Trap),
}

/// The URLs of one site that were cut for one reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cut {
    /// The site.
    pub site: String,
    /// The reason.
    pub trap: Trap,
    /// Number of URLs.
    pub urls: u64,
    /// The first of them.
    pub example: PageUrl,
}

/// Checks URLs for traps. There is one for the whole crawl, owned by the code that admits URLs.
#[derive(Debug, Default)]
pub struct TrapGuard {
    limits: TrapLimits,
    sites: HashMap<u64, Site>,
    counters: HashMap<u64, u32>,
    cuts: HashMap<(u64, Trap), Cut>,
    cuts_of_all: [u64; Trap::ALL.len()],
}

#[derive(Clone, Copy, Debug, Default)]
struct Site {
    urls: u32,
    deep_paths: u32,
    counters: u32,
}

impl TrapGuard {
    /// A guard with empty counters.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Checks a new URL, `depth` links from the nearest seed, and counts it if it is worth keeping.
    pub fn judge(&mut self, url: &PageUrl, depth: u16, now: Timestamp) -> Verdict {
        let traits = Traits::of(url);
        let trap = self.shape(url, &traits, depth, now).or_else(|| self.number(&traits));
        match trap {
            None => {
                self.count(&traits);
                Verdict::Keep
            }
            Some(trap) => {
                self.write_down(url, &traits, trap);
                Verdict::Cut(trap)
            }
        }
    }

    /// Counts a URL that was kept by an earlier run.
    pub fn replay(&mut self, traits: &Traits) {
        self.count(traits);
    }

    /// The cut URLs, the largest numbers first.
    pub fn report(&self) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = self.cuts.values().cloned().collect();
        cuts.sort_by(|one, other| {
            other.urls.cmp(&one.urls).then_with(|| (&one.site, one.trap).cmp(&(&other.site, other.trap)))
        });
        cuts
    }

    /// Number of URLs of all sites that were cut for a reason.
    pub fn cut(&self, trap: Trap) -> u64 {
        self.cuts_of_all[trap as usize]
    }

    /// The trap that the URL alone shows.
    fn shape(&self, url: &PageUrl, traits: &Traits, depth: u16, now: Timestamp) -> Option<Trap> {
        let limits = &self.limits;
        if limits.link_depth < depth {
            Some(Trap::LinkDepth)
        } else if limits.path_segments < traits.segments {
            Some(Trap::PathDepth)
        } else if repeats_itself(url.path(), limits.path_repeats) {
            Some(Trap::PathRepeats)
        } else if limits.parameters < url.query().map_or(0, |query| names(query).count()) {
            Some(Trap::Parameters)
        } else if leads_far_from(year_of(now), url, limits) {
            Some(Trap::Calendar)
        } else {
            None
        }
    }

    /// The trap that the number of similar URLs shows.
    fn number(&self, traits: &Traits) -> Option<Trap> {
        let limits = &self.limits;
        let site = self.sites.get(&traits.site).copied().unwrap_or_default();
        if limits.urls_per_site <= site.urls {
            return Some(Trap::SiteFull);
        }
        if limits.deep_path_segments < traits.segments && limits.deep_paths_per_site <= site.deep_paths {
            return Some(Trap::DeepPaths);
        }
        if traits.masked.is_some_and(|masked| limits.sessions_per_page <= self.counted(masked)) {
            return Some(Trap::SessionMaze);
        }
        let query = traits.query.as_ref()?;
        let too_many = limits.queries_per_path <= self.counted(query.path);
        let new_list = self.counted(query.list) == 0;
        let too_many_lists = new_list && limits.parameter_lists_per_path <= self.counted(query.lists);
        (too_many || too_many_lists).then_some(Trap::QueryExplosion)
    }

    fn counted(&self, counter: u64) -> u32 {
        self.counters.get(&counter).copied().unwrap_or(0)
    }

    fn count(&mut self, traits: &Traits) {
        if SITES_MAX <= self.sites.len() && !self.sites.contains_key(&traits.site) {
            return;
        }
        let is_deep = self.limits.deep_path_segments < traits.segments;
        let site = self.sites.entry(traits.site).or_default();
        site.urls = site.urls.saturating_add(1);
        site.deep_paths = site.deep_paths.saturating_add(u32::from(is_deep));
        if let Some(masked) = traits.masked {
            self.add(traits.site, masked);
        }
        if let Some(query) = &traits.query {
            self.add(traits.site, query.path);
            if self.counted(query.list) == 0 {
                self.add(traits.site, query.lists);
            }
            self.add(traits.site, query.list);
        }
    }

    fn add(&mut self, site: u64, counter: u64) {
        if let Some(count) = self.counters.get_mut(&counter) {
            *count = count.saturating_add(1);
            return;
        }
        let has_room = self.counters.len() < COUNTERS_MAX;
        if let Some(site) =
            self.sites.get_mut(&site).filter(|site| has_room && site.counters < SITE_COUNTERS_MAX)
        {
            site.counters += 1;
            self.counters.insert(counter, 1);
        }
    }

    fn write_down(&mut self, url: &PageUrl, traits: &Traits, trap: Trap) {
        self.cuts_of_all[trap as usize] += 1;
        let key = (traits.site, trap);
        if let Some(cut) = self.cuts.get_mut(&key) {
            cut.urls += 1;
        } else if self.cuts.len() < REPORT_ROWS_MAX {
            self.cuts.insert(key, Cut { site: url.site().into(), trap, urls: 1, example: url.clone() });
        }
    }
}

/// The counted features of a URL, as hashes. They are stored in the start-up index: a change to them requires
/// a new version of its format.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Traits {
    /// The site.
    pub site: u64,
    /// Number of segments of the path.
    pub segments: usize,
    /// The URL with each session id replaced by a star; none without session ids.
    pub masked: Option<u64>,
    /// The features of the query, if there is one.
    pub query: Option<QueryTraits>,
}

/// The counted features of a query, as hashes that include the site and the path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueryTraits {
    /// All queries of the path.
    pub path: u64,
    /// All lists of parameter names of the path.
    pub lists: u64,
    /// The list of parameter names.
    pub list: u64,
}

impl Traits {
    /// The features of a URL.
    pub fn of(url: &PageUrl) -> Self {
        let path = [url.site(), url.path()];
        let query = url.query().map(|query| QueryTraits {
            path: hash(path.into_iter().chain(["?"])),
            lists: hash(path.into_iter().chain(["??"])),
            list: hash(path.into_iter().chain(["???"]).chain(names(query))),
        });
        Self { site: hash([url.site()]), segments: segments(url.path()).count(), masked: masked(url), query }
    }
}

/// The names of the parameters of a query.
fn names(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').map(|pair| pair.split('=').next().unwrap_or(""))
}

/// The hash of a list of texts.
fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(part.as_bytes());
        // No canonical URL contains a line end.
        hasher.update(b"\n");
    }
    hasher.digest()
}

/// The names in a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').skip(1).filter(|segment| !segment.is_empty())
}

/// The hash of the URL with each probable session id replaced by a star; none if there is none. The last name
/// of a path identifies the page, even if it looks like a token.
fn masked(url: &PageUrl) -> Option<u64> {
    let (directories, _) = url.path().rsplit_once('/')?;
    let holds_session =
        |pair: &str| pair.split_once('=').is_some_and(|(name, value)| is_session(name) && is_token(value));
    let in_path = directories.split('/').any(is_token);
    let in_query = url.query().is_some_and(|query| query.split('&').any(holds_session));
    if !in_path && !in_query {
        return None;
    }
    let star_segment = |segment| if is_token(segment) { "*" } else { segment };
    let star_pair = |pair| if holds_session(pair) { "*" } else { pair };
    let last = url.path().rsplit('/').next().unwrap_or("");
    let path = directories.split('/').map(star_segment).chain([last]);
    Some(hash(
        [url.site()]
            .into_iter()
            .chain(path)
            .chain(["?"])
            .chain(url.query().unwrap_or("").split('&').map(star_pair)),
    ))
}

/// Whether a parameter has a name typical of session ids.
fn is_session(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("sess") || lower.contains("token") || lower.ends_with("sid")
}

/// Maximum length of a repeated run that is searched for, in names.
const RUN_MAX: usize = 5;

/// Whether a name that is not a number (it may be empty) occurs more than `allowed` times in the path, or a
/// run of names is repeated `allowed` times in a row.
fn repeats_itself(path: &str, allowed: usize) -> bool {
    let names: Vec<&str> = path.split('/').skip(1).collect();
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let stands_often =
        |name: &&str| !is_number(name) && allowed < names.iter().filter(|other| *other == name).count();
    names.iter().any(stands_often)
        || (1..=RUN_MAX).any(|run| {
            let wanted = run.saturating_mul(allowed.saturating_sub(1));
            let mut equal = 0;
            (run..names.len()).any(|place| {
                let is_same = names[place] == names[place - run] && !is_number(names[place]);
                equal = if is_same { equal + 1 } else { 0 };
                0 < wanted && wanted <= equal
            })
        })
}

/// Whether the URL contains a date further from the year than a calendar may lead.
fn leads_far_from(year: i64, url: &PageUrl, limits: &TrapLimits) -> bool {
    let earliest = year.saturating_sub(limits.years_back);
    let latest = year.saturating_add(limits.years_ahead);
    let is_far = |found: i64| found < earliest || latest < found;
    dates_in(url.path_and_query()).any(is_far) || years_in(url.query().unwrap_or("")).any(is_far)
}

/// Range of numbers that count as years.
const YEARS: std::ops::RangeInclusive<i64> = 1_000..=2_999;

/// The years of texts that look like a date: four digits, a separator, and a month in two digits.
fn dates_in(text: &str) -> impl Iterator<Item = i64> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(6)).filter_map(move |start| {
        let begins = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        let ends = !bytes.get(start + 7).is_some_and(u8::is_ascii_alphanumeric);
        let is_separated = matches!(bytes[start + 4], b'/' | b'-' | b'_' | b'.');
        if !(begins && ends && is_separated) {
            return None;
        }
        let month = number(&bytes[start + 5..start + 7])?;
        number(&bytes[start..start + 4]).filter(|year| YEARS.contains(year) && (1..=12).contains(&month))
    })
}

/// The years of parameters whose name says that they are a year, or a date written in digits only.
fn years_in(query: &str) -> impl Iterator<Item = i64> {
    query.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = name.to_ascii_lowercase();
        let value = value.as_bytes();
        let is_year =
            name.ends_with("year") || matches!(name.as_str(), "y" | "yr" | "jahr" | "annee" | "ano");
        let is_date =
            name.contains("date") || name.contains("cal") || name.contains("month") || name == "day";
        let digits = match value.len() {
            4 if is_year => value,
            6 | 8 if is_date => &value[..4],
            _ => return None,
        };
        number(value).and(number(digits)).filter(|year| YEARS.contains(year))
    })
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0i64, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

/// The year of a time, at most a day off.
fn year_of(moment: Timestamp) -> i64 {
    /// Milliseconds of a mean year of the Gregorian calendar, 365.2425 days.
    const YEAR_MILLIS: i64 = 31_556_952_000;
    1970 + moment.millis().div_euclid(YEAR_MILLIS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The middle of 2026.
    const NOW: Timestamp = Timestamp::from_millis(1_782_000_000_000);

    fn url(path: &str) -> PageUrl {
        super::super::Canonical::default().of(&format!("http://a.example{path}")).unwrap()
    }

    #[track_caller]
    fn check(path: &str, expected: Option<Trap>) {
        let verdict = TrapGuard::default().judge(&url(path), 3, NOW);
        assert_eq!(verdict, expected.map_or(Verdict::Keep, Verdict::Cut), "{path}");
    }

    #[test]
    fn ordinary_pages_are_kept() {
        for path in [
            "/",
            "/2024/05/06/a-day",
            "/archive/1999-12.html",
            "/a/b/a/b",
            "/01/01/01/01",
            "/item/30451122",
            "/item/3045/1",
            "/forum?t=4711&start=20",
            "/en/docs/en/api",
            "/events?date=2026-07-01",
            "/commit/0123456789abcdef0123456789abcdef01234567",
            "/a//b",
            "/size/1024-16/x",
            "/v/2999/99",
        ] {
            check(path, None);
        }
    }

    #[test]
    fn a_path_that_repeats_itself_is_cut() {
        check("/a/a/a", Some(Trap::PathRepeats));
        check("/x/a/b/a/b/a/b", Some(Trap::PathRepeats));
        check("/a/b/c/a/d/a/e/a", Some(Trap::PathRepeats));
        check("/a/////b", Some(Trap::PathRepeats));
    }

    #[test]
    fn a_path_without_end_is_cut() {
        let deep: String = (0..21).map(|name| format!("/n{name}")).collect();
        check(&deep, Some(Trap::PathDepth));
        let mut guard = TrapGuard::default();
        assert_eq!(guard.judge(&url("/"), 101, NOW), Verdict::Cut(Trap::LinkDepth));
    }

    #[test]
    fn a_calendar_that_leaves_this_age_is_cut() {
        check("/calendar/2031/05/", Some(Trap::Calendar));
        check("/calendar/2031-05-06", Some(Trap::Calendar));
        check("/calendar?month=203105", Some(Trap::Calendar));
        check("/calendar?year=2031&m=1", Some(Trap::Calendar));
        check("/calendar?d=1899-12-31", Some(Trap::Calendar));
        check("/calendar?date=20310501", Some(Trap::Calendar));
    }

    #[test]
    fn too_many_parameters_are_cut() {
        let query: String = (0..13).map(|name| format!("p{name}=1&")).collect();
        check(&format!("/?{query}"), Some(Trap::Parameters));
    }

    /// Checks many URLs. Returns how many were kept, and the last verdict.
    fn flood(limits: TrapLimits, paths: impl Iterator<Item = String>) -> (usize, Verdict, TrapGuard) {
        let mut guard = TrapGuard::new(limits);
        let mut kept = 0;
        let mut last = Verdict::Keep;
        for path in paths {
            last = guard.judge(&url(&path), 1, NOW);
            kept += usize::from(last == Verdict::Keep);
        }
        (kept, last, guard)
    }

    #[test]
    fn a_page_with_ever_new_filters_is_cut() {
        let filters = (0..1u32 << 8).map(|set| {
            let chosen: Vec<String> =
                (0..8).filter(|bit| set >> bit & 1 == 1).map(|bit| format!("f{bit}={set}")).collect();
            format!("/list?{}", chosen.join("&"))
        });
        let (kept, last, guard) = flood(TrapLimits::default(), filters);
        assert_eq!((kept, last), (65, Verdict::Cut(Trap::QueryExplosion)));
        let report = guard.report();
        assert_eq!(
            (report[0].site.as_str(), report[0].trap, report[0].urls),
            ("http://a.example", Trap::QueryExplosion, 191)
        );
        assert_eq!(guard.cut(Trap::QueryExplosion), 191);
    }

    #[test]
    fn a_page_asked_for_by_ever_new_numbers_is_cut_late() {
        let limits = TrapLimits { queries_per_path: 1_000, ..TrapLimits::default() };
        let (kept, last, _) = flood(limits, (0..1_100).map(|number| format!("/topic?t={number}")));
        assert_eq!((kept, last), (1_000, Verdict::Cut(Trap::QueryExplosion)));
    }

    #[test]
    fn a_maze_of_session_ids_is_cut() {
        let limits = || TrapLimits { sessions_per_page: 5, ..TrapLimits::default() };
        let in_path = (0..20).map(|session| format!("/s/{session:016x}a1/index.html"));
        assert_eq!(flood(limits(), in_path).0, 5);
        let in_query = (0..20).map(|session| format!("/?usersid={session:016x}a1&page=1"));
        assert_eq!(flood(limits(), in_query).1, Verdict::Cut(Trap::SessionMaze));
        let named_by_token = (0..20).map(|page| format!("/page/{page:016x}a1"));
        assert_eq!(flood(limits(), named_by_token).0, 20);
    }

    #[test]
    fn a_site_without_end_is_cut_and_others_are_not() {
        let limits = TrapLimits { urls_per_site: 10, deep_paths_per_site: 3, ..TrapLimits::default() };
        let (kept, last, mut guard) = flood(limits.clone(), (0..20).map(|page| format!("/{page}")));
        assert_eq!((kept, last), (10, Verdict::Cut(Trap::SiteFull)));
        assert_eq!(guard.judge(&PageUrl::stored("http://b.example/").unwrap(), 1, NOW), Verdict::Keep);
        let (kept, last, _) = flood(limits, (0..9).map(|page| format!("/a/b/c/d/e/f/g/h/i/j/{page}")));
        assert_eq!((kept, last), (3, Verdict::Cut(Trap::DeepPaths)));
    }

    #[test]
    fn what_an_earlier_run_kept_counts() {
        let mut guard = TrapGuard::new(TrapLimits { urls_per_site: 1, ..TrapLimits::default() });
        guard.replay(&Traits::of(&url("/a")));
        assert_eq!(guard.judge(&url("/b"), 1, NOW), Verdict::Cut(Trap::SiteFull));
    }

    #[test]
    fn one_site_cannot_use_up_all_counters() {
        let mut guard = TrapGuard::default();
        for page in 0..2 * SITE_COUNTERS_MAX {
            guard.replay(&Traits::of(&url(&format!("/{page}?q"))));
        }
        assert!(guard.counters.len() <= SITE_COUNTERS_MAX as usize);
    }

    proptest! {
        #[test]
        fn any_url_has_a_verdict(
            path in "/(a|b|/|[0-9]{1,4}|-|\\?|&|=|year|date|%C3|0123456789abcdef){0,30}",
            depth: u16,
            now: i64,
        ) {
            TrapGuard::default().judge(&url(&path), depth, Timestamp::from_millis(now));
        }
    }
}
