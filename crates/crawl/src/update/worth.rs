//! The weight of a page in the policy's objective: its importance, and what its changes are worth.
//!
//! A policy values a visit by the chance that it finds a change, times the weight of the page. If users weigh
//! kinds of change differently, a visit is worth less on a page whose changes are mostly of a kind with a low
//! weight. So the weight of a page is
//!
//! > importance^weight × the mean worth of its changes
//!
//! The mean starts at one, as if one change of full worth had been seen, and follows the last changes of the
//! page.
//!
//! # Promises
//! - Without weights for kinds, the weight depends only on the importance, and nothing is stored for a page.
//! - A page whose changes are worth nothing still has some weight. It is visited now and then, and can gain
//!   weight again.

use std::collections::HashMap;

use freshet_fetch::change::weights::KindWeights;
use freshet_protocol::ids::PageNumber;

/// Number of changes that the mean worth follows.
const CHANGES_MAX: u16 = 20;

/// Minimum of the mean worth, relative to a page whose changes have full worth.
const MEAN_MIN: f32 = 0.02;

/// Relative change of the mean from which on the policy is told.
const MOVED: f32 = 0.05;

/// The weights of pages.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// Exponent of the importance.
    importance_weight: f32,
    /// Whether kinds of change have different weights.
    has_kinds: bool,
    pages: HashMap<PageNumber, Valued>,
}

/// The worth of a page.
#[derive(Clone, Copy, Debug)]
struct Valued {
    importance: f32,
    /// The mean worth of its changes.
    mean: f32,
    /// The mean that the policy was last told.
    told: f32,
    changes: u16,
}

impl Worth {
    pub(super) fn new(importance_weight: f32, kinds: &KindWeights) -> Self {
        Self { importance_weight, has_kinds: !kinds.are_alike(), pages: HashMap::new() }
    }

    /// The weight of a page with this importance.
    pub(super) fn weight(&mut self, page: PageNumber, importance: f32) -> f32 {
        if !self.has_kinds {
            return importance.powf(self.importance_weight);
        }
        let new = Valued { importance, mean: 1.0, told: 1.0, changes: 0 };
        let valued = self.pages.entry(page).or_insert(new);
        valued.importance = importance;
        valued.told = valued.mean;
        valued.weight(self.importance_weight)
    }

    /// Records a change of this worth on a page. Returns the page's new weight if it differs enough to tell
    /// the policy.
    pub(super) fn found(&mut self, page: PageNumber, worth: f32) -> Option<f32> {
        let valued = self.pages.get_mut(&page)?;
        valued.changes = (valued.changes + 1).min(CHANGES_MAX);
        valued.mean += (worth - valued.mean) / f32::from(valued.changes + 1);
        let has_moved = (valued.mean - valued.told).abs() > MOVED * valued.told;
        has_moved.then(|| {
            valued.told = valued.mean;
            valued.weight(self.importance_weight)
        })
    }

    /// Forgets a page that has left the collection.
    pub(super) fn forget(&mut self, page: PageNumber) {
        self.pages.remove(&page);
    }
}

impl Valued {
    fn weight(&self, importance_weight: f32) -> f32 {
        self.importance.powf(importance_weight) * self.mean.max(MEAN_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageNumber = PageNumber(3);

    #[test]
    fn without_weights_for_kinds_importance_alone_counts() {
        let mut worth = Worth::new(0.5, &KindWeights::default());
        assert_eq!(worth.weight(PAGE, 4.0), 2.0);
        assert_eq!(worth.found(PAGE, 0.1), None);
        assert!(worth.pages.is_empty());
    }

    #[test]
    fn changes_that_count_little_make_a_page_light_and_others_make_it_heavy_again() {
        let kinds = KindWeights { numbers: 0.0, ..KindWeights::default() };
        let mut worth = Worth::new(1.0, &kinds);
        assert_eq!(worth.weight(PAGE, 4.0), 4.0);
        assert_eq!(worth.found(PAGE, 0.0), Some(2.0));
        for _ in 0..1000 {
            worth.found(PAGE, 0.0);
        }
        assert_eq!(worth.weight(PAGE, 4.0), 4.0 * MEAN_MIN);
        for _ in 0..100 {
            worth.found(PAGE, 1.0);
        }
        assert!(worth.weight(PAGE, 4.0) > 3.9);
        worth.forget(PAGE);
        assert_eq!(worth.weight(PAGE, 4.0), 4.0);
    }
}
