//! Sample of a site: how many pages were sampled and how many of them had changed.
//!
//! The ρ̂ = c/s of **sample**, section 3.2: of `s` pages sampled at random from a site, `c` had changed.
//!
//! # Promises
//! - A sample has no more changed pages than pages, and a site no more sampled pages than pages.
//! - Two fractions are compared exactly, however close they are.
//!
//! # Departures
//! None. A site without samples shows no change: its fraction is zero.

use std::cmp::Ordering;

/// Maximum number of pages of a site. Beyond it counts are not exact as doubles, and products
/// of counts would overflow.
pub const SITE_PAGES_MAX: u64 = 1 << 53;

/// Pages sampled at random from one site, and how many of them had changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    sampled: u64,
    changed: u64,
}

impl Sample {
    /// Panics if more pages changed than were sampled, or if more than [`SITE_PAGES_MAX`] were sampled.
    pub fn new(sampled: u64, changed: u64) -> Self {
        assert!(changed <= sampled);
        assert!(sampled <= SITE_PAGES_MAX);
        Self { sampled, changed }
    }

    /// Number of pages sampled.
    pub fn sampled(self) -> u64 {
        self.sampled
    }

    /// Number of the sampled pages that had changed.
    pub fn changed(self) -> u64 {
        self.changed
    }

    /// The estimate ρ̂ of the fraction of the site's pages that changed; zero when nothing was sampled.
    pub fn changed_fraction(self) -> f64 {
        if self.sampled == 0 { 0.0 } else { self.changed as f64 / self.sampled as f64 }
    }

    /// Orders by [`Self::changed_fraction`], without rounding.
    pub fn cmp_changed_fraction(self, other: Self) -> Ordering {
        let denominator = |sample: Self| u128::from(sample.sampled.max(1));
        let ours = u128::from(self.changed) * denominator(other);
        let theirs = u128::from(other.changed) * denominator(self);
        ours.cmp(&theirs)
    }

    /// Merges both samples into one.
    pub fn join(self, other: Self) -> Self {
        Self::new(self.sampled + other.sampled, self.changed + other.changed)
    }
}

/// A site after sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledSite {
    pages: u64,
    sample: Sample,
}

impl SampledSite {
    /// Panics if more pages were sampled than the site has, or if it has more than [`SITE_PAGES_MAX`].
    pub fn new(pages: u64, sample: Sample) -> Self {
        assert!(sample.sampled <= pages);
        assert!(pages <= SITE_PAGES_MAX);
        Self { pages, sample }
    }

    /// Its sample.
    pub fn sample(self) -> Sample {
        self.sample
    }

    /// Number of pages not yet downloaded: those that were not sampled.
    pub fn room(self) -> u64 {
        self.pages - self.sample.sampled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn no_more_changed_than_sampled_and_no_more_sampled_than_there_are() {
        assert!(catch_unwind(|| Sample::new(3, 4)).is_err());
        assert!(catch_unwind(|| SampledSite::new(2, Sample::new(3, 1))).is_err());
        assert!(catch_unwind(|| Sample::new(SITE_PAGES_MAX + 1, 0)).is_err());
        assert_eq!(SampledSite::new(5, Sample::new(3, 1)).room(), 2);
    }

    #[test]
    fn fractions_that_round_to_the_same_double_are_told_apart() {
        let (low, high) = (Sample::new(1 << 53, (1 << 53) - 2), Sample::new((1 << 53) - 1, (1 << 53) - 2));
        assert_eq!(low.cmp_changed_fraction(high), Ordering::Less);
        assert_eq!(Sample::new(6, 2).cmp_changed_fraction(Sample::new(9, 3)), Ordering::Equal);
    }

    #[test]
    fn a_site_without_samples_shows_no_change() {
        assert_eq!(Sample::default().changed_fraction(), 0.0);
        assert_eq!(Sample::default().cmp_changed_fraction(Sample::new(4, 0)), Ordering::Equal);
        assert_eq!(Sample::default().cmp_changed_fraction(Sample::new(4, 1)), Ordering::Less);
    }
}
