//! The documents are correct: every path that README.md, ARCHITECTURE.md and CONTRIBUTING.md name exists.

use std::fs;
use std::path::Path;

/// The words between backticks that look like paths of this repository.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| {
        word.starts_with("crates/")
            || word.starts_with("docs/")
            || word.starts_with("fuzz/")
            || word.starts_with("./")
            || word.ends_with(".md")
    })
}

#[test]
fn every_path_that_the_documents_name_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(document)).expect("the document is there");
        let paths: Vec<_> = named_paths(&text).collect();
        assert!(paths.len() >= 3, "{document} names no paths");
        for path in paths {
            assert!(root.join(path).exists(), "{document} names {path}, which does not exist");
        }
    }
}
