//! Validates a page of a column before it is decoded.
//!
//! The decoder allocates as many values as a dictionary claims, and as many lengths as the header of a delta
//! encoding claims (Apache Parquet format, "Encodings"). Both may exceed any memory.
//!
//! # Promises
//! - A dictionary that passes has no more values than bytes, and a delta-encoded page no more
//!   than its values.
//! - Never reads beyond the end of the file.
//!
//! # Departures
//! `DELTA_BYTE_ARRAY`, texts with shared prefixes, has a second header after the first values, which is
//! not checked.

use std::fs::File;
use std::io::BufReader;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file that rejects reads beyond its end.
pub(super) struct Bounded(pub(super) File);

impl Length for Bounded {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let is_within = start.checked_add(length as u64).is_some_and(|end| end <= Length::len(&self.0));
        if is_within { self.0.get_bytes(start, length) } else { Err(damaged("it ends before a column")) }
    }
}

/// The pages of a column, each checked before it is returned.
pub(super) struct CheckedPages<P> {
    pub(super) pages: P,
    /// Whether definition levels and repetition levels precede the values.
    pub(super) has_levels: [bool; 2],
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if page.as_ref().is_some_and(|page| !is_sound(page, self.has_levels)) {
            return Err(damaged("a page claims more values than it has"));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

fn damaged(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

fn is_sound(page: &Page, has_levels: [bool; 2]) -> bool {
    let (values, encoding) = match page {
        Page::DictionaryPage { buf, num_values, .. } => return *num_values as usize <= buf.len(),
        Page::DataPage { buf, encoding, .. } => (after_levels(buf, has_levels), *encoding),
        Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
            (buf.get(levels..), *encoding)
        }
    };
    let has_differences = matches!(
        encoding,
        Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY
    );
    !has_differences || values.is_some_and(|values| are_sound_differences(values, page.num_values()))
}

/// The values of a version 1 data page, after the levels, each of which is preceded by its length.
fn after_levels(page: &[u8], has_levels: [bool; 2]) -> Option<&[u8]> {
    let mut rest = page;
    for _ in has_levels.iter().filter(|has| **has) {
        let (length, levels) = rest.split_first_chunk()?;
        rest = levels.get(u32::from_le_bytes(*length) as usize..)?;
    }
    Some(rest)
}

/// Whether the header of a delta encoding (block size, miniblocks, number of values) claims no more than
/// can be there.
fn are_sound_differences(bytes: &[u8], values: u32) -> bool {
    let mut rest = bytes;
    let mut number = || {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, others) = rest.split_first()?;
            rest = others;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    };
    let (Some(_block), Some(parts), Some(claimed)) = (number(), number(), number()) else { return false };
    // Each miniblock has a byte in a block; without a block there may be fewer bytes.
    claimed <= u64::from(values) && parts <= bytes.len() as u64 + PARTS_USUAL
}

/// Number of miniblocks in a block that no writer exceeds.
const PARTS_USUAL: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(num_values: u32, bytes: usize) -> Page {
        Page::DictionaryPage {
            buf: vec![0; bytes].into(),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        }
    }

    #[test]
    fn a_dictionary_has_no_more_values_than_bytes() {
        assert!(is_sound(&dictionary(2, 16), [false; 2]));
        assert!(is_sound(&dictionary(0, 0), [false; 2]));
        assert!(!is_sound(&dictionary(1 << 30, 16), [false; 2]));
    }

    #[test]
    fn differences_are_no_more_than_the_values_of_the_page() {
        let page = |num_values, claimed: u8, levels: &[u8]| Page::DataPage {
            buf: [levels, &[0x80, 0x01, 4, claimed, 0]].concat().into(),
            num_values,
            encoding: Encoding::DELTA_LENGTH_BYTE_ARRAY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        assert!(is_sound(&page(3, 3, &[]), [false; 2]));
        assert!(!is_sound(&page(3, 4, &[]), [false; 2]));
        assert!(is_sound(&page(3, 3, &[2, 0, 0, 0, 6, 1]), [true, false]));
        assert!(!is_sound(&page(3, 3, &[200, 0, 0, 0, 6, 1]), [true, false]));
    }
}
