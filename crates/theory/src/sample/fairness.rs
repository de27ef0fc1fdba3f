//! Fairness: whether a policy reaches all pages that change, and visits more often
//! those that change more often.
//!
//! **sample**, section 4.7, Figures 13 and 14. After cycle `i`:
//!
//! > Fairness(i) = pages that changed and were visited up to cycle i / pages that changed up to cycle i
//!
//! # Promises
//! - Fairness lies between zero and one and is undefined (`None`) before the first change.
//! - A page counts once in a cycle, however often it is listed.
//!
//! # Departures
//! The text leaves open whether a visit before the first change counts. It does: visits and
//! changes may come in any order.

use std::collections::BTreeMap;

/// Pages that changed and pages that were visited in one download cycle, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Pages that changed since the cycle before.
    pub changed: Vec<usize>,
    /// Pages that were downloaded.
    pub visited: Vec<usize>,
}

/// Result of [`judge`]: how visits match changes over a run of cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fairness {
    /// After each cycle, the fraction of the pages changed so far that was visited so far.
    pub by_cycle: Vec<Option<f64>>,
    /// For each number of cycles in which pages changed, the mean number of cycles in which
    /// these pages were visited.
    pub visits_by_changes: BTreeMap<usize, f64>,
}

/// Computes the fairness of a run of cycles, over the pages that they list.
pub fn judge(cycles: &[Cycle]) -> Fairness {
    let named = cycles.iter().flat_map(|cycle| cycle.changed.iter().chain(&cycle.visited));
    let pages = named.max().map_or(0, |last| last + 1);
    let (mut changes, mut visits) = (Tally::new(pages), Tally::new(pages));
    let mut both = 0;
    let mut by_cycle = Vec::with_capacity(cycles.len());
    for cycle in cycles {
        both += changes.count_cycle(&cycle.changed, &visits);
        both += visits.count_cycle(&cycle.visited, &changes);
        by_cycle.push((changes.seen > 0).then(|| both as f64 / changes.seen as f64));
    }
    Fairness { by_cycle, visits_by_changes: mean_visits_by_changes(&changes, &visits) }
}

/// Number of cycles in which each page was listed.
struct Tally {
    cycles: Vec<usize>,
    /// The last cycle that listed the page, counted from one.
    last_cycle: Vec<usize>,
    /// Number of cycles counted so far.
    now: usize,
    /// Number of pages listed at least once.
    seen: usize,
}

impl Tally {
    fn new(pages: usize) -> Self {
        Self { cycles: vec![0; pages], last_cycle: vec![0; pages], now: 0, seen: 0 }
    }

    /// Counts the pages of a cycle. Returns how many are listed here for the first time and were
    /// listed in the `other` tally.
    fn count_cycle(&mut self, pages: &[usize], other: &Self) -> usize {
        self.now += 1;
        let mut met = 0;
        for &page in pages {
            if self.last_cycle[page] == self.now {
                continue;
            }
            self.last_cycle[page] = self.now;
            self.cycles[page] += 1;
            if self.cycles[page] == 1 {
                self.seen += 1;
                met += usize::from(other.cycles[page] > 0);
            }
        }
        met
    }
}

fn mean_visits_by_changes(changes: &Tally, visits: &Tally) -> BTreeMap<usize, f64> {
    let mut sums: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (&changed, &visited) in changes.cycles.iter().zip(&visits.cycles) {
        if changed + visited > 0 {
            let (pages, sum) = sums.entry(changed).or_default();
            *pages += 1;
            *sum += visited;
        }
    }
    sums.into_iter().map(|(changed, (pages, sum))| (changed, sum as f64 / pages as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn cycles(lists: &[(&[usize], &[usize])]) -> Vec<Cycle> {
        lists
            .iter()
            .map(|(changed, visited)| Cycle { changed: changed.to_vec(), visited: visited.to_vec() })
            .collect()
    }

    #[test]
    fn visits_before_the_change_count() {
        let fairness = judge(&cycles(&[(&[0, 1, 2], &[0, 9]), (&[1, 3], &[1, 9]), (&[1], &[3])]));
        assert_eq!(fairness.by_cycle, [Some(1.0 / 3.0), Some(0.5), Some(0.75)]);
        let expected = BTreeMap::from([(0, 2.0), (1, 2.0 / 3.0), (3, 1.0)]);
        assert_eq!(fairness.visits_by_changes, expected);
        assert_eq!(judge(&cycles(&[(&[], &[4]), (&[4], &[])])).by_cycle, [None, Some(1.0)]);
    }

    #[test]
    fn a_page_named_twice_in_a_cycle_counts_once() {
        let fairness = judge(&cycles(&[(&[5, 5], &[5, 5, 5])]));
        assert_eq!(fairness.by_cycle, [Some(1.0)]);
        assert_eq!(fairness.visits_by_changes, BTreeMap::from([(1, 1.0)]));
    }

    #[test]
    fn no_cycles_and_empty_cycles_judge_nothing() {
        assert_eq!(judge(&[]), Fairness::default());
        assert_eq!(judge(&cycles(&[(&[], &[])])).by_cycle, [None]);
    }

    proptest! {
        #[test]
        fn fairness_is_the_ratio_of_sets(
            lists in prop::collection::vec(
                (prop::collection::vec(0usize..12, 0..6), prop::collection::vec(0usize..12, 0..6)), 0..8),
        ) {
            let cycles: Vec<_> =
                lists.into_iter().map(|(changed, visited)| Cycle { changed, visited }).collect();
            let fairness = judge(&cycles);
            for i in 0..cycles.len() {
                let changed: BTreeSet<_> = cycles[..=i].iter().flat_map(|cycle| &cycle.changed).collect();
                let visited: BTreeSet<_> = cycles[..=i].iter().flat_map(|cycle| &cycle.visited).collect();
                let both = changed.intersection(&visited).count() as f64;
                let expected = (!changed.is_empty()).then(|| both / changed.len() as f64);
                prop_assert_eq!(fairness.by_cycle[i], expected);
            }
        }
    }
}
