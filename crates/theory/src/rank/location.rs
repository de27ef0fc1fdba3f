//! Importance by location: computed from the URL alone.
//!
//! Implements the thesis, section 2.2, item 5: URLs with certain endings ("ending with .com") or
//! containing certain words ("the string home") are more useful, and so are URLs with fewer slashes.
//! The metric here is the sum
//!
//! > IL(u) = Σ weights of the endings of its site + Σ weights of the words it contains +
//! > slash weight / (1 + slashes)
//!
//! # Promises
//! - Only the URL is read. Upper and lower case count as the same.
//! - With a positive slash weight, a URL with fewer slashes has more importance than the same with more.
//!
//! # Departures
//! The text gives the three examples and no formula; the sum is ours. An ending is matched at the end of the
//! host name, where top-level domains are, and not at the end of the path. The slashes of `scheme://` and one
//! that ends the URL do not count.

use crate::partition::host;

/// Weights of the parts of a URL that make it important.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// Endings of host names, such as `.com`, and the weight of each.
    pub endings: Vec<(String, f64)>,
    /// Words that a URL may contain, such as `home`, and the weight of each.
    pub words: Vec<(String, f64)>,
    /// Weight of a URL without slashes. Half of it with one slash, a third with two.
    pub slash_weight: f64,
}

impl Location {
    /// The importance of the page at `url`.
    pub fn importance(&self, url: &str) -> f64 {
        let url = url.to_lowercase();
        let host = host(&url);
        let sum_where = |parts: &[(String, f64)], is_found: &dyn Fn(&str) -> bool| -> f64 {
            parts.iter().filter(|(part, _)| is_found(&part.to_lowercase())).map(|(_, weight)| weight).sum()
        };
        sum_where(&self.endings, &|ending| host.ends_with(ending))
            + sum_where(&self.words, &|word| url.contains(word))
            + self.slash_weight / (1.0 + f64::from(slashes(&url)))
    }
}

/// Number of slashes between parts of a URL: 0 for a site's front page, one more for each level below.
pub fn slashes(url: &str) -> u32 {
    let without_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let without_end = without_scheme.strip_suffix('/').unwrap_or(without_scheme);
    without_end.bytes().filter(|byte| *byte == b'/').count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: f64) {
        let location = Location {
            endings: vec![(".com".to_owned(), 1.0)],
            words: vec![("home".to_owned(), 10.0)],
            slash_weight: 0.5,
        };
        assert_eq!(location.importance(url), expected);
    }

    #[test]
    fn endings_words_and_slashes_add_up() {
        check("http://cnn.com", 1.5);
        check("http://CNN.COM:80/", 1.5);
        check("http://cnn.org/", 0.5);
        check("http://cnn.org/a.com", 0.25);
        check("http://cnn.com/~me/Home.html", 11.0 + 0.5 / 3.0);
        check("", 0.5);
    }

    #[test]
    fn fewer_slashes_are_worth_more() {
        let worth = |url| Location { slash_weight: 1.0, ..Location::default() }.importance(url);
        assert!(worth("http://a/b") > worth("http://a/b/c"));
        assert_eq!(worth("http://a/b"), worth("http://a/b/"));
    }
}
