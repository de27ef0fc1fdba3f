//! After a failed write the key-value store accepts no writes, can still be read, and continues after it was
//! reopened within the process.
//!
//! As in `the_disk_is_full`, the system's limit on file sizes stands in for the disk, and the limited process
//! is this test binary, started again by a shell that ignores the signal for exceeding the limit.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use freshet_store::key_value::{
    Batch, Direction, Durability, KeyRange, KeyValue, KeyValueError, OnDisk, Readable, Space, View,
};

const DIRECTORY: &str = "FRESHET_POISONED_DIRECTORY";

/// The limit on the size of files, in bytes.
const LIMIT: usize = 200_000;

fn set_limit(limit: &str) {
    let pid = std::process::id().to_string();
    let set = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={limit}")]).status();
    assert!(set.expect("prlimit is there").success());
}

/// Commits a step: its number, and a value of this many bytes. The journal compresses the value well if its
/// bytes are all alike.
fn commit(store: &OnDisk, step: u64, (bytes, alike): (usize, bool)) -> Result<(), KeyValueError> {
    let mut batch = Batch::new();
    let mut state = step;
    let value = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if alike { 7 } else { state.to_be_bytes()[0] }
    });
    batch.put(Space::Notes, step.to_be_bytes(), value.take(bytes).collect::<Vec<_>>());
    batch.put(Space::Meta, b"last".to_vec(), step.to_le_bytes());
    batch.at_step(step);
    store.commit(batch, Durability::Buffered)
}

/// Checks that exactly the steps up to this one are in the store.
fn check_steps(view: &dyn View, last: u64) {
    let notes = view.scan(Space::Notes, KeyRange::all(), Direction::Forward);
    let steps: Vec<_> = notes.map(|entry| entry.expect("it is read").0).collect();
    assert_eq!(steps, (1..=last).map(|step| step.to_be_bytes().to_vec()).collect::<Vec<_>>());
    assert_eq!(view.get(Space::Meta, b"last").expect("it is read"), Some(last.to_le_bytes().to_vec()));
}

/// Commits steps until a write fails, and some after reopening. Returns the last one before the failure, and
/// the last one that was there after reopening.
fn fail_and_go_on(directory: &Path, value: (usize, bool)) -> (u64, u64) {
    let store = OnDisk::open(directory, 1 << 20).expect("it opens");
    set_limit(&format!("{LIMIT}:unlimited"));
    let failed = (1..10_000)
        .find_map(|step| commit(&store, step, value).err().map(|error| (step, error)))
        .expect("there is a limit");
    let (failed, error) = failed;
    // If the journal compresses well, a table in the background runs out of room first.
    let (_, is_in_background) = value;
    assert!(
        matches!(&error, KeyValueError::Poisoned { source, .. } if source.is_none() == is_in_background),
        "{error:?}"
    );
    assert!(store.is_poisoned());
    let error = commit(&store, failed, value).expect_err("it takes no writes");
    assert!(matches!(error, KeyValueError::Poisoned { source: None, .. }), "{error:?}");
    assert!(matches!(store.sync(), Err(KeyValueError::Poisoned { .. })));
    check_steps(&store, failed - 1);
    set_limit("unlimited");
    // Readers continue meanwhile; a slow one is waited for.
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let snapshot = store.snapshot();
            std::thread::sleep(Duration::from_millis(300));
            check_steps(snapshot.as_ref(), failed - 1);
        });
        let quick = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert!(store.get(Space::Notes, &1_u64.to_be_bytes()).expect("it is read").is_some());
            }
        });
        std::thread::sleep(Duration::from_millis(50));
        let begun = Instant::now();
        store.reopen().expect("there is room");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        is_over.store(true, Ordering::Relaxed);
        slow.join().expect("it was not disturbed");
        quick.join().expect("it was not disturbed");
    });
    assert!(!store.is_poisoned());
    let reopened = store.last_step();
    check_steps(&store, reopened);
    for step in reopened + 1..failed + 5 {
        commit(&store, step, value).expect("there is room");
    }
    assert_eq!(store.behind().expect("read"), []);
    (failed - 1, reopened)
}

/// The process with little room.
#[test]
fn writer() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let directory = Path::new(&directory);
    // The last batch is in the engine's memory when its write fails, and is written while the engine is
    // closed; or a part of it is in the file.
    let small = fail_and_go_on(&directory.join("small"), (100, false));
    let large = fail_and_go_on(&directory.join("large"), (50_000, false));
    let background = fail_and_go_on(&directory.join("background"), (50_000, true));
    let said = format!("\nsteps: {small:?}, {large:?}, {background:?}\n");
    std::io::stdout().write_all(said.as_bytes()).expect("somebody listens");
}

#[test]
fn an_engine_that_failed_goes_on_after_it_was_opened_again() {
    let place = tempfile::tempdir().expect("a directory");
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; exec \"$0\" --exact the_engine_is_opened_again::writer --nocapture")
        .arg(std::env::current_exe().expect("a path"))
        .env(DIRECTORY, place.path())
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.strip_prefix("steps: ")).unwrap_or_else(|| {
        panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    let numbers: Vec<u64> = said
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [small, small_reopened, large, large_reopened, background, background_reopened] = numbers[..] else {
        panic!("{said}")
    };
    // A failed commit is there completely or not at all.
    assert!(small > 100 && small_reopened == small + 1, "{said}");
    assert!(large > 1 && large_reopened == large, "{said}");
    assert!(background > 40 && background_reopened == background, "{said}");
    for (name, last) in [("small", small + 5), ("large", large + 5), ("background", background + 5)] {
        let store = OnDisk::open(&place.path().join(name), 1 << 20).expect("it opens");
        assert_eq!((store.last_step(), store.behind().expect("read")), (last, Vec::new()));
        check_steps(&store, last);
    }
}
