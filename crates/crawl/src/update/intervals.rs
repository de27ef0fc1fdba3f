//! Minimum and maximum intervals between two visits to a page, by patterns that a user wrote.
//!
//! The policy decides within them. A page that it chooses too early waits until the minimum interval has
//! passed. A page that it has not visited for the maximum interval is visited whatever the policy says.

use std::collections::HashMap;

use freshet_fetch::page::PageUrl;
use freshet_fetch::page::scope::names_site;
use freshet_fetch::page::scope::{BadPattern, Pattern};
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_theory::units::MILLIS_PER_DAY;

use crate::settings::IntervalRule;

/// The rules, and the state of the pages that they apply to.
#[derive(Debug, Default)]
pub struct Intervals {
    rules: Vec<(IntervalRule, Pattern)>,
    pages: HashMap<PageNumber, Bound>,
}

/// The intervals of a page in milliseconds, and the time of its last visit.
#[derive(Clone, Copy, Debug)]
struct Bound {
    shortest: i64,
    longest: Option<i64>,
    visited: Timestamp,
}

impl Intervals {
    /// Creates the rules. The first that matches a page applies to it.
    pub fn new(rules: &[IntervalRule]) -> Result<Self, BadPattern> {
        let rules = rules.iter().map(|rule| Ok((rule.clone(), Pattern::new(&rule.path)?)));
        Ok(Self { rules: rules.collect::<Result<_, _>>()?, pages: HashMap::new() })
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Records the first visit to a page. Returns when the page must be visited again at the latest.
    pub fn know(&mut self, page: PageNumber, url: &PageUrl, now: Timestamp) -> Option<Timestamp> {
        let (rule, _) = self.rules.iter().find(|(rule, pattern)| {
            rule.site.as_ref().is_none_or(|site| names_site(site, url)) && pattern.matches(url)
        })?;
        let millis = |days: freshet_theory::units::Days| (days.get() * MILLIS_PER_DAY) as i64;
        let (shortest, longest) = (rule.shortest.map_or(0, millis), rule.longest.map(millis));
        let before = self.pages.insert(page, Bound { shortest, longest, visited: now });
        longest.filter(|_| before.is_none()).map(|longest| now.plus_millis(longest))
    }

    /// Records a later visit to a page.
    pub fn visited(&mut self, page: PageNumber, now: Timestamp) {
        if let Some(bound) = self.pages.get_mut(&page) {
            bound.visited = bound.visited.max(now);
        }
    }

    /// Forgets a page that is no longer visited.
    pub fn forget(&mut self, page: PageNumber) {
        self.pages.remove(&page);
    }

    /// When a page may be visited again, if that is later than `now`.
    pub fn earliest_after(&self, page: PageNumber, now: Timestamp) -> Option<Timestamp> {
        let bound = self.pages.get(&page)?;
        Some(bound.visited.plus_millis(bound.shortest)).filter(|earliest| now < *earliest)
    }

    /// When a page must be visited at the latest, and when to ask again: at that time or, if it is visited
    /// `now`, one maximum interval later.
    pub fn latest(&self, page: PageNumber, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let bound = self.pages.get(&page)?;
        let longest = bound.longest?;
        let latest = bound.visited.plus_millis(longest);
        Some((latest, if now < latest { latest } else { now.plus_millis(longest) }))
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::units::Days;

    use super::*;

    #[test]
    fn the_first_rule_that_matches_binds_a_page() {
        let rule =
            |site: Option<&str>, path: &str, shortest: Option<f64>, longest: Option<f64>| IntervalRule {
                site: site.map(str::to_owned),
                path: path.to_owned(),
                shortest: shortest.map(Days::new),
                longest: longest.map(Days::new),
            };
        let rules =
            [rule(Some("a.org"), "/event/**", Some(0.5), Some(1.0)), rule(None, "/**", None, Some(9.0))];
        let mut intervals = Intervals::new(&rules).unwrap();
        let at = |days: f64| Timestamp::from_millis((days * MILLIS_PER_DAY) as i64);
        let url = |text: &str| PageUrl::stored(text).unwrap();
        let (event, other) = (PageNumber(1), PageNumber(2));
        assert_eq!(intervals.know(event, &url("https://a.org/event/x"), at(1.0)), Some(at(2.0)));
        assert_eq!(intervals.know(other, &url("https://b.org/event/x"), at(1.0)), Some(at(10.0)));
        assert_eq!(intervals.earliest_after(event, at(1.25)), Some(at(1.5)));
        assert_eq!(intervals.earliest_after(event, at(1.5)), None);
        assert_eq!(intervals.earliest_after(other, at(1.0)), None);
        assert_eq!(intervals.latest(event, at(2.5)), Some((at(2.0), at(3.5))));
        intervals.visited(event, at(2.5));
        assert_eq!(intervals.latest(event, at(2.5)), Some((at(3.5), at(3.5))));
        assert_eq!(intervals.latest(PageNumber(7), at(0.0)), None);
        intervals.forget(event);
        assert_eq!(intervals.latest(event, at(9.0)), None);
    }
}
