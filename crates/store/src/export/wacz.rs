//! Exports selected versions as one WACZ package (Web Archive Collection Zipped 1.1.1): a ZIP of the WARC,
//! its CDXJ index, the list of pages, and `datapackage.json` with the digest of each.
//!
//! # Promises
//! - The file is complete or absent.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use flate2::Crc;
use freshet_protocol::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::selection::{Exported, Selection};
use super::unfinished::Unfinished;
use super::warc::{WrittenWarc, write_records};
use super::zip::Archive;
use crate::collection::index::quote;
use crate::error::{StoreError, hexadecimal};
use crate::reader::Reader;

/// The name of the WARC in the package.
const WARC_NAME: &str = "data.warc.gz";

/// Writes the selected versions to a WACZ package. `now` is its creation time.
pub fn export_wacz(
    reader: &Reader,
    selection: &Selection,
    software: &str,
    now: Timestamp,
    output: &Path,
) -> Result<Exported, StoreError> {
    // The WARC file is a step on the way.
    let warc = Unfinished::of(&output.with_extension("warc"));
    let file = File::create(warc.path()).map_err(StoreError::file("create", warc.path()))?;
    let written = write_records(reader, selection, software, WARC_NAME, (warc.path(), file))?;
    let pages = page_lines(reader, &written)?;
    let mut index = written.lines.join("\n");
    index.push('\n');
    let packed = Unfinished::of(output);
    let bytes = pack(packed.path(), warc.path(), &written, (&index, &pages), (software, now))?;
    fs::rename(packed.path(), output).map_err(StoreError::file("write", output))?;
    Ok(Exported { entries: written.lines.len() as u64, bytes })
}

fn pack(
    packed: &Path,
    warc_path: &Path,
    warc: &WrittenWarc,
    (index, pages): (&str, &str),
    (software, now): (&str, Timestamp),
) -> Result<u64, StoreError> {
    let failed = |error| StoreError::file("write", packed)(error);
    let mut resources: Vec<(String, String, u64)> =
        vec![(format!("archive/{WARC_NAME}"), warc.digest.clone(), warc.bytes)];
    let content = File::open(warc_path).map_err(StoreError::file("open", warc_path))?;
    let output = File::create(packed).map_err(StoreError::file("create", packed))?;
    let mut archive = Archive::new(output);
    archive.add(&resources[0].0, warc.checksum, warc.bytes, BufReader::new(content)).map_err(failed)?;
    for (name, text) in [("indexes/index.cdxj", index), ("pages/pages.jsonl", pages)] {
        let digest = add_text(&mut archive, name, text).map_err(failed)?;
        resources.push((name.to_owned(), digest, text.len() as u64));
    }
    let package = data_package(&resources, software, now);
    let digest = add_text(&mut archive, "datapackage.json", &package).map_err(failed)?;
    let stated = format!("{{\"path\": \"datapackage.json\", \"hash\": \"sha256:{digest}\"}}\n");
    add_text(&mut archive, "datapackage-digest.json", &stated).map_err(failed)?;
    let file = archive.finish().map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(file.metadata().map_err(failed)?.len())
}

/// Adds a text to the archive and returns its digest.
fn add_text(archive: &mut Archive<File>, name: &str, text: &str) -> std::io::Result<String> {
    let mut checksum = Crc::new();
    checksum.update(text.as_bytes());
    archive.add(name, checksum.sum(), text.len() as u64, text.as_bytes())?;
    Ok(hexadecimal(&Sha256::digest(text)))
}

/// The pages, each with its newest version in the package, as lines of JSON.
fn page_lines(reader: &Reader, warc: &WrittenWarc) -> Result<String, StoreError> {
    let mut lines =
        "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n".to_owned();
    for (page, time) in &warc.pages {
        let Some(record) = reader.page(*page)? else { continue };
        let Some(url) = reader.url(record.url)? else { continue };
        write!(lines, "{{\"id\": \"{}\", \"url\": ", page.0).expect("writing to a text cannot fail");
        quote(&url.url, &mut lines);
        write!(lines, ", \"ts\": \"{}\", \"title\": ", time.iso()).expect("writing to a text cannot fail");
        quote(&record.title, &mut lines);
        lines.push_str("}\n");
    }
    Ok(lines)
}

fn data_package(resources: &[(String, String, u64)], software: &str, now: Timestamp) -> String {
    let mut text =
        "{\n  \"profile\": \"data-package\",\n  \"wacz_version\": \"1.1.1\",\n  \"software\": ".to_owned();
    quote(software, &mut text);
    write!(text, ",\n  \"created\": \"{}\",\n  \"resources\": [", now.iso())
        .expect("writing to a text cannot fail");
    for (number, (path, digest, bytes)) in resources.iter().enumerate() {
        let name = path.rsplit('/').next().unwrap_or_default();
        let comma = if number > 0 { "," } else { "" };
        write!(
            text,
            "{comma}\n    {{\"name\": \"{name}\", \"path\": \"{path}\", \"hash\": \"sha256:{digest}\", \
             \"bytes\": {bytes}}}"
        )
        .expect("writing to a text cannot fail");
    }
    text.push_str("\n  ]\n}\n");
    text
}
