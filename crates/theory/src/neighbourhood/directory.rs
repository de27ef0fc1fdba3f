//! Neighbours of a changed page by the directories of their URLs.
//!
//! **neighbours**, section 4.2, equation 2. For a sample at `http://u_1/…/u_m` and a page at
//! `http://v_1/…/v_n` that agree in their first `c` parts:
//!
//! > [(m − c) + (n − c) − 2] sign(m − n)
//!
//! # Promises
//! - Pages of the same directory are at 0, those in upper directories positive, in lower ones
//!   negative. To the formula, a URL that is a prefix of the other one is its own directory, two steps
//!   nearer than a page in it.
//! - Exchanging sample and page changes only the sign.
//!
//! # Departures
//! The text prints sign(n − m), which makes *lower* directories positive; its prose and its results
//! mean the opposite. Both are here ([`Convention`]). As in the text, a page on the same level of
//! another directory is at 0 too.

use super::granularity::{Granularity, reached};

/// Which directories have positive distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// Upper ones, as in the prose of the text.
    #[default]
    UpperPositive,
    /// Lower ones, as in the printed formula.
    LowerPositive,
}

/// The part of a URL after its scheme, split at slashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'a>(&'a str);

impl<'a> UrlParts<'a> {
    /// `None` unless the URL has a `://`.
    pub fn of(url: &'a str) -> Option<Self> {
        url.split_once("://").map(|(_, rest)| Self(rest))
    }

    /// The parts between slashes. A slash at the end is followed by an empty part.
    pub(super) fn iter(self) -> std::str::Split<'a, char> {
        self.0.split('/')
    }

    /// Number of parts, at least one.
    pub(super) fn count(self) -> usize {
        self.0.bytes().filter(|byte| *byte == b'/').count() + 1
    }
}

/// Distance of a page from the sample.
pub fn distance(sample: UrlParts<'_>, page: UrlParts<'_>, convention: Convention) -> i64 {
    let (m, n) = (sample.count() as i64, page.count() as i64);
    let c = sample.iter().zip(page.iter()).take_while(|(u, v)| u == v).count() as i64;
    let sign = match convention {
        Convention::UpperPositive => (m - n).signum(),
        Convention::LowerPositive => (n - m).signum(),
    };
    (m - c + n - c - 2) * sign
}

/// The pages to download for a changed sample, the sample included, in rising order.
///
/// Panics if the sample is not among the pages.
pub fn neighbours(
    pages: &[UrlParts<'_>],
    sample: usize,
    granularity: Granularity,
    convention: Convention,
) -> Vec<usize> {
    let distances = pages.iter().map(|&page| Some(distance(pages[sample], page, convention)));
    reached(distances, sample, granularity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(url: &str) -> UrlParts<'_> {
        UrlParts::of(url).expect("the URL has a scheme")
    }

    #[track_caller]
    fn check(sample: &str, page: &str, expected: i64) {
        assert_eq!(distance(parts(sample), parts(page), Convention::UpperPositive), expected);
        assert_eq!(distance(parts(sample), parts(page), Convention::LowerPositive), -expected);
    }

    #[test]
    fn the_figure_of_the_text() {
        const SAMPLE: &str = "http://www.abc.com/dir1/index1.htm";
        check(SAMPLE, SAMPLE, 0);
        check(SAMPLE, "http://www.abc.com/dir1/a.htm", 0);
        check(SAMPLE, "http://www.abc.com/index.htm", 1);
        check(SAMPLE, "http://www.abc.com/dir1/sub/b.htm", -1);
        check(SAMPLE, "http://www.abc.com/dir1/sub/x/c.htm", -2);
        check(SAMPLE, "http://www.abc.com/dir2/d.htm", 0);
        check(SAMPLE, "http://www.abc.com/dir2/sub/e.htm", -3);
    }

    #[test]
    fn a_slash_at_the_end_makes_an_empty_part() {
        check("http://a/b/c", "http://a/b/", 0);
        check("http://a/b/c/", "http://a/b/", 1);
        check("http://a/b/", "http://a/b/c/", -1);
        check("http://", "http://a", 0);
    }

    #[test]
    fn a_url_that_the_other_begins_with_counts_as_the_formula_has_it() {
        check("http://a/b", "http://a/b/c", 1); // (0 + 1 − 2)·(−1)
        check("http://a/b", "http://a/b/c/d", 0);
        check("http://a/b", "http://a/b/c/d/e", -1);
    }

    #[test]
    fn a_url_needs_a_scheme() {
        assert_eq!(UrlParts::of("/b"), None);
        assert_eq!(UrlParts::of(""), None);
    }

    #[test]
    fn a_granularity_of_one_reaches_the_directory_above() {
        let urls = ["http://h/d/s", "http://h/d/t", "http://h/u", "http://h/d/e/v", "http://h/d/e/f/w"];
        let pages = urls.map(parts);
        let neighbours = |d| neighbours(&pages, 0, Granularity(d), Convention::UpperPositive);
        assert_eq!(neighbours(0), [0, 1]);
        assert_eq!(neighbours(1), [0, 1, 2]);
        assert_eq!(neighbours(-1), [0, 3]);
        assert_eq!(neighbours(-2), [0, 3, 4]);
    }

    proptest! {
        #[test]
        fn exchanging_sample_and_page_changes_the_sign(a in "[ab/]{0,8}", b in "[ab/]{0,8}") {
            let forward = distance(UrlParts(&a), UrlParts(&b), Convention::UpperPositive);
            let backward = distance(UrlParts(&b), UrlParts(&a), Convention::UpperPositive);
            prop_assert_eq!(forward, -backward);
        }
    }
}
