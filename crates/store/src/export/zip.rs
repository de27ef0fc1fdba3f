//! Writes a ZIP archive of uncompressed files (PKWARE APPNOTE 6.3), as WACZ packages are.
//!
//! # Promises
//! - Archives and files of more than 4 GiB are supported (ZIP64).

use std::io::{self, Read, Write};

/// The value of a 32-bit field whose actual value is in the ZIP64 field.
const ELSEWHERE: u32 = u32::MAX;

/// The version needed to extract: 4.5, for ZIP64.
const VERSION: u16 = 45;

/// General-purpose flags: names are UTF-8.
const FLAGS: u16 = 1 << 11;

/// 1980-01-01, the earliest date of ZIP, so that the same content gives the same bytes.
const DATE: u16 = 1 << 5 | 1;

/// A file in the archive.
#[derive(Debug)]
struct Entry {
    name: String,
    checksum: u32,
    size: u64,
    offset: u64,
}

/// An archive that is being written.
#[derive(Debug)]
pub(super) struct Archive<W> {
    output: W,
    offset: u64,
    entries: Vec<Entry>,
}

impl<W: Write> Archive<W> {
    /// An empty archive.
    pub(super) fn new(output: W) -> Self {
        Self { output, offset: 0, entries: Vec::new() }
    }

    /// Adds a file whose length and CRC-32 are known.
    pub(super) fn add(&mut self, name: &str, checksum: u32, size: u64, content: impl Read) -> io::Result<()> {
        let entry = Entry { name: name.to_owned(), checksum, size, offset: self.offset };
        let is_large = size >= u64::from(ELSEWHERE);
        let mut head = Vec::new();
        head.extend_from_slice(&0x0403_4b50_u32.to_le_bytes());
        entry.put_description(is_large, &mut head);
        let extra: &[u64] = if is_large { &[size, size] } else { &[] };
        put_name_and_extra(name, extra, &[], &mut head);
        self.write(&head)?;
        let copied = io::copy(&mut content.take(size), &mut self.output)?;
        self.offset += copied;
        if copied != size {
            return Err(io::Error::other(format!("{name} has {copied} bytes of {size}")));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the central directory and ends the archive.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let start = self.offset;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            self.write(&entry.directory_line())?;
        }
        let (count, size) = (entries.len() as u64, self.offset - start);
        let mut end = Vec::new();
        if start + size >= u64::from(ELSEWHERE) || count >= u64::from(u16::MAX) {
            end.extend_from_slice(&0x0606_4b50_u32.to_le_bytes());
            end.extend_from_slice(&44_u64.to_le_bytes());
            end.extend_from_slice(&VERSION.to_le_bytes());
            end.extend_from_slice(&VERSION.to_le_bytes());
            end.extend_from_slice(&[0; 8]);
            for number in [count, count, size, start] {
                end.extend_from_slice(&number.to_le_bytes());
            }
            end.extend_from_slice(&0x0706_4b50_u32.to_le_bytes());
            end.extend_from_slice(&[0; 4]);
            end.extend_from_slice(&self.offset.to_le_bytes());
            end.extend_from_slice(&1_u32.to_le_bytes());
        }
        let small_count = u16::try_from(count).unwrap_or(u16::MAX);
        end.extend_from_slice(&0x0605_4b50_u32.to_le_bytes());
        end.extend_from_slice(&[0; 4]);
        end.extend_from_slice(&small_count.to_le_bytes());
        end.extend_from_slice(&small_count.to_le_bytes());
        end.extend_from_slice(&small(size).to_le_bytes());
        end.extend_from_slice(&small(start).to_le_bytes());
        end.extend_from_slice(&[0; 2]);
        self.write(&end)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

impl Entry {
    /// Writes the fields that the local header and the central directory share.
    fn put_description(&self, is_large: bool, output: &mut Vec<u8>) {
        let size = if is_large { ELSEWHERE } else { small(self.size) };
        for number in [VERSION, FLAGS, 0, 0, DATE] {
            output.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.checksum, size, size] {
            output.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn directory_line(&self) -> Vec<u8> {
        let is_large = self.size >= u64::from(ELSEWHERE);
        let is_far = self.offset >= u64::from(ELSEWHERE);
        let mut extra = Vec::new();
        if is_large {
            extra.extend([self.size, self.size]);
        }
        if is_far {
            extra.push(self.offset);
        }
        let mut line = Vec::new();
        line.extend_from_slice(&0x0201_4b50_u32.to_le_bytes());
        // Made on Unix, so that the permissions are used.
        line.extend_from_slice(&(3 << 8 | VERSION).to_le_bytes());
        self.put_description(is_large, &mut line);
        let mut rest = vec![0; 6];
        rest.extend_from_slice(&(0o100_644_u32 << 16).to_le_bytes());
        rest.extend_from_slice(&small(self.offset).to_le_bytes());
        put_name_and_extra(&self.name, &extra, &rest, &mut line);
        line
    }
}

/// A number as 32 bits, or [`ELSEWHERE`] if it needs more.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(ELSEWHERE)
}

/// Writes the lengths of the name and of the ZIP64 field, then `between`, then name and field.
fn put_name_and_extra(name: &str, extra: &[u64], between: &[u8], output: &mut Vec<u8>) {
    let extra_length = if extra.is_empty() { 0 } else { 4 + 8 * extra.len() as u16 };
    output.extend_from_slice(&(name.len() as u16).to_le_bytes());
    output.extend_from_slice(&extra_length.to_le_bytes());
    output.extend_from_slice(between);
    output.extend_from_slice(name.as_bytes());
    if !extra.is_empty() {
        output.extend_from_slice(&1_u16.to_le_bytes());
        output.extend_from_slice(&(extra_length - 4).to_le_bytes());
        extra.iter().for_each(|number| output.extend_from_slice(&number.to_le_bytes()));
    }
}
