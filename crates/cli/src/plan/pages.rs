//! The pages to plan for, collected row by row.

use freshet_protocol::texts::Texts;
use freshet_theory::estimate::visit_history::RateEvidence;
use freshet_theory::refresh::{HostLimits, Pages};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};

use super::columns::{Column, Fault, Layout, Row, quoted};
use super::host::host_of;
use super::names::{NameIndex, Seen};

/// Maximum number of pages in one plan.
pub(super) const PAGES_MAX: usize = 1_000_000_000;

/// Pages to plan for. All columns are in the order in which the file first names each page.
pub(super) struct PageTable {
    /// The URL of each page.
    pub(super) urls: Texts,
    /// Change rate of each page.
    pub(super) change_rates: Vec<ChangesPerDay>,
    /// Weight, cost and host of each page, as far as the file gives them.
    pub(super) attributes: Attributes,
    /// What the rates were estimated from, when the file gave visits.
    pub(super) evidence: Option<RateEvidence>,
}

impl PageTable {
    /// The pages as input for the theory crate.
    pub(super) fn pages(&self) -> Pages<'_> {
        Pages {
            change_rates: &self.change_rates,
            importance: self.attributes.importance.as_deref(),
            costs: self.attributes.costs.as_deref(),
        }
    }

    /// The pages under each of the equally likely rates; a single entry if the rates are certain.
    pub(super) fn outlooks(&self) -> Vec<Pages<'_>> {
        match &self.evidence {
            None => vec![self.pages()],
            Some(evidence) => {
                evidence.outlooks.iter().map(|change_rates| Pages { change_rates, ..self.pages() }).collect()
            }
        }
    }

    /// How many pages there are.
    pub(super) fn len(&self) -> usize {
        self.change_rates.len()
    }
}

/// Attributes of pages besides their changes.
pub(super) struct Attributes {
    /// Weight of each page, if the file has weights.
    pub(super) importance: Option<Vec<f64>>,
    /// Cost of a visit to each page, if the file has costs.
    pub(super) costs: Option<Vec<f64>>,
    /// Host of each page, if hosts are limited.
    pub(super) hosts: Option<Hosts>,
}

/// The host of each page.
pub(super) struct Hosts {
    /// The hosts by number.
    pub(super) names: Texts,
    /// Host number of each page.
    pub(super) of_page: Vec<u32>,
}

impl Hosts {
    /// These limits of the hosts, as the theory sees them; nothing when there are none.
    pub(super) fn limits<'a>(&'a self, limits: &'a [VisitsPerDay]) -> Option<HostLimits<'a>> {
        (!limits.is_empty()).then_some(HostLimits { host_of: &self.of_page, limits })
    }
}

/// Collects attributes, one page at a time.
pub(super) struct AttributeColumns {
    importance: Option<Vec<f64>>,
    costs: Option<Vec<f64>>,
    hosts: Option<(NameIndex, Vec<u32>)>,
}

impl AttributeColumns {
    /// Columns for what the file has. Hosts are collected only if the plan needs them.
    pub(super) fn new(layout: &Layout, hosts_are_limited: bool) -> Self {
        Self {
            importance: layout.has(Column::Weight).then(Vec::new),
            costs: layout.has(Column::Cost).then(Vec::new),
            hosts: hosts_are_limited.then(|| (NameIndex::default(), Vec::new())),
        }
    }

    /// Adds the attributes of the page that this row first names.
    pub(super) fn push(&mut self, row: &Row<'_>, url: &str) -> Result<(), Fault> {
        if let Some(importance) = &mut self.importance {
            importance.push(row.optional_number(Column::Weight)?.unwrap_or(1.0));
        }
        if let Some(costs) = &mut self.costs {
            let cost = row.optional_number(Column::Cost)?.unwrap_or(1.0);
            if cost == 0.0 {
                let message = "it is zero; a visit must cost something".to_owned();
                return Err(Fault { column: Column::Cost, message });
            }
            costs.push(cost);
        }
        if let Some((index, of_page)) = &mut self.hosts {
            let (Seen::First(host) | Seen::Again(host)) = match row.optional_text(Column::Host)? {
                Some(host) => index.add(host),
                None => index.add(&host_of(url).ok_or_else(|| without_host(url))?),
            };
            of_page.push(host);
        }
        Ok(())
    }

    /// Returns the columns once all pages are in.
    pub(super) fn finish(self) -> Attributes {
        let hosts = self.hosts.map(|(names, of_page)| Hosts { names: names.finish(), of_page });
        Attributes { importance: self.importance, costs: self.costs, hosts }
    }
}

fn without_host(url: &str) -> Fault {
    let message = format!("no host can be read from {}; name it in a column host", quoted(url.as_bytes()));
    Fault { column: Column::Url, message }
}

/// Collects pages from a table of rates.
pub(super) struct RateRows {
    urls: NameIndex,
    change_rates: Vec<ChangesPerDay>,
    attributes: AttributeColumns,
    /// Position of each page in the file.
    places: Vec<u64>,
    /// The word for a position: line or row.
    place_name: &'static str,
}

impl RateRows {
    /// Starts without pages.
    pub(super) fn new(attributes: AttributeColumns, place_name: &'static str) -> Self {
        Self {
            urls: NameIndex::default(),
            change_rates: Vec::new(),
            attributes,
            places: Vec::new(),
            place_name,
        }
    }

    /// Adds the page of one row at this position of the file.
    pub(super) fn take(&mut self, row: &Row<'_>, place: u64) -> Result<(), Fault> {
        let url = row.text(Column::Url)?;
        check_page_count(self.urls.len())?;
        if let Seen::Again(page) = self.urls.add(url) {
            let before = self.places[page as usize];
            let message =
                format!("{} stands on {} {before} already", quoted(url.as_bytes()), self.place_name);
            return Err(Fault { column: Column::Url, message });
        }
        self.change_rates.push(ChangesPerDay::new(row.number(Column::ChangesPerDay)?));
        self.attributes.push(row, url)?;
        self.places.push(place);
        Ok(())
    }

    /// Returns the pages once all rows are in.
    pub(super) fn finish(self) -> PageTable {
        PageTable {
            urls: self.urls.finish(),
            change_rates: self.change_rates,
            attributes: self.attributes.finish(),
            evidence: None,
        }
    }
}

/// Fails if a plan cannot hold another page.
pub(super) fn check_page_count(pages: usize) -> Result<(), Fault> {
    if pages < PAGES_MAX {
        return Ok(());
    }
    Err(Fault { column: Column::Url, message: format!("more than {PAGES_MAX} pages") })
}
