//! Cells: queues of pages that differ only in how long ago they were visited.
//!
//! Pages of one group with nearly the same constant part of their index (a class of about 12%) and the same class of
//! importance are ordered by their last visit alone. Such a cell is a first-in first-out queue: a visited page joins the tail of its
//! new cell, and the head is the cell's best page. No sort over all pages is ever needed.
//!
//! # Promises
//! - A page stands in at most one cell, and cells keep the order in which pages joined.
//! - Four bytes a page, twelve a cell.

/// No page.
const NONE: u32 = u32::MAX;

/// The queues of all groups.
#[derive(Debug, Default)]
pub(super) struct Cells {
    next: Vec<u32>,
    by_group: Vec<Vec<Cell>>,
}

/// One queue.
#[derive(Clone, Copy, Debug)]
struct Cell {
    class: u16,
    head: u32,
    tail: u32,
}

/// Where a cell stands: valid until pages join a class that its group did not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct CellId {
    pub(super) group: u32,
    index: u32,
}

impl Cells {
    /// Makes room for pages and groups.
    pub(super) fn grow(&mut self, pages: usize, groups: usize) {
        self.next.resize(pages, NONE);
        self.by_group.resize_with(groups, Vec::new);
    }

    /// The cells of a group.
    pub(super) fn of_group(&self, group: usize) -> impl Iterator<Item = CellId> + use<> {
        let group_number = u32::try_from(group).expect("groups are numbered in 32 bits");
        let cells = u32::try_from(self.by_group[group].len()).expect("a group has few classes");
        (0..cells).map(move |index| CellId { group: group_number, index })
    }

    /// The page that was visited longest ago.
    pub(super) fn head(&self, cell: CellId) -> Option<u32> {
        let head = self.cell(cell).head;
        (head != NONE).then_some(head)
    }

    /// Takes the head out.
    pub(super) fn pop(&mut self, cell: CellId) -> Option<u32> {
        let head = self.head(cell)?;
        let after = std::mem::replace(&mut self.next[head as usize], NONE);
        let cell = self.cell_mut(cell);
        cell.head = after;
        if after == NONE {
            cell.tail = NONE;
        }
        Some(head)
    }

    /// Puts a page that was popped back to the front.
    pub(super) fn put_back(&mut self, cell: CellId, page: u32) {
        let before = self.cell(cell).head;
        self.next[page as usize] = before;
        let cell = self.cell_mut(cell);
        cell.head = page;
        if before == NONE {
            cell.tail = page;
        }
    }

    /// Appends a page to the cell of its group and class.
    pub(super) fn append(&mut self, group: usize, class: u16, page: u32) {
        self.next[page as usize] = NONE;
        let cells = &mut self.by_group[group];
        let Some(cell) = cells.iter_mut().find(|cell| cell.class == class) else {
            // An emptied cell serves again before a new one is made.
            match cells.iter_mut().find(|cell| cell.head == NONE) {
                Some(empty) => *empty = Cell { class, head: page, tail: page },
                None => cells.push(Cell { class, head: page, tail: page }),
            }
            return;
        };
        if cell.head == NONE {
            *cell = Cell { class, head: page, tail: page };
        } else {
            let tail = std::mem::replace(&mut cell.tail, page);
            self.next[tail as usize] = page;
        }
    }

    fn cell(&self, cell: CellId) -> &Cell {
        &self.by_group[cell.group as usize][cell.index as usize]
    }

    fn cell_mut(&mut self, cell: CellId) -> &mut Cell {
        &mut self.by_group[cell.group as usize][cell.index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(cells: &Cells) -> Vec<Vec<u32>> {
        let next = |page: &u32| Some(cells.next[*page as usize]).filter(|next| *next != NONE);
        cells.of_group(0).map(|cell| std::iter::successors(cells.head(cell), next).collect()).collect()
    }

    #[test]
    fn a_cell_is_first_in_first_out() {
        let mut cells = Cells::default();
        cells.grow(5, 1);
        for (page, class) in [(0, 7), (1, 7), (2, 9), (3, 7)] {
            cells.append(0, class, page);
        }
        assert_eq!(pages(&cells), [vec![0, 1, 3], vec![2]]);
        let first = cells.of_group(0).next().expect("there is a cell");
        assert_eq!(cells.pop(first), Some(0));
        assert_eq!(cells.pop(first), Some(1));
        cells.put_back(first, 1);
        cells.append(0, 7, 0);
        assert_eq!(pages(&cells), [vec![1, 3, 0], vec![2]]);
    }

    #[test]
    fn an_emptied_cell_serves_again() {
        let mut cells = Cells::default();
        cells.grow(3, 1);
        cells.append(0, 1, 0);
        let first = cells.of_group(0).next().expect("there is a cell");
        assert_eq!(cells.pop(first), Some(0));
        assert_eq!(cells.pop(first), None);
        cells.append(0, 2, 1);
        cells.append(0, 2, 2);
        cells.put_back(first, 0);
        assert_eq!(pages(&cells), [vec![0, 1, 2]]);
    }
}
