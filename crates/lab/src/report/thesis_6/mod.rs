//! The **thesis**, chapter 6, and **estimate**: estimators of the change rate of a page.
//!
//! In reading order:
//! - `drawn_estimates`: estimators on simulated pages;
//! - `naive_misses_changes`: changes found divided by observed time (Figures 6.2 and 6.3);
//! - `a_logarithm_makes_up_for_them`: the improved estimator (Figures 6.4 to 6.9);
//! - `dates_of_change_remove_the_bias`: the last date of change (Figures 6.12, 6.13, 6.15);
//! - `bayes_tells_weekly_from_monthly`: classes of rates (Figures 6.16 and 6.17);
//! - `pages_that_are_not_poisson`: the estimators where their assumption fails (Figure 6.18);
//! - `estimators_on_real_histories`: recorded pages, visited once a week (Figure 6.19);
//! - `estimators_drive_a_crawler`: changes that a crawler finds with them (Table 6.1).

mod a_logarithm_makes_up_for_them;
mod bayes_tells_weekly_from_monthly;
mod dates_of_change_remove_the_bias;
mod drawn_estimates;
mod estimators_drive_a_crawler;
mod estimators_on_real_histories;
mod naive_misses_changes;
mod pages_that_are_not_poisson;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-6",
    title: "Thesis, chapter 6, and estimate: how often a page changes",
    about: "A crawler sees whether a page changed since its last visit, not how often. How good estimates \
            from such visits are, what the date of the last change adds, and what a crawler gains. The paper \
            that came before the chapter has most of the figures under other numbers, which are given in \
            brackets. Figures 6.1, 6.10, 6.11 and 6.14 are sketches and algorithms: they hold nothing to \
            compare.",
    exhibits: &[
        naive_misses_changes::BIAS,
        naive_misses_changes::DEVIATION,
        a_logarithm_makes_up_for_them::CONSTANT,
        a_logarithm_makes_up_for_them::BIAS,
        a_logarithm_makes_up_for_them::REGION,
        a_logarithm_makes_up_for_them::DEVIATION,
        a_logarithm_makes_up_for_them::CONSISTENCY,
        a_logarithm_makes_up_for_them::IRREGULAR,
        dates_of_change_remove_the_bias::PLAIN,
        dates_of_change_remove_the_bias::CORRECTED,
        dates_of_change_remove_the_bias::DEVIATION,
        bayes_tells_weekly_from_monthly::BY_VISITS,
        bayes_tells_weekly_from_monthly::BY_INTERVAL,
        pages_that_are_not_poisson::BIAS,
        estimators_on_real_histories::RATIOS,
        estimators_drive_a_crawler::CHANGES_FOUND,
    ],
};
