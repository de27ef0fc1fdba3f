//! What a site lets us do, from the copy of its `robots.txt` that the stores keep.

use freshet_store::sites::RobotsCopy;
use freshet_store::time::Timestamp;

use crate::web::PRODUCT_TOKEN;
use crate::web::robots::policy::{GOOD_FOR, RETRY_FIRST};
use crate::web::robots::{Robots, RobotsPolicy};

/// What the copy lets us do, and until when it is good for.
pub(super) fn of_copy(copy: &RobotsCopy) -> (RobotsPolicy, Timestamp) {
    let later = |duration: std::time::Duration| copy.fetched.plus_millis(duration.as_millis() as i64);
    match copy.status {
        200..=299 => (RobotsPolicy::Rules(Robots::parse(&copy.body.0, PRODUCT_TOKEN)), later(GOOD_FOR)),
        0 | 429 | 500.. => (RobotsPolicy::Wait(later(RETRY_FIRST)), later(RETRY_FIRST)),
        _ => (RobotsPolicy::AllowAll, later(GOOD_FOR)),
    }
}
