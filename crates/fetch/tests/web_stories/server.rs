//! A test server on loopback, and client settings with limits short enough for tests.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use freshet_fetch::web::{
    Answer, ConnectionLimits, Failure, Fetch, Names, PrivateAddresses, Request, Response, SizeLimits,
    TimeLimits, Web, WebSettings,
};
use freshet_protocol::time::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// Number of connections made to it.
    pub(crate) connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// A server that handles every connection with `treat`.
    pub(crate) async fn start<F, T>(treat: F) -> Self
    where
        F: Fn(TcpStream) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(treat(stream));
            }
        });
        Self { address, connections, task }
    }

    /// A server that answers every request of a connection with these bytes.
    pub(crate) async fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::start(move |mut stream| {
            let bytes = Arc::clone(&bytes);
            async move {
                while read_request(&mut stream).await.is_some() {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// A server that answers one request of a connection with these bytes and closes it.
    pub(crate) async fn closing_after(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::start(move |mut stream| {
            let bytes = Arc::clone(&bytes);
            async move {
                read_request(&mut stream).await;
                let _ = stream.write_all(&bytes).await;
            }
        })
        .await
    }

    pub(crate) fn count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn request(&self, path: &str) -> Request {
        Request::page(false, "127.0.0.1", self.address.port(), path, Timestamp::from_millis(7))
    }

    /// Makes one exchange with it.
    pub(crate) async fn fetch(&self) -> Fetch {
        Web::new(quick()).unwrap().fetch(&self.request("/")).await
    }
}

/// Reads the head of a request; none when the connection has ended.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A response with the length of its body announced.
pub(crate) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Settings with short times for tests, and with loopback allowed.
pub(crate) fn quick() -> WebSettings {
    let short = Duration::from_millis(150);
    let long = Duration::from_secs(20);
    WebSettings {
        private: PrivateAddresses::Allowed,
        names: Names::Fixed(freshet_fetch::web::FixedNames::default()),
        times: TimeLimits {
            dns: long,
            slot: long,
            connect: long,
            tls: Duration::from_millis(600),
            head: Duration::from_millis(600),
            body_idle: short,
            body_total: Duration::from_millis(600),
        },
        sizes: SizeLimits { body_bytes: 1 << 20, ..SizeLimits::default() },
        connections: ConnectionLimits::default(),
        ..WebSettings::default()
    }
}

#[track_caller]
pub(crate) fn response(fetch: Fetch) -> Response {
    match fetch.answer {
        Answer::Response(response) => response,
        other => panic!("no response but {other:?}"),
    }
}

#[track_caller]
pub(crate) fn failure(fetch: Fetch) -> Failure {
    match fetch.answer {
        Answer::Failed(failure) => failure,
        other => panic!("no failure but {other:?}"),
    }
}
