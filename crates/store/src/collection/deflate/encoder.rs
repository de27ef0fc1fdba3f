//! The DEFLATE encoder: splits bytes into blocks and writes them.
//!
//! # Promises
//! - Inflating the output gives the input back, whatever it is.
//! - The output is at most five bytes per 65,535 bytes, and five at the end, longer than the input.
//! - The output depends on the input alone, not on what was encoded before.

use super::block::{self, BLOCK_BYTES_MAX, Output, Table};
use super::copies::Copies;
use super::items::Items;

/// A DEFLATE encoder that reuses its buffers.
#[derive(Clone, Debug)]
pub struct Encoder {
    copies: Copies,
    items: Items,
    fixed: Box<Table>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { copies: Copies::new(), items: Items::new(), fixed: Box::new(Table::fixed()) }
    }
}

impl Encoder {
    /// Appends the encoded bytes to `output`.
    pub fn append(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        self.copies.forget();
        let mut output = Output::new(output);
        let mut start = 0;
        loop {
            let end = (start + BLOCK_BYTES_MAX).min(bytes.len());
            self.copies.find(bytes, start..end, &mut self.items);
            block::write(&bytes[start..end], &self.items, end == bytes.len(), &self.fixed, &mut output);
            if end == bytes.len() {
                return output.end();
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;
    use proptest::prelude::*;

    use super::*;

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = Encoder::default();
        let mut output = b"before".to_vec();
        encoder.append(bytes, &mut output);
        let again = output.len();
        encoder.append(bytes, &mut output);
        assert_eq!(output[b"before".len()..again], output[again..], "what was encoded before does not count");
        output[again..].to_vec()
    }

    #[track_caller]
    fn check(bytes: &[u8]) -> usize {
        let encoded = encoded(bytes);
        let mut back = Vec::new();
        DeflateDecoder::new(encoded.as_slice()).read_to_end(&mut back).expect("it inflates");
        assert!(back == bytes, "{} bytes came back as {}", bytes.len(), back.len());
        assert!(encoded.len() <= bytes.len() + 5 * (bytes.len() / BLOCK_BYTES_MAX + 2));
        encoded.len()
    }

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn blocks_of_every_kind_come_back() {
        check(b"");
        check(b"a");
        check(b"GET /news/page-12.html HTTP/1.1\r\nhost: a.example\r\n\r\n");
        for bytes in [7, 999, 1_000, 65_534, 65_535, 65_536, 131_070, 200_000] {
            check(&noise(bytes));
            check(&vec![b'x'; bytes]);
            let words: Vec<u8> =
                noise(bytes).iter().flat_map(|byte| format!("word{} ", byte % 50).into_bytes()).collect();
            check(&words[..bytes]);
            // Text, then incompressible bytes, then text again.
            check(&[&words[..bytes], &noise(bytes), &words[..bytes]].concat());
        }
    }

    #[test]
    fn text_becomes_small() {
        let page: String = (0..500)
            .map(|row| format!("<li class=\"row\"><a href=\"/page/{row}\">Number {row}</a></li>\n"))
            .collect();
        assert!(6 * check(page.as_bytes()) < page.len());
        assert!(check(&vec![0; 100_000]) < 600);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            check(&bytes);
        }

        #[test]
        fn any_words_come_back(
            words in prop::collection::vec("[ab]{1,9} |<p class=\"x\">|\u{20ac}", 0..3000),
        ) {
            check(words.concat().as_bytes());
        }
    }
}
