//! A wrapper that keeps a policy within the number of visits that sites have room for.
//!
//! The policies of the papers choose pages as if every site could be visited at any time. Here a chosen page
//! waits if its site has no room, and the policy is asked for another one. When the site has room again, the
//! waiting page goes first. The policy learns nothing of the page until it is visited and may therefore
//! choose it again; the page is still chosen only once.
//!
//! # Promises
//! - No more pages of a site are chosen at a time than it has room for.
//! - A waiting page is chosen as soon as its site has room, unless it was visited or has left in the
//!   meantime.
//! - Where all sites have room the policy decides alone.
//! - A page that was chosen and never visited can be chosen again an hour later.

use std::collections::{HashMap, VecDeque};

use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId, SiteId};
use super::visit::{CopyEstimate, Explanation, Observation, Policy};

/// Maximum number of waiting pages per download of a cycle. With more, most of the web is blocked, and the
/// cycle ends.
const WAITING_PER_DOWNLOAD: usize = 4;
/// Days after which a page that was chosen and not visited may be chosen again: an hour.
const GIVEN_UP_AFTER: f64 = 1.0 / 24.0;
/// Number of pages that may wait in any case.
const WAITING_LEAST: usize = 256;

/// A policy limited to the room that sites have.
pub(super) struct Considerate {
    inner: Box<dyn Policy>,
    /// Pages without room, the first chosen in front. Entries may be out of date: `state` decides.
    waiting: VecDeque<PageId>,
    /// Pages chosen by the policy and not yet visited.
    state: HashMap<PageId, State>,
    /// Pages of each site chosen in this call.
    taken: HashMap<SiteId, u32>,
    waiting_max: usize,
    /// Start of this cycle.
    now: Days,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Waiting for room.
    Waiting,
    /// Handed out to be visited, in the cycle that began at this time.
    Chosen(Days),
}

impl Considerate {
    /// Limits `inner` to the room that sites have.
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

    /// Takes one of the visits that the page's site has room for. Returns false if there is none.
    fn takes_room(&mut self, catalogue: &Catalogue, page: PageId) -> bool {
        let site = catalogue.site_of(page);
        let taken = self.taken.entry(site).or_default();
        let has_room = *taken < catalogue.room(site);
        *taken += u32::from(has_room);
        has_room
    }

    /// Chooses waiting pages whose sites have room now.
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

    /// Asks the policy once. Returns whether it named any page, new or chosen before: it names no page twice
    /// in a cycle.
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
        // Pages chosen long ago are being visited or were given up; the driver knows which.
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
        // A policy may need the results of its choice before the next one, so it is asked again only to
        // replace waiting pages.
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
