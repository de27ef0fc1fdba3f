//! A damaged store is repaired: intact data stays, what must be removed is moved aside, and the
//! crawl continues.

use std::fs;
use std::path::{Path, PathBuf};

use freshet_protocol::ids::PageNumber;
use freshet_store::changes::Changes;
use freshet_store::check::check_directory;
use freshet_store::history::VisitQuery;
use freshet_store::repair::{Repaired, repair};
use freshet_store::store::{Settings, Store};

use crate::crawl::{Crawl, moment};

const PAGES: u32 = 3;
const VISITS: i64 = 30;

/// A closed store of three pages and several segments, with some visits of a later run that was killed.
fn stored() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    let mut crawl = Crawl::begin(place.path(), settings(), PAGES);
    for hour in 0..VISITS {
        let page = PageNumber(hour as u32 % PAGES);
        if hour % 5 == 4 {
            crawl.visit_identical(page, hour * 3600, &format!("<p>hour {}", hour - 3));
        } else {
            crawl.visit(page, hour * 3600, &format!("<p>hour {hour}"));
        }
        while crawl.store.tidy(moment(hour * 3600)).expect("it is tidied").is_some() {}
        if hour == VISITS - 5 {
            crawl.store.close(moment(hour * 3600)).expect("it is closed");
            let store = Store::open(place.path(), settings()).expect("it opens");
            crawl = Crawl::of(store, place.path(), settings());
        }
    }
    place
}

fn settings() -> Settings {
    Settings { segment_bytes: 5000, ..Settings::default() }
}

/// The readable versions of all pages, as page, time and body; and the number of visits.
fn held(place: &Path) -> (Vec<(u32, i64, String)>, usize) {
    let store = Store::open(place, settings()).expect("it opens");
    let reader = store.reader();
    let mut versions = Vec::new();
    for page in 0..PAGES {
        for version in reader.versions(PageNumber(page)).expect("they are read") {
            let response = reader.response_at(PageNumber(page), version.time).expect("read").expect("there");
            let body = String::from_utf8(response.body).expect("text");
            versions.push((page, version.time.millis(), body));
        }
    }
    (versions, reader.visits(&VisitQuery::all()).expect("they are read").len())
}

fn files(place: &Path, folder: &str, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.join(folder)).expect("listed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    paths
}

fn flip(path: &Path, part: f64) {
    let mut bytes = fs::read(path).expect("it is read");
    // Journals end in zeros, which hold nothing.
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let at = (end as f64 * part) as usize;
    bytes[at] ^= 0x55;
    fs::write(path, bytes).expect("it is written");
}

fn cut(path: &Path, part: f64) {
    let bytes = fs::read(path).expect("it is read");
    fs::write(path, &bytes[..(bytes.len() as f64 * part) as usize]).expect("it is written");
}

fn remove(path: &Path) {
    fs::remove_file(path).expect("it is removed");
}

/// Damages a store, repairs it, and continues the crawl. Returns the report of the repair, and the number of
/// versions before and after.
#[track_caller]
fn check_repair(damage: impl Fn(&Path)) -> (Repaired, usize, usize) {
    let (repaired, before, after, vanished) = repair_and_go_on(damage);
    assert_eq!(vanished, 0, "every visit is there or known to be lost");
    (repaired, before, after)
}

/// The same, and the number of visits that are neither present nor recorded as lost.
#[track_caller]
fn repair_and_go_on(damage: impl Fn(&Path)) -> (Repaired, usize, usize, usize) {
    let place = stored();
    let (before, visits_before) = held(place.path());
    assert_eq!(check_directory(place.path()).expect("checked").faults, []);
    damage(place.path());
    assert!(!check_directory(place.path()).expect("checked").is_clean(), "the damage is found");

    let repaired = repair(place.path(), moment(1_000_000)).expect("it is repaired");
    assert_eq!(repaired.findings.faults, [], "{:#?}", repaired.done);
    assert_eq!(check_directory(place.path()).expect("checked").faults, []);
    let (after, visits_after) = held(place.path());
    let is_later = |time: &i64| *time >= moment(1_000_000).millis();
    assert!(
        after.iter().all(|version| before.contains(version) || is_later(&version.1)),
        "nothing is there that was not"
    );
    let vanished = visits_before.saturating_sub(visits_after + repaired.visits_lost as usize);

    // The crawl continues.
    let store = Store::open(place.path(), settings()).expect("it opens");
    let mut crawl = Crawl::of(store, place.path(), settings());
    crawl.visit(PageNumber(1), 2_000_000, "<p>afterwards");
    crawl.store.close(moment(2_000_000)).expect("it is closed");
    assert_eq!(check_directory(place.path()).expect("checked").faults, []);
    assert_eq!(held(place.path()).1, visits_after + 1);
    (repaired, before.len(), after.len(), vanished)
}

