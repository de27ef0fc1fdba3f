//! A connection to one address: opening, using and closing it.
//!
//! HTTP/1.1 without TLS; under TLS HTTP/2 or HTTP/1.1, as the server chooses. A connection is used by one
//! exchange at a time.
//!
//! # Promises
//! - A dropped connection is closed, whatever its state.
//! - It holds its slot (`slots`) exactly until its socket is closed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::answer::{ConnectFault, Failure, Phase, TlsFault};
use super::limits::{SizeLimits, TimeLimits};
use super::tap::{Tap, Tapped};
use super::tls;

/// An open connection, idle or in use by one exchange.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: Sender,
    pub(super) tap: Arc<Tap>,
    /// Ends the task that moves the bytes, and with it the socket.
    task: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The sending half of a connection.
#[derive(Debug)]
pub(super) enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

type Sent = Result<http::Response<hyper::body::Incoming>, TrySendError<http::Request<Empty<Bytes>>>>;

impl Sender {
    /// Sends a request and waits for the head of its response.
    pub(super) async fn send(&mut self, request: http::Request<Empty<Bytes>>) -> Sent {
        match self {
            Self::Http1(sender) => sender.try_send_request(request).await,
            Self::Http2(sender) => sender.try_send_request(request).await,
        }
    }

    /// Waits until another request can be sent. Returns false if none ever can.
    pub(super) async fn is_free_again(&mut self) -> bool {
        match self {
            Self::Http1(sender) => sender.ready().await.is_ok(),
            Self::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Whether the connection is known to have ended.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_closed(),
            Self::Http2(sender) => sender.is_closed(),
        }
    }
}

/// The target of a connection, with its settings.
pub(super) struct Door<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) https: bool,
    pub(super) tls: TlsConnector,
    pub(super) times: &'a TimeLimits,
    pub(super) sizes: &'a SizeLimits,
}

impl Door<'_> {
    /// Connects to an address within the given time, and makes the TLS and HTTP handshakes. The connection
    /// holds the slot.
    pub(super) async fn open(
        &self,
        address: IpAddr,
        connect_time: Duration,
        slot: OwnedSemaphorePermit,
    ) -> Result<Connection, Failure> {
        let stream =
            match timeout(connect_time, TcpStream::connect(SocketAddr::new(address, self.port))).await {
                Err(_) => return Err(Failure::Timeout(Phase::Connect)),
                Ok(Err(error)) => return Err(Failure::Connect(connect_fault(&error))),
                Ok(Ok(stream)) => stream,
            };
        // Requests are small and written at once, so waiting to fill a packet would only cost time. Not fatal
        // if it fails.
        let _ = stream.set_nodelay(true);
        if self.https { self.greet_tls(stream, slot).await } else { self.greet_http1(stream, slot).await }
    }

    async fn greet_tls(&self, stream: TcpStream, slot: OwnedSemaphorePermit) -> Result<Connection, Failure> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let Ok(name) = ServerName::try_from(bare.to_owned()) else {
            return Err(Failure::Tls(TlsFault::Other("no name that a certificate can be for".to_owned())));
        };
        let stream = match timeout(self.times.tls, self.tls.connect(name, stream)).await {
            Err(_) => return Err(Failure::Timeout(Phase::Tls)),
            Ok(Err(error)) => return Err(tls::failure(&error)),
            Ok(Ok(stream)) => stream,
        };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.greet_http2(stream, slot).await
        } else {
            self.greet_http1(stream, slot).await
        }
    }

    async fn greet_http1<S>(&self, stream: S, slot: OwnedSemaphorePermit) -> Result<Connection, Failure>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let tap = Arc::new(Tap::default());
        let io = TokioIo::new(Tapped::new(stream, Arc::clone(&tap)));
        let (sender, driver) = http1::Builder::new()
            // The Web is written by hand, so parse leniently.
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .title_case_headers(true)
            .max_headers(self.sizes.headers)
            .max_header_size(self.sizes.head_bytes)
            .max_buf_size(self.sizes.head_bytes.max(READ_BUFFER_MIN))
            .handshake(io)
            .await
            .map_err(|error| Failure::Protocol(error.to_string()))?;
        let task = tokio::spawn(async move {
            let _ = driver.await;
            drop(slot);
        });
        Ok(Connection { sender: Sender::Http1(sender), tap, task: task.abort_handle() })
    }

    async fn greet_http2<S>(&self, stream: S, slot: OwnedSemaphorePermit) -> Result<Connection, Failure>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let tap = Arc::new(Tap::default());
        let io = TokioIo::new(Tapped::new(stream, Arc::clone(&tap)));
        let head_bytes = u32::try_from(self.sizes.head_bytes).unwrap_or(u32::MAX);
        let (sender, driver) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_header_list_size(head_bytes)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(STREAM_WINDOW)
            .handshake(io)
            .await
            .map_err(|error| Failure::Protocol(error.to_string()))?;
        let task = tokio::spawn(async move {
            let _ = driver.await;
            drop(slot);
        });
        Ok(Connection { sender: Sender::Http2(sender), tap, task: task.abort_handle() })
    }
}

/// Minimum size of the buffer of a connection, in bytes.
const READ_BUFFER_MIN: usize = 64 << 10;

/// Bytes that an HTTP/2 server may send before we have read them.
const STREAM_WINDOW: u32 = 1 << 20;

fn connect_fault(error: &io::Error) -> ConnectFault {
    use io::ErrorKind as K;
    /// `ENFILE` and `EMFILE`: the machine or the process has no file descriptor left.
    const NO_DESCRIPTORS: [i32; 2] = [23, 24];
    if error.raw_os_error().is_some_and(|code| NO_DESCRIPTORS.contains(&code)) {
        return ConnectFault::OutOfSockets;
    }
    match error.kind() {
        K::ConnectionRefused => ConnectFault::Refused,
        K::HostUnreachable | K::NetworkUnreachable | K::NetworkDown => ConnectFault::Unreachable,
        K::ConnectionReset | K::ConnectionAborted => ConnectFault::Reset,
        K::AddrNotAvailable | K::AddrInUse => ConnectFault::OutOfSockets,
        _ => ConnectFault::Other,
    }
}
