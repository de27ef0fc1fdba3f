//! The test data of the WHATWG URL standard from the crate `url`: its results for http and https must hold
//! for our URLs too.
//!
//! The data is not ours and is not kept here: it is read from the sources of the crate, where Cargo has put
//! them. Cases that the crate itself lists as expected failures are left out. Our own rules (no fragment, no
//! credentials, clean parameters) apply on top: a reference must resolve to the canonical form of the
//! standard's result.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use freshet_fetch::page::Canonical;
use serde_json::Value;

/// The folder of the crate's tests, if its sources include one.
fn folder() -> Option<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--manifest-path", manifest])
        .output()
        .ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    let package = metadata["packages"].as_array()?.iter().find(|package| package["name"] == "url")?;
    Some(PathBuf::from(package["manifest_path"].as_str()?).parent()?.join("tests"))
}

#[test]
fn references_resolve_as_the_standard_says() {
    let Some(folder) = folder() else { return };
    let Ok(data) = fs::read_to_string(folder.join("urltestdata.json")) else { return };
    let excused = fs::read_to_string(folder.join("expected_failures.txt")).unwrap_or_default();
    let cases: Vec<Value> = serde_json::from_str(&data).expect("it is JSON");
    let canonical = Canonical::default();
    let (mut resolved, mut refused) = (0, 0);
    for case in cases.iter().filter(|case| case.is_object()) {
        let input = case["input"].as_str().expect("a case has an input");
        if excused.contains(&format!("<{input}>")) || excused.contains(&format!("{input:?}")) {
            continue;
        }
        // A base that we refuse cannot be the URL of a page.
        let base = case["base"].as_str().map(|base| canonical.of(base));
        let ours = match &base {
            Some(Ok(base)) => canonical.join(base, input),
            Some(Err(_)) => continue,
            None => canonical.of(input),
        };
        if case["failure"] == true {
            assert!(ours.is_err(), "{case}: {ours:?}");
            refused += 1;
        } else if matches!(case["protocol"].as_str(), Some("http:" | "https:")) {
            // The base has lost its fragment and credentials, on which only the result of an empty reference
            // depends.
            let expected = canonical.of(case["href"].as_str().expect("a case has a result"));
            assert_eq!(ours.ok(), expected.ok(), "{case}");
            resolved += 1;
        } else {
            assert!(ours.is_err(), "{case}: {ours:?} is no page");
            refused += 1;
        }
    }
    assert!(resolved > 200, "{resolved} cases gave a page, {refused} none");
}
