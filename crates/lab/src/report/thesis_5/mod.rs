//! The **thesis**, chapter 5: how to keep copies fresh.
//!
//! In reading order:
//! - `simulated_copies`: measures simulated copies;
//! - `one_copy_over_time`: freshness and age of one copy (Figures 5.2, 5.3, 5.7);
//! - `when_visits_happen`: visits in a burst or spread over the day (Figure 5.5);
//! - `fixed_order_is_best`: the order of visits (Table 5.2, Figure 5.10);
//! - `uniform_beats_proportional`: visits by rate of change (Figure 5.4, Table 5.3, Figure 5.11);
//! - `focus_on_what_can_be_tracked`: two pages, one of which changes too fast (Table 5.4, Figure 5.13);
//! - `too_fast_pages_are_penalised`: the optimal allocation (Tables 5.5 and 5.6, Figures 5.14 to 5.16);
//! - `optimal_beats_both`: its benefit on the Web (Table 5.7).

mod fixed_order_is_best;
mod focus_on_what_can_be_tracked;
mod one_copy_over_time;
mod optimal_beats_both;
mod simulated_copies;
mod too_fast_pages_are_penalised;
mod uniform_beats_proportional;
mod when_visits_happen;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "thesis-5",
    title: "Thesis, chapter 5: page refresh policies",
    about: "How fresh and how old copies are when pages change by Poisson processes, in which order to visit \
            them, and how to divide visits among pages that change at different rates. Figures 5.1, 5.6, \
            5.8, 5.9 and 5.12 of the text are sketches and algorithms and Table 5.1 is a list of symbols: \
            they hold nothing to compare.",
    exhibits: &[
        one_copy_over_time::EXAMPLE,
        one_copy_over_time::EXPECTATION,
        uniform_beats_proportional::HISTOGRAM,
        when_visits_happen::POINTS,
        one_copy_over_time::FIXED_INTERVALS,
        fixed_order_is_best::FORMULAS,
        fixed_order_is_best::CURVES,
        uniform_beats_proportional::FORMULAS,
        uniform_beats_proportional::RATIOS,
        focus_on_what_can_be_tracked::BENEFITS,
        focus_on_what_can_be_tracked::CURVES,
        too_fast_pages_are_penalised::FIVE_PAGES,
        too_fast_pages_are_penalised::FIVE_PAGES_CURVE,
        too_fast_pages_are_penalised::SCALING,
        too_fast_pages_are_penalised::WEIGHTED,
        too_fast_pages_are_penalised::WEIGHTED_CURVE,
        optimal_beats_both::PREDICTION,
    ],
};
