//! The stored state of every page: 18 bytes.

use super::compact::Compact;
use super::moments::Moment;

/// Fixed-point scale of a residual average: one is 2^14.
const RESIDUAL_ONE: f32 = 16_384.0;

/// Where a page is in the cycle of choice and visit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In the queue of its cell.
    Queued,
    /// In the queue of its cell and in the plan.
    Planned,
    /// Chosen, or just visited.
    Out,
    /// No longer there, or no longer part of the crawl.
    Gone,
}

/// The state of one page. It is one piece, because pages are accessed in no order and each piece costs one
/// memory access. Packed, because padding would waste two bytes per page.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
struct Record {
    /// The group of the page.
    group: u32,
    /// When it was last visited.
    last: Moment,
    /// Discounted number of changes (n).
    changes: Compact,
    /// Discounted clock time observed (e).
    exposure: Compact,
    residual_fast: i16,
    residual_slow: i16,
    visits: u8,
    /// The place and the bits [`LAST_CHANGED`], [`TOLD`] and [`CONFIRMED`].
    marks: u8,
}

/// Bits of the marks that hold the place.
const PLACE: u8 = 3;
/// Mark: the last visit found a change.
const LAST_CHANGED: u8 = 4;
/// Mark: a signal has reported a change since the last visit.
const TOLD: u8 = 8;
/// Mark: the page was known to equal our copy at some time after its last visit.
const CONFIRMED: u8 = 16;

impl Place {
    const ALL: [Self; 4] = [Self::Queued, Self::Planned, Self::Out, Self::Gone];
}

/// The records of all pages.
#[derive(Debug, Default)]
pub(super) struct Records(Vec<Record>);

impl Records {
    /// Adds a page that was copied at `last`.
    pub(super) fn push(&mut self, group: u32, last: Moment) {
        self.0.push(Record {
            group,
            last,
            changes: Compact::default(),
            exposure: Compact::default(),
            residual_fast: 0,
            residual_slow: 0,
            visits: 0,
            marks: Place::Out as u8,
        });
    }

    /// Makes room for `more` pages.
    pub(super) fn reserve(&mut self, more: usize) {
        make_room(&mut self.0, more);
    }

    /// Number of pages.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The group of the page.
    #[inline]
    pub(super) fn group(&self, page: usize) -> u32 {
        self.0[page].group
    }

    /// When the page was last visited.
    #[inline]
    pub(super) fn last(&self, page: usize) -> Moment {
        self.0[page].last
    }

    /// Sets when the page was last visited.
    #[inline]
    pub(super) fn set_last(&mut self, page: usize, last: Moment) {
        self.0[page].last = last;
    }

    /// Where the page is.
    #[inline]
    pub(super) fn place(&self, page: usize) -> Place {
        Place::ALL[usize::from(self.0[page].marks & PLACE)]
    }

    /// Sets where the page is.
    #[inline]
    pub(super) fn set_place(&mut self, page: usize, place: Place) {
        self.0[page].marks = self.0[page].marks & !PLACE | place as u8;
    }

    /// Discounted changes (n) and discounted clock time observed (e).
    #[inline]
    pub(super) fn statistics(&self, page: usize) -> (f32, f32) {
        (self.0[page].changes.get(), self.0[page].exposure.get())
    }

    /// Replaces the statistics.
    pub(super) fn set_statistics(&mut self, page: usize, (changes, exposure): (f32, f32)) {
        (self.0[page].changes, self.0[page].exposure) = (Compact::new(changes), Compact::new(exposure));
    }

    /// Number of visits, at most 255.
    #[inline]
    pub(super) fn visits(&self, page: usize) -> u8 {
        self.0[page].visits
    }

    /// Whether the last visit found a change; none before the first visit.
    #[inline]
    pub(super) fn last_changed(&self, page: usize) -> Option<bool> {
        (self.0[page].visits > 0).then_some(self.0[page].marks & LAST_CHANGED != 0)
    }

    /// Whether a signal has reported a change since the last visit.
    #[inline]
    pub(super) fn is_told(&self, page: usize) -> bool {
        self.0[page].marks & TOLD != 0
    }

    /// Records a signal that the page has changed, or that it has not.
    pub(super) fn tell(&mut self, page: usize, changed: bool) {
        let marks = self.0[page].marks & !TOLD;
        self.0[page].marks = marks | if changed { TOLD } else { 0 };
    }

    /// Whether the page was known to equal our copy at some time after its last visit.
    #[inline]
    pub(super) fn is_confirmed(&self, page: usize) -> bool {
        self.0[page].marks & CONFIRMED != 0
    }

    /// Records, without a visit, that the page equals our copy at `time`.
    pub(super) fn confirm(&mut self, page: usize, time: Moment) {
        self.set_last(page, time);
        self.tell(page, false);
        self.0[page].marks |= CONFIRMED;
    }

    /// Running averages of outcome minus prediction: one over few visits, one over many.
    #[inline]
    pub(super) fn residuals(&self, page: usize) -> (f32, f32) {
        (
            f32::from(self.0[page].residual_fast) / RESIDUAL_ONE,
            f32::from(self.0[page].residual_slow) / RESIDUAL_ONE,
        )
    }

    /// Records a visit, with the probability of a change that was predicted for it.
    pub(super) fn visit(&mut self, page: usize, changed: bool, predicted: f32) {
        let residual = f32::from(u8::from(changed)) - predicted;
        let (fast, slow) = self.residuals(page);
        let record = &mut self.0[page];
        record.residual_fast = ((0.6 * fast + 0.4 * residual) * RESIDUAL_ONE).round() as i16;
        record.residual_slow = ((0.9 * slow + 0.1 * residual) * RESIDUAL_ONE).round() as i16;
        record.visits = record.visits.saturating_add(1);
        record.marks =
            record.marks & !(LAST_CHANGED | TOLD | CONFIRMED) | if changed { LAST_CHANGED } else { 0 };
    }
}

/// Reserves room for `more` items, and for at least an eighth of the present ones. Pages that are discovered
/// one by one must not be moved each time, and pages that are discovered at once should take no more memory
/// than they need.
pub(super) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        items.reserve_exact(more.max(items.len() / 8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_18_bytes() {
        assert_eq!(size_of::<Record>(), 18);
    }

    #[test]
    fn place_last_change_and_what_was_told_are_kept_apart() {
        let mut records = Records::default();
        records.push(0, Moment::START);
        for (changed, place) in [(true, Place::Queued), (false, Place::Gone), (true, Place::Planned)] {
            records.visit(0, changed, 0.5);
            records.set_place(0, place);
            assert_eq!((records.last_changed(0), records.place(0)), (Some(changed), place));
            for told in [true, false, true] {
                records.tell(0, told);
                let marks = (records.last_changed(0), records.place(0), records.is_told(0));
                assert_eq!(marks, (Some(changed), place, told));
            }
        }
        records.confirm(0, Moment::end_of(3));
        assert_eq!((records.is_confirmed(0), records.is_told(0)), (true, false));
        assert_eq!((records.last_changed(0), records.last(0)), (Some(true), Moment::end_of(3)));
        records.tell(0, true);
        records.visit(0, true, 0.5);
        assert!(!records.is_told(0) && !records.is_confirmed(0), "what is told holds until the next visit");
    }
}
