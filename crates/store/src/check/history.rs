//! Checks the files of the History: each is as it was written, and every visit is in exactly one of them.

use freshet_protocol::codec::Record as _;
use xxhash_rust::xxh3::xxh3_64;

use super::course::Check;
use crate::check::log::LoggedVisits;
use crate::counters::Counters;
use crate::directory::folders::relative;
use crate::history::files::{FileRecord, checksum, read_file, registered};
use crate::history::{VisitKind, VisitQuery, lost_visits};
use crate::reader::Reader;

impl Check<'_> {
    pub(super) fn history(&mut self, reader: &Reader, counters: &Counters, mut logged: LoggedVisits) {
        let directory = self.shared.history();
        let files = match registered(self.view) {
            Ok(files) => files,
            Err(error) => return self.findings.add_error("files", &error),
        };
        let mut whole = true;
        let mut settled = 0;
        let lost = match lost_visits::read(self.view) {
            Ok(lost) => lost,
            Err(error) => return self.findings.add_error("notes", &error),
        };
        for (name, record) in files {
            let path = directory.join(&name);
            match read_file(&path) {
                Ok(summary) => {
                    let name = relative(&path, &self.shared.directory);
                    self.compare(&name, "rows", summary.rows, record.rows);
                    if checksum(&path).ok() != Some(record.checksum) {
                        let problem = "it is damaged: its checksum is another one";
                        self.findings.add_loss(&name, problem, held_by_file(&record));
                    }
                    if !summary.sorted {
                        self.findings.add(name, "it is not sorted");
                    }
                    settled += summary.rows;
                }
                Err(error) => {
                    whole = false;
                    let name = relative(&path, &self.shared.directory);
                    let cause =
                        std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
                    self.findings.add_loss(name, format!("{error}{cause}"), held_by_file(&record));
                }
            }
        }
        if !whole {
            return;
        }
        let lost_count: u64 = lost.iter().map(|range| range.end - range.start).sum();
        self.compare("files", "visits in files", settled + lost_count, counters.settled);
        let mut seen = vec![false; usize::try_from(counters.visits).unwrap_or(0)];
        let (mut doubled, mut kinds) = (Vec::new(), vec![0; VisitKind::ALL.len()]);
        let mut altered = 0_u64;
        let read = reader.for_each_visit(&VisitQuery::all(), |visit| {
            kinds[visit.row.kind as usize] += 1_u64;
            let expected = logged.remove(&visit.number);
            altered += u64::from(expected.is_some_and(|expected| expected != xxh3_64(&visit.row.encode())));
            match seen.get_mut(visit.number as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => doubled.push(visit.number),
            }
        });
        if let Err(error) = read {
            return self.findings.add_error("visits", &error);
        }
        if altered > 0 || !logged.is_empty() {
            let problem =
                format!("of the visits in the log {} are missing and {altered} are others", logged.len());
            self.findings.add("history", problem);
        }
        self.findings.visits = seen.iter().filter(|seen| **seen).count() as u64;
        doubled
            .iter()
            .for_each(|number| self.findings.add("visits", format!("visit {number} is there twice")));
        self.compare("visits", "visits", self.findings.visits + lost_count, counters.visits);
        for kind in VisitKind::ALL {
            self.compare("visits", kind.word(), kinds[*kind as usize], counters.of_kind(*kind));
        }
    }
}

/// Description of the contents of a History file, for a finding.
fn held_by_file(record: &FileRecord) -> String {
    format!("{} visits from {} to {}", record.rows, record.first.iso(), record.last.iso())
}
