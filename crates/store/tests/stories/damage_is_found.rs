//! Flipped bytes, truncated files and missing files: what is found, what is repaired, and what
//! stays readable.

use std::fs;
use std::path::{Path, PathBuf};

use freshet_protocol::ids::PageNumber;
use freshet_store::check::{check, check_directory};
use freshet_store::store::{Settings, Store};

use crate::crawl::{Crawl, moment};

/// A closed store of three pages and several segments.
fn stored() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    let mut crawl = Crawl::begin(place.path(), settings(), 3);
    for seconds in 0..30 {
        crawl.visit(PageNumber(seconds as u32 % 3), seconds * 3600, &format!("<p>hour {seconds}"));
        while crawl.store.tidy(moment(seconds * 3600)).expect("it is tidied").is_some() {}
    }
    crawl.store.close(moment(30 * 3600)).expect("it is closed");
    place
}

fn settings() -> Settings {
    Settings { segment_bytes: 5000, ..Settings::default() }
}

fn faults(place: &Path) -> Vec<String> {
    let findings = check_directory(place).expect("it is checked");
    findings.faults.iter().map(ToString::to_string).collect()
}

fn first_file(place: &Path, folder: &str, end: &str) -> PathBuf {
    let entries = fs::read_dir(place.join(folder)).expect("listed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    paths.swap_remove(0)
}

#[track_caller]
fn check_damage(folder: &str, end: &str, damage: impl Fn(&Path), expected: &str) {
    let place = stored();
    assert_eq!(faults(place.path()), [""; 0], "nothing is wrong at first");
    let path = first_file(place.path(), folder, end);
    damage(&path);
    let faults = faults(place.path());
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(faults.iter().any(|fault| fault.contains(&name) && fault.contains(expected)), "{faults:#?}");
}

fn flip_in_the_middle(path: &Path) {
    let mut bytes = fs::read(path).expect("it is read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    fs::write(path, bytes).expect("it is written");
}

fn cut(path: &Path) {
    let bytes = fs::read(path).expect("it is read");
    fs::write(path, &bytes[..bytes.len() - 10]).expect("it is written");
}

fn remove(path: &Path) {
    fs::remove_file(path).expect("it is removed");
}

#[test]
fn a_flipped_byte_is_found_where_it_is() {
    check_damage("collection", ".warc.gz", flip_in_the_middle, "is corrupt");
    check_damage("collection", ".cdxj", flip_in_the_middle, "is damaged");
    check_damage("history", ".parquet", flip_in_the_middle, "is damaged");
}

#[test]
fn a_file_that_was_cut_is_found() {
    check_damage("collection", ".warc.gz", cut, "bytes");
    check_damage("history", ".parquet", cut, "is damaged");
}

#[test]
fn a_file_that_is_missing_is_found() {
    check_damage("collection", ".warc.gz", remove, "cannot be read");
    check_damage("collection", ".cdxj", remove, "cannot be read");
    check_damage("history", ".parquet", remove, "cannot open");
}

#[test]
fn a_missing_index_is_made_again_the_same() {
    let place = stored();
    let path = first_file(place.path(), "collection", ".cdxj");
    let before = fs::read_to_string(&path).expect("it is read");
    remove(&path);
    let mut store = Store::open(place.path(), settings()).expect("it opens");
    while store.tidy(moment(0)).expect("it is tidied").is_some() {}
    assert_eq!(fs::read_to_string(&path).expect("it is read"), before);
}

#[test]
fn after_a_loss_of_power_what_is_left_is_whole_and_the_rest_is_forgotten() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut crawl = Crawl::begin(directory.path(), Settings::default(), 2);
    crawl.visit(PageNumber(0), 1, "zero");
    crawl.visit(PageNumber(1), 2, "one");
    crawl.visit(PageNumber(1), 3, "one, changed");
    let path = first_file(directory.path(), "collection", ".warc.gz");
    let place =
        crawl.store.reader().page(PageNumber(1)).expect("read").expect("kept").place.expect("a place");
    drop(crawl);
    let bytes = fs::read(&path).expect("it is read");
    fs::write(&path, &bytes[..place.offset as usize + 20]).expect("it is written");
    let store = Store::open(directory.path(), Settings::default()).expect("it opens");
    assert_eq!(store.mended().versions_lost, 1);
    let reader = store.reader();
    let body = |page| reader.response_at(PageNumber(page), moment(9)).expect("read").expect("there").body;
    assert_eq!((body(0), body(1)), (b"zero".to_vec(), b"one".to_vec()));
    assert_eq!(reader.page(PageNumber(1)).expect("read").expect("kept").etag, None);
    assert_eq!(check(&reader).expect("checked").faults, []);
    assert_eq!(store.counters().visits, 3, "the visits were made");
}
