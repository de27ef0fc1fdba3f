//! Shadowing: readers see the collection of the last complete cycle until the next is complete (**thesis**
//! 7.2.2).
//!
//! Every version is stored with its time, so a collection is given by a moment: readers see the copies as
//! they were then. Swapping the two collections means setting a new moment.

use freshet_protocol::time::Timestamp;

/// When the collections are swapped.
#[derive(Clone, Copy, Debug)]
pub struct Shadow {
    /// Start of the first cycle.
    pub start: Timestamp,
    /// Length of a cycle, in milliseconds.
    pub cycle: i64,
    /// Whether a batch completes a collection before its cycle ends.
    pub waits_for_the_end: bool,
    /// The moment whose collection readers see.
    pub published: Timestamp,
}

impl Shadow {
    /// Returns the moment that readers may see from now on, if it changes. `is_done` says whether the batch
    /// of this cycle was visited.
    pub fn swap(&mut self, now: Timestamp, is_done: bool) -> Option<Timestamp> {
        let begun = now.millis_since(self.start).div_euclid(self.cycle.max(1)) * self.cycle;
        let boundary = self.start.plus_millis(begun);
        let whole = if self.waits_for_the_end && is_done { now } else { boundary };
        // Nothing was complete before the first cycle ended. A batch is published once.
        let is_new = self.published < boundary || (whole == now && self.published <= boundary);
        if !is_new || whole <= self.start {
            return None;
        }
        self.published = whole;
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_swapped_once_a_cycle() {
        let at = Timestamp::from_millis;
        let mut shadow = Shadow { start: at(100), cycle: 10, waits_for_the_end: false, published: at(0) };
        let mut swapped = |now, is_done| shadow.swap(at(now), is_done);
        assert_eq!(swapped(104, true), None);
        assert_eq!(swapped(111, false), Some(at(110)));
        assert_eq!(swapped(115, true), None);
        assert_eq!(swapped(137, false), Some(at(130)));
    }

    #[test]
    fn a_batch_is_seen_when_it_is_done() {
        let at = Timestamp::from_millis;
        let mut shadow = Shadow { start: at(100), cycle: 10, waits_for_the_end: true, published: at(0) };
        let mut swapped = |now, is_done| shadow.swap(at(now), is_done);
        assert_eq!(swapped(102, false), None);
        assert_eq!(swapped(104, true), Some(at(104)));
        assert_eq!(swapped(105, true), None);
        assert_eq!(swapped(110, false), Some(at(110)));
        assert_eq!(swapped(113, true), Some(at(113)));
    }
}
