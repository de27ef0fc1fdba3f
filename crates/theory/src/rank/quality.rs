//! Quality of a crawl: how many of the important pages it visits.
//!
//! Implements the thesis, section 2.3, the three models:
//!
//! > crawl and stop: P_CS = M/K, the part of the first K pages visited that are among the K most
//! > important ones;
//! > crawl and stop with threshold: P_ST, the part of the H pages with importance at least G that
//! > were visited;
//! > limited buffer crawl: P_BC, the part of the B pages kept in the end that are hot
//!
//! with the performance of an ideal crawler and of one that visits pages at random.
//!
//! # Promises
//! - A page as important as the K-th most important one is hot too.
//! - A page counts once, however often it was visited.
//! - Without a hot page the performance is undefined (`None`).
//!
//! # Departures
//! None.

/// Definition of a hot page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hot {
    /// Pages whose importance reaches that of the page with this rank, counting from one: I(p) ≥ I(r_K).
    Top(usize),
    /// Pages whose importance reaches a target: I(p) ≥ G.
    AtLeast(f64),
}

/// P_CS over the first `visits` pages of `visited`: M hot pages among them, divided by `visits`.
///
/// `None` if there are no visits. Panics if there are fewer than `visits` pages in the Web, or if a
/// visited page is not in it.
pub fn crawl_and_stop(importance: &[f64], visited: &[u32], visits: usize) -> Option<f64> {
    let threshold = threshold(importance, Hot::Top(visits))?;
    let visited = &visited[..visits.min(visited.len())];
    Some(hot_among(importance, visited, threshold) as f64 / visits as f64)
}

/// P_ST: the fraction of the pages of importance `target` or more that were visited. `None`
/// when there is no such page.
///
/// Panics if a visited page is not in the Web.
pub fn crawl_and_stop_with_threshold(importance: &[f64], visited: &[u32], target: f64) -> Option<f64> {
    let hot = importance.iter().filter(|importance| **importance >= target).count();
    (hot > 0).then(|| hot_among(importance, visited, target) as f64 / hot as f64)
}

/// P_BC: the fraction of the pages kept in a buffer that are hot. `None` for an empty
/// buffer, or for `Hot::Top(0)`.
///
/// Panics if a kept page is not in the Web, or if [`Hot::Top`] asks for more pages than there are.
pub fn limited_buffer(importance: &[f64], kept: &[u32], hot: Hot) -> Option<f64> {
    let threshold = threshold(importance, hot)?;
    (!kept.is_empty()).then(|| hot_among(importance, kept, threshold) as f64 / kept.len() as f64)
}

/// The pages that a crawler with room for `buffer_pages` keeps. Whenever there are more, it drops the one
/// whose importance it estimates lowest, among equals the one visited last.
///
/// Panics if a page has no estimate.
pub fn keep_most_important(visited: &[u32], estimates: &[f64], buffer_pages: usize) -> Vec<u32> {
    // The estimates do not change, so the pages kept at the end are the first ones of a sort.
    let mut is_seen = vec![false; estimates.len()];
    let first_visit = |page: &u32| !std::mem::replace(&mut is_seen[*page as usize], true);
    let mut kept: Vec<u32> = visited.iter().copied().filter(first_visit).collect();
    kept.sort_by(|a, b| estimates[*b as usize].total_cmp(&estimates[*a as usize]));
    kept.truncate(buffer_pages);
    kept
}

/// P_ST of an ideal crawler, which visits only hot pages as long as there are any.
/// Panics if there is no hot page.
pub fn ideal_with_threshold(visits: usize, hot_pages: usize) -> f64 {
    assert!(hot_pages > 0);
    (visits as f64 / hot_pages as f64).min(1.0)
}

/// P_CS and P_ST of a crawler that visits pages at random and may visit one again: K/T.
/// Panics if there are no pages.
pub fn random_crawler(visits: usize, pages: usize) -> f64 {
    assert!(pages > 0);
    visits as f64 / pages as f64
}

