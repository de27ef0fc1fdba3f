//! What a site allows, according to its `robots.txt` in the stores: the last answer and, if that was an
//! error, since when and what was known before ([`freshet_fetch::web::robots::policy`] defines the
//! consequences).
//!
//! # Promises
//! - A restart does not change what a site allows.

use freshet_fetch::web::PRODUCT_TOKEN;
use freshet_fetch::web::robots::policy::{Before, GOOD_FOR, RETRY_MAX};
use freshet_fetch::web::robots::{Robots, RobotsPolicy};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::{RobotsCopy, RobotsTrouble};

/// What an answer lets us do, and until when it is good for.
pub(crate) fn of_copy(copy: &RobotsCopy, trouble: Option<&RobotsTrouble>) -> (RobotsPolicy, Timestamp) {
    let later = |duration: std::time::Duration| copy.fetched.plus_millis(duration.as_millis() as i64);
    match copy.status {
        0 | 429 | 500.. => match RobotsPolicy::unreachable(copy.fetched, None, &before(trouble)) {
            RobotsPolicy::Wait(until) => (RobotsPolicy::Wait(until), until),
            policy => (policy, later(RETRY_MAX)),
        },
        _ => (rules(copy).map_or(RobotsPolicy::AllowAll, RobotsPolicy::Rules), later(GOOD_FOR)),
    }
}

/// The trouble after this answer. None if the file could be read.
pub(crate) fn trouble_after(
    answer: &RobotsCopy,
    last: Option<&RobotsCopy>,
    trouble: Option<RobotsTrouble>,
) -> Option<RobotsTrouble> {
    if !matches!(answer.status, 0 | 429 | 500..) {
        return None;
    }
    let mut trouble = trouble.unwrap_or_else(|| RobotsTrouble {
        since: answer.fetched,
        failures: 0,
        before: last.filter(|last| (200..300).contains(&last.status)).cloned(),
    });
    trouble.failures = trouble.failures.saturating_add(1);
    Some(trouble)
}

/// What was known before the last answer, which is part of the trouble.
fn before(trouble: Option<&RobotsTrouble>) -> Before {
    trouble.map_or_else(Before::default, |trouble| Before {
        unreachable_since: Some(trouble.since),
        failures: trouble.failures.saturating_sub(1),
        rules: trouble.before.as_ref().and_then(rules),
    })
}

fn rules(copy: &RobotsCopy) -> Option<Robots> {
    (200..300).contains(&copy.status).then(|| Robots::parse(&copy.body.0, PRODUCT_TOKEN))
}

#[cfg(test)]
mod tests {
    use freshet_protocol::codec::Opaque;

    use super::*;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;

    fn answer(status: u16, at: i64, body: &str) -> RobotsCopy {
        let (fetched, failure) = (Timestamp::from_millis(at), String::new());
        RobotsCopy { fetched, status, failure, body: Opaque(body.as_bytes().to_vec()) }
    }

    /// Requests the file of a site, which is unreachable from `since` on, whenever it may be requested, until
    /// `until`. Returns what the site allows then, and the number of requests.
    fn unreachable(had: Option<&RobotsCopy>, since: i64, until: i64) -> (RobotsPolicy, u32) {
        let (mut last, mut trouble, mut at, mut asked) = (had.cloned(), None, since, 0);
        loop {
            let copy = answer(503, at, "");
            trouble = trouble_after(&copy, last.as_ref(), trouble);
            let (policy, again) = of_copy(&copy, trouble.as_ref());
            asked += 1;
            if until <= again.millis() {
                return (policy, asked);
            }
            (last, at) = (Some(copy), again.millis());
        }
    }

    #[test]
    fn a_site_that_cannot_be_reached_is_left_alone_for_thirty_days_and_asked_rarely() {
        let (policy, asked) = unreachable(None, 0, 29 * DAY);
        assert!(matches!(policy, RobotsPolicy::Wait(_)), "{policy:?}");
        assert!((100..130).contains(&asked), "{asked}");
    }

    #[test]
    fn after_thirty_days_what_was_known_before_holds_again() {
        let had = answer(200, -DAY, "user-agent: *\ndisallow: /private");
        let (policy, _) = unreachable(Some(&had), 0, 31 * DAY);
        assert!(!policy.allows("/private/x") && policy.allows("/x"), "{policy:?}");
    }

    #[test]
    fn after_thirty_days_a_site_of_which_nothing_was_known_allows_all() {
        let had = answer(404, -DAY, "");
        for had in [None, Some(&had)] {
            let (policy, _) = unreachable(had, 0, 31 * DAY);
            assert!(matches!(policy, RobotsPolicy::AllowAll), "{policy:?}");
        }
    }

    #[test]
    fn a_file_that_can_be_had_again_ends_the_trouble() {
        let lost = answer(500, 0, "");
        let trouble = trouble_after(&lost, None, None);
        assert_eq!(trouble.as_ref().map(|trouble| trouble.failures), Some(1));
        for status in [200, 301, 404] {
            assert_eq!(trouble_after(&answer(status, HOUR, ""), Some(&lost), trouble.clone()), None);
        }
    }

    #[test]
    fn an_answer_of_an_older_store_is_a_first_failure() {
        let (policy, until) = of_copy(&answer(503, 0, ""), None);
        assert!(matches!(policy, RobotsPolicy::Wait(_)));
        assert_eq!(until, Timestamp::from_millis(60_000));
    }
}
