//! TLS and HTTP/2, and invalid certificates.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use freshet_fetch::web::{
    Failure, FixedNames, Names, Phase, Request, TlsFault, Truncation, Web, WebSettings,
};
use freshet_protocol::time::Timestamp;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::server::{LOOPBACK, Server, failure, ok, quick, response};

/// A certificate authority that the client trusts.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// A certificate for a name, valid from one year until another.
    fn certify(&self, name: &str, from: i32, until: i32) -> Keys {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        Keys { certificate, key: key.serialize_der() }
    }

    fn web(&self) -> Web {
        let extra_roots = vec![self.certificate.clone()];
        let names = Names::Fixed(FixedNames::all_at(LOOPBACK));
        Web::new(WebSettings { extra_roots, names, ..quick() }).unwrap()
    }
}

/// The certificate and key of a server.
struct Keys {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Keys {
    fn acceptor(self, protocols: &[&str]) -> TlsAcceptor {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate], key)
            .unwrap();
        server.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(server))
    }
}

/// A server that speaks HTTP/2 or HTTP/1.1, as the client prefers.
async fn speaking(acceptor: TlsAcceptor, body: Bytes) -> Server {
    Server::start(move |stream| {
        let (acceptor, body) = (acceptor.clone(), body.clone());
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                speak(stream, body).await;
            }
        }
    })
    .await
}

async fn speak(stream: TlsStream<TcpStream>, body: Bytes) {
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let body = body.clone();
        async move {
            let agent = request.headers()["user-agent"].clone();
            let response = hyper::Response::builder().header("X-Agent", agent);
            Ok::<_, Infallible>(response.body(Full::new(body)).unwrap())
        }
    });
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let io = TokioIo::new(stream);
    if is_http2 {
        let _ =
            hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(io, answer).await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, answer).await;
    }
}

fn ask(server: &Server, host: &str) -> Request {
    Request::page(true, host, server.address.port(), "/x?y", Timestamp::from_millis(0))
}

#[tokio::test]
async fn http2_is_spoken_where_the_server_can_and_its_connection_kept() {
    let authority = Authority::new("ours");
    let acceptor = authority.certify("a.test", 2020, 2100).acceptor(&["h2", "http/1.1"]);
    let server = speaking(acceptor, Bytes::from_static(b"hello")).await;
    let web = authority.web();
    for _ in 0..5 {
        let fetch = web.fetch(&ask(&server, "a.test")).await;
        let sent = String::from_utf8(fetch.request_head.clone()).unwrap();
        assert!(sent.starts_with("GET /x?y HTTP/2\r\nhost: a.test:"), "{sent}");
        assert!(0 < fetch.bytes_received);
        let response = response(fetch);
        assert_eq!((&*response.body, response.truncated), (&b"hello"[..], None));
        let head = String::from_utf8(response.head).unwrap();
        assert!(head.starts_with("HTTP/2.0 200\r\n") && head.contains("x-agent: freshet/"), "{head}");
        assert!(head.ends_with("\r\n\r\n"));
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn http1_is_spoken_where_the_server_cannot_more() {
    let authority = Authority::new("ours");
    let acceptor = authority.certify("a.test", 2020, 2100).acceptor(&[]);
    let server = speaking(acceptor, Bytes::from_static(b"hello")).await;
    let web = authority.web();
    for _ in 0..2 {
        let response = response(web.fetch(&ask(&server, "a.test")).await);
        assert!(response.head.starts_with(b"HTTP/1.1 200 OK\r\n"));
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn an_endless_body_of_http2_is_cut_at_the_limit() {
    let authority = Authority::new("ours");
    let acceptor = authority.certify("a.test", 2020, 2100).acceptor(&["h2"]);
    let server = speaking(acceptor, Bytes::from(vec![b'x'; 8 << 20])).await;
    let response = response(authority.web().fetch(&ask(&server, "a.test")).await);
    assert_eq!((response.truncated, response.body.len()), (Some(Truncation::Size), 1 << 20));
}

#[track_caller]
fn check(found: &Failure, expected: TlsFault) {
    assert_eq!(found, &Failure::Tls(expected));
}

#[tokio::test]
async fn a_certificate_that_does_not_hold_is_named_and_never_accepted() {
    let (authority, stranger) = (Authority::new("ours"), Authority::new("another"));
    for (keys, host, expected) in [
        (authority.certify("a.test", 2001, 2002), "a.test", TlsFault::Expired),
        (authority.certify("a.test", 2090, 2100), "a.test", TlsFault::NotYetValid),
        (authority.certify("b.test", 2020, 2100), "a.test", TlsFault::WrongName),
        (authority.certify("b.test", 2020, 2100), "127.0.0.1", TlsFault::WrongName),
        (stranger.certify("a.test", 2020, 2100), "a.test", TlsFault::UnknownIssuer),
    ] {
        let server = speaking(keys.acceptor(&["h2"]), Bytes::from_static(b"secret")).await;
        let fetch = authority.web().fetch(&ask(&server, host)).await;
        assert!(fetch.request_head.is_empty());
        check(&failure(fetch), expected);
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_a_fact() {
    let web = Authority::new("ours").web();
    let plain = Server::start(async |mut stream| {
        let _ = stream.write_all(&ok("", b"hello")).await;
    })
    .await;
    check(&failure(web.fetch(&ask(&plain, "a.test")).await), TlsFault::NotTls);
    let closing = Server::start(async |stream| drop(stream)).await;
    check(&failure(web.fetch(&ask(&closing, "a.test")).await), TlsFault::Closed);
    let silent = Server::start(async |stream| {
        tokio::time::sleep(std::time::Duration::from_secs(30)).await;
        drop(stream);
    })
    .await;
    assert_eq!(failure(web.fetch(&ask(&silent, "a.test")).await), Failure::Timeout(Phase::Tls));
}

#[tokio::test]
async fn a_server_with_nothing_in_common_is_a_fact() {
    // An alert record: handshake failure.
    let server = Server::start(async |mut stream| {
        let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]).await;
    })
    .await;
    check(
        &failure(Authority::new("ours").web().fetch(&ask(&server, "a.test")).await),
        TlsFault::NothingInCommon,
    );
}