/// A repair restored no pages from a Collection whose state, log and History were gone, and reported no loss.
#[test]
fn pages_come_back_from_the_collection_alone() {
    for folders in [&["state", "log", "history"][..], &["state", "log", "history", "urls"]] {
        let (repaired, before, after) = check_repair(|place| {
            folders.iter().for_each(|folder| fs::remove_dir_all(place.join(folder)).expect("it is removed"));
        });
        assert_eq!((after, repaired.visits_lost), (before, VISITS as u64), "{:#?}", repaired.done);
        assert_eq!(repaired.findings.pages, u64::from(PAGES));
    }
}

/// A crawl could not be opened although `fsck` found no faults: its log ended before the last durable step.
#[test]
fn a_log_of_an_earlier_moment_is_found_and_goes_on() {
    let earlier = tempfile::tempdir().expect("a directory");
    let (repaired, before, after) = check_repair(|place| {
        // The log and `SYNCED`, as they were before the last run.
        let names = ["SYNCED", "log"];
        for name in names {
            let (from, to) = (place.join(name), earlier.path().join(name));
            if from.is_dir() {
                fs::create_dir(&to).expect("it is made");
                for file in fs::read_dir(&from).expect("it is listed") {
                    let file = file.expect("an entry");
                    fs::copy(file.path(), to.join(file.file_name())).expect("it is copied");
                }
            } else {
                fs::copy(&from, &to).expect("it is copied");
            }
        }
        let store = Store::open(place, settings()).expect("it opens");
        let mut crawl = Crawl::of(store, place, settings());
        // The state itself keeps the last steps; these are more than that.
        for later in 0..6 {
            crawl.visit(PageNumber(1), 1_500_000 + later, &format!("<p>later {later}"));
            crawl.store.sync().expect("it is synced");
        }
        crawl.store.close(moment(1_500_000)).expect("it is closed");
        fs::remove_dir_all(place.join("log")).expect("it is removed");
        for name in names {
            fs::rename(earlier.path().join(name), place.join(name)).expect("it is as it was");
        }
    });
    assert_eq!((after, repaired.visits_lost), (before + 6, 0), "{:#?}", repaired.done);
}

/// A folder or a named pipe in place of a file made commands hang, the engine panic, and a repair fail.
#[test]
fn what_stands_in_place_of_a_file_is_put_aside() {
    for name in ["SYNCED", "LOCK", "FORMAT", "options.toml", "state/0.jnl", "history", "log"] {
        let (repaired, before, after) = check_repair(|place| {
            let path = place.join(name);
            if path.is_dir() {
                fs::remove_dir_all(&path).expect("it is removed");
                fs::write(&path, "").expect("it is written");
            } else {
                let _ = fs::remove_file(&path);
                fs::create_dir(&path).expect("it is made");
            }
        });
        assert_eq!(after, before, "{name}: {:#?}", repaired.done);
        assert!(repaired.done.iter().any(|done| done.starts_with(name)), "{name}: {:#?}", repaired.done);
    }
}

#[test]
fn a_flipped_byte_in_a_segment_costs_one_record() {
    let (repaired, before, after) =
        check_repair(|place| flip(&files(place, "collection", ".warc.gz")[0], 0.5));
    assert!(repaired.versions_lost <= 2, "{repaired:#?}");
    assert_eq!(before - after, repaired.versions_lost as usize);
    assert!(repaired.aside.is_some(), "what must go is put aside");
    // The last segment, which is appended to.
    let (repaired, before, after) =
        check_repair(|place| flip(files(place, "collection", ".warc.gz").last().expect("one"), 0.4));
    assert_eq!(before - after, repaired.versions_lost as usize);
}

#[test]
fn a_segment_that_was_cut_keeps_what_stands_before_the_cut() {
    let (repaired, before, after) =
        check_repair(|place| cut(&files(place, "collection", ".warc.gz")[0], 0.7));
    assert!((1..before as u64 / 2).contains(&repaired.versions_lost), "{repaired:#?}");
    assert_eq!(before - after, repaired.versions_lost as usize);
}

#[test]
fn a_segment_that_is_missing_costs_its_versions_alone() {
    let (repaired, before, after) = check_repair(|place| remove(&files(place, "collection", ".warc.gz")[1]));
    assert!(repaired.versions_lost > 0);
    assert!(after > before / 3, "{before} {after}");
    assert_eq!(repaired.visits_lost, 0, "the visits were made");
}

