//! A new store is created completely or not at all, and never in place of a lost one.

use std::fs;

use freshet_store::check::check_directory;
use freshet_store::store::{Settings, Store};

/// A crawl that was killed while the engine created its first files could not be started again: the engine
/// found some of them and gave up.
#[test]
fn what_a_kill_left_of_a_store_in_the_making_is_made_anew() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("FORMAT"), "freshet store 2\n").expect("it is written");
    fs::create_dir_all(path.join("state.unfinished").join("keyspaces/0")).expect("it is made");
    fs::write(path.join("state.unfinished").join("0.jnl"), b"half").expect("it is written");
    let findings = check_directory(path).expect("it can be looked at");
    assert!(findings.is_clean() && findings.leftovers.len() == 1, "{findings:?}");
    drop(Store::open(path, Settings::default()).expect("it is made anew"));
    assert!(!path.join("state.unfinished").exists());
    assert!(check_directory(path).expect("it can be looked at").is_clean());
}

#[test]
fn a_state_that_is_missing_beside_pages_is_not_made_anew_in_silence() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    drop(Store::open(path, Settings::default()).expect("it is made"));
    fs::write(path.join("collection/segment-00000001.warc.gz"), b"pages").expect("it is written");
    fs::remove_dir_all(path.join("state")).expect("it is removed");
    let refused = Store::open(path, Settings::default()).expect_err("it would know of no page").to_string();
    assert!(refused.contains("fsck --repair"), "{refused}");
    assert!(path.join("collection/segment-00000001.warc.gz").exists());
    assert!(!check_directory(path).expect("it can be looked at").is_clean());
}
