//! Rates from a table of visits: a row says when a page was visited and whether the visit found it changed.

use anyhow::bail;
use freshet_theory::estimate::rate::Confidence;
use freshet_theory::estimate::visit_history::{EvidenceTotals, PageVisit, RateEvidence, rates_from_visits};
use serde_json::{Value, json};

use super::columns::{Column, Fault, Row};
use super::names::{NameIndex, Seen};
use super::pages::{AttributeColumns, PageTable, check_page_count};
use super::quantity::{grouped, plural};
use crate::progress;

/// Confidence of the intervals around rates.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Collects the visits of a table.
pub(super) struct VisitRows {
    urls: NameIndex,
    attributes: AttributeColumns,
    visits: Vec<PageVisit>,
}

impl VisitRows {
    /// Starts without visits.
    pub(super) fn new(attributes: AttributeColumns) -> Self {
        Self { urls: NameIndex::default(), attributes, visits: Vec::new() }
    }

    /// Adds the visit of one row. Weight, host and cost of a page are taken from its first row.
    pub(super) fn take(&mut self, row: &Row<'_>) -> Result<(), Fault> {
        let url = row.text(Column::Url)?;
        check_page_count(self.urls.len())?;
        let page = match self.urls.add(url) {
            Seen::First(page) => {
                self.attributes.push(row, url)?;
                page
            }
            Seen::Again(page) => page,
        };
        let (seconds, found_change) = (row.seconds(Column::Time)?, row.flag(Column::Changed)?);
        self.visits.push(PageVisit { page, found_change, seconds });
        Ok(())
    }

    /// Estimates the rates and returns the pages, once all rows are in.
    pub(super) fn finish(self) -> anyhow::Result<PageTable> {
        let progress = progress::steps("estimating rates", self.urls.len() as u64);
        let estimated = rates_from_visits(self.visits, Confidence::new(CONFIDENCE), || progress.inc(1));
        progress.finish_and_clear();
        let Ok((change_rates, evidence)) = estimated else {
            bail!("no page was visited at two times: a rate of change shows only between two visits");
        };
        Ok(PageTable {
            urls: self.urls.finish(),
            change_rates,
            attributes: self.attributes.finish(),
            evidence: Some(evidence),
        })
    }
}

/// What the rates come from, for people.
pub(super) fn evidence_sentence(evidence: &RateEvidence) -> String {
    let EvidenceTotals { intervals, changes, pages_visited_once: unseen } = evidence.totals();
    let unseen = match unseen {
        0 => String::new(),
        _ => format!("; {} {} visited once only", grouped(unseen), plural(unseen, "page was", "pages were")),
    };
    format!(
        "rates estimated from {} intervals between visits, {} of them with a change{unseen}",
        grouped(intervals),
        grouped(changes)
    )
}

/// The same for programs.
pub(super) fn evidence_json(evidence: &RateEvidence) -> Value {
    let EvidenceTotals { intervals, changes, pages_visited_once } = evidence.totals();
    json!({
        "intervals": intervals, "intervals_with_change": changes, "pages_visited_once": pages_visited_once
    })
}
