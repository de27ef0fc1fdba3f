//! What a check found: faults, what a crash has left, and how much was looked at.

use crate::error::StoreError;

/// The most faults that are listed; the others are only counted.
const FAULTS_MAX: usize = 1000;

/// Something that is not as it should be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The file, or the keyspace, it is in.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What it holds that cannot be read; empty if nothing is lost by it.
    pub holds: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.place, self.problem)?;
        if self.holds.is_empty() { Ok(()) } else { write!(formatter, " (it holds {})", self.holds) }
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Findings {
    /// The faults, as many as are listed.
    pub faults: Vec<Fault>,
    /// All faults.
    pub fault_count: u64,
    /// What is there because a process was killed, and goes at the next start: no fault.
    pub leftovers: Vec<String>,
    /// URLs that were looked at.
    pub urls: u64,
    /// Pages that were looked at.
    pub pages: u64,
    /// Records of the Collection that were read.
    pub records: u64,
    /// Visits that were read.
    pub visits: u64,
}

impl Findings {
    /// Whether nothing is wrong.
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
