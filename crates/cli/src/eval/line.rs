//! Reads one line of input, bounded in length.

use std::io::{self, BufRead, Read as _};

/// Maximum length of a line in bytes. A longer line is skipped without being stored, and answered with an
/// error. The parsed form of a line takes up to twenty times its size, so this bounds memory near 300 MB.
pub(super) const LINE_BYTES_MAX: usize = 16 << 20;

/// Result of reading a line.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// The buffer holds a whole line, with its line end if it has one.
    Whole,
    /// The line was longer than [`LINE_BYTES_MAX`] and was skipped.
    TooLong,
    /// End of input.
    End,
}

/// Reads the next line into `text`.
pub(super) fn read_line(input: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<Line> {
    text.clear();
    let bytes_max = LINE_BYTES_MAX as u64 + 1;
    if input.by_ref().take(bytes_max).read_until(b'\n', text)? == 0 {
        return Ok(Line::End);
    }
    if text.len() <= LINE_BYTES_MAX || text.ends_with(b"\n") {
        return Ok(Line::Whole);
    }
    skip_line(input)?;
    Ok(Line::TooLong)
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let line_end = buffer.iter().position(|byte| *byte == b'\n');
        let consumed = line_end.map_or(buffer.len(), |position| position + 1);
        input.consume(consumed);
        if line_end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_needs_no_line_end() {
        let (mut input, mut text) = (&b"one\ntwo"[..], Vec::new());
        assert_eq!(read_line(&mut input, &mut text).ok(), Some(Line::Whole));
        assert_eq!(text, b"one\n");
        assert_eq!(read_line(&mut input, &mut text).ok(), Some(Line::Whole));
        assert_eq!(text, b"two");
        assert_eq!(read_line(&mut input, &mut text).ok(), Some(Line::End));
    }

    #[test]
    fn a_long_line_is_passed_over_whole() {
        let mut long = vec![b'x'; 2 * LINE_BYTES_MAX];
        long.extend_from_slice(b"\nnext\n");
        let (mut input, mut text) = (&long[..], Vec::new());
        assert_eq!(read_line(&mut input, &mut text).ok(), Some(Line::TooLong));
        assert_eq!(read_line(&mut input, &mut text).ok(), Some(Line::Whole));
        assert_eq!(text, b"next\n");
    }
}
