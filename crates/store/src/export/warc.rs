//! Exports selected versions as one WARC file: a `warcinfo` record, then the records of the Collection,
//! copied byte for byte.
//!
//! # Promises
//! - The file is complete or absent.
//! - A damaged record ends the export with an error that names its place: nothing damaged is exported.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use flate2::Crc;
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::selection::{Exported, Selection};
use super::unfinished::Unfinished;
use crate::collection::index::IndexLine;
use crate::collection::reading::read_record;
use crate::collection::segment;
use crate::collection::warc::WarcWriter;
use crate::error::{StoreError, hexadecimal};
use crate::identity::{IDENTITY, Identity};
use crate::key_value::Space;
use crate::reader::Reader;
use crate::records::read;
use crate::versions::VersionKind;

/// Writes the selected versions to a WARC file.
pub fn export_warc(
    reader: &Reader,
    selection: &Selection,
    software: &str,
    output: &Path,
) -> Result<Exported, StoreError> {
    let unfinished = Unfinished::of(output);
    let path = unfinished.path();
    let file = File::create(path).map_err(StoreError::file("create", path))?;
    let name = output.file_name().and_then(|name| name.to_str()).unwrap_or("export.warc.gz");
    let written = write_records(reader, selection, software, name, (path, file))?;
    fs::rename(path, output).map_err(StoreError::file("write", output))?;
    Ok(Exported { entries: written.lines.len() as u64, bytes: written.bytes })
}

/// A WARC file that was written.
pub(super) struct WrittenWarc {
    /// The lines of its index, sorted.
    pub(super) lines: Vec<String>,
    /// The newest full version of each page in it.
    pub(super) pages: Vec<(PageNumber, Timestamp)>,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
    pub(super) digest: String,
}

/// Writes the selected versions to an open file with this name.
pub(super) fn write_records(
    reader: &Reader,
    selection: &Selection,
    software: &str,
    name: &str,
    (path, file): (&Path, File),
) -> Result<WrittenWarc, StoreError> {
    let chosen = selection.versions(reader)?;
    let identity: Option<Identity> = read(reader.shared.view.as_ref(), Space::Meta, IDENTITY)?;
    let id = identity.map_or([0; 16], |identity| identity.id);
    let failed = |error: io::Error| StoreError::file("write", path)(error);
    let mut output =
        Measured { inner: BufWriter::new(file), bytes: 0, checksum: Crc::new(), digest: Sha256::new() };
    let mut buffer = Vec::new();
    let first = chosen.values().map(|version| version.time).min().unwrap_or_default();
    WarcWriter::new(id, software, 6).append_warcinfo(name, first, &mut buffer);
    output.write_all(&buffer).map_err(failed)?;
    let collection = reader.shared.collection();
    let mut segment_file: Option<(u32, File)> = None;
    let (mut lines, mut pages) = (Vec::new(), std::collections::BTreeMap::new());
    for (place, version) in &chosen {
        let record = read_record(&collection, *place)?;
        let source = collection.join(segment::file_name(place.segment));
        if segment_file.as_ref().is_none_or(|(number, _)| *number != place.segment) {
            let opened = File::open(&source).map_err(StoreError::file("open", &source))?;
            segment_file = Some((place.segment, opened));
        }
        buffer.clear();
        buffer.resize(version.extent as usize, 0);
        if let Some((_, file)) = &segment_file {
            file.read_exact_at(&mut buffer, place.offset).map_err(StoreError::file("read", &source))?;
        }
        let stands = Place { offset: output.bytes, ..*place };
        if let (Some(time), Some(digest)) = (record.time(), record.payload_digest()) {
            lines.push(IndexLine::of(&record, time, &digest, stands).text_in(name));
        }
        if version.kind == VersionKind::Full {
            let newest = pages.entry(version.page).or_insert(version.time);
            *newest = version.time.max(*newest);
        }
        output.write_all(&buffer).map_err(failed)?;
    }
    output.flush().map_err(failed)?;
    output.inner.get_ref().sync_all().map_err(failed)?;
    lines.sort_unstable();
    Ok(WrittenWarc {
        lines,
        pages: pages.into_iter().collect(),
        bytes: output.bytes,
        checksum: output.checksum.sum(),
        digest: hexadecimal(&output.digest.finalize()),
    })
}

/// A file writer that computes length, checksum and digest.
struct Measured {
    inner: BufWriter<File>,
    bytes: u64,
    checksum: Crc,
    digest: Sha256,
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.bytes += count as u64;
        self.checksum.update(&bytes[..count]);
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
