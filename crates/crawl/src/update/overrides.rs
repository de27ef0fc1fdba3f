//! Overrides: what users set for sites and pages, over the policy. A site can be paused, visited only at some
//! hours, or limited to a fraction of the visits. A page can have a fixed interval (a pin), or a minimum and
//! a maximum interval.
//!
//! # Promises
//! - A pinned page is due one interval after it was last due. An unpinned page is not due.
//! - A site that is paused, or outside its hours, takes no visit.

use std::collections::HashMap;

use freshet_fetch::change::weights::KindWeights;
use freshet_fetch::page::PageUrl;
use freshet_fetch::page::scope::names_site;
use freshet_partition::budget::Budget;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;

use super::intervals::Intervals;
use super::shadow::Shadow;
use crate::hours::Hours;
use crate::settings::SiteRules;
use crate::visit::Reason;

/// What users set, over the policy.
#[derive(Debug, Default)]
pub struct Overrides {
    /// Minimum and maximum intervals.
    pub intervals: Intervals,
    /// Rules for single sites.
    pub site_rules: Vec<SiteRules>,
    /// Weights of changes by their kinds.
    pub kinds: KindWeights,
    /// Swaps collections, if readers do not see results at once.
    pub shadow: Option<Shadow>,
}

/// The overrides of pages.
#[derive(Debug)]
pub(super) struct PageOverrides {
    /// Interval of each pinned page, in milliseconds.
    pins: HashMap<PageNumber, i64>,
    intervals: Intervals,
}

/// What to do with a visit that is due because of an override.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Due {
    /// Whether it is made.
    pub(super) is_now: bool,
    /// When to ask again.
    pub(super) again: Option<Timestamp>,
}

impl PageOverrides {
    pub(super) fn new(intervals: Intervals) -> Self {
        Self { pins: HashMap::new(), intervals }
    }

    /// Pins a page at this interval, in milliseconds. Zero: unpins it.
    pub(super) fn pin(&mut self, page: PageNumber, every: i64) {
        self.pins.insert(page, every);
    }

    /// Applies the intervals to a page that was copied for the first time. Returns when it must be visited at
    /// the latest.
    pub(super) fn bind(
        &mut self,
        page: PageNumber,
        site: &str,
        path: &str,
        time: Timestamp,
    ) -> Option<Timestamp> {
        if self.intervals.is_empty() {
            return None;
        }
        self.intervals.know(page, &PageUrl::stored(&format!("{site}{path}"))?, time)
    }

    /// What to do with a visit that is due for this reason. A visit for any other reason than an override is
    /// made.
    pub(super) fn due(&self, page: PageNumber, reason: Reason, now: Timestamp) -> Due {
        match reason {
            Reason::Pin => {
                let every = self.pins.get(&page).copied().filter(|every| *every > 0);
                Due { is_now: every.is_some(), again: every.map(|every| now.plus_millis(every)) }
            }
            Reason::Interval => match self.intervals.latest(page, now) {
                Some((latest, next)) => Due { is_now: latest <= now, again: Some(next) },
                None => Due { is_now: false, again: None },
            },
            Reason::Rhythm => Due { is_now: self.earliest_after(page, now).is_none(), again: None },
            _ => Due { is_now: true, again: None },
        }
    }

    /// When a page may be visited again, if that is later than `now`.
    pub(super) fn earliest_after(&self, page: PageNumber, now: Timestamp) -> Option<Timestamp> {
        self.intervals.earliest_after(page, now)
    }

    /// Records a later visit to a page.
    pub(super) fn visited(&mut self, page: PageNumber, time: Timestamp) {
        self.intervals.visited(page, time);
    }

    /// Forgets a page that has left the collection.
    pub(super) fn forget(&mut self, page: PageNumber) {
        self.pins.remove(&page);
        self.intervals.forget(page);
    }
}

/// The overrides of a site.
#[derive(Debug, Default)]
pub(super) struct SiteOverrides {
    /// Paused by its user.
    pub(super) paused: bool,
    /// Hours in which it may be visited. None: at any time.
    hours: Option<Hours>,
    /// Its share of the visits. None: no limit.
    share: Option<Budget>,
}

impl SiteOverrides {
    /// The overrides of a site, by the first rule that names it.
    pub(super) fn of(site: &str, rules: &[SiteRules], visits: &Budget, now: Timestamp) -> Self {
        let url = PageUrl::stored(&format!("{site}/"));
        let named = url.and_then(|url| rules.iter().find(|rules| names_site(&rules.site, &url)));
        let Some(rules) = named else { return Self::default() };
        let part = rules.share_max.zip(visits.per_day());
        let share = part.map(|(part, per_day)| visits.part(part * per_day, now));
        Self { paused: false, hours: rules.hours.clone(), share }
    }

    /// When its hours begin; `now` if it is within them.
    pub(super) fn opens(&self, now: Timestamp) -> Timestamp {
        self.hours.as_ref().map_or(now, |hours| hours.open_from(now))
    }

    /// Number of visits that it may be given now, at most `most`.
    pub(super) fn room(&mut self, most: usize, now: Timestamp) -> usize {
        if self.paused || now < self.opens(now) {
            return 0;
        }
        self.share.as_mut().map_or(most, |share| most.min(share.gather(now) as usize))
    }

    /// Counts a visit that it was given.
    pub(super) fn spend(&mut self) {
        if let Some(share) = &mut self.share {
            share.spend(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageNumber = PageNumber(1);
    const DAY: i64 = freshet_protocol::time::MILLIS_PER_DAY;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_pinned_page_is_due_again_and_again_until_it_is_not_pinned() {
        let mut overrides = PageOverrides::new(Intervals::default());
        assert_eq!(overrides.due(PAGE, Reason::Pin, at(7)), Due { is_now: false, again: None });
        overrides.pin(PAGE, 100);
        assert_eq!(overrides.due(PAGE, Reason::Pin, at(7)), Due { is_now: true, again: Some(at(107)) });
        overrides.pin(PAGE, 0);
        assert_eq!(overrides.due(PAGE, Reason::Pin, at(7)), Due { is_now: false, again: None });
        assert_eq!(overrides.due(PAGE, Reason::Retry, at(7)), Due { is_now: true, again: None });
    }

    #[test]
    fn a_site_takes_visits_at_its_hours_and_within_its_share_unless_it_is_paused() {
        let rules = [SiteRules {
            site: "a.example".to_owned(),
            hours: Some("12:00-13:00".parse().expect("hours")),
            share_max: Some(0.5),
            ..SiteRules::default()
        }];
        let visits = Budget::new(Some(48.0), 4.0, at(0));
        let noon = at(DAY / 2);
        let mut overrides = SiteOverrides::of("http://a.example", &rules, &visits, at(0));
        assert_eq!((overrides.opens(at(0)), overrides.room(9, at(0))), (noon, 0));
        assert_eq!((overrides.opens(noon), overrides.room(9, noon)), (noon, 2));
        overrides.spend();
        assert_eq!(overrides.room(9, noon), 1);
        overrides.paused = true;
        assert_eq!(overrides.room(9, noon), 0);
        let mut other = SiteOverrides::of("http://b.example", &rules, &visits, at(0));
        assert_eq!(other.room(9, at(0)), 9);
    }
}
