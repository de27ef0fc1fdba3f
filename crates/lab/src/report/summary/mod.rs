//! The text **summary**: Ipeirotis, Ntoulas, Cho and Gravano, on text databases whose summaries grow old.
//!
//! In reading order:
//! - `ageing`: Figures 1 to 8;
//! - `survival`: Tables 3 and 4;
//! - `updates`: Figure 10.

mod ageing;
mod survival;
mod updates;

use super::chapter::Chapter;

/// The chapter.
pub(super) const CHAPTER: Chapter = Chapter {
    name: "summary",
    title: "Summaries of text databases (Ipeirotis, Ntoulas, Cho and Gravano)",
    about: "A content summary says in how many documents of a database each word stands. How fast do \
        summaries grow old, can that be told from the size and the past of a database, and what does it \
        buy to refresh each at its own time? The authors' 152 web databases of 2002 and 2003 are not \
        public. Here are weekly document frequencies of sites of documentation over two years, whose \
        summaries change a hundred times more slowly: thresholds of change are taken from the data, and \
        printed values that rest on the authors' data are compared, not expected.",
    exhibits: &[
        ageing::RECALL,
        ageing::RECALL_OF_SAMPLES,
        ageing::PRECISION,
        ageing::PRECISION_OF_SAMPLES,
        ageing::DIVERGENCE,
        ageing::DIVERGENCE_OF_SAMPLES,
        survival::COEFFICIENTS,
        survival::BASELINES,
        updates::UPDATE_PRECISION,
    ],
};

/// Why a printed value cannot be reproduced.
const DATA: &str = "the authors' databases are not public; these are others, which change more slowly";

/// Display name of a set of features, or of a plan that uses it.
fn shown(name: &str) -> &str {
    match name {
        "past_divergence" => "κ1",
        "all" => "size and κ1",
        other => other,
    }
}
