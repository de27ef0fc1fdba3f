//! Conformance tests of the key-value store, run on every implementation.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

/// Runs a test on a new store of each implementation.
fn on_each(test: impl Fn(&dyn KeyValue)) {
    test(&InMemory::new());
    let place = tempfile::tempdir().expect("a directory");
    test(&OnDisk::open(place.path(), 1 << 20).expect("it opens"));
}

/// Commits a batch: `(key, Some(value))` puts, `(key, None)` removes.
fn commit(store: &dyn KeyValue, items: &[(&str, Option<&str>)]) {
    let mut batch = Batch::new();
    for (key, value) in items {
        match value {
            Some(value) => batch.put(Space::Notes, *key, *value),
            None => batch.remove(Space::Notes, *key),
        }
    }
    store.commit(batch, Durability::Buffered).expect("it is committed");
}

fn texts(scan: Scan<'_>) -> Vec<(String, String)> {
    scan.map(|entry| entry.expect("it is read"))
        .map(|(key, value)| (String::from_utf8(key).expect("text"), String::from_utf8(value).expect("text")))
        .collect()
}

#[track_caller]
fn check_keys(view: &dyn View, range: KeyRange, direction: Direction, expected: &str) {
    let keys: Vec<_> =
        texts(view.scan(Space::Notes, range, direction)).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.join(" "), expected);
}

#[test]
fn what_was_put_is_got_and_what_was_removed_is_not() {
    on_each(|store| {
        commit(store, &[("a", Some("1")), ("b", Some("2"))]);
        commit(store, &[("a", None), ("b", Some("3")), ("absent", None)]);
        assert_eq!(store.get(Space::Notes, b"a").expect("read"), None);
        assert_eq!(store.get(Space::Notes, b"b").expect("read"), Some(b"3".to_vec()));
    });
}

#[test]
fn of_two_acts_on_a_key_in_one_batch_the_later_counts() {
    on_each(|store| {
        commit(
            store,
            &[
                ("a", Some("1")),
                ("a", Some("2")),
                ("b", Some("1")),
                ("b", None),
                ("c", None),
                ("c", Some("3")),
            ],
        );
        let found = texts(store.scan(Space::Notes, KeyRange::all(), Direction::Forward));
        assert_eq!(found, [("a".to_owned(), "2".to_owned()), ("c".to_owned(), "3".to_owned())]);
    });
}

#[test]
fn keyspaces_are_apart() {
    on_each(|store| {
        let mut batch = Batch::new();
        for space in Space::ALL {
            batch.put(*space, b"key".to_vec(), space.name().as_bytes());
        }
        store.commit(batch, Durability::Synced).expect("it is committed");
        for space in Space::ALL {
            assert_eq!(store.get(*space, b"key").expect("read"), Some(space.name().as_bytes().to_vec()));
        }
    });
}

#[test]
fn a_scan_gives_its_range_in_order_both_ways() {
    on_each(|store| {
        commit(store, &[("b", Some("")), ("ab", Some("")), ("a", Some("")), ("c", Some(""))]);
        check_keys(store, KeyRange::all(), Direction::Forward, "a ab b c");
        check_keys(store, KeyRange::all(), Direction::Backward, "c b ab a");
        check_keys(store, KeyRange::from("ab"), Direction::Forward, "ab b c");
        check_keys(store, KeyRange::prefix(b"a"), Direction::Backward, "ab a");
        let between = KeyRange { from: b"ab".to_vec(), to: Some(b"c".to_vec()) };
        check_keys(store, between, Direction::Forward, "ab b");
        let none = KeyRange { from: b"c".to_vec(), to: Some(b"a".to_vec()) };
        check_keys(store, none, Direction::Forward, "");
    });
}

