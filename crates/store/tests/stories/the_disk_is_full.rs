//! The disk is full: the error is clear, nothing is corrupt, and the store continues when there
//! is room again.
//!
//! The system's limit on file sizes stands in for the disk. The limited process is this test binary, started
//! again by a shell that ignores the signal for exceeding the limit. It sets the limit after opening the
//! store, because the journal of the key-value store takes 64 MiB at once.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use freshet_protocol::ids::PageNumber;
use freshet_store::check::check;
use freshet_store::collection::ExchangeKind;
use freshet_store::error::StoreError;
use freshet_store::store::{Settings, Store};

use crate::crawl::{Crawl, moment};

const DIRECTORY: &str = "FRESHET_FULL_DIRECTORY";

/// The limit on the size of files, in bytes.
const LIMIT: usize = 300_000;

/// Size of an incompressible body in bytes.
const BODY: usize = 50_000;

fn body(seed: u64) -> Vec<u8> {
    let mut state = seed;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    })
    .take(BODY)
    .collect()
}

/// Limits the size of the files that this process writes.
fn set_limit(limit: &str) {
    let pid = std::process::id().to_string();
    let set = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={limit}")]).status();
    assert!(set.expect("prlimit is there").success());
}

/// The process with little room: it writes until the disk is full, and prints the error.
#[test]
fn writer() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let settings = Settings { gzip_level: 0, ..Settings::default() };
    let mut crawl = Crawl::begin(Path::new(&directory), settings, 1);
    set_limit(&format!("{LIMIT}:unlimited"));
    for seconds in 0..100 {
        match crawl.try_visit(PageNumber(0), seconds, ExchangeKind::Full, &body(seconds as u64)) {
            Ok(()) => {}
            Err(error @ StoreError::DiskFull { .. }) => {
                // The store still accepts what there is room for.
                let small = crawl.try_visit(PageNumber(0), 1000, ExchangeKind::Full, b"small");
                // What did not fit is accepted when there is room again.
                let changes = crawl.changes_of_visit(PageNumber(0), 2000, ExchangeKind::Full, &body(2000));
                let mut changes = changes.expect("they are made");
                let tried = crawl.store.try_commit(&mut changes);
                assert!(matches!(tried, Err(StoreError::DiskFull { .. })), "{tried:?}");
                set_limit("unlimited");
                crawl.store.try_commit(&mut changes).expect("there is room");
                let said = format!("\nfull after {seconds}: {error}; then {small:?}\n");
                std::io::stdout().write_all(said.as_bytes()).expect("somebody listens");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("there was no limit");
}

#[test]
fn a_full_disk_is_named_and_nothing_is_corrupt() {
    let place = tempfile::tempdir().expect("a directory");
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; exec \"$0\" --exact the_disk_is_full::writer --nocapture")
        .arg(std::env::current_exe().expect("a path"))
        .env(DIRECTORY, place.path())
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.strip_prefix("full after ")).unwrap_or_else(|| {
        panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    assert!(said.contains("no space is left on the disk to write"), "{said}");
    assert!(said.ends_with("then Ok(())"), "{said}");
    let kept: u64 = said.split(':').next().expect("a number").parse().expect("a number");
    assert!(kept >= 4, "{said}");
    let store = Store::open(place.path(), Settings::default()).expect("it opens");
    assert_eq!(check(&store.reader()).expect("checked").faults, []);
    assert_eq!(store.counters().visits, kept + 2);
    let last = store.reader().response_at(PageNumber(0), moment(999)).expect("read").expect("there");
    assert_eq!(last.body, body(kept - 1));
    let small = store.reader().response_at(PageNumber(0), moment(1000)).expect("read").expect("there");
    assert_eq!(small.body, b"small");
    let late = store.reader().response_at(PageNumber(0), moment(2000)).expect("read").expect("there");
    assert_eq!(late.body, body(2000));
}
