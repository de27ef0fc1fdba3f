//! Lives of pages on the living web: when a page is born, moves and dies.
//!
//! Roots and listings exist from the start and stay. An article exists at the start, or is born later. It may
//! move once, after which its old address answers 301. It may die, after which both addresses answer 404 or
//! 410.
//!
//! # Promises
//! - A page is born before it moves and moves before it dies, or never.
//! - Only HTML pages move.

use freshet_protocol::time::Timestamp;

use super::atlas::{Form, PageNumber, Place};
use super::chance::{Chance, Subject};
use super::clock::{START, days_after_start};
use super::living_web::LivingWeb;

/// Mean and maximum age in days of an article that exists at the start.
const AGE_AT_START: (f64, f64) = (200.0, 2_000.0);

/// The time of events that never happen.
pub const NEVER: Timestamp = Timestamp::from_millis(i64::MAX);

/// The life of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Life {
    /// Its birth. Before the start for pages that exist at the start.
    pub born: Timestamp,
    /// When its address changes, or [`NEVER`].
    pub moved: Timestamp,
    /// When it dies, or [`NEVER`].
    pub died: Timestamp,
}

/// State of an address at some moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Not born yet.
    Unborn,
    /// The page.
    Live,
    /// A redirect to the page's other address.
    Moved,
    /// Nothing any more.
    Gone,
}

impl Life {
    /// Whether the page exists at either address.
    pub fn is_live_at(&self, at: Timestamp) -> bool {
        self.born <= at && at < self.died
    }

    /// The time span in which the page is at its first (`false`) or its later (`true`) address: from the
    /// first moment inclusive to the second exclusive.
    pub fn span_at(&self, moved: bool) -> (Timestamp, Timestamp) {
        if moved { (self.moved, self.died) } else { (self.born, self.moved.min(self.died)) }
    }

    /// The state of its first (`false`) or its later (`true`) address.
    pub fn standing(&self, moved: bool, at: Timestamp) -> Standing {
        let (from, until) = self.span_at(moved);
        match at {
            _ if at < from => Standing::Unborn,
            _ if at < until => Standing::Live,
            _ if at < self.died => Standing::Moved,
            _ => Standing::Gone,
        }
    }
}

impl LivingWeb {
    /// The life of a page.
    pub fn life(&self, page: PageNumber) -> Life {
        let draw = |subject| Chance::of(self.settings.seed, subject, page.0.into(), 0);
        let age = draw(Subject::Age).wait(1.0 / AGE_AT_START.0).min(AGE_AT_START.1);
        if !matches!(self.atlas.place(page), Place::Article { .. }) {
            return Life { born: days_after_start(-age), moved: NEVER, died: NEVER };
        }
        let turnover = self.settings.turnover;
        let mut birth = draw(Subject::Birth);
        let later = birth.happens(turnover.births / (1.0 + turnover.births));
        let day = if later { birth.wait(1.0 / turnover.birth_days) } else { -age };
        // A birth in the exact second of the start would be neither before nor after it.
        let born =
            if later { days_after_start(day).max(START.plus_millis(1_000)) } else { days_after_start(day) };
        let died = days_after_start(day.max(0.0) + draw(Subject::Death).wait(turnover.deaths_per_day));
        let died = died.max(born.max(START).plus_millis(2_000));
        let moved = days_after_start(day.max(0.0) + draw(Subject::Move).wait(turnover.moves_per_day));
        let moved = moved.max(born.max(START).plus_millis(1_000));
        let moves = moved < died && self.atlas.form(page) == Form::Html;
        Life { born, moved: if moves { moved } else { NEVER }, died }
    }

    /// Whether an article is at its later address at some moment.
    pub fn has_moved(&self, page: PageNumber, at: Timestamp) -> bool {
        self.life(page).moved <= at
    }
}

#[cfg(test)]
mod tests {
    use super::super::living_web::tests::{of, small};
    use super::super::settings::{Turnover, WebSettings};
    use super::*;

    #[test]
    fn lives_go_from_birth_over_a_move_to_death() {
        let web = small();
        let lives: Vec<Life> = (0..web.atlas.pages()).map(|page| web.life(PageNumber(page))).collect();
        assert!(lives.iter().all(|life| life.born < life.died));
        for life in lives.iter().filter(|life| life.moved != NEVER) {
            assert!(life.born < life.moved && life.moved < life.died);
        }
        let year = days_after_start(365.0);
        let share = |which: &dyn Fn(&Life) -> bool| {
            lives.iter().filter(|life| which(life)).count() as f64 / lives.len() as f64
        };
        assert!((share(&|life| life.is_live_at(START)) - 0.8).abs() < 0.04);
        assert!((0.3..0.6).contains(&share(&|life| life.died < year)));
        assert!((0.1..0.4).contains(&share(&|life| life.moved < year)));
    }

    #[test]
    fn without_turnover_nothing_comes_or_goes() {
        let turnover = Turnover { births: 0.0, birth_days: 1.0, deaths_per_day: 0.0, moves_per_day: 0.0 };
        let web = of(WebSettings { sites: 3, pages: 300, turnover, ..WebSettings::default() });
        for page in (0..web.atlas.pages()).map(PageNumber) {
            let life = web.life(page);
            assert!(life.born <= START && life.moved == NEVER && life.died == NEVER);
        }
    }

    #[test]
    fn an_address_stands_as_the_life_says() {
        let moment = |second: i64| START.plus_millis(second * 1_000);
        let life = Life { born: moment(10), moved: moment(20), died: moment(30) };
        let check = |moved, expected: [Standing; 4]| {
            let found = [5, 10, 20, 30].map(|second| life.standing(moved, moment(second)));
            assert_eq!(found, expected);
        };
        check(false, [Standing::Unborn, Standing::Live, Standing::Moved, Standing::Gone]);
        check(true, [Standing::Unborn, Standing::Unborn, Standing::Live, Standing::Gone]);
        let stays = Life { moved: NEVER, ..life };
        assert_eq!(stays.standing(false, moment(25)), Standing::Live);
        assert_eq!(stays.standing(true, moment(40)), Standing::Unborn);
    }
}
