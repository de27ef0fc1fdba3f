//! The input reader of the HTML tokenizer, with fast scanning of text.
//!
//! Text is most of a document. The tokenizer's own reader searches it for the bytes that end it, eight at a
//! time; this one searches 32 at a time. Tags, whose parts are short, are left to the tokenizer's own reader.
//!
//! # Promises
//! - It returns exactly what the tokenizer's own reader returns, in the same pieces.

use std::convert::Infallible;

use html5gum::{Readable, Reader};

/// Bytes of text that are scanned together.
const STRIDE: usize = 32;

/// The unread part of a document.
#[derive(Debug)]
pub(super) struct Document<'a> {
    rest: &'a [u8],
}

impl<'a> Document<'a> {
    /// A reader at the start of a document.
    pub(super) fn new(document: &'a str) -> Self {
        Self { rest: document.as_bytes() }
    }
}

impl Reader for Document<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        let Some((first, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        Ok(Some(*first))
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let is_text = needle.contains(&b'<') && needle.iter().all(|byte| TEXT_ENDS.contains(byte));
        let skipped = if is_text { text_strides(self.rest) } else { 0 };
        let after = &self.rest[skipped..];
        let length = match after.first() {
            None if skipped == 0 => return Ok(None),
            None => skipped,
            // The needle is a piece of its own.
            Some(first) if 0 < skipped && needle.contains(first) => skipped,
            Some(_) => skipped + after.to_reader().read_until(needle, buffer)?.map_or(0, <[u8]>::len),
        };
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Some(piece))
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        let is_read = self.rest.to_reader().try_read_string(text, case_sensitive)?;
        if is_read {
            self.rest = &self.rest[text.len()..];
        }
        Ok(is_read)
    }
}

/// The bytes that may end a piece of text.
const TEXT_ENDS: [u8; 4] = *b"<&\0\r";

/// Length in bytes of the leading strides without a byte that may end text.
fn text_strides(rest: &[u8]) -> usize {
    // Each end byte is compared with all bytes of the stride, so that the compiler vectorises the loop.
    let has = |stride: &[u8; STRIDE], end: u8| stride.iter().fold(false, |has, byte| has | (*byte == end));
    let is_text =
        |stride: &&[u8; STRIDE]| !TEXT_ENDS.iter().fold(false, |ends, end| ends | has(stride, *end));
    rest.as_chunks::<STRIDE>().0.iter().take_while(is_text).count() * STRIDE
}

#[cfg(test)]
mod tests {
    use html5gum::Tokenizer;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tokens_are_those_of_the_tokenizers_own_reader(
            document in "([a-c ]{0,40}|<a href='[a-c]{0,40}'>|<|&amp;|\r\n?|\n|\0|<!-- |-->|<!DOCTYPE \
                html>|ü){0,20}",
        ) {
            let own: Vec<_> = Tokenizer::new(&document).flatten().collect();
            let ours: Vec<_> = Tokenizer::new(Document::new(&document)).flatten().collect();
            prop_assert_eq!(ours, own);
        }
    }
}
