//! Chooses the estimator of a change rate that fits the available information.
//!
//! Thesis, section 6.2: the choice depends on what is known of each change, whether visits are
//! regular, and the use of the rate.
//!
//! | known | visits | purpose | estimator |
//! |---|---|---|---|
//! | every change | any | rate | [`super::complete`] (6.2) |
//! | date of the last change | any | rate | [`super::last_modified`] (6.5) |
//! | whether it changed | regular | rate | [`super::improved`] (6.4.2) |
//! | whether it changed | irregular | rate | [`super::irregular_visits`] (6.4.3) |
//! | any | any | category | [`super::bayes`] (6.6) |
//! | any | any | rate that drifts | [`super::gamma`] (6.7) |
//!
//! # Promises
//! - Every combination has an estimator, and never the naive one: it stays biased
//!   however many visits are made.

/// What a visit shows of the changes since the visit before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Information {
    /// Each change and its time.
    CompleteHistory,
    /// The time of the last change.
    LastDateOfChange,
    /// Whether there was a change.
    ExistenceOfChange,
}

/// How the visits are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// All at the same interval.
    Regular,
    /// At any intervals.
    Irregular,
}

/// What the rate is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The rate itself, of a page whose rate is constant.
    Estimation,
    /// Sorting the page into one of a few classes.
    Categorisation,
    /// The rate of a page whose rate may drift, from the first visit on.
    Tracking,
}

/// The kinds of estimators, by the type that holds their running state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// [`super::complete::CompleteHistory`].
    Complete,
    /// [`super::last_modified::DatedVisits`].
    LastModified,
    /// [`super::improved`] over [`super::even::EvenVisits`].
    Improved,
    /// [`super::irregular_visits::IrregularVisits`].
    Irregular,
    /// [`super::bayes::ClassEvidence`].
    Bayes,
    /// [`super::gamma::DiscountedHistory`].
    Gamma,
}

/// The estimator that makes the best use of this information.
pub fn choose(information: Information, spacing: Spacing, purpose: Purpose) -> Estimator {
    match (purpose, information, spacing) {
        (Purpose::Categorisation, _, _) => Estimator::Bayes,
        (Purpose::Tracking, _, _) => Estimator::Gamma,
        (Purpose::Estimation, Information::CompleteHistory, _) => Estimator::Complete,
        (Purpose::Estimation, Information::LastDateOfChange, _) => Estimator::LastModified,
        (Purpose::Estimation, Information::ExistenceOfChange, Spacing::Regular) => Estimator::Improved,
        (Purpose::Estimation, Information::ExistenceOfChange, Spacing::Irregular) => Estimator::Irregular,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_information_is_not_thrown_away() {
        let estimator = |information, spacing| choose(information, spacing, Purpose::Estimation);
        assert_eq!(estimator(Information::CompleteHistory, Spacing::Irregular), Estimator::Complete);
        assert_eq!(estimator(Information::LastDateOfChange, Spacing::Regular), Estimator::LastModified);
        assert_eq!(estimator(Information::ExistenceOfChange, Spacing::Regular), Estimator::Improved);
        assert_eq!(estimator(Information::ExistenceOfChange, Spacing::Irregular), Estimator::Irregular);
    }

    #[test]
    fn classes_and_drifting_rates_have_estimators_of_their_own() {
        for information in
            [Information::CompleteHistory, Information::LastDateOfChange, Information::ExistenceOfChange]
        {
            for spacing in [Spacing::Regular, Spacing::Irregular] {
                assert_eq!(choose(information, spacing, Purpose::Categorisation), Estimator::Bayes);
                assert_eq!(choose(information, spacing, Purpose::Tracking), Estimator::Gamma);
            }
        }
    }
}
