//! Validates the footer of a Parquet file before it is decoded.
//!
//! A file ends with its metadata, their length in four bytes, and `PAR1` (Apache Parquet format, "File
//! format"). The metadata are a structure of Thrift's compact protocol. Their decoder allocates as many row
//! groups as the metadata claim, which may exceed any memory; a failed allocation aborts the program and
//! cannot be caught. So the metadata are walked first, and every length in them is compared with the bytes
//! that are there.
//!
//! # Promises
//! - In metadata that pass, no list has more elements and no text more bytes than the metadata have bytes.
//! - The walk takes linear time and no memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::contained::Unreadable;

/// The magic bytes at the start and end of every Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// The magic bytes at the end of a Parquet file with encrypted metadata.
const MAGIC_ENCRYPTED: &[u8; 4] = b"PARE";

/// Size of the length of the metadata and the magic bytes after it.
const TAIL_BYTES: u64 = 8;

/// Maximum depth of nested structures; the format has eight.
const DEPTH_MAX: u32 = 32;

/// Reads the metadata of a file, walked but not decoded.
pub(crate) fn read(file: &mut File) -> Result<Vec<u8>, Unreadable> {
    let system = |error: io::Error| Unreadable(error.to_string());
    let length = file.seek(SeekFrom::End(0)).map_err(system)?;
    let not_parquet = || Unreadable("it is not a Parquet file, or its end is missing".to_owned());
    if length < TAIL_BYTES + MAGIC.len() as u64 {
        return Err(not_parquet());
    }
    file.seek(SeekFrom::Start(length - TAIL_BYTES)).map_err(system)?;
    let (mut metadata_bytes, mut magic) = ([0; 4], [0; 4]);
    file.read_exact(&mut metadata_bytes).and_then(|()| file.read_exact(&mut magic)).map_err(system)?;
    match &magic {
        MAGIC => {}
        MAGIC_ENCRYPTED => return Err(Unreadable("the Parquet file is encrypted".to_owned())),
        _ => return Err(not_parquet()),
    }
    let metadata_bytes = u64::from(u32::from_le_bytes(metadata_bytes));
    let Some(start) = (length - TAIL_BYTES).checked_sub(metadata_bytes) else {
        return Err(Unreadable::damaged(&"its metadata would be longer than the file"));
    };
    file.seek(SeekFrom::Start(start)).map_err(system)?;
    let mut metadata = Vec::new();
    file.take(metadata_bytes).read_to_end(&mut metadata).map_err(system)?;
    walk(&metadata).ok_or_else(|| Unreadable::damaged(&"its metadata cannot be read"))?;
    Ok(metadata)
}

/// Walks one structure of the compact protocol; none if it is cut off or claims more than is there.
fn walk(metadata: &[u8]) -> Option<()> {
    Walk { rest: metadata }.structure(0)
}

/// The types of the compact protocol, by their numbers in headers.
mod types {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
}

struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn structure(&mut self, depth: u32) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            let is_number_apart = header >> 4 == 0;
            if is_number_apart {
                self.number()?;
            }
            match header & 0x0f {
                // The value of the field is in its type.
                types::TRUE | types::FALSE => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            types::TRUE | types::FALSE | types::BYTE => self.skip(1),
            types::I16 | types::I32 | types::I64 => self.number().map(|_| ()),
            types::DOUBLE => self.skip(8),
            types::BINARY => {
                let bytes = self.number()?;
                self.skip(bytes)
            }
            types::LIST | types::SET => self.list(depth + 1),
            types::MAP => self.map(depth + 1),
            types::STRUCT => self.structure(depth + 1),
            _ => None,
        }
    }

    fn list(&mut self, depth: u32) -> Option<()> {
        let header = self.byte()?;
        let elements = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
        self.elements(elements, &[header & 0x0f], depth)
    }

    fn map(&mut self, depth: u32) -> Option<()> {
        let pairs = self.number()?;
        if pairs == 0 {
            return Some(());
        }
        let kinds = self.byte()?;
        self.elements(pairs, &[kinds >> 4, kinds & 0x0f], depth)
    }

    /// Walks this many elements, each with values of these types. Every value takes at least one byte.
    fn elements(&mut self, elements: u64, kinds: &[u8], depth: u32) -> Option<()> {
        if depth > DEPTH_MAX || elements > self.rest.len() as u64 {
            return None;
        }
        for _ in 0..elements {
            for kind in kinds {
                self.value(*kind, depth)?;
            }
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// A variable-length integer: seven bits per byte, the lowest first, at most ten bytes.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(metadata: &[u8], is_sound: bool) {
        assert_eq!(walk(metadata).is_some(), is_sound, "{metadata:?}");
    }

    #[test]
    fn a_structure_is_walked_to_its_end() {
        check(&[0], true);
        // Field 1: the i32 2; field 2: the text "ab"; field 3: a list of two i32; field 4: true.
        check(&[0x15, 0x04, 0x18, 0x02, b'a', b'b', 0x19, 0x25, 0x02, 0x04, 0x11, 0], true);
        // A nested structure, with its field number in a byte of its own.
        check(&[0x0c, 0x08, 0x15, 0x02, 0x00, 0x00], true);
    }

    #[test]
    fn what_is_cut_off_or_claims_too_much_is_refused() {
        check(&[], false);
        check(&[0x15], false);
        check(&[0x18, 0x05, b'a', 0], false);
        // A list of two billion structures.
        check(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00, 0x00], false);
        check(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0], false);
        check(&vec![0x1c; 1000], false);
        check(&vec![0x19; 1000], false);
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = walk(&bytes);
        }
    }
}
