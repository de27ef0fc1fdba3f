//! Robots rules of a page: `<meta name="robots">` and the `X-Robots-Tag` header.
//!
//! There is no standard but a common practice: a comma-separated list of words, for all robots or for a named
//! one. Of all rules that apply to us the strictest counts.
//!
//! # Promises
//! - A rule for another robot does not apply to us; one for all, or for [`PRODUCT_TOKEN`], does.
//! - Rules only restrict: what was refused stays refused.

/// The name of this crawler in robots.txt and in robots rules.
pub const PRODUCT_TOKEN: &str = "freshet";

/// The permissions of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RobotsMeta {
    /// Whether the page may be shown to others (no `noindex`).
    pub index: bool,
    /// Whether its links may be followed (no `nofollow`).
    pub follow: bool,
    /// Whether a copy may be shown to others (no `noarchive`).
    pub archive: bool,
}

impl Default for RobotsMeta {
    fn default() -> Self {
        Self { index: true, follow: true, archive: true }
    }
}

impl RobotsMeta {
    /// Whether a `<meta>` with this name applies to us.
    pub(super) fn is_addressed(name: &str) -> bool {
        ["robots", PRODUCT_TOKEN].iter().any(|addressed| name.trim().eq_ignore_ascii_case(addressed))
    }

    /// Applies the content of a `<meta>` that applies to us.
    pub(super) fn obey(&mut self, content: &str) {
        for word in content.split([',', ' ', ';']) {
            self.obey_word(word.trim());
        }
    }

    /// Applies one `X-Robots-Tag` header, whose words may follow the name of a robot:
    /// `otherbot: noindex, nofollow`.
    pub(super) fn obey_header(&mut self, value: &str) {
        let mut concerns_us = true;
        for rule in value.split(',') {
            let mut words = rule.trim();
            if let Some((name, rest)) = words.split_once(':').filter(|(name, _)| !has_value(name)) {
                concerns_us = Self::is_addressed(name);
                words = rest;
            }
            if concerns_us {
                self.obey(words);
            }
        }
    }

    /// Adds every restriction of `other`.
    pub(super) fn restrict(&mut self, other: Self) {
        self.index &= other.index;
        self.follow &= other.follow;
        self.archive &= other.archive;
    }

    fn obey_word(&mut self, word: &str) {
        let is = |directive: &str| word.eq_ignore_ascii_case(directive);
        let none = is("none");
        self.index &= !(none || is("noindex"));
        self.follow &= !(none || is("nofollow"));
        self.archive &= !(none || is("noarchive") || is("nocache"));
    }
}

/// Whether a word before a colon is a directive with a value, not the name of a robot.
fn has_value(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    name == "unavailable_after" || name.starts_with("max-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(headers: &[&str], index: bool, follow: bool, archive: bool) {
        let mut robots = RobotsMeta::default();
        for header in headers {
            robots.obey_header(header);
        }
        assert_eq!(robots, RobotsMeta { index, follow, archive }, "{headers:?}");
    }

    #[test]
    fn the_strictest_of_all_rules_for_us_holds() {
        check(&[], true, true, true);
        check(&["noindex"], false, true, true);
        check(&["NoFollow , noarchive", "index, follow"], true, false, false);
        check(&["none"], false, false, false);
        check(&["max-snippet: 20, noindex"], false, true, true);
        check(&["unavailable_after: 25 Jun 2030 15:00:00 PST"], true, true, true);
    }

    #[test]
    fn rules_for_other_robots_do_not_concern_us() {
        check(&["otherbot: noindex, nofollow"], true, true, true);
        check(&["otherbot: noindex, freshet: nofollow"], true, false, true);
        check(&["Freshet: noindex", "otherbot: none"], false, true, true);
        check(&["noindex, otherbot: nofollow"], false, true, true);
    }

    #[test]
    fn a_meta_element_is_obeyed_by_its_name() {
        assert!(RobotsMeta::is_addressed(" ROBOTS "));
        assert!(RobotsMeta::is_addressed("Freshet"));
        assert!(!RobotsMeta::is_addressed("googlebot"));
    }

    proptest! {
        #[test]
        fn any_header_is_read(value in "(noindex|nofollow|none|freshet|x|:|,| |\\PC){0,12}") {
            RobotsMeta::default().obey_header(&value);
        }
    }
}
