//! Cells: queues of pages that differ only in the time of their last visit.
//!
//! Pages of one group are ordered by their last visit alone if they have nearly the same constant part of the
//! index (a class about 22% wide) and the same class of importance. Such a cell is a first-in first-out
//! queue: a visited page joins the tail of its new cell, and the head is the cell's best page. No sort over
//! all pages is ever needed.
//!
//! # Promises
//! - A page is in at most one cell, and cells keep the order in which pages joined.
//! - Removing a page takes constant time, plus a search through its group's cells.
//! - Eight bytes per page and eight per cell.

use super::records::make_room;

/// Stands for "no page".
const NONE: u32 = u32::MAX;

/// Maximum number of pages passed when a page is put back in order: beyond them order matters little.
const PASSED_MAX: usize = 64;

/// Cells added to a group's capacity at a time: there are many groups, each with a vector of its own.
const CELLS_AT_A_TIME: usize = 4;

/// The queues of all groups.
#[derive(Debug, Default)]
pub(super) struct Cells {
    links: Vec<Link>,
    by_group: Vec<Vec<Cell>>,
}

/// The neighbours of a page in its queue. The queue is a ring: the head follows the tail.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    previous: u32,
}

impl Link {
    const NONE: Self = Self { next: NONE, previous: NONE };
}

/// One queue: its head and the class of its pages.
#[derive(Clone, Copy, Debug)]
struct Cell {
    head: u32,
    class: u16,
}

impl Cells {
    /// Makes room for this many pages and groups.
    pub(super) fn grow(&mut self, pages: usize, groups: usize) {
        let more = pages - self.links.len();
        make_room(&mut self.links, more);
        self.links.resize(pages, Link::NONE);
        self.by_group.resize_with(groups, Vec::new);
    }

    /// Number of cells of a group, including empty ones.
    #[inline]
    pub(super) fn of_group(&self, group: usize) -> usize {
        self.by_group[group].len()
    }

    /// The page of a group's cell with the oldest visit.
    #[inline]
    pub(super) fn head(&self, group: usize, cell: usize) -> Option<u32> {
        Some(self.by_group[group][cell].head).filter(|head| *head != NONE)
    }

    /// The page that follows `page` in the queue with this head.
    #[inline]
    pub(super) fn after(&self, page: u32, head: u32) -> Option<u32> {
        Some(self.links[page as usize].next).filter(|next| *next != head)
    }

    /// Removes a page from its cell.
    pub(super) fn remove(&mut self, group: usize, page: u32) {
        let Link { next, previous } = std::mem::replace(&mut self.links[page as usize], Link::NONE);
        debug_assert_ne!(next, NONE, "the page stands in a cell");
        if let Some(cell) = self.by_group[group].iter_mut().find(|cell| cell.head == page) {
            cell.head = if next == page { NONE } else { next };
        }
        if next != page {
            self.links[previous as usize].next = next;
            self.links[next as usize].previous = previous;
        }
    }

    /// Puts a page into the cell of its group and class, near the front: after the first pages for which
    /// `is_older` holds.
    pub(super) fn put_back(&mut self, group: usize, class: u16, page: u32, is_older: impl Fn(u32) -> bool) {
        let cell = self.cell_of(group, class);
        let head = self.by_group[group][cell].head;
        let mut next = Some(head).filter(|head| *head != NONE);
        let mut passed = 0;
        while let Some(other) = next.filter(|other| passed < PASSED_MAX && is_older(*other)) {
            next = self.after(other, head);
            passed += 1;
        }
        self.link(group, cell, page, next.unwrap_or(head));
        if passed == 0 {
            self.by_group[group][cell].head = page;
        }
    }

    /// Appends a page to the cell of its group and class.
    pub(super) fn append(&mut self, group: usize, class: u16, page: u32) {
        let cell = self.cell_of(group, class);
        let head = self.by_group[group][cell].head;
        self.link(group, cell, page, head);
    }

    /// Links a page into a cell in front of `next`, or as its only page.
    fn link(&mut self, group: usize, cell: usize, page: u32, next: u32) {
        if next == NONE {
            self.links[page as usize] = Link { next: page, previous: page };
            self.by_group[group][cell].head = page;
            return;
        }
        let previous = std::mem::replace(&mut self.links[next as usize].previous, page);
        self.links[previous as usize].next = page;
        self.links[page as usize] = Link { next, previous };
    }

    /// The cell of a class. An empty cell is reused before a new one is made.
    fn cell_of(&mut self, group: usize, class: u16) -> usize {
        let cells = &mut self.by_group[group];
        if let Some(cell) = cells.iter().position(|cell| cell.class == class && cell.head != NONE) {
            return cell;
        }
        let new = Cell { class, head: NONE };
        if let Some(empty) = cells.iter().position(|cell| cell.head == NONE) {
            cells[empty] = new;
            return empty;
        }
        if cells.len() == cells.capacity() {
            cells.reserve_exact(CELLS_AT_A_TIME);
        }
        cells.push(new);
        cells.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(pages: usize) -> Cells {
        let mut cells = Cells::default();
        cells.grow(pages, 1);
        cells
    }

    fn pages(cells: &Cells) -> Vec<Vec<u32>> {
        let heads = (0..cells.of_group(0)).filter_map(|cell| cells.head(0, cell));
        heads
            .map(|head| std::iter::successors(Some(head), |page| cells.after(*page, head)).collect())
            .collect()
    }

    #[test]
    fn a_cell_is_first_in_first_out() {
        let mut cells = cells(5);
        for (page, class) in [(0, 7), (1, 7), (2, 9), (3, 7)] {
            cells.append(0, class, page);
        }
        assert_eq!(pages(&cells), [vec![0, 1, 3], vec![2]]);
        cells.remove(0, 0);
        cells.remove(0, 1);
        cells.put_back(0, 7, 1, |other| other < 1);
        cells.append(0, 7, 0);
        assert_eq!(pages(&cells), [vec![1, 3, 0], vec![2]]);
        cells.put_back(0, 7, 4, |other| other < 4);
        assert_eq!(pages(&cells), [vec![1, 3, 0, 4], vec![2]]);
    }

    #[test]
    fn an_emptied_cell_serves_again() {
        let mut cells = cells(3);
        cells.append(0, 1, 0);
        cells.remove(0, 0);
        cells.append(0, 2, 1);
        cells.append(0, 2, 2);
        cells.put_back(0, 2, 0, |_| false);
        assert_eq!(pages(&cells), [vec![0, 1, 2]]);
        assert_eq!(cells.of_group(0), 1);
    }

    proptest! {
        #[test]
        fn whoever_leaves_the_others_keep_their_order(leave in prop::collection::vec(0u32..12, 0..12)) {
            let mut cells = cells(12);
            let class = |page: u32| (page % 3) as u16;
            (0..12).for_each(|page| cells.append(0, class(page), page));
            let mut left: Vec<u32> = (0..12).collect();
            for page in leave {
                if left.contains(&page) {
                    left.retain(|other| *other != page);
                    cells.remove(0, page);
                }
            }
            let mut expected: Vec<Vec<u32>> =
                (0..3).map(|of| left.iter().copied().filter(|page| class(*page) == of).collect()).collect();
            expected.retain(|pages: &Vec<u32>| !pages.is_empty());
            prop_assert_eq!(pages(&cells), expected);
        }
    }
}
