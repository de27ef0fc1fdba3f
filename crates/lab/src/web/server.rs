//! HTTP server of the living web: one listener per site, or one for all, on loopback only.
//!
//! HTTP/1.1 with keep-alive. An answer is computed from nothing but the request and the moment. The only
//! state here is the number of the request and of its connection.
//!
//! # Promises
//! - It listens on loopback addresses only.
//! - The moment of an answer is the same in its Date header, in the log and in its text.
//! - Stopping closes every socket and the log.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::answer::{Answer, Asked};
use super::clock::{WebClock, wall_now};
use super::dates;
use super::hosts::Hosts;
use super::living_web::LivingWeb;
use super::request_log::{LogTarget, RequestLine, RequestLog};
use super::settings::WebSettings;
use super::truth_pages::{TruthPage, truth_page};
use super::validators::Conditions;

/// Maximum attempts to find a port that is free at all addresses.
const PORT_TRIES: u32 = 20;

/// Pause after a connection could not be accepted, usually for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How to serve a web.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Whether each site has its own address, and the port. Port 0 takes a free one.
    pub hosts: Hosts,
    /// Its clock.
    pub clock: WebClock,
    /// Where requests are logged.
    pub log: LogTarget,
}

/// A running server. It stops when stopped or dropped.
#[derive(Debug)]
pub struct ServedWeb {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
}

/// State shared by all connections.
#[derive(Debug)]
struct Shared {
    web: Arc<LivingWeb>,
    clock: WebClock,
    log: RequestLog,
    requests: AtomicU64,
    connections: AtomicU64,
}

impl LivingWeb {
    /// Creates a web and serves it. Must be called within a tokio runtime.
    pub async fn serve(settings: WebSettings, serving: Serving) -> Result<ServedWeb> {
        settings.check()?;
        let log = RequestLog::open(&serving.log)?;
        let (hosts, sockets) = bind(serving.hosts, settings.sites).await?;
        let shared = Arc::new(Shared {
            web: Arc::new(Self::new(settings, hosts)?),
            clock: serving.clock,
            log,
            requests: AtomicU64::new(0),
            connections: AtomicU64::new(0),
        });
        let (stop, stopped) = watch::channel(false);
        let mut listeners = JoinSet::new();
        for (site, socket) in sockets.into_iter().enumerate() {
            let site = matches!(hosts, Hosts::Addresses { .. }).then_some(site as u32);
            listeners.spawn(accept(socket, site, Arc::clone(&shared), stopped.clone()));
        }
        Ok(ServedWeb { shared, stop, listeners })
    }
}

impl ServedWeb {
    /// The web.
    pub fn web(&self) -> &Arc<LivingWeb> {
        &self.shared.web
    }

    /// Its clock.
    pub fn clock(&self) -> &WebClock {
        &self.shared.clock
    }

    /// The socket address of its first site, or of all sites.
    pub fn address(&self) -> SocketAddr {
        let hosts = self.shared.web.atlas.hosts();
        SocketAddr::from((hosts.address(0), hosts.port()))
    }

    /// URL of the root of each site, largest site first.
    pub fn seeds(&self) -> Vec<String> {
        self.shared.web.seeds()
    }

    /// Number of requests answered so far.
    pub fn request_count(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// The requests so far, if the log is in memory.
    pub fn requests(&self) -> Vec<RequestLine> {
        self.shared.log.lines()
    }

    /// Closes every socket, waits until the log is written, and returns whether it could be.
    pub async fn stop(mut self) -> Result<()> {
        // Sending fails only if all listeners have ended on their own, which they do not do.
        let _ = self.stop.send(true);
        while self.listeners.join_next().await.is_some() {}
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.log.close()).await.context("the log was abandoned")?
    }
}

/// Binds a listener for each address that the sites need, all on one port.
async fn bind(hosts: Hosts, sites: u32) -> Result<(Hosts, Vec<TcpListener>)> {
    let addresses: Vec<Ipv4Addr> = match hosts {
        Hosts::Names { .. } => vec![Ipv4Addr::LOCALHOST],
        Hosts::Addresses { .. } => (0..sites).map(|site| hosts.address(site)).collect(),
    };
    for _ in 0..PORT_TRIES {
        let mut sockets = Vec::with_capacity(addresses.len());
        let mut port = hosts.port();
        for address in &addresses {
            match TcpListener::bind((*address, port)).await {
                Ok(socket) => {
                    port = socket.local_addr().context("cannot tell the port")?.port();
                    sockets.push(socket);
                }
                Err(error) if hosts.port() == 0 && error.kind() == io::ErrorKind::AddrInUse => break,
                Err(error) => return Err(error).with_context(|| refusal(*address, port, sockets.len())),
            }
        }
        if sockets.len() == addresses.len() {
            let hosts = match hosts {
                Hosts::Addresses { .. } => Hosts::Addresses { port },
                Hosts::Names { .. } => Hosts::Names { port },
            };
            return Ok((hosts, sockets));
        }
    }
    bail!("no port is free at all {} addresses: name one with --port", addresses.len())
}