/// The minimum importance of a hot page; `None` when no pages are requested.
fn threshold(importance: &[f64], hot: Hot) -> Option<f64> {
    match hot {
        Hot::AtLeast(target) => Some(target),
        Hot::Top(0) => None,
        Hot::Top(rank) => {
            assert!(rank <= importance.len());
            let mut falling = importance.to_vec();
            let (_, threshold, _) = falling.select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a));
            Some(*threshold)
        }
    }
}

/// Number of different pages of `pages` that reach the threshold.
fn hot_among(importance: &[f64], pages: &[u32], threshold: f64) -> usize {
    let mut hot: Vec<u32> =
        pages.iter().copied().filter(|page| importance[*page as usize] >= threshold).collect();
    hot.sort_unstable();
    hot.dedup();
    hot.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IMPORTANCE: [f64; 6] = [5.0, 9.0, 1.0, 7.0, 3.0, 7.0];

    #[test]
    fn pages_as_important_as_the_last_hot_one_are_hot() {
        assert_eq!(crawl_and_stop(&IMPORTANCE, &[1, 0, 3, 2, 4, 5], 3), Some(2.0 / 3.0));
        assert_eq!(crawl_and_stop(&IMPORTANCE, &[3, 5, 1], 2), Some(1.0));
    }

    #[test]
    fn a_short_crawl_is_measured_against_all_it_should_have_visited() {
        assert_eq!(crawl_and_stop(&IMPORTANCE, &[1], 2), Some(0.5));
        assert_eq!(crawl_and_stop_with_threshold(&IMPORTANCE, &[1, 0], 5.0), Some(0.5));
    }

    #[test]
    fn a_page_counts_once() {
        assert_eq!(crawl_and_stop(&IMPORTANCE, &[1, 1, 1], 3), Some(1.0 / 3.0));
        assert_eq!(crawl_and_stop_with_threshold(&IMPORTANCE, &[1, 1], 9.0), Some(1.0));
    }

    #[test]
    fn without_a_hot_page_there_is_no_performance() {
        assert_eq!(crawl_and_stop(&IMPORTANCE, &[1], 0), None);
        assert_eq!(crawl_and_stop_with_threshold(&IMPORTANCE, &[1], 10.0), None);
        assert_eq!(limited_buffer(&IMPORTANCE, &[], Hot::AtLeast(0.0)), None);
    }

    #[test]
    fn a_buffer_keeps_what_seems_important() {
        // The estimates rank page 2 too high and page 3 too low.
        let kept = keep_most_important(&[2, 4, 0, 1, 3, 5, 1], &[5.0, 9.0, 8.0, 2.0, 3.0, 7.0], 3);
        assert_eq!(kept, [1, 2, 5]);
        assert_eq!(limited_buffer(&IMPORTANCE, &kept, Hot::Top(3)), Some(2.0 / 3.0));
        assert_eq!(limited_buffer(&IMPORTANCE, &kept, Hot::AtLeast(8.0)), Some(1.0 / 3.0));
    }

    #[test]
    fn the_ideal_crawler_visits_hot_pages_first() {
        assert_eq!(ideal_with_threshold(2, 4), 0.5);
        assert_eq!(ideal_with_threshold(9, 4), 1.0);
        assert_eq!(random_crawler(2, 8), 0.25);
    }

    proptest! {
        #[test]
        fn the_ideal_crawler_has_performance_one(
            importance in proptest::collection::vec(0.0..3.0_f64, 1..20),
            visits in 1_usize..20,
        ) {
            let visits = visits.min(importance.len());
            let importance: Vec<f64> = importance.into_iter().map(f64::round).collect();
            let mut ideal: Vec<u32> = (0..importance.len() as u32).collect();
            ideal.sort_by(|a, b| importance[*b as usize].total_cmp(&importance[*a as usize]));
            prop_assert_eq!(crawl_and_stop(&importance, &ideal, visits), Some(1.0));
            let kept = keep_most_important(&ideal, &importance, visits);
            prop_assert_eq!(limited_buffer(&importance, &kept, Hot::Top(visits)), Some(1.0));
            let hot = importance.iter().filter(|importance| **importance >= 1.0).count();
            let expected = (hot > 0).then(|| ideal_with_threshold(visits, hot));
            prop_assert_eq!(crawl_and_stop_with_threshold(&importance, &ideal[..visits], 1.0), expected);
        }
    }
}
