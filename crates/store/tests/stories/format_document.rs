//! Compares `docs/FORMAT.md` with the code: its tables are generated from the code, and its examples
//! are decoded.
//!
//! `FRESHET_WRITE_FORMAT=1 cargo test -p freshet-store --test stories format_document` updates the document.

use std::fs;
use std::path::PathBuf;

use arrow_schema::DataType;
use freshet_protocol::codec::Record;
use freshet_protocol::ids::{Place, UrlId};
use freshet_store::all_urls::{Reason, Source, UrlRecord};
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::segment::SegmentRecord;
use freshet_store::counters::Counters;
use freshet_store::history::columns::columns;
use freshet_store::history::files::FileRecord;
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::identity::Identity;
use freshet_store::key_value::Space;
use freshet_store::links;
use freshet_store::sites::{ListCopy, PolitenessState, RobotsCopy, RobotsTrouble, SiteRecord};
use freshet_store::synced::Synced;
use freshet_store::url_files;
use freshet_store::versions::{VersionKind, VersionRecord};

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMAT.md")
}

/// The expected text after each mark in the document.
fn parts() -> Vec<(String, String)> {
    vec![
        record::<Identity>("Identity"),
        record::<Counters>("Counters"),
        record::<UrlRecord>("UrlRecord"),
        record::<PageRecord>("PageRecord"),
        record::<SiteRecord>("SiteRecord"),
        record::<RobotsCopy>("RobotsCopy"),
        record::<RobotsTrouble>("RobotsTrouble"),
        record::<PolitenessState>("PolitenessState"),
        record::<ListCopy>("ListCopy"),
        record::<VersionRecord>("VersionRecord"),
        record::<Place>("Place"),
        record::<SegmentRecord>("SegmentRecord"),
        record::<VisitRow>("VisitRow"),
        record::<FileRecord>("FileRecord"),
        record::<Synced>("Synced"),
        words("Space", Space::notes()),
        words("Source", Source::notes()),
        words("Reason", Reason::notes()),
        words("VisitKind", VisitKind::notes()),
        words("VersionKind", VersionKind::notes()),
        ("columns".to_owned(), column_table(columns())),
        ("url columns".to_owned(), column_table(url_files::columns())),
        ("example links".to_owned(), hexadecimal(&links::encode(vec![UrlId(300), UrlId(5)]))),
        ("example version".to_owned(), hexadecimal(&example_version().encode())),
    ]
}

fn record<R: Record>(name: &str) -> (String, String) {
    let mut table = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for field in R::fields() {
        table.push_str(&format!("| `{}` | {} | {} |\n", field.name, field.form, field.meaning));
    }
    (format!("record {name}"), table)
}

fn words(name: &str, notes: Vec<(u8, &'static str, String)>) -> (String, String) {
    let mut table = "| byte | word | meaning |\n|---|---|---|\n".to_owned();
    for (byte, word, meaning) in notes {
        table.push_str(&format!("| {byte} | `{word}` | {meaning} |\n"));
    }
    (format!("words {name}"), table)
}

fn column_table(columns: Vec<(&str, DataType, bool, &str)>) -> String {
    let mut table = "| column | Arrow type | null | meaning |\n|---|---|---|---|\n".to_owned();
    for (name, form, nullable, meaning) in columns {
        let nullable = if nullable { "yes" } else { "no" };
        table.push_str(&format!("| `{name}` | {form} | {nullable} | {meaning} |\n"));
    }
    table
}

fn example_version() -> VersionRecord {
    VersionRecord {
        place: Place { segment: 1, offset: 1000, length: 500 },
        extent: 900,
        kind: VersionKind::Full,
        status: 200,
        payload_digest: [0; 20],
        raw_digest: None,
        text_digest: None,
        simhash: None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("    {}\n", digits.join(" "))
}

/// The document with each part generated from the code.
fn updated(mut text: String) -> String {
    for (name, part) in parts() {
        let mark = format!("<!-- begin {name} -->\n");
        let start =
            text.find(&mark).unwrap_or_else(|| panic!("the document has no part {name}")) + mark.len();
        let end = start + text[start..].find("<!-- end -->").expect("every part has an end");
        text.replace_range(start..end, &part);
    }
    text
}

#[test]
fn the_tables_are_those_of_the_code() {
    let found = fs::read_to_string(document()).expect("the document is there");
    let expected = updated(found.clone());
    if std::env::var_os("FRESHET_WRITE_FORMAT").is_some() {
        fs::write(document(), &expected).expect("it is written");
        return;
    }
    let differing = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert_eq!(differing, None, "bring it up to date as the head of this file says");
    assert_eq!(found, expected);
}

#[test]
fn the_examples_are_decoded_to_what_the_document_says() {
    let text = fs::read_to_string(document()).expect("the document is there");
    let bytes = |name: &str| -> Vec<u8> {
        let mark = format!("<!-- begin example {name} -->\n");
        let line =
            text.split(&mark).nth(1).and_then(|rest| rest.lines().next()).expect("the example is there");
        line.split_whitespace().map(|digits| u8::from_str_radix(digits, 16).expect("a byte")).collect()
    };
    assert_eq!(links::decode(&bytes("links")), Ok(vec![UrlId(5), UrlId(300)]));
    assert_eq!(VersionRecord::decode(&bytes("version")), Ok(example_version()));
}

#[test]
fn every_keyspace_is_described() {
    let text = fs::read_to_string(document()).expect("the document is there");
    for space in Space::ALL {
        assert!(text.contains(&format!("| `{}` | ", space.name())), "{} is not", space.name());
    }
}
