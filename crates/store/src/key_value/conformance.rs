//! The promises of the key-value store as tests, run on every implementation.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Runs a test on a fresh store of each kind.
fn on_each(test: impl Fn(&dyn KeyValue)) {
    test(&InMemory::new());
    let place = tempfile::tempdir().expect("a directory");
    test(&OnDisk::open(place.path(), 1 << 20).expect("it opens"));
}

/// What a test writes: `(key, Some(value))` puts, `(key, None)` removes.
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
    let journals: Vec<_> = std::fs::read_dir(place.path())
        .expect("it is listed")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    assert_eq!(journals.len(), 1, "{journals:?}");
    let mut bytes = std::fs::read(&journals[0]).expect("it is read");
    let last = bytes.iter().rposition(|byte| *byte != 0).expect("something was written");
    bytes[last - 3..].fill(0);
    std::fs::write(&journals[0], bytes).expect("it is written");
    let store = OnDisk::open(place.path(), 1 << 20).expect("it opens");
    let found = texts(store.scan(Space::Notes, KeyRange::all(), Direction::Forward));
    assert_eq!(found, [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "1".to_owned())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_batches_leave_what_an_ordered_map_holds(
        batches in prop::collection::vec(prop::collection::vec((0_u8..20, prop::option::of(any::<u8>())), 0..8), 0..8),
    ) {
        let mut model = BTreeMap::new();
        let store = InMemory::new();
        for items in &batches {
            let mut batch = Batch::new();
            for (key, value) in items {
                match value {
                    Some(value) => { batch.put(Space::Notes, [*key], [*value]); model.insert(vec![*key], vec![*value]); }
                    None => { batch.remove(Space::Notes, [*key]); model.remove([*key].as_slice()); }
                }
            }
            store.commit(batch, Durability::Buffered).expect("it is committed");
        }
        let found: Vec<_> = store.scan(Space::Notes, KeyRange::all(), Direction::Forward).map(|entry| entry.expect("read")).collect();
        prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
    }
}