fn refusal(address: Ipv4Addr, port: u16, listening: usize) -> String {
    let hint = match listening {
        0 => "is another server there? choose another --port",
        _ => "each site needs a socket: raise the limit of open files (ulimit -n), or use --one-address",
    };
    format!("cannot listen on {address}:{port} after {listening} other addresses ({hint})")
}

/// Accepts connections until the server is stopped.
async fn accept(
    socket: TcpListener,
    site: Option<u32>,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopped.changed() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, site, Arc::clone(&shared), stopped.clone()));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Serves the requests of one connection.
async fn converse(
    stream: TcpStream,
    site: Option<u32>,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<bool>,
) {
    // Without TCP_NODELAY small answers wait for acknowledgements. If setting it fails, answers are only
    // slower.
    let _ = stream.set_nodelay(true);
    let connection = shared.connections.fetch_add(1, Ordering::Relaxed);
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&shared, site, connection, &request).await) }
    });
    let conversation = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A peer that disconnects or breaks the protocol ends only its own connection.
        _ = conversation => {}
        _ = stopped.changed() => {}
    }
}

async fn respond(
    shared: &Arc<Shared>,
    listener_site: Option<u32>,
    connection: u64,
    request: &Request<Incoming>,
) -> Response<AnswerBody> {
    let path = request.uri().path();
    if path.starts_with("/-/") {
        return tell_truth(shared, path, request.uri().query().unwrap_or_default()).await;
    }
    let now = shared.clock.now();
    let sites = shared.web.atlas.site_count();
    let named = || shared.web.atlas.hosts().site(text(request.headers(), header::HOST)?, sites);
    let answer = match listener_site.or_else(named) {
        _ if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            Answer::message(405, "Only GET and HEAD")
        }
        None => Answer::message(421, "No site of this name is here"),
        Some(site) => visit(shared, site, connection, request, now),
    };
    http_answer(answer, now)
}

/// Answers a request to a site, and logs it.
fn visit(
    shared: &Shared,
    site: u32,
    connection: u64,
    request: &Request<Incoming>,
    now: freshet_protocol::time::Timestamp,
) -> Answer {
    let number = shared.requests.fetch_add(1, Ordering::Relaxed);
    let headers = request.headers();
    let conditions = Conditions {
        etag: text(headers, header::IF_NONE_MATCH),
        modified_since: text(headers, header::IF_MODIFIED_SINCE),
    };
    let path_and_query = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let answer = shared.web.answer(&Asked { site, path_and_query, conditions, now, request: number });
    shared.log.add(RequestLine {
        number,
        time_ms: now.millis(),
        wall_ms: wall_now(),
        connection,
        method: request.method().to_string(),
        host: shared.web.atlas.hosts().host(site),
        path: path_and_query.to_owned(),
        conditional: conditions.etag.is_some() || conditions.modified_since.is_some(),
        user_agent: text(headers, header::USER_AGENT).map(str::to_owned),
        status: answer.status,
        bytes: answer.body.len() as u64,
        page: answer.served.map(|served| served.page.0),
        version: answer.served.map(|served| served.main),
        template: answer.served.map(|served| served.template),
    });
    answer
}

/// Answers requests under `/-/`, on other threads than those that answer visits.
async fn tell_truth(shared: &Arc<Shared>, path: &str, query: &str) -> Response<AnswerBody> {
    let (shared, path, query) = (Arc::clone(shared), path.to_owned(), query.to_owned());
    let told =
        tokio::task::spawn_blocking(move || truth_page(&shared.web, &shared.clock, &path, &query)).await;
    let (status, body) = match told {
        Ok(TruthPage::Text(text)) => (StatusCode::OK, AnswerBody::whole(text)),
        Ok(TruthPage::Lines(lines)) => (StatusCode::OK, AnswerBody::Pieces(lines)),
        Ok(TruthPage::Refused(reason)) => (StatusCode::BAD_REQUEST, AnswerBody::whole(reason + "\n")),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, AnswerBody::whole("the truth is out of reach\n")),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    response
}

fn http_answer(answer: Answer, now: freshet_protocol::time::Timestamp) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::whole(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let mut set = |name, value: Option<String>| {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    };
    set(header::DATE, Some(dates::http_date(now)));
    set(header::ETAG, answer.validators.etag);
    set(header::LAST_MODIFIED, answer.validators.last_modified);
    set(header::LOCATION, answer.location);
    if !answer.content_type.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    }
    response
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The body of an answer.
enum AnswerBody {
    Whole(Option<Bytes>),
    Pieces(Box<dyn Iterator<Item = Bytes> + Send>),
}

impl AnswerBody {
    fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut *self {
            Self::Whole(bytes) => bytes.take(),
            Self::Pieces(pieces) => pieces.next(),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
