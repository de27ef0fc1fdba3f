//! One request and its response over one connection.
//!
//! # Promises
//! - Every wait and every buffer is limited: the slowest and the largest response cost at most what the
//!   limits allow.
//! - An incomplete body is kept as far as it came, with the reason.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::{Failure, Phase, Refusal, Response, Truncation};
use super::connection::{Connection, Sender};
use super::decoding::decode;
use super::limits::{SizeLimits, TimeLimits};
use super::request::{Request, write_header_lines, written_head};

/// How long an idle connection may take to become ready. It is ready at once, or it is being closed.
const READY_TIME: Duration = Duration::from_millis(100);

/// The traces of one exchange.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) request_head: Vec<u8>,
    pub(super) bytes_received: u64,
}

/// How an exchange ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// With a response. The connection can be reused if it is returned.
    Response(Box<Response>, Option<Connection>),
    /// Without a response.
    Failed(Failure),
    /// The request cannot be written.
    Refused(Refusal),
    /// The connection was closed before a byte arrived. If it had been idle, that says nothing about the
    /// server.
    Stale,
}

/// Sends a request over a connection and reads the response.
pub(super) async fn exchange(
    mut connection: Connection,
    request: &Request,
    user_agent: &HeaderValue,
    times: &TimeLimits,
    sizes: &SizeLimits,
    trace: &mut Trace,
) -> Ending {
    let Some(written) = begin(&connection, request, user_agent, sizes, trace) else {
        return Ending::Refused(Refusal::Malformed);
    };
    let sent = timeout(times.head, connection.sender.send(written)).await;
    let head = take_heads(&connection, trace);
    let response = match sent {
        Err(_) => return Ending::Failed(Failure::Timeout(Phase::Head)),
        Ok(Err(_)) if trace.bytes_received == 0 => return Ending::Stale,
        Ok(Err(error)) => return Ending::Failed(head_failure(error.error())),
        Ok(Ok(response)) => response,
    };
    let (parts, incoming) = response.into_parts();
    if parts.status.is_informational() {
        return Ending::Failed(Failure::Protocol("a switch of protocols that nobody asked for".to_owned()));
    }
    let head = if head.is_empty() { head_of(&parts) } else { head };
    let (raw_body, broken) = read_body(incoming, times, sizes.body_bytes).await;
    trace.bytes_received = connection.tap.received();
    let (body, undecoded) = decode(&parts.headers, &raw_body, sizes);
    let response = Response {
        status: parts.status.as_u16(),
        head,
        headers: parts.headers,
        raw_body,
        body,
        truncated: broken.or(undecoded),
    };
    Ending::Response(Box::new(response), broken.is_none().then_some(connection))
}

/// Whether an idle connection can be used again.
pub(super) async fn is_ready(connection: &mut Connection) -> bool {
    matches!(timeout(READY_TIME, connection.sender.is_free_again()).await, Ok(true))
}

fn begin(
    connection: &Connection,
    request: &Request,
    user_agent: &HeaderValue,
    sizes: &SizeLimits,
    trace: &mut Trace,
) -> Option<http::Request<http_body_util::Empty<Bytes>>> {
    match connection.sender {
        Sender::Http1(_) => {
            let written = request.http1(user_agent)?;
            connection.tap.listen(sizes.head_bytes);
            Some(written)
        }
        Sender::Http2(_) => {
            let written = request.http2(user_agent)?;
            connection.tap.count();
            trace.request_head = written_head(&written);
            Some(written)
        }
    }
}

/// The head of the response as received; empty under HTTP/2.
fn take_heads(connection: &Connection, trace: &mut Trace) -> Vec<u8> {
    trace.bytes_received = connection.tap.received();
    let (sent, received) = connection.tap.take_heads();
    if let Sender::Http1(_) = connection.sender {
        trace.request_head = sent;
    }
    received
}

/// The head of an HTTP/2 response, in the form of HTTP/1.
fn head_of(parts: &http::response::Parts) -> Vec<u8> {
    let mut head = format!("{:?} {}\r\n", parts.version, parts.status.as_u16()).into_bytes();
    write_header_lines(&mut head, &parts.headers);
    head
}

/// Reads a body up to the limit. Also returns why it is incomplete, if it is.
async fn read_body(mut body: Incoming, times: &TimeLimits, limit: usize) -> (Bytes, Option<Truncation>) {
    let deadline = Instant::now() + times.body_total;
    let mut pieces = Pieces::new(body.size_hint().lower(), limit);
    let truncated = loop {
        let patience = deadline.min(Instant::now() + times.body_idle);
        match timeout_at(patience, body.frame()).await {
            Err(_) if patience == deadline => break Some(Truncation::Slow),
            Err(_) => break Some(Truncation::Idle),
            Ok(None) => break None,
            Ok(Some(Err(error))) => break Some(body_fault(&error)),
            Ok(Some(Ok(frame))) => {
                let Ok(data) = frame.into_data() else { continue };
                if !pieces.add(data) {
                    break Some(Truncation::Size);
                }
                // A server that sends without pause must not block other tasks, nor exceed its time.
                if deadline <= Instant::now() {
                    break Some(Truncation::Slow);
                }
            }
        }
    };
    (pieces.into_bytes(), truncated)
}

/// The pieces of a body. A body of one piece, which most are, is not copied.
struct Pieces {
    first: Bytes,
    all: BytesMut,
    expected: usize,
    limit: usize,
}

impl Pieces {
    fn new(announced: u64, limit: usize) -> Self {
        // The announced length is trusted up to this before the body arrives.
        const BELIEVED_MAX: usize = 1 << 20;
        let expected = usize::try_from(announced).unwrap_or(usize::MAX).min(BELIEVED_MAX);
        Self { first: Bytes::new(), all: BytesMut::new(), expected, limit }
    }

    /// Adds a piece. Returns false if it did not fit.
    fn add(&mut self, mut piece: Bytes) -> bool {
        let room = self.limit - self.first.len().max(self.all.len());
        let fits = piece.len() <= room;
        piece.truncate(room);
        if self.first.is_empty() && self.all.is_empty() {
            self.first = piece;
        } else {
            if self.all.is_empty() {
                self.all.reserve(self.expected.max(self.first.len() + piece.len()).min(self.limit));
                self.all.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.all.extend_from_slice(&piece);
        }
        fits
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

fn head_failure(error: &hyper::Error) -> Failure {
    if error.is_parse_too_large() {
        Failure::HeadTooLarge
    } else if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || has_ended(error) {
        Failure::Closed
    } else {
        Failure::Protocol(plain(error))
    }
}

fn body_fault(error: &hyper::Error) -> Truncation {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || has_ended(error) {
        Truncation::Closed
    } else {
        Truncation::Framing
    }
}

/// Whether the error means that the connection ended.
fn has_ended(error: &hyper::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(error) = inner.downcast_ref::<io::Error>() {
            return matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        }
        cause = inner.source();
    }
    false
}

/// An error and its causes on one line.
fn plain(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
