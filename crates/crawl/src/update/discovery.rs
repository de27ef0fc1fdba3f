//! Discovery queue: pages that were admitted and never visited, the best of each site first, and sites in
//! turn.
//!
//! Sites take turns so that a large site does not crowd out the others. Within a site the page with the
//! highest priority goes first, and among equals the one that was found first. This is breadth-first where
//! priority falls with depth (**thesis** 2.4, 4.2).
//!
//! In a crawl about a topic, hot pages, whose priority is about [`HOT_QUEUE`] or higher, go before all
//! others, whatever their sites: the two queues of the **thesis**, 2.5.4. A raised page has several entries
//! in the queue; it is taken once.
//!
//! # Promises
//! - A page is taken once, however often it was raised.
//! - No other page is taken while a hot one waits at a site that has room.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use freshet_partition::topic::HOT_QUEUE;
use freshet_protocol::ids::{PageNumber, SiteNumber};

/// Maximum number of pages that a site may take per turn.
const TURN: usize = 4;

/// All pages that wait for their first visit.
#[derive(Debug, Default)]
pub struct Discovery {
    sites: Vec<Waiting>,
    /// Sites with pages, in the order of their turns.
    turns: VecDeque<SiteNumber>,
    pages: usize,
    /// Number of entries of hot pages.
    hot: usize,
    /// Pages with more than one entry: the number of entries, and whether the page was taken.
    raised: HashMap<PageNumber, (u32, bool)>,
}

#[derive(Debug, Default)]
struct Waiting {
    pages: BinaryHeap<(Priority, Reverse<PageNumber>)>,
    has_turn: bool,
}

/// Priority of a page's first visit: higher is sooner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Priority(f32);

