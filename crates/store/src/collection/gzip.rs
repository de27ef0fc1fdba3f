//! One gzip member per record (RFC 1952), so that a record can be read without those before it.
//!
//! A record is complete in memory when it is written, so it is compressed in one call. At the same ratio this
//! takes half the time of a streaming compressor. Level 1, the default of crawls, is our own encoder
//! ([`deflate`]); the other levels are those of libdeflate.
//!
//! # Promises
//! - A member holds exactly the parts that it was given, and its checksum confirms it.
//! - Bytes that are no member are an error, never a panic. The decompressed size of a member is bounded.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use libdeflater::{CompressionLvl, Compressor, Crc};

use crate::collection::deflate;

/// Maximum size of a decompressed record: 2 GiB. The crawler's limit on a body is far below; this one guards
/// against a damaged or foreign file.
pub const RECORD_BYTES_MAX: u64 = 2 << 30;

/// Magic, deflate, no flags, no time, no hints, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Maximum buffer capacity in bytes that is kept between members; a larger buffer is freed.
const ROOM_KEPT: usize = 1 << 20;

/// The compression level of our own encoder.
const QUICK: u32 = 1;

/// Writes gzip members.
///
/// # Examples
///
/// ```
/// use freshet_store::collection::gzip::{MemberWriter, unfold};
///
/// let (mut writer, mut file) = (MemberWriter::new(1), Vec::new());
/// let first = writer.append(&[b"<p>one page</p>"], &mut file) as usize;
/// writer.append(&[b"head\r\n\r\n", b"<p>another</p>"], &mut file);
///
/// // Each record is read without those before it.
/// assert_eq!(unfold(&file[first..])?, b"head\r\n\r\n<p>another</p>");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct MemberWriter {
    encoder: Encoder,
    whole: Vec<u8>,
}

/// The compressor of a level.
enum Encoder {
    /// Our own, the fastest.
    Own(Box<deflate::Encoder>),
    /// libdeflate, at any level.
    Library(Compressor),
}

impl Encoder {
    fn append(&mut self, whole: &[u8], output: &mut Vec<u8>) {
        match self {
            Self::Own(encoder) => encoder.append(whole, output),
            Self::Library(compressor) => {
                let start = output.len();
                output.resize(start + compressor.deflate_compress_bound(whole.len()), 0);
                let made = compressor.deflate_compress(whole, &mut output[start..]);
                output.truncate(start + made.expect("the room is as large as the library asks for"));
            }
        }
    }
}

impl MemberWriter {
    /// A writer with this compression level, from 0 (stored) to 12.
    pub fn new(level: u32) -> Self {
        let library = i32::try_from(level).ok().and_then(|level| CompressionLvl::new(level).ok());
        let encoder = match level {
            QUICK => Encoder::Own(Box::default()),
            _ => Encoder::Library(Compressor::new(library.unwrap_or_else(CompressionLvl::best))),
        };
        Self { encoder, whole: Vec::new() }
    }

    /// Appends a member that holds these parts in order. Returns its size in bytes.
    pub fn append(&mut self, parts: &[&[u8]], output: &mut Vec<u8>) -> u32 {
        let start = output.len();
        self.whole.clear();
        parts.iter().for_each(|part| self.whole.extend_from_slice(part));
        output.extend_from_slice(&HEADER);
        self.encoder.append(&self.whole, output);
        let mut checksum = Crc::new();
        checksum.update(&self.whole);
        output.extend_from_slice(&checksum.sum().to_le_bytes());
        output.extend_from_slice(&(self.whole.len() as u32).to_le_bytes());
        if self.whole.len() > ROOM_KEPT {
            self.whole = Vec::new();
        }
        u32::try_from(output.len() - start).expect("a record is bounded by the crawler's limit on bodies")
    }
}

/// Decompresses the gzip member at the start of these bytes.
pub fn unfold(member: &[u8]) -> io::Result<Vec<u8>> {
    let mut whole = Vec::with_capacity(member.len() * 3);
    GzDecoder::new(member).take(RECORD_BYTES_MAX).read_to_end(&mut whole)?;
    if whole.len() as u64 == RECORD_BYTES_MAX {
        return Err(io::Error::other("the record unfolds to more than 2 GiB"));
    }
    Ok(whole)
}

/// A reader that counts the bytes taken from it.
#[derive(Debug)]
pub struct Counted<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Counted<R> {
    /// A reader that starts counting at `taken`.
    pub fn new(inner: R, taken: u64) -> Self {
        Self { inner, taken }
    }

    /// Bytes taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Decompresses the next gzip member; none at the end.
    pub fn next_member(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.inner.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut whole = Vec::new();
        GzDecoder::new(&mut *self).take(RECORD_BYTES_MAX).read_to_end(&mut whole)?;
        if whole.len() as u64 == RECORD_BYTES_MAX {
            return Err(io::Error::other("the record unfolds to more than 2 GiB"));
        }
        Ok(Some(whole))
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
        self.taken += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn members_come_back_one_by_one(
            members in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..3),
                1..4,
            ),
            level in 0_u32..14,
        ) {
            let mut writer = MemberWriter::new(level);
            let mut file = Vec::new();
            let mut places = Vec::new();
            for parts in &members {
                let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                let offset = file.len();
                let length = writer.append(&parts, &mut file) as usize;
                prop_assert_eq!(offset + length, file.len());
                places.push((offset, length, parts.concat()));
            }
            let mut reader = Counted::new(file.as_slice(), 0);
            for (offset, length, whole) in places {
                prop_assert_eq!(&unfold(&file[offset..offset + length]).expect("it unfolds"), &whole);
                prop_assert_eq!(reader.taken(), offset as u64);
                prop_assert_eq!(reader.next_member().expect("it is read"), Some(whole));
            }
            prop_assert_eq!(reader.next_member().expect("it is read"), None);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), flip: usize) {
            let _ = unfold(&bytes);
            let mut file = Vec::new();
            MemberWriter::new(6).append(&[&bytes], &mut file);
            let at = flip % file.len();
            file[at] ^= 0x10;
            if let Ok(whole) = unfold(&file) {
                prop_assert_eq!(
                    whole,
                    bytes,
                    "only hints of the header may be altered unnoticed: byte {}",
                    at
                );
            }
        }
    }
}
