//! Every parser has a target for cargo-fuzz, and every target is that of a parser.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use freshet_fuzz::parsers;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_parser_has_a_target() {
    let names: BTreeSet<String> = parsers().iter().map(|parser| parser.name.to_owned()).collect();
    assert_eq!(names.len(), parsers().len(), "two parsers have one name");
    let files = fs::read_dir(root().join("fuzz_targets")).expect("the folder is there");
    let files = files.map(|file| file.expect("it can be listed").path());
    let targets: BTreeSet<String> =
        files.map(|file| file.file_stem().expect("it has a name").to_string_lossy().into_owned()).collect();
    assert_eq!(targets, names);
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest is there");
    for name in &names {
        assert!(
            manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
        let target = root().join(format!("fuzz_targets/{name}.rs"));
        let target = fs::read_to_string(target).expect("the target is there");
        assert!(target.contains(&format!("freshet_fuzz::{name}(bytes)")), "{name}");
    }
}

#[test]
fn every_seed_is_read_without_a_panic() {
    for parser in parsers() {
        assert!(!parser.seeds.is_empty(), "{} has no seeds", parser.name);
        for seed in &parser.seeds {
            (parser.read)(seed);
        }
    }
}