impl Priority {
    /// Whether it belongs to the hot queue. Depth takes away less than half of the bonus.
    fn is_hot(self) -> bool {
        HOT_QUEUE / 2.0 < self.0
    }
}

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
    /// Adds a page that waits for its first visit.
    pub fn add(&mut self, site: SiteNumber, page: PageNumber, priority: f32) {
        self.pages += 1;
        self.put(site, page, Priority(priority));
    }

    /// Raises the priority of a page that waits for its first visit.
    pub fn raise(&mut self, site: SiteNumber, page: PageNumber, priority: f32) {
        self.raised.entry(page).or_insert((1, false)).0 += 1;
        self.put(site, page, Priority(priority));
    }

    fn put(&mut self, site: SiteNumber, page: PageNumber, priority: Priority) {
        let index = site.0 as usize;
        if self.sites.len() <= index {
            self.sites.resize_with(index + 1, Waiting::default);
        }
        self.hot += usize::from(priority.is_hot());
        let waiting = &mut self.sites[index];
        waiting.pages.push((priority, Reverse(page)));
        if !waiting.has_turn {
            waiting.has_turn = true;
            self.turns.push_back(site);
        }
    }

    /// Takes at most `wanted` pages, and from each site at most as many as `room` allows.
    pub fn take(
        &mut self,
        wanted: usize,
        mut room: impl FnMut(SiteNumber) -> usize,
        mut taken: impl FnMut(SiteNumber, PageNumber),
    ) {
        let mut left = wanted;
        if self.hot > 0 {
            self.take_hot(&mut left, &mut room, &mut taken);
        }
        let mut idle_turns = 0;
        while left > 0 && idle_turns < self.turns.len() {
            let Some(site) = self.turns.pop_front() else { return };
            let before = left;
            let has_page = self.best(site).is_some();
            let share = if has_page { room(site).min(TURN).min(left) } else { 0 };
            for _ in 0..share {
                let Some(page) = self.pop(site) else { break };
                taken(site, page);
                left -= 1;
            }
            let waiting = &mut self.sites[site.0 as usize];
            waiting.has_turn = !waiting.pages.is_empty();
            if waiting.has_turn {
                self.turns.push_back(site);
            }
            idle_turns = if before == left { idle_turns + 1 } else { 0 };
        }
    }

    /// Takes the hottest pages of all sites that have room.
    fn take_hot(
        &mut self,
        left: &mut usize,
        room: &mut impl FnMut(SiteNumber) -> usize,
        taken: &mut impl FnMut(SiteNumber, PageNumber),
    ) {
        let mut rooms: HashMap<SiteNumber, usize> = HashMap::new();
        let mut hottest = BinaryHeap::new();
        for site in self.turns.clone() {
            hottest.extend(self.hottest(site));
        }
        while *left > 0
            && let Some((_, Reverse(site))) = hottest.pop()
        {
            let room = rooms.entry(site).or_insert_with(|| room(site));
            if *room == 0 {
                continue;
            }
            *room -= 1;
            if let Some(page) = self.pop(site) {
                taken(site, page);
                *left -= 1;
            }
            hottest.extend(self.hottest(site));
        }
    }

    /// A site and the priority of its best page, if that page is hot.
    fn hottest(&mut self, site: SiteNumber) -> Option<(Priority, Reverse<SiteNumber>)> {
        self.best(site).filter(|priority| priority.is_hot()).map(|priority| (priority, Reverse(site)))
    }

    /// The priority of the first page of a site. Drops entries of pages that were taken before.
    fn best(&mut self, site: SiteNumber) -> Option<Priority> {
        loop {
            let (priority, Reverse(page)) = *self.sites[site.0 as usize].pages.peek()?;
            if self.raised.get(&page).is_none_or(|(_, was_taken)| !was_taken) {
                return Some(priority);
            }
            self.drop_first(site);
        }
    }

    /// Takes the first page of a site.
    fn pop(&mut self, site: SiteNumber) -> Option<PageNumber> {
        self.best(site)?;
        self.pages -= 1;
        self.drop_first(site)
    }

    /// Drops the first entry of a site, and marks its page as taken.
    fn drop_first(&mut self, site: SiteNumber) -> Option<PageNumber> {
        let (priority, Reverse(page)) = self.sites[site.0 as usize].pages.pop()?;
        self.hot -= usize::from(priority.is_hot());
        if let Some((entries, was_taken)) = self.raised.get_mut(&page) {
            (*entries, *was_taken) = (*entries - 1, true);
            if *entries == 0 {
                self.raised.remove(&page);
            }
        }
        Some(page)
    }

    /// Number of waiting pages.
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

    #[test]
    fn hot_pages_go_before_all_others_whatever_their_site() {
        let mut discovery = Discovery::default();
        for page in 0..4 {
            discovery.add(SiteNumber(page % 2), PageNumber(page), -1.0);
        }
        discovery.add(SiteNumber(2), PageNumber(9), HOT_QUEUE - 3.0);
        discovery.add(SiteNumber(2), PageNumber(8), -1.0);
        assert_eq!(taken(&mut discovery, 1, 4), [(2, 9)]);
        assert_eq!(taken(&mut discovery, 2, 4), [(0, 0), (0, 2)]);
    }

    #[test]
    fn a_page_that_was_raised_is_taken_sooner_and_once() {
        let mut discovery = Discovery::default();
        for page in 0..3 {
            discovery.add(SiteNumber(0), PageNumber(page), -1.0);
        }
        discovery.raise(SiteNumber(0), PageNumber(2), HOT_QUEUE);
        discovery.raise(SiteNumber(0), PageNumber(2), HOT_QUEUE + 5.0);
        assert_eq!(discovery.pages(), 3);
        assert_eq!(taken(&mut discovery, 9, 1), [(0, 2)]);
        assert_eq!(taken(&mut discovery, 9, 4), [(0, 0), (0, 1)]);
        assert_eq!((discovery.pages(), discovery.raised.len(), discovery.hot), (0, 0, 0));
        assert_eq!(taken(&mut discovery, 9, 4), []);
    }
}
