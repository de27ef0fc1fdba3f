//! Detection of the type of a file to import, from its first bytes.
//!
//! # Promises
//! - Any bytes have some type. No more is decompressed than the detection needs.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use super::cdx::CdxColumns;

/// Number of bytes that the detection reads.
const START: usize = 64 << 10;

/// The type of a file to import.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A WARC file: records of a web archive.
    Warc,
    /// A CDX or CDXJ file: an index of a web archive.
    Cdx,
    /// A sitemap.
    Sitemap,
    /// A list with one URL per line.
    Urls,
}

impl FileKind {
    /// Detects the type of a file that begins with these bytes.
    pub fn of(start: &[u8]) -> Self {
        if start.starts_with(&[0x1f, 0x8b]) {
            let mut plain = Vec::new();
            // The input is truncated: what can be decompressed of it is enough.
            let _ = MultiGzDecoder::new(start).take(START as u64).read_to_end(&mut plain);
            return Self::of_plain(&plain);
        }
        Self::of_plain(&start[..start.len().min(START)])
    }

    fn of_plain(start: &[u8]) -> Self {
        if start.starts_with(b"WARC/") {
            return Self::Warc;
        }
        let text = String::from_utf8_lossy(start);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('<') {
            return Self::Sitemap;
        }
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let is_cdx = lines.next().is_some_and(|line| {
            CdxColumns::of_header(line).is_some() || CdxColumns::default().entry(line).is_some()
        });
        if is_cdx { Self::Cdx } else { Self::Urls }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_is_known_by_its_beginning() {
        let check = |start: &str, expected| assert_eq!(FileKind::of(start.as_bytes()), expected, "{start}");
        check("WARC/1.0\r\n", FileKind::Warc);
        check(" CDX N b a m s k r M S V g\n", FileKind::Cdx);
        check("example,a)/ 20200102030405 {\"url\": \"http://a.example/\"}\n", FileKind::Cdx);
        check("\u{feff}<?xml version=\"1.0\"?><urlset>", FileKind::Sitemap);
        check("# mine\nhttps://example.org/\n", FileKind::Urls);
        check("", FileKind::Urls);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = FileKind::of(&bytes);
            let _ = FileKind::of(&[&[0x1f, 0x8b], bytes.as_slice()].concat());
        }
    }
}