#[test]
fn an_index_is_written_anew() {
    for damage in [|path: &Path| flip(path, 0.5), |path: &Path| cut(path, 0.5), remove] {
        let (repaired, before, after) = check_repair(|place| damage(&files(place, "collection", ".cdxj")[0]));
        assert_eq!((before, repaired.visits_lost), (after, 0));
    }
}

#[test]
fn a_damaged_file_of_the_history_costs_its_rows_alone() {
    for damage in [|path: &Path| flip(path, 0.4), |path: &Path| cut(path, 0.8), remove] {
        let (repaired, before, after) = check_repair(|place| damage(&files(place, "history", ".parquet")[0]));
        assert_eq!(before, after);
        assert!(repaired.visits_lost <= 28, "{repaired:#?}");
    }
}

#[test]
fn a_damaged_commit_is_cut_out_of_the_journal_and_the_others_stay() {
    for part in [0.1, 0.3, 0.5, 0.9] {
        let (repaired, before, after) = check_repair(|place| flip(&files(place, "state", ".jnl")[0], part));
        assert!(before - after <= 1, "{part}: {before} {after} {repaired:#?}");
        assert!(repaired.visits_lost <= 1, "{part}: {repaired:#?}");
    }
    // The visit of the last commit is nowhere else, but its page is in the Collection.
    let (repaired, before, after, vanished) =
        repair_and_go_on(|place| flip(&files(place, "state", ".jnl")[0], 0.999));
    assert!(before == after && vanished as u64 + repaired.visits_lost <= 1, "{vanished} {repaired:#?}");
}

#[test]
fn without_its_state_a_store_is_made_again_from_its_files() {
    for name in ["state", "journal", "keyspaces"] {
        let (repaired, before, after, vanished) = repair_and_go_on(|place| match name {
            "state" => fs::remove_dir_all(place.join("state")).expect("removed"),
            "journal" => files(place, "state", ".jnl").iter().for_each(|path| remove(path)),
            _ => fs::remove_dir_all(place.join("state/keyspaces")).expect("removed"),
        });
        // Visits after the last clean stop are in no file of the History; their pages are in the Collection.
        assert!(after >= before - 5, "{name}: {before} {after} {repaired:#?}");
        assert!(vanished <= 5, "{name}: {vanished} {repaired:#?}");
    }
}

#[test]
fn the_file_that_says_what_the_directory_is_is_written_anew() {
    check_repair(|place| flip(&place.join("FORMAT"), 0.2));
    check_repair(|place| remove(&place.join("FORMAT")));
}

#[test]
fn a_damaged_table_of_the_state_costs_what_stood_in_its_block() {
    let place = stored();
    let (before, visits) = held(place.path());
    let mut store = Store::open(place.path(), settings()).expect("it opens");
    let note = |number: u32| (format!("note {number:05}"), Some(vec![number as u8; 1000]));
    for hundred in 0..80 {
        let notes = (0..100).map(|one| note(hundred * 100 + one)).collect();
        store.commit(Changes { notes, ..Changes::default() }).expect("it is committed");
    }
    let tables = || -> Vec<PathBuf> {
        let folders = fs::read_dir(place.path().join("state/keyspaces")).expect("listed");
        let folders = folders.map(|folder| folder.expect("a folder").path().join("tables"));
        let tables = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        tables.map(|table| table.expect("a table").path()).collect()
    };
    while tables().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(store);
    let table = tables().into_iter().max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len()));
    flip(&table.expect("a table"), 0.3);
    let findings = check_directory(place.path()).expect("checked");
    assert!(findings.faults.iter().any(|fault| fault.place.contains("state")), "{findings:#?}");
    let repaired = repair(place.path(), moment(1_000_000)).expect("it is repaired");
    assert_eq!(repaired.findings.faults, [], "{:#?}", repaired.done);
    assert_eq!(held(place.path()), (before, visits));
}

#[test]
fn what_holds_no_crawl_cannot_be_checked_and_what_is_in_use_can() {
    let place = tempfile::tempdir().expect("a directory");
    let error = check_directory(place.path()).expect_err("there is nothing").to_string();
    assert!(error.contains("is not a crawl's directory"), "{error}");
    let store = Store::open(&place.path().join("crawl"), settings()).expect("it opens");
    let findings = check_directory(&place.path().join("crawl")).expect("it is checked");
    assert!(findings.is_clean() && findings.leftovers.is_empty(), "{findings:?}");
    let error = repair(&place.path().join("crawl"), moment(1)).expect_err("it is in use").to_string();
    assert!(error.contains("in use by process"), "{error}");
    drop(store);
}
