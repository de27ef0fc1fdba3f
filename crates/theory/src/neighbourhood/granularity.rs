//! Download granularity: how far from a changed sample the downloads go.
//!
//! The `d` of **neighbours**, section 4. All three kinds of distance are signed, and the sign is a direction:
//! along links or against them, to upper or to lower directories.
//!
//! > d ≥ 0 reaches the pages at distances 0 to d, d < 0 those at distances d to −1
//!
//! # Promises
//! - The sample itself is always reached.
//! - A granularity of one sign reaches nothing at distances of the other.
//!
//! # Departures
//! None.

/// The granularity `d`: a distance and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granularity(pub i64);

impl Granularity {
    /// Whether it reaches a page, other than the sample, at this distance.
    pub fn reaches(self, distance: i64) -> bool {
        let Self(limit) = self;
        if limit < 0 { (limit..0).contains(&distance) } else { (0..=limit).contains(&distance) }
    }
}

/// The pages that are reached, in rising order. `distances` holds each page's distance from the sample;
/// `None` is out of reach.
pub(super) fn reached(
    distances: impl IntoIterator<Item = Option<i64>>,
    sample: usize,
    granularity: Granularity,
) -> Vec<usize> {
    let is_reached = |(page, distance): &(usize, Option<i64>)| {
        *page == sample || distance.is_some_and(|distance| granularity.reaches(distance))
    };
    distances.into_iter().enumerate().filter(is_reached).map(|(page, _)| page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(granularity: i64, expected: &[usize]) {
        let distances = [Some(-2), Some(-1), Some(0), Some(0), Some(1), Some(2), None];
        assert_eq!(reached(distances, 2, Granularity(granularity)), expected);
    }

    #[test]
    fn each_sign_reaches_its_own_direction_and_the_sample() {
        check(-2, &[0, 1, 2]);
        check(-1, &[1, 2]);
        check(0, &[2, 3]);
        check(1, &[2, 3, 4]);
        check(i64::MAX, &[2, 3, 4, 5]);
        check(i64::MIN, &[0, 1, 2]);
    }
}
