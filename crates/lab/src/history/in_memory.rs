//! Converts a recording into tables in memory, without files: for models that are studied immediately.
//!
//! # Promises
//! - The tables equal those read from the files of the recording.

use super::recording::{EventKind, Recording};
use super::tables::{ChangeKind, ChangeRow, PageRow, SiteRow, Tables};

impl From<Recording> for Tables {
    fn from(mut recording: Recording) -> Self {
        recording.sort_pages();
        let mut tables = Self::default();
        for (number, site) in (0..).zip(recording.sites) {
            let first = tables.pages.len() as u32;
            let mut changes = Vec::new();
            for (page, recorded) in (first..).zip(&site.pages) {
                tables.pages.push(PageRow { site: number, first_seen: recorded.first_seen });
                tables.paths.push(&recorded.path);
                let row = |event: &super::recording::Event| ChangeRow {
                    time: event.time,
                    page,
                    kind: change_kind(event.kind),
                    mass: event.mass,
                };
                changes.extend(recorded.events.iter().map(row));
            }
            changes.sort_by_key(|change| change.time);
            tables.changes.extend(changes);
            let link = |(from, to): &(usize, usize)| (first + *from as u32, first + *to as u32);
            let mut links: Vec<(u32, u32)> = site.links.iter().map(link).collect();
            links.sort_unstable();
            links.dedup();
            tables.links.extend(links);
            tables.sites.push(SiteRow {
                name: site.name,
                family: site.family,
                start: site.start,
                end: site.end,
            });
        }
        tables
    }
}

fn change_kind(kind: EventKind) -> ChangeKind {
    match kind {
        EventKind::Modified => ChangeKind::Modified,
        EventKind::Deleted | EventKind::MovedAway => ChangeKind::Deleted,
        EventKind::Recreated => ChangeKind::Recreated,
    }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{Model, Synthetic};
    use super::*;

    #[test]
    fn tables_are_those_of_the_files() {
        let recording =
            Synthetic { model: Model::Gamma, sites: 3, pages_per_site: 30, days: 900.0, seed: 4 }.record();
        let place = tempfile::tempdir().expect("a directory");
        recording.clone().write(place.path()).expect("written");
        let (read, made) = (Tables::read(place.path()).expect("read"), Tables::from(recording));
        let changes = |tables: &Tables| -> Vec<_> {
            tables.changes.iter().map(|row| (row.time, row.page, row.kind, row.mass)).collect()
        };
        assert_eq!(changes(&read), changes(&made));
        let pages = |tables: &Tables| -> Vec<_> {
            let page = |(number, row): (usize, &PageRow)| {
                (row.site, row.first_seen, tables.paths[number].to_owned())
            };
            tables.pages.iter().enumerate().map(page).collect()
        };
        assert_eq!(pages(&read), pages(&made));
        assert_eq!(read.links, made.links);
        assert_eq!(read.sites[2].end, made.sites[2].end);
    }
}
