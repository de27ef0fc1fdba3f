//! The text **sample**: Cho and Ntoulas, "Effective change detection using sampling".
//!
//! In reading order:
//! - `two_sites_have_a_best_sample_size`: Figure 1, also with sampling cheaper than
//!   downloading (section 3.1);
//! - `sites_change_little_or_everywhere`: Figure 5;
//! - `sampling_beats_round_robin`: Figures 6 and 15;
//! - `some_samples_suffice`: Figure 7, also with cheaper sampling;
//! - `subsets_help_when_downloads_are_few`: Figures 8 and 9;
//! - `history_wins_in_the_long_run`: Figure 10;
//! - `adaptive_needs_no_tuning`: Figures 11 and 12;
//! - `greedy_visits_what_changes`: Figures 13 and 14.

mod adaptive_needs_no_tuning;
mod greedy_visits_what_changes;
mod history_wins_in_the_long_run;
mod sampling_beats_round_robin;
mod sites_change_little_or_everywhere;
mod some_samples_suffice;
mod subsets_help_when_downloads_are_few;
mod two_sites_have_a_best_sample_size;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "sample",
    title: "Change detection by sampling (Cho and Ntoulas)",
    about: "In each cycle a few pages of every site are sampled, and the rest of the downloads goes where \
            samples had changed. The authors' pages are not public; their experiments are repeated on \
            recorded histories and on sites from two models: with a V-shaped distribution of changed \
            fractions, as they found it, and with their N(0.5, 0.3).",
    exhibits: &[
        two_sites_have_a_best_sample_size::TWO_SITES,
        sites_change_little_or_everywhere::FRACTIONS,
        sampling_beats_round_robin::POLICIES,
        some_samples_suffice::SAMPLE_SIZES,
        subsets_help_when_downloads_are_few::DOWNLOADS,
        subsets_help_when_downloads_are_few::SUBSETS,
        history_wins_in_the_long_run::LONG_RUN,
        adaptive_needs_no_tuning::ROUND_SIZES,
        adaptive_needs_no_tuning::CONFIDENCES,
        greedy_visits_what_changes::FAIRNESS,
        greedy_visits_what_changes::VISITS,
        sampling_beats_round_robin::NORMAL,
    ],
};

/// Why a printed value cannot be reproduced.
const DATA: &str = "the authors' pages are not public";

/// Downloads per page and cycle of the text: 100,000 of 353,000 pages.
const BUDGET: f64 = 100.0 / 353.0;

/// Mean number of pages per site of the text.
const PAGES_PER_SITE: usize = 1400;
