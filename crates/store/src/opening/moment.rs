//! The latest time of an exchange or a visit in a state.

use freshet_protocol::time::Timestamp;

use crate::collection::segment::segments;
use crate::error::StoreError;
use crate::history::files::{decode, registered};
use crate::key_value::{Direction, KeyRange, Space, View};

/// The latest time of an exchange or a visit in a state; none if there are none.
pub(crate) fn latest_moment(state: &dyn View) -> Result<Option<Timestamp>, StoreError> {
    /// Maximum number of visits that may be committed out of time order.
    const VISITS: usize = 1000;
    let mut latest = None;
    for entry in segments(state) {
        let (_, segment) = entry?;
        latest = latest.max((segment.versions > 0).then_some(segment.last));
    }
    latest = latest.max(registered(state)?.values().map(|file| file.last).max());
    for entry in state.scan(Space::Visits, KeyRange::all(), Direction::Backward).take(VISITS) {
        let (key, value) = entry?;
        latest = latest.max(Some(decode(&key, &value)?.row.time));
    }
    Ok(latest)
}
