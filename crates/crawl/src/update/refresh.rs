//! Pages that were visited, and the policy that chooses which to visit again.
//!
//! The policy is the same as in the lab. Here it is driven by the crawl's time, in ticks: each tick is one
//! short cycle. It learns what the stores have committed, in the order of the visits, so that the fold over
//! the History at a restart restores its state.

use freshet_partition::policy::visit::{CopyEstimate, Explanation};
use freshet_partition::policy::{Catalogue, Observation, Outcome, PageId, Policy, SiteId};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_theory::units::{Days, MILLIS_PER_DAY};

/// Entry of `ids` for a page that the policy does not know.
const UNKNOWN: u32 = u32::MAX;

/// The policy, its pages, and its current tick.
pub struct Refresh {
    policy: Box<dyn Policy>,
    catalogue: Catalogue,
    /// The moment from which the policy counts its days.
    start: Timestamp,
    /// Length of a tick, in milliseconds.
    tick: i64,
    /// End of the current tick. None before the first.
    tick_end: Option<Timestamp>,
    /// The page of each id, and its site.
    pages: Vec<(PageNumber, SiteNumber)>,
    /// The id of each page. `UNKNOWN` for pages that were never visited or have left.
    ids: Vec<u32>,
    /// Number of pages with an id.
    copies: usize,
    chosen: Vec<PageId>,
}

