//! Keeps a policy that knows nothing of rooms to the visits that sites can take.
//!
//! The policies of the texts choose pages as if every site could be visited at any time. Here a chosen page whose site has no
//! room waits; the policy is asked for another in its place; and when the site has room again the waiting page goes
//! first. Until the page is visited the policy has not been told of it, so that it may choose the page again: then it is
//! still chosen once.
//!
//! # Promises
//! - No more pages of a site are chosen at a time than it has room for.
//! - A page that waits is chosen as soon as its site has room, unless it was visited or has left in the meantime.
//! - Where all sites have room the policy decides alone.
//! - A page that was chosen and never visited can be chosen again an hour later.

use std::collections::{HashMap, VecDeque};

use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId, SiteId};
use super::visit::{CopyEstimate, Explanation, Observation, Policy};

/// Pages that may wait, beside the downloads of a cycle: beyond that, what is blocked is most of the web, and the cycle ends.
const WAITING_PER_DOWNLOAD: usize = 4;
/// Days after which a page that was chosen and not visited may be chosen again: an hour.
const GIVEN_UP_AFTER: f64 = 1.0 / 24.0;
/// Pages that may wait in any case.
const WAITING_LEAST: usize = 256;

/// A policy that is kept to the rooms of sites.
pub(super) struct Considerate {
    inner: Box<dyn Policy>,
    /// Pages without room, the first chosen in front. Some may be out of date: `state` decides.
    waiting: VecDeque<PageId>,
    /// What was chosen by the policy and not yet visited.
    state: HashMap<PageId, State>,
    /// Pages of each site that were chosen just now.
    taken: HashMap<SiteId, u32>,
    waiting_max: usize,
    /// When this cycle began.
    now: Days,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// For room.
    Waiting,
    /// Handed out, to be visited, in a cycle that began then.
    Chosen(Days),
}

impl Considerate {
    /// Keeps `inner` to the rooms of sites.
    pub(super) fn new(inner: Box<dyn Policy>) -> Self {
        Self {
            inner,
            waiting: VecDeque::new(),
            state: HashMap::new(),
            taken: HashMap::new(),
            waiting_max: WAITING_LEAST,
            now: Days::ZERO,
        }
    }

    /// Takes a place of the page's site, if there is one.
    fn takes_room(&mut self, catalogue: &Catalogue, page: PageId) -> bool {
        let site = catalogue.site_of(page);
        let taken = self.taken.entry(site).or_default();
        let has_room = *taken < catalogue.room(site);
        *taken += u32::from(has_room);
        has_room
    }

    /// Chooses waiting pages that have room now.
    fn choose_waiting(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let end = chosen.len() + room;
        for _ in 0..self.waiting.len() {
            let Some(page) = self.waiting.pop_front() else { return };
            if self.state.get(&page) != Some(&State::Waiting) {
                continue;
            }
            if chosen.len() < end && self.takes_room(catalogue, page) {
                self.state.insert(page, State::Chosen(self.now));
                chosen.push(page);
            } else {
                self.waiting.push_back(page);
            }
        }
    }

    /// Asks the policy once. Whether it wanted anything, new or chosen before: it names no page twice in a cycle.
    fn ask(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) -> bool {
        let mut wanted = Vec::new();
        self.inner.choose(catalogue, room, &mut wanted);
        let has_wishes = !wanted.is_empty();
        for page in wanted {
            if self.state.contains_key(&page) {
                continue;
            }
            if self.takes_room(catalogue, page) {
                self.state.insert(page, State::Chosen(self.now));
                chosen.push(page);
            } else {
                self.state.insert(page, State::Waiting);
                self.waiting.push_back(page);
            }
        }
        has_wishes
    }
}

impl Policy for Considerate {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        self.inner.discover(catalogue, first, now);
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        // What was chosen long ago is on its way or was given up: whoever visits pages knows which.
        self.now = now;
        self.state.retain(|_, state| match state {
            State::Waiting => true,
            State::Chosen(at) => now.get() - at.get() < GIVEN_UP_AFTER,
        });
        self.waiting_max = WAITING_LEAST.max(WAITING_PER_DOWNLOAD.saturating_mul(budget));
        self.inner.begin_cycle(catalogue, now, budget);
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        if catalogue.is_roomy() && self.state.is_empty() {
            return self.inner.choose(catalogue, room, chosen);
        }
        let before = chosen.len();
        self.taken.clear();
        self.choose_waiting(catalogue, room, chosen);
        // A policy may want to hear what its choice found before it chooses again: it is asked again only in place of what waits.
        while chosen.len() == before && self.waiting.len() < self.waiting_max {
            if !self.ask(catalogue, room, chosen) {
                return;
            }
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        if !self.state.is_empty() {
            observations.iter().for_each(|observation| {
                self.state.remove(&observation.page);
            });
        }
        self.inner.learn(catalogue, observations);
    }

    fn learn_prompted(&mut self, catalogue: &Catalogue, observation: &Observation) {
        self.state.remove(&observation.page);
        self.inner.learn_prompted(catalogue, observation);
    }

    fn learn_dated(&mut self, catalogue: &Catalogue, observation: &Observation, date: Days) {
        self.state.remove(&observation.page);
        self.inner.learn_dated(catalogue, observation, date);
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.inner.end_cycle(catalogue);
    }

    fn retire(&mut self, catalogue: &Catalogue, page: PageId, now: Days) {
        self.state.remove(&page);
        self.inner.retire(catalogue, page, now);
    }

    fn reweigh(&mut self, catalogue: &Catalogue, page: PageId) {
        self.inner.reweigh(catalogue, page);
    }

    fn explain(&self, catalogue: &Catalogue, page: PageId, now: Days) -> Option<Explanation> {
        self.inner.explain(catalogue, page, now)
    }

    fn copy_estimate(&self, catalogue: &Catalogue, now: Days) -> Option<CopyEstimate> {
        self.inner.copy_estimate(catalogue, now)
    }
}
