//! A tap on a connection: copies the raw bytes of the heads, and counts bytes received.
//!
//! A WARC file contains the head of a response exactly as sent: order, case and spacing of its lines. HTTP
//! libraries parse it and drop the bytes, so a tap between the library and the connection copies the heads.
//! The count shows whether a single byte arrived before a reused connection broke.
//!
//! # Promises
//! - The head is the bytes received, from the status line to the empty line; heads of 1xx responses before it
//!   are left out.
//! - It stores at most the limit of a head plus the bytes of one read.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::{io, mem};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The recordings of a tap, shared by the connection and the exchange that uses it.
#[derive(Debug, Default)]
pub(super) struct Tap {
    received: AtomicU64,
    heads: Mutex<Heads>,
}

impl Tap {
    /// Begins an exchange of HTTP/1: drops the last recordings and copies heads from now on.
    pub(super) fn listen(&self, head_bytes_max: usize) {
        self.received.store(0, Ordering::Relaxed);
        let mut heads = self.heads();
        heads.sent = Vec::with_capacity(USUAL_HEAD_BYTES);
        heads.received = HeadFinder::new(head_bytes_max);
        heads.listening = true;
    }

    /// Begins an exchange of HTTP/2, whose heads are encoded: only counts.
    pub(super) fn count(&self) {
        self.received.store(0, Ordering::Relaxed);
        self.heads().listening = false;
    }

    /// Bytes received since the exchange began.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The head of the request as far as it was sent, and that of the response.
    pub(super) fn take_heads(&self) -> (Vec<u8>, Vec<u8>) {
        let mut heads = self.heads();
        heads.listening = false;
        let received = mem::take(&mut heads.received.bytes);
        (mem::take(&mut heads.sent), received)
    }

    fn heads(&self) -> MutexGuard<'_, Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw_received(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut heads = self.heads();
        if heads.listening {
            heads.received.feed(bytes);
        }
    }

    fn saw_sent<'a>(&self, slices: impl Iterator<Item = &'a [u8]>, mut sent: usize) {
        let mut heads = self.heads();
        if !heads.listening {
            return;
        }
        for slice in slices {
            let part = slice.len().min(sent);
            heads.sent.extend_from_slice(&slice[..part]);
            sent -= part;
        }
    }
}

/// Initial capacity of a head in bytes: enough for most.
const USUAL_HEAD_BYTES: usize = 512;

#[derive(Debug, Default)]
struct Heads {
    listening: bool,
    sent: Vec<u8>,
    received: HeadFinder,
}

/// Finds the end of the head in a stream of bytes.
#[derive(Debug, Default)]
struct HeadFinder {
    bytes: Vec<u8>,
    limit: usize,
    /// The start of the current line in `bytes`.
    line_start: usize,
    finished: bool,
}

impl HeadFinder {
    fn new(limit: usize) -> Self {
        Self { bytes: Vec::with_capacity(USUAL_HEAD_BYTES), limit, ..Self::default() }
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while !self.finished && !bytes.is_empty() {
            let line_end = bytes.iter().position(|&byte| byte == b'\n');
            let (line, rest) = bytes.split_at(line_end.map_or(bytes.len(), |end| end + 1));
            let kept = line.len().min(self.limit.saturating_sub(self.bytes.len()));
            self.bytes.extend_from_slice(&line[..kept]);
            bytes = rest;
            self.finished = kept < line.len();
            if line_end.is_some() && !self.finished {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = &self.bytes[self.line_start..];
        let is_empty = matches!(line, b"\r\n" | b"\n");
        // Empty lines before a status line are skipped, as in HTTP libraries.
        if is_empty && self.line_start == 0 {
            self.bytes.clear();
        } else if is_empty && is_interim(&self.bytes) {
            self.bytes.clear();
            self.line_start = 0;
        } else {
            self.finished = is_empty;
            self.line_start = self.bytes.len();
        }
    }
}

/// Whether a head is that of a 1xx response, which another one follows. 101 ends HTTP, so nothing follows it.
fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    status.starts_with(b"1") && !status.starts_with(b"101")
}

/// A connection with a tap.
#[derive(Debug)]
pub(super) struct Tapped<S> {
    stream: S,
    tap: Arc<Tap>,
}

impl<S> Tapped<S> {
    pub(super) fn new(stream: S, tap: Arc<Tap>) -> Self {
        Self { stream, tap }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        this.tap.saw_received(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
        this.tap.saw_sent(std::iter::once(bytes), sent);
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, slices))?;
        this.tap.saw_sent(slices.iter().map(|slice| &**slice), sent);
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head_of(limit: usize, pieces: &[&[u8]]) -> Vec<u8> {
        let mut finder = HeadFinder::new(limit);
        for piece in pieces {
            finder.feed(piece);
        }
        finder.bytes
    }

    #[track_caller]
    fn check(stream: &str, expected: &str) {
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(head_of(1000, &bytes), expected.as_bytes());
        assert_eq!(head_of(1000, &[stream.as_bytes()]), expected.as_bytes());
    }

    #[test]
    fn a_head_ends_with_the_empty_line() {
        check("HTTP/1.1 200 OK\r\nA:  b\r\n\r\nbody\r\n\r\n", "HTTP/1.1 200 OK\r\nA:  b\r\n\r\n");
        check("HTTP/1.1 200 OK\nx: y\n\nbody", "HTTP/1.1 200 OK\nx: y\n\n");
        check("\r\n\r\nHTTP/1.1 204 \r\n\r\n", "HTTP/1.1 204 \r\n\r\n");
        check("HTTP/1.1 200", "HTTP/1.1 200");
    }

    #[test]
    fn interim_heads_are_left_out() {
        check(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nL: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nb",
            "HTTP/1.1 200 OK\r\n\r\n",
        );
        check("HTTP/1.1 101 Other\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 101 Other\r\n\r\n");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter_and_the_limit_holds(
            lines in prop::collection::vec("[ -~]{0,6}(\r\n|\n|)", 0..12),
            at in 0usize..40,
            limit in 0usize..60,
        ) {
            let stream = lines.concat().into_bytes();
            let (one, two) = stream.split_at(at.min(stream.len()));
            let head = head_of(limit, &[&stream]);
            prop_assert_eq!(&head, &head_of(limit, &[one, two]));
            prop_assert!(head.len() <= limit);
            prop_assert!(String::from_utf8(stream).unwrap().contains(std::str::from_utf8(&head).unwrap()));
        }
    }
}
