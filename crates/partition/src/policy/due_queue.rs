//! A priority queue of pages by the date of their next visit, the oldest first.
//!
//! # Promises
//! - A page is handed out at most once a cycle. One that is handed out and not visited keeps its date.
//! - A new date replaces the old one. Pages with the same date come in random order.
//! - A page that is closed in this cycle keeps its date.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::catalogue::PageId;
use super::selective::OpenPages;

/// A priority queue of the dates of all pages, in days since the crawl began.
#[derive(Debug, Default)]
pub(super) struct DueQueue {
    heap: BinaryHeap<Entry>,
    /// The valid date of each page; heap entries with another date are out of date. NaN: none.
    due: Vec<f64>,
    /// Pages popped in this cycle: handed out or closed.
    aside: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    due: f64,
    lot: u32,
    page: PageId,
}

impl DueQueue {
    /// Sets the number of pages; new ones have no date.
    pub(super) fn grow(&mut self, pages: usize) {
        self.due.resize(pages, f64::NAN);
    }

    /// Sets the date of a page's next visit; it may be infinite.
    pub(super) fn set(&mut self, page: PageId, due: f64, rng: &mut ChaCha8Rng) {
        self.due[page.index()] = due;
        self.heap.push(Entry { due, lot: rng.random(), page });
    }

    /// Recomputes the date of every page that has one.
    pub(super) fn set_all(&mut self, due: impl Fn(PageId) -> f64, rng: &mut ChaCha8Rng) {
        self.aside.clear();
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        for (page, date) in (0u32..).map(PageId).zip(&mut self.due) {
            if !date.is_nan() {
                *date = due(page);
                entries.push(Entry { due: *date, lot: rng.random(), page });
            }
        }
        self.heap = entries.into();
    }

    /// Takes the open page with the earliest date, which may lie in the future, and marks it as chosen.
    pub(super) fn take_next(&mut self, open: &mut OpenPages) -> Option<PageId> {
        while let Some(entry) = self.heap.pop() {
            let due = &mut self.due[entry.page.index()];
            if due.to_bits() != entry.due.to_bits() {
                continue;
            }
            if open.is_gone(entry.page) {
                *due = f64::NAN;
                continue;
            }
            self.aside.push(entry);
            if open.is_open(entry.page) {
                open.choose(entry.page);
                return Some(entry.page);
            }
        }
        None
    }

    /// Puts back the pages popped in this cycle. Entries of pages with a new date are out of date.
    pub(super) fn end_cycle(&mut self) {
        self.heap.extend(self.aside.drain(..));
    }
}

/// The greatest entry has the earliest date.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.total_cmp(&self.due).then(other.lot.cmp(&self.lot)).then(other.page.cmp(&self.page))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn pages_come_in_the_order_of_their_last_date_and_closed_ones_in_the_next_cycle() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut queue, mut open) = (DueQueue::default(), OpenPages::default());
        queue.grow(4);
        open.grow(4);
        open.begin_cycle();
        for (page, due) in [(0, 3.0), (1, 1.0), (2, 2.0), (3, f64::INFINITY), (1, 4.0)] {
            queue.set(PageId(page), due, &mut rng);
        }
        open.restrict(&|page| page.0 != 2);
        let mut order =
            || std::iter::from_fn(|| queue.take_next(&mut open)).map(|page| page.0).collect::<Vec<_>>();
        assert_eq!(order(), [0, 1, 3]);
        queue.end_cycle();
        open.begin_cycle();
        queue.set(PageId(0), 9.0, &mut rng);
        let mut order =
            || std::iter::from_fn(|| queue.take_next(&mut open)).map(|page| page.0).collect::<Vec<_>>();
        // Pages 1 and 3 were handed out and not visited.
        assert_eq!(order(), [2, 1, 0, 3]);
    }

    #[test]
    fn all_dates_can_be_set_anew() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut queue, mut open) = (DueQueue::default(), OpenPages::default());
        queue.grow(3);
        open.grow(3);
        open.begin_cycle();
        queue.set(PageId(0), 1.0, &mut rng);
        queue.set(PageId(2), 2.0, &mut rng);
        queue.set_all(|page| -f64::from(page.0), &mut rng);
        assert_eq!(queue.take_next(&mut open), Some(PageId(2)));
        assert_eq!(queue.take_next(&mut open), Some(PageId(0)));
        assert_eq!(queue.take_next(&mut open), None);
    }
}
