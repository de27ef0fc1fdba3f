//! What the policy keeps of every page: 24 bytes.

use std::ops::{Index, IndexMut};

use super::moments::Moment;

/// Fixed-point steps of a residual average: one is 2^14.
const RESIDUAL_ONE: f32 = 16_384.0;

/// Where a page is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In the queue of its cell.
    Queued,
    /// Among the candidates of the plan.
    Planned,
    /// Handed out, or just visited.
    Out,
    /// No longer there, or no longer ours.
    Gone,
}

/// What is kept of one page. It stands in one piece: pages are looked at in no order, and each piece is one access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The group of the page.
    pub(super) group: u32,
    /// When it was last visited.
    pub(super) last: Moment,
    /// Discounted changes (n).
    pub(super) changes: f32,
    /// Discounted clock time observed (e).
    pub(super) exposure: f32,
    residual_fast: i16,
    residual_slow: i16,
    visits: u8,
    place: Place,
    last_changed: bool,
}

/// The records of all pages.
#[derive(Debug, Default)]
pub(super) struct Records(Vec<Record>);

impl Index<usize> for Records {
    type Output = Record;

    fn index(&self, page: usize) -> &Record {
        &self.0[page]
    }
}

impl IndexMut<usize> for Records {
    fn index_mut(&mut self, page: usize) -> &mut Record {
        &mut self.0[page]
    }
}

impl Records {
    /// Adds a page that was copied at the moment `last`.
    pub(super) fn push(&mut self, group: u32, last: Moment) {
        self.0.push(Record {
            group,
            last,
            changes: 0.0,
            exposure: 0.0,
            residual_fast: 0,
            residual_slow: 0,
            visits: 0,
            place: Place::Out,
            last_changed: false,
        });
    }

    /// Makes room for so many more pages at once, and no more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.0.reserve_exact(more);
    }

    /// Number of pages.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where the page is.
    pub(super) fn place(&self, page: usize) -> Place {
        self.0[page].place
    }

    /// Says where the page is.
    pub(super) fn set_place(&mut self, page: usize, place: Place) {
        self.0[page].place = place;
    }

    /// Visits, as far as they are counted.
    pub(super) fn visits(&self, page: usize) -> u8 {
        self.0[page].visits
    }

    /// Whether the last visit found a change; nothing before the first visit.
    pub(super) fn last_changed(&self, page: usize) -> Option<bool> {
        (self.0[page].visits > 0).then_some(self.0[page].last_changed)
    }

    /// Averages of what the last visits found beyond what was predicted: one of few visits, one of many.
    pub(super) fn residuals(&self, page: usize) -> (f32, f32) {
        (
            f32::from(self.0[page].residual_fast) / RESIDUAL_ONE,
            f32::from(self.0[page].residual_slow) / RESIDUAL_ONE,
        )
    }

    /// A visit found a change or none where a change had this probability.
    pub(super) fn visit(&mut self, page: usize, changed: bool, predicted: f32) {
        let residual = f32::from(u8::from(changed)) - predicted;
        let (fast, slow) = self.residuals(page);
        let record = &mut self.0[page];
        record.residual_fast = ((0.6 * fast + 0.4 * residual) * RESIDUAL_ONE).round() as i16;
        record.residual_slow = ((0.9 * slow + 0.1 * residual) * RESIDUAL_ONE).round() as i16;
        record.visits = record.visits.saturating_add(1);
        record.last_changed = changed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_24_bytes() {
        assert_eq!(size_of::<Record>(), 24);
    }
}
