//! Connections are reused, replaced and limited.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use freshet_fetch::web::{ConnectionLimits, Failure, FixedNames, Names, Request, Web, WebSettings};
use freshet_protocol::time::Timestamp;
use tokio::io::AsyncWriteExt as _;
use tokio::time::sleep;

use crate::server::{LOOPBACK, Server, failure, ok, quick, read_request, response};

fn web(connections: ConnectionLimits) -> Arc<Web> {
    let names = Names::Fixed(FixedNames::all_at(LOOPBACK));
    Arc::new(Web::new(WebSettings { connections, names, ..quick() }).unwrap())
}

fn ask(host: &str, port: u16) -> Request {
    Request::page(false, host, port, "/", Timestamp::from_millis(0))
}

#[tokio::test]
async fn a_connection_serves_many_exchanges() {
    let server = Server::answering(ok("", b"hello")).await;
    let web = web(ConnectionLimits::default());
    for _ in 0..20 {
        assert_eq!(response(web.fetch(&ask("a.test", server.address.port())).await).status, 200);
    }
    assert_eq!((server.count(), web.connections()), (1, (1, 1)));
    // Another host gets another connection, though the address is the same.
    assert_eq!(response(web.fetch(&ask("b.test", server.address.port())).await).status, 200);
    assert_eq!((server.count(), web.connections()), (2, (2, 2)));
}

#[tokio::test]
async fn a_connection_closed_while_it_rested_is_replaced() {
    let server = Server::closing_after(ok("", b"hello")).await;
    let web = web(ConnectionLimits::default());
    for _ in 0..5 {
        assert_eq!(response(web.fetch(&ask("a.test", server.address.port())).await).status, 200);
    }
    assert_eq!(server.count(), 5);
}

#[tokio::test]
async fn a_server_that_closes_at_every_second_request_is_asked_again_once() {
    // The server reads the second request of a connection and closes without a byte, as if its idle timeout
    // had passed.
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        stream.write_all(&ok("", b"hello")).await.unwrap();
        read_request(&mut stream).await;
    })
    .await;
    let web = web(ConnectionLimits::default());
    for _ in 0..4 {
        assert_eq!(response(web.fetch(&ask("a.test", server.address.port())).await).status, 200);
    }
    assert_eq!(server.count(), 4);
}

#[tokio::test]
async fn a_new_connection_that_is_closed_is_not_tried_again() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
    })
    .await;
    let web = web(ConnectionLimits::default());
    assert_eq!(failure(web.fetch(&ask("a.test", server.address.port())).await), Failure::Closed);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_connection_that_rested_too_long_is_ended() {
    let server = Server::answering(ok("", b"hello")).await;
    let web = web(ConnectionLimits { idle: Duration::from_millis(20), ..ConnectionLimits::default() });
    web.fetch(&ask("a.test", server.address.port())).await;
    sleep(Duration::from_millis(40)).await;
    web.fetch(&ask("a.test", server.address.port())).await;
    assert_eq!(server.count(), 2);
}

/// A server that records the maximum number of open connections.
async fn counting(open_at_most: Arc<AtomicUsize>) -> Server {
    let open = Arc::new(AtomicUsize::new(0));
    Server::start(move |mut stream| {
        let (open, open_at_most) = (Arc::clone(&open), Arc::clone(&open_at_most));
        async move {
            let now_open = open.fetch_add(1, Ordering::SeqCst) + 1;
            open_at_most.fetch_max(now_open, Ordering::SeqCst);
            while read_request(&mut stream).await.is_some() {
                sleep(Duration::from_millis(5)).await;
                if stream.write_all(&ok("", b"hello")).await.is_err() {
                    break;
                }
            }
            open.fetch_sub(1, Ordering::SeqCst);
        }
    })
    .await
}

async fn fetch_all(web: &Arc<Web>, port: u16, host_of: impl Fn(usize) -> String) {
    let fetches: Vec<_> = (0..40)
        .map(|number| {
            let (web, host) = (Arc::clone(web), host_of(number));
            tokio::spawn(async move { web.fetch(&ask(&host, port)).await })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(response(fetch.await.unwrap()).status, 200);
    }
}

#[tokio::test]
async fn no_more_connections_are_open_than_allowed() {
    let open = Arc::new(AtomicUsize::new(0));
    let server = counting(Arc::clone(&open)).await;
    let limits = ConnectionLimits { total: 3, per_host: 3, ..ConnectionLimits::default() };
    let bounded = web(limits);
    fetch_all(&bounded, server.address.port(), |number| format!("{number}.test")).await;
    // The server may notice a closed connection a moment after we have opened another.
    assert!(open.load(Ordering::SeqCst) <= 6, "{open:?}");
    assert!(bounded.connections().0 <= 3);

    let open = Arc::new(AtomicUsize::new(0));
    let server = counting(Arc::clone(&open)).await;
    fetch_all(&web(ConnectionLimits { per_host: 2, ..limits }), server.address.port(), |_| {
        "one.test".to_owned()
    })
    .await;
    assert_eq!(open.load(Ordering::SeqCst), 2);
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_fetch_that_is_given_up_leaves_nothing_behind() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        sleep(Duration::from_secs(30)).await;
    })
    .await;
    let web = web(ConnectionLimits { total: 1, ..ConnectionLimits::default() });
    for _ in 0..3 {
        let request = ask("a.test", server.address.port());
        let given_up = tokio::time::timeout(Duration::from_millis(50), web.fetch(&request)).await;
        assert!(given_up.is_err());
    }
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let server = Server::answering(ok("", b"hello")).await;
    // Nothing listens on this port of the other address.
    let dead = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));
    let names = Names::Fixed(FixedNames::default().with("two.test", &[dead, LOOPBACK]));
    let web = Web::new(WebSettings { names, ..quick() }).unwrap();
    let fetch = web.fetch(&ask("two.test", server.address.port())).await;
    assert_eq!(fetch.address, Some(LOOPBACK));
    assert_eq!(response(fetch).status, 200);
}