#[test]
fn a_snapshot_and_a_scan_see_the_store_as_it_was() {
    on_each(|store| {
        commit(store, &[("a", Some("1")), ("b", Some("1"))]);
        let snapshot = store.snapshot();
        let scan = store.scan(Space::Notes, KeyRange::all(), Direction::Forward);
        commit(store, &[("a", Some("2")), ("b", None), ("c", Some("2"))]);
        assert_eq!(texts(scan), [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "1".to_owned())]);
        assert_eq!(snapshot.get(Space::Notes, b"a").expect("read"), Some(b"1".to_vec()));
        check_keys(snapshot.as_ref(), KeyRange::all(), Direction::Forward, "a b");
        check_keys(store, KeyRange::all(), Direction::Forward, "a c");
    });
}

#[test]
fn a_store_on_disk_is_there_when_it_is_opened_again() {
    let place = tempfile::tempdir().expect("a directory");
    for round in 0..3 {
        let store = OnDisk::open(place.path(), 1 << 20).expect("it opens");
        let keys: Vec<_> = (0..round).map(|earlier| earlier.to_string()).collect();
        check_keys(&store, KeyRange::all(), Direction::Forward, &keys.join(" "));
        commit(&store, &[(&round.to_string(), Some("kept"))]);
    }
}

#[test]
fn a_torn_end_of_the_journal_loses_the_last_batch_whole_and_nothing_else() {
    let place = tempfile::tempdir().expect("a directory");
    let store = OnDisk::open(place.path(), 1 << 20).expect("it opens");
    commit(&store, &[("a", Some("1")), ("b", Some("1"))]);
    commit(&store, &[("a", Some("2")), ("b", Some("2"))]);
    drop(store);
    let journal = journal(place.path());
    let mut bytes = fs::read(&journal).expect("it is read");
    let last = bytes.iter().rposition(|byte| *byte != 0).expect("something was written");
    bytes[last - 3..].fill(0);
    fs::write(&journal, bytes).expect("it is written");
    let store = OnDisk::open(place.path(), 1 << 20).expect("it opens");
    let found = texts(store.scan(Space::Notes, KeyRange::all(), Direction::Forward));
    assert_eq!(found, [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "1".to_owned())]);
}

/// Commits a step that writes its number to each of these keyspaces.
fn commit_step(store: &dyn KeyValue, step: u64, spaces: &[Space]) {
    let mut batch = Batch::new();
    for space in spaces {
        batch.put(*space, format!("step {step}"), step.to_string());
    }
    batch.at_step(step);
    store.commit(batch, Durability::Buffered).expect("it is committed");
}

#[test]
fn stamps_are_seen_by_nobody() {
    on_each(|store| {
        assert_eq!(store.last_step(), 0);
        commit_step(store, 1, &[Space::Notes, Space::Meta]);
        commit_step(store, 2, &[Space::Meta]);
        commit(store, &[("without a step", Some(""))]);
        assert_eq!((store.last_step(), store.behind().expect("read")), (2, Vec::new()));
        let snapshot = store.snapshot();
        for view in [store as &dyn View, snapshot.as_ref()] {
            check_keys(view, KeyRange::all(), Direction::Forward, "step 1 without a step");
            check_keys(view, KeyRange::from("t"), Direction::Backward, "without a step");
            check_keys(view, KeyRange::prefix(&[0xff]), Direction::Forward, "");
            assert_eq!(view.get(Space::Notes, &[0xff]).expect("read"), None);
            assert_eq!(view.get(Space::Meta, b"stamps").expect("read"), None);
            let meta = texts(view.scan(Space::Meta, KeyRange::all(), Direction::Backward));
            assert_eq!(meta.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), ["step 2", "step 1"]);
            assert_eq!(view.scan(Space::Urls, KeyRange::all(), Direction::Forward).count(), 0);
        }
    });
}

/// The journal file of a store on disk.
fn journal(directory: &Path) -> PathBuf {
    let mut journals: Vec<_> = fs::read_dir(directory)
        .expect("it is listed")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    assert_eq!(journals.len(), 1, "{journals:?}");
    journals.pop().expect("one")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is made");
    for entry in fs::read_dir(from).expect("it is listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it is copied");
        }
    }
}

