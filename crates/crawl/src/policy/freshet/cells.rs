//! Cells: queues of pages that differ only in how long ago they were visited.
//!
//! Pages of one group with nearly the same constant part of their index (a class of about 12%) and the same class of
//! importance are ordered by their last visit alone. Such a cell is a first-in first-out queue: a visited page joins the tail of its
//! new cell, and the head is the cell's best page. No sort over all pages is ever needed.
//!
//! # Promises
//! - A page stands in at most one cell, and cells keep the order in which pages joined.
//! - A page leaves its cell in constant time, wherever it stands, but for the look through its group's cells when it is first or
//!   last.
//! - Eight bytes a page, twelve a cell.

/// No page.
const NONE: u32 = u32::MAX;

/// Pages that a page may pass when it is put back in its order: beyond them order matters little.
const PASSED_MAX: usize = 64;

/// The queues of all groups.
#[derive(Debug, Default)]
pub(super) struct Cells {
    links: Vec<Link>,
    by_group: Vec<Vec<Cell>>,
}

/// The neighbours of a page in its queue.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    previous: u32,
}

impl Link {
    const NONE: Self = Self { next: NONE, previous: NONE };
}

/// One queue.
#[derive(Clone, Copy, Debug)]
struct Cell {
    class: u16,
    head: u32,
    tail: u32,
}

impl Cells {
    /// Makes room for pages and groups.
    pub(super) fn grow(&mut self, pages: usize, groups: usize) {
        self.links.reserve_exact(pages - self.links.len());
        self.links.resize(pages, Link::NONE);
        self.by_group.resize_with(groups, Vec::new);
    }

    /// Number of cells of a group, the empty ones among them.
    pub(super) fn of_group(&self, group: usize) -> usize {
        self.by_group[group].len()
    }

    /// The page of a group's cell that was visited longest ago, and the class of the cell.
    pub(super) fn head(&self, group: usize, cell: usize) -> Option<(u32, u16)> {
        let Cell { class, head, .. } = self.by_group[group][cell];
        (head != NONE).then_some((head, class))
    }

    /// The page behind another.
    pub(super) fn after(&self, page: u32) -> Option<u32> {
        Some(self.links[page as usize].next).filter(|next| *next != NONE)
    }

    /// Takes the head out.
    pub(super) fn pop(&mut self, group: usize, cell: usize) {
        let head = self.by_group[group][cell].head;
        if head != NONE {
            let after = std::mem::replace(&mut self.links[head as usize].next, NONE);
            let cell = &mut self.by_group[group][cell];
            cell.head = after;
            match after {
                NONE => cell.tail = NONE,
                after => self.links[after as usize].previous = NONE,
            }
        }
    }

    /// Takes a page out of its cell.
    pub(super) fn remove(&mut self, group: usize, page: u32) {
        let Link { next, previous } = std::mem::replace(&mut self.links[page as usize], Link::NONE);
        let cells = &mut self.by_group[group];
        match previous {
            NONE => cells.iter_mut().filter(|cell| cell.head == page).for_each(|cell| cell.head = next),
            previous => self.links[previous as usize].next = next,
        }
        match next {
            NONE => cells.iter_mut().filter(|cell| cell.tail == page).for_each(|cell| cell.tail = previous),
            next => self.links[next as usize].previous = previous,
        }
    }

    /// Puts a page into the cell of its group and class, from the front: behind the first few for which `is_older` holds.
    pub(super) fn put_back(&mut self, group: usize, class: u16, page: u32, is_older: impl Fn(u32) -> bool) {
        let cell = self.cell_of(group, class);
        let (mut previous, mut next) = (NONE, self.by_group[group][cell].head);
        for _ in 0..PASSED_MAX {
            if next == NONE || !is_older(next) {
                break;
            }
            (previous, next) = (next, self.links[next as usize].next);
        }
        self.link(group, cell, page, previous, next);
    }

    /// Appends a page to the cell of its group and class.
    pub(super) fn append(&mut self, group: usize, class: u16, page: u32) {
        let cell = self.cell_of(group, class);
        let tail = self.by_group[group][cell].tail;
        self.link(group, cell, page, tail, NONE);
    }

    fn link(&mut self, group: usize, cell: usize, page: u32, previous: u32, next: u32) {
        self.links[page as usize] = Link { next, previous };
        let cell = &mut self.by_group[group][cell];
        match previous {
            NONE => cell.head = page,
            previous => self.links[previous as usize].next = page,
        }
        match next {
            NONE => cell.tail = page,
            next => self.links[next as usize].previous = page,
        }
    }

    /// The cell of a class. An emptied cell serves again before a new one is made.
    fn cell_of(&mut self, group: usize, class: u16) -> usize {
        let cells = &mut self.by_group[group];
        if let Some(cell) = cells.iter().position(|cell| cell.class == class && cell.head != NONE) {
            return cell;
        }
        let new = Cell { class, head: NONE, tail: NONE };
        if let Some(empty) = cells.iter().position(|cell| cell.head == NONE) {
            cells[empty] = new;
            return empty;
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
            .map(|(head, _)| std::iter::successors(Some(head), |page| cells.after(*page)).collect())
            .collect()
    }

    #[test]
    fn a_cell_is_first_in_first_out() {
        let mut cells = cells(5);
        for (page, class) in [(0, 7), (1, 7), (2, 9), (3, 7)] {
            cells.append(0, class, page);
        }
        assert_eq!(pages(&cells), [vec![0, 1, 3], vec![2]]);
        cells.pop(0, 0);
        cells.pop(0, 0);
        cells.put_back(0, 7, 1, |other| other < 1);
        cells.append(0, 7, 0);
        assert_eq!(pages(&cells), [vec![1, 3, 0], vec![2]]);
        cells.put_back(0, 7, 2, |other| other < 2);
    }

    #[test]
    fn an_emptied_cell_serves_again() {
        let mut cells = cells(3);
        cells.append(0, 1, 0);
        cells.pop(0, 0);
        cells.pop(0, 0);
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
