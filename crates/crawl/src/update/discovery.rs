//! Pages that were admitted and never visited, the best of each site first, and sites in turn.
//!
//! Sites take turns so that a large one does not hide the others; within a site the page with the highest priority goes
//! first, and of equal ones that which was found first: breadth-first where priority falls with depth (**thesis** 2.4, 4.2).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use freshet_store::ids::{PageNumber, SiteNumber};

/// Pages that one site may take when it is its turn.
const TURN: usize = 4;

/// All pages that wait for their first visit.
#[derive(Debug, Default)]
pub struct Discovery {
    sites: Vec<Waiting>,
    /// Sites with pages, in the order of their turns.
    turns: VecDeque<SiteNumber>,
    pages: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    pages: BinaryHeap<(Priority, Reverse<PageNumber>)>,
    has_turn: bool,
}

/// How soon a page is visited first: higher is sooner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Priority(f32);

impl Eq for Priority {}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Discovery {
    /// A page waits for its first visit.
    pub fn add(&mut self, site: SiteNumber, page: PageNumber, priority: f32) {
        let index = site.0 as usize;
        if self.sites.len() <= index {
            self.sites.resize_with(index + 1, Waiting::default);
        }
        let waiting = &mut self.sites[index];
        waiting.pages.push((Priority(priority), Reverse(page)));
        self.pages += 1;
        if !waiting.has_turn {
            waiting.has_turn = true;
            self.turns.push_back(site);
        }
    }

    /// Takes at most `wanted` pages, from no site more than `room` says.
    pub fn take(
        &mut self,
        wanted: usize,
        mut room: impl FnMut(SiteNumber) -> usize,
        mut taken: impl FnMut(SiteNumber, PageNumber),
    ) {
        let mut left = wanted;
        let mut idle_turns = 0;
        while left > 0 && idle_turns < self.turns.len() {
            let Some(site) = self.turns.pop_front() else { return };
            let waiting = &mut self.sites[site.0 as usize];
            let share = room(site).min(TURN).min(left);
            let before = left;
            for (_, Reverse(page)) in std::iter::from_fn(|| waiting.pages.pop()).take(share) {
                taken(site, page);
                left -= 1;
            }
            self.pages -= before - left;
            waiting.has_turn = !waiting.pages.is_empty();
            if waiting.has_turn {
                self.turns.push_back(site);
            }
            idle_turns = if before == left { idle_turns + 1 } else { 0 };
        }
    }

    /// Pages that wait.
    pub fn pages(&self) -> usize {
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(discovery: &mut Discovery, wanted: usize, room: usize) -> Vec<(u32, u32)> {
        let (mut out, mut used) = (Vec::new(), [0usize; 8]);
        let mut pages = Vec::new();
        discovery.take(
            wanted,
            |site| room.saturating_sub(std::mem::replace(&mut used[site.0 as usize], room)),
            |site, page| pages.push((site.0, page.0)),
        );
        out.append(&mut pages);
        out
    }

    #[test]
    fn sites_take_turns_and_the_best_page_of_a_site_goes_first() {
        let mut discovery = Discovery::default();
        for page in 0..6 {
            discovery.add(SiteNumber(0), PageNumber(page), if page == 5 { 2.0 } else { 1.0 });
        }
        discovery.add(SiteNumber(1), PageNumber(6), 0.1);
        assert_eq!(taken(&mut discovery, 5, 4), [(0, 5), (0, 0), (0, 1), (0, 2), (1, 6)]);
        assert_eq!(discovery.pages(), 2);
        assert_eq!(taken(&mut discovery, 5, 0), []);
        assert_eq!(taken(&mut discovery, 5, 4), [(0, 3), (0, 4)]);
        assert_eq!(discovery.pages(), 0);
    }
}
