//! Trust in change dates (Last-Modified), learned per site.
//!
//! A visit shows only that a page has changed since the last one. A date shows when it last changed, and so
//! that it has not changed since (thesis, section 6.5). But servers also send the time of the response, or of
//! the last deployment. A site's dates must therefore prove themselves: where our own visits can check a
//! date, it counts as true or false, and only sites whose dates are hardly ever false are believed.
//!
//! # Promises
//! - A date that contradicts our visits is never believed, whatever the site's record.
//! - A site is believed from its third true date on, not before.

use freshet_theory::units::Days;

/// Number of true dates from which on a site is believed.
const TRUE_MIN: u16 = 3;
/// At most one date in this many may be false.
const FALSE_ONE_IN: u16 = 16;
/// Maximum number of counted dates; beyond it all counts are halved.
const REMEMBERED: u16 = 512;
/// A date younger than this at the visit may be the time of the response. In days.
const YOUNG: f64 = 5.0 / (24.0 * 60.0);

/// Counts of true and false dates of a site.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DateTrust {
    right: u16,
    wrong: u16,
}

impl DateTrust {
    /// Records a date that came with a visit at `time`, after one at `last`, and whether the visit found a
    /// change. Returns the date if it is believed.
    pub(super) fn hear(&mut self, date: Days, last: Days, time: Days, changed: bool) -> Option<Days> {
        let (date_day, last, time) = (date.get(), last.get(), time.get());
        let is_within = last < date_day && date_day + YOUNG <= time;
        // A date before the last visit on an unchanged page is as expected and proves little.
        if changed && is_within {
            self.right += 1;
        } else if changed || last < date_day {
            self.wrong += 1;
        }
        if self.right + self.wrong > REMEMBERED {
            (self.right, self.wrong) = (self.right / 2, self.wrong / 2);
        }
        (changed && is_within && self.are_believed()).then_some(date)
    }

    /// Whether the site's dates are believed.
    pub(super) fn are_believed(self) -> bool {
        self.right >= TRUE_MIN && self.wrong * FALSE_ONE_IN <= self.right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which dates of a site are believed. It sends these dates at visits on days 10, 20, 30, …; each finds
    /// the page changed or not.
    fn believed(dates: &[(f64, bool)]) -> Vec<bool> {
        let mut trust = DateTrust::default();
        let mut time = 0.0;
        let mut hear = |(date, changed): &(f64, bool)| {
            time += 10.0;
            trust.hear(Days::new(*date), Days::new(time - 10.0), Days::new(time), *changed).is_some()
        };
        dates.iter().map(&mut hear).collect()
    }

    #[test]
    fn dates_are_believed_once_they_have_proved_true() {
        let dates = [(5.0, true), (12.0, true), (12.0, false), (33.0, true), (44.0, true)];
        assert_eq!(believed(&dates), [false, false, false, true, true]);
    }

    #[test]
    fn a_site_that_sends_the_time_of_the_answer_is_not_believed() {
        let dates: Vec<_> = (1..40).map(|visit| (f64::from(visit) * 10.0, visit % 2 == 0)).collect();
        assert!(believed(&dates).iter().all(|is_believed| !is_believed));
    }

    #[test]
    fn a_date_that_our_visits_contradict_is_not_believed() {
        let mut dates: Vec<_> = (0..32).map(|visit| (f64::from(visit) * 10.0 + 4.0, true)).collect();
        dates.extend([(3.0, true), (335.0, true)]);
        let believed = believed(&dates);
        assert!(believed[31] && !believed[32] && believed[33]);
    }
}
