//! A document as the tokenizer reads it.
//!
//! Text is most of a document, and the tokenizer looks through it for the bytes that end it, eight at a time. Here that is done for 32 at a time;
//! tags, whose parts are short, are left to the tokenizer's own reader.
//!
//! # Promises
//! - What is read is what the tokenizer's own reader gives, in the same pieces.

use std::convert::Infallible;

use html5gum::{Readable, Reader};

/// Bytes of text that are looked at together.
const STRIDE: usize = 32;

/// The part of a document that is not yet read.
#[derive(Debug)]
pub(super) struct Document<'a> {
    rest: &'a [u8],
}

impl<'a> Document<'a> {
    /// All of a document.
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

/// Bytes of the strides at the start in which no byte may end text.
fn text_strides(rest: &[u8]) -> usize {
    // One end after the other, each compared with all bytes: that is what the compiler does for many bytes at once.
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
        fn tokens_are_those_of_the_tokenizers_own_reader(document in "([a-c ]{0,40}|<a href='[a-c]{0,40}'>|<|&amp;|\r\n?|\n|\0|<!-- |-->|<!DOCTYPE html>|ü){0,20}") {
            let own: Vec<_> = Tokenizer::new(&document).flatten().collect();
            let ours: Vec<_> = Tokenizer::new(Document::new(&document)).flatten().collect();
            prop_assert_eq!(ours, own);
        }
    }
}