/// Tests a store whose files were changed after ten steps, when it was closed. `meddle` gets its directory
/// and a copy of it after five steps. The tables of `urls` were written before the last step of either half.
/// `expected` is part of the message about each keyspace that is behind.
#[track_caller]
fn check_behind(meddle: impl Fn(&Path, &Path), expected: &[&str]) {
    let place = tempfile::tempdir().expect("a directory");
    let (path, earlier) = (place.path().join("state"), place.path().join("earlier"));
    for (half, last) in [(1..5, 5), (6..10, 10)] {
        let store = OnDisk::open(&path, 1 << 20).expect("it opens");
        half.for_each(|step| commit_step(&store, step, &[Space::Urls, Space::Notes]));
        store.write_tables(Space::Urls).expect("they are written");
        commit_step(&store, last, &[Space::Notes]);
        drop(store);
        if !earlier.exists() {
            copy_folder(&path, &earlier);
        }
    }
    meddle(&path, &earlier);
    for step in 11..13 {
        let store = OnDisk::open(&path, 1 << 20).expect("it opens");
        let behind: Vec<_> = store.behind().expect("read").iter().map(ToString::to_string).collect();
        let is_expected = |(said, part): (&String, &&str)| said.contains(part);
        assert!(behind.len() == expected.len() && behind.iter().zip(expected).all(is_expected), "{behind:?}");
        if expected.is_empty() {
            assert_eq!(store.last_step(), step - 1);
            commit_step(&store, step, &[Space::Notes]);
        }
    }
}

#[test]
fn a_store_that_was_left_alone_is_behind_nothing() {
    check_behind(|_, _| {}, &[]);
}

#[test]
fn an_emptied_or_older_journal_is_noticed() {
    let meta = |found: u64| format!("the keyspace `meta` is at step {found} and was at step 9 before");
    check_behind(|path, _| fs::write(journal(path), b"").expect("it is written"), &[&meta(0)]);
    check_behind(|path, _| fs::remove_file(journal(path)).expect("it is removed"), &[&meta(0)]);
    let put_back = |path: &Path, earlier: &Path| {
        fs::copy(journal(earlier), journal(path)).expect("it is copied");
    };
    check_behind(put_back, &[&meta(5)]);
}

#[test]
fn an_older_folder_of_a_keyspace_is_noticed_also_if_the_journal_has_the_newest_steps() {
    // The engine numbers keyspaces from 1, in the order of their creation.
    let folder = |path: &Path| path.join("keyspaces").join((Space::Urls as usize + 1).to_string());
    let put_back = |path: &Path, earlier: &Path| {
        fs::remove_dir_all(folder(path)).expect("it is removed");
        copy_folder(&folder(earlier), &folder(path));
    };
    check_behind(put_back, &["the keyspace `urls` has table list"]);
    let remove = |path: &Path, _: &Path| fs::remove_dir_all(folder(path)).expect("it is removed");
    check_behind(remove, &["the keyspace `urls`"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_batches_leave_what_an_ordered_map_holds(
        batches in prop::collection::vec(
            prop::collection::vec((0_u8..20, prop::option::of(any::<u8>())), 0..8),
            0..8,
        ),
    ) {
        let mut model = BTreeMap::new();
        let store = InMemory::new();
        for items in &batches {
            let mut batch = Batch::new();
            for (key, value) in items {
                match value {
                    Some(value) => {
                        batch.put(Space::Notes, [*key], [*value]);
                        model.insert(vec![*key], vec![*value]);
                    }
                    None => { batch.remove(Space::Notes, [*key]); model.remove([*key].as_slice()); }
                }
            }
            store.commit(batch, Durability::Buffered).expect("it is committed");
        }
        let found: Vec<_> = store
            .scan(Space::Notes, KeyRange::all(), Direction::Forward)
            .map(|entry| entry.expect("read"))
            .collect();
        prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
    }
}