impl Refresh {
    /// Creates a policy that knows no page yet.
    pub fn new(policy: Box<dyn Policy>, start: Timestamp, tick: i64) -> Self {
        let (pages, ids, chosen) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            policy,
            catalogue: Catalogue::new(),
            start,
            tick: tick.max(1),
            tick_end: None,
            pages,
            ids,
            copies: 0,
            chosen,
        }
    }

    /// Adds a page that was copied for the first time.
    pub fn add(&mut self, page: PageNumber, site: SiteNumber, path: &str, importance: f32, now: Timestamp) {
        if self.id(page).is_some() {
            return;
        }
        let id = self.catalogue.add_page(SiteId(site.0), path.trim_start_matches('/'));
        self.catalogue.set_importance(id, importance);
        let index = page.index();
        if self.ids.len() <= index {
            self.ids.resize(index + 1, UNKNOWN);
        }
        self.ids[index] = id.0;
        self.copies += 1;
        self.pages.push((page, site));
        let now = self.days(now);
        self.policy.discover(&self.catalogue, id, now);
    }

    /// Tells the policy what a visit found, whether something had announced a change, and the page's date of
    /// its last change. Unknown pages are ignored.
    pub fn learn(
        &mut self,
        page: PageNumber,
        time: Timestamp,
        outcome: Outcome,
        prompted: bool,
        date: Option<Timestamp>,
    ) {
        let Some(id) = self.id(page) else { return };
        let observation = Observation { page: id, time: self.days(time), outcome };
        match date {
            _ if prompted => self.policy.learn_prompted(&self.catalogue, &observation),
            Some(date) => self.policy.learn_dated(&self.catalogue, &observation, self.days(date)),
            None => self.policy.learn(&self.catalogue, &[observation]),
        }
    }

    /// Tells the policy that pages are the same as our copies, without a visit.
    pub fn confirm(&mut self, pages: &[PageNumber], time: Timestamp) {
        let known: Vec<PageId> = pages.iter().filter_map(|page| self.id(*page)).collect();
        let time = self.days(time);
        self.policy.confirm(&self.catalogue, &known, time);
    }

    /// Tells the policy that pages have changed since our copies.
    pub fn tell_changed(&mut self, pages: &[PageNumber]) {
        let known: Vec<PageId> = pages.iter().filter_map(|page| self.id(*page)).collect();
        self.policy.tell_changed(&known);
    }

    /// Whether a page that is known to have changed is worth a visit now.
    pub fn is_worth_if_changed(&self, page: PageNumber, now: Timestamp) -> bool {
        let now = self.days(now);
        self.id(page).is_some_and(|id| self.policy.is_worth_if_changed(&self.catalogue, id, now))
    }

    /// Whether a visit is worth it for a page that is known to have changed and will then stay the same for
    /// this many milliseconds.
    pub fn is_worth_if_fresh_for(&self, millis: i64) -> bool {
        self.policy.is_worth_if_fresh_for(Days::new(millis as f64 / MILLIS_PER_DAY))
    }

    /// Removes a page that has left the collection.
    pub fn retire(&mut self, page: PageNumber, now: Timestamp) {
        if let Some(id) = self.id(page) {
            let now = self.days(now);
            self.policy.retire(&self.catalogue, id, now);
            self.forget(page);
        }
    }

    /// Removes a page that the policy knows to be gone. If it comes back it is a new page to the policy.
    pub fn forget(&mut self, page: PageNumber) {
        if self.id(page).is_some() {
            self.ids[page.index()] = UNKNOWN;
            self.copies -= 1;
        }
    }

    /// Sets the importance of a page.
    pub fn weigh(&mut self, page: PageNumber, importance: f32) {
        if let Some(id) = self.id(page) {
            self.catalogue.set_importance(id, importance);
            self.policy.reweigh(&self.catalogue, id);
        }
    }

    /// Sets the expected cost of a visit to a page, relative to other pages.
    pub fn price(&mut self, page: PageNumber, cost: f32) {
        if let Some(id) = self.id(page)
            && (self.catalogue.cost(id) / cost).ln().abs() > 0.1
        {
            self.catalogue.set_cost(id, cost);
            self.policy.reweigh(&self.catalogue, id);
        }
    }

    /// Sets how many visits a site can take in this tick.
    pub fn set_room(&mut self, site: SiteNumber, visits: u32) {
        self.catalogue.set_room(SiteId(site.0), visits);
    }

    /// Begins the tick that contains `now`, with `budget` visits, if the last has ended. Returns whether one
    /// began.
    pub fn begin_tick(&mut self, now: Timestamp, budget: usize) -> bool {
        if self.tick_end.is_some_and(|end| now < end) {
            return false;
        }
        if self.tick_end.is_some() {
            self.policy.end_cycle(&self.catalogue);
        }
        let begun = now.millis_since(self.start).div_euclid(self.tick) * self.tick;
        self.tick_end = Some(self.start.plus_millis(begun).plus_millis(self.tick));
        let now = self.days(now);
        self.policy.begin_cycle(&self.catalogue, now, budget);
        true
    }

    /// Chooses at most `room` pages to visit next, in this tick.
    pub fn choose(&mut self, room: usize) -> impl Iterator<Item = (PageNumber, SiteNumber)> {
        self.chosen.clear();
        if !self.pages.is_empty() && self.tick_end.is_some() {
            self.policy.choose(&self.catalogue, room, &mut self.chosen);
        }
        self.chosen.iter().map(|id| self.pages[id.index()])
    }

    /// Length of a tick, in milliseconds.
    pub fn tick_millis(&self) -> i64 {
        self.tick
    }

    /// Why the page is visited when it is.
    pub fn explain(&self, page: PageNumber, now: Timestamp) -> Option<Explanation> {
        self.policy.explain(&self.catalogue, self.id(page)?, self.days(now))
    }

    /// The estimated freshness and age of the copies.
    pub fn copy_estimate(&self, now: Timestamp) -> Option<CopyEstimate> {
        self.policy.copy_estimate(&self.catalogue, self.days(now))
    }

    /// Whether the policy keeps a copy of this page fresh.
    pub fn has(&self, page: PageNumber) -> bool {
        self.id(page).is_some()
    }

    /// Number of copies that the policy keeps fresh.
    pub fn copies(&self) -> usize {
        self.copies
    }

    fn id(&self, page: PageNumber) -> Option<PageId> {
        self.ids.get(page.index()).copied().filter(|id| *id != UNKNOWN).map(PageId)
    }

    fn days(&self, moment: Timestamp) -> Days {
        moment.days_since(self.start)
    }
}
