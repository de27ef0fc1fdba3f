//! The findings of a check: faults, leftovers of a crash, and how much was checked.

use crate::error::StoreError;

/// Maximum number of faults that are listed; the others are only counted.
const FAULTS_MAX: usize = 1000;

/// A fault found by a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The file or the keyspace with the fault.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// Description of the data that cannot be read; empty if nothing is lost.
    pub holds: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.place, self.problem)?;
        if self.holds.is_empty() { Ok(()) } else { write!(formatter, " (it holds {})", self.holds) }
    }
}

/// The findings of a check.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Findings {
    /// The listed faults.
    pub faults: Vec<Fault>,
    /// Number of all faults.
    pub fault_count: u64,
    /// Files left by a killed process, which the next start removes: no fault.
    pub leftovers: Vec<String>,
    /// Number of URLs checked.
    pub urls: u64,
    /// Number of pages checked.
    pub pages: u64,
    /// Number of records of the Collection that were read.
    pub records: u64,
    /// Number of visits that were read.
    pub visits: u64,
}

impl Findings {
    /// Whether there are no faults.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }

    pub(crate) fn add(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.add_loss(place, problem, String::new());
    }

    pub(crate) fn add_loss(&mut self, place: impl Into<String>, problem: impl Into<String>, holds: String) {
        self.fault_count += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(Fault { place: place.into(), problem: problem.into(), holds });
        }
    }

    pub(crate) fn add_error(&mut self, place: &str, error: &StoreError) {
        self.add(place, error.to_string());
    }
}
