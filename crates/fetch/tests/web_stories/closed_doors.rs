//! Private addresses are never visited, however a crawler is led to them (SSRF).

use std::net::{IpAddr, Ipv4Addr};

use freshet_fetch::web::robots::{Chase, Step};
use freshet_fetch::web::{
    AddressRange, Answer, FixedNames, Names, PrivateAddresses, Refusal, Request, Web, WebSettings,
};
use freshet_protocol::time::Timestamp;
use http::header::LOCATION;
use tokio::io::AsyncWriteExt as _;

use crate::server::{LOOPBACK, Server, ok, quick, read_request, response};

const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// A client that allows 127.0.0.1 and no other private address.
fn guarded(names: FixedNames) -> Web {
    let private = PrivateAddresses::Only(vec!["127.0.0.1".parse().unwrap()]);
    Web::new(WebSettings { private, names: Names::Fixed(names), ..quick() }).unwrap()
}

fn ask(host: &str, port: u16) -> Request {
    Request::page(false, host, port, "/", Timestamp::from_millis(0))
}

#[track_caller]
fn is_refused(answer: &Answer, address: IpAddr) -> bool {
    matches!(answer, Answer::Refused(Refusal::PrivateAddress { address: refused, .. }) if *refused == address)
}

#[tokio::test]
async fn private_addresses_are_closed_by_default() {
    let server = Server::answering(ok("", b"secret")).await;
    let names = FixedNames::default().with("inside.test", &[LOOPBACK]);
    let settings = WebSettings { names: Names::Fixed(names), ..WebSettings::default() };
    let web = Web::new(settings).unwrap();
    for host in
        ["127.0.0.1", "inside.test", "::ffff:127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "0.0.0.0"]
    {
        let fetch = web.fetch(&ask(host, server.address.port())).await;
        let refused = matches!(fetch.answer, Answer::Refused(Refusal::PrivateAddress { .. }));
        assert!(refused && fetch.request_head.is_empty(), "{host}: {:?}", fetch.answer);
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_name_that_is_rebound_is_refused_though_its_connection_rests() {
    let server = Server::answering(ok("", b"hello")).await;
    let turns = vec![vec![LOOPBACK], vec![LOOPBACK], vec![OTHER], vec![LOOPBACK]];
    let web = guarded(FixedNames::default().with_answers("rebound.test", turns));
    let request = ask("rebound.test", server.address.port());
    assert_eq!(response(web.fetch(&request).await).status, 200);
    assert_eq!(response(web.fetch(&request).await).status, 200);
    let third = web.fetch(&request).await.answer;
    assert!(is_refused(&third, OTHER), "{third:?}");
    assert_eq!(response(web.fetch(&request).await).status, 200);
    assert_eq!(server.count(), 1);
}

/// A listener at the closed address, on the same port as the server.
fn trap(port: u16) -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind((OTHER, port)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

#[tokio::test]
async fn the_address_that_was_judged_is_the_one_that_is_connected_to() {
    let server = Server::answering(ok("", b"hello")).await;
    let trap = trap(server.address.port());
    // A second lookup within an exchange would resolve to the closed address.
    let turns = vec![vec![LOOPBACK], vec![OTHER]];
    let web = guarded(FixedNames::default().with_answers("rebound.test", turns));
    let request = ask("rebound.test", server.address.port());
    let first = web.fetch(&request).await;
    assert_eq!(first.address, Some(LOOPBACK));
    assert_eq!(response(first).status, 200);
    let second = web.fetch(&request).await.answer;
    assert!(is_refused(&second, OTHER), "{second:?}");
    assert!(trap.accept().is_err(), "the closed address was connected to");
}

#[tokio::test]
async fn a_connection_that_is_replaced_leads_to_the_judged_address_too() {
    let server = Server::closing_after(ok("", b"hello")).await;
    let trap = trap(server.address.port());
    let turns = vec![vec![LOOPBACK], vec![LOOPBACK], vec![OTHER]];
    let web = guarded(FixedNames::default().with_answers("rebound.test", turns));
    let request = ask("rebound.test", server.address.port());
    for _ in 0..2 {
        let fetch = web.fetch(&request).await;
        assert_eq!(fetch.address, Some(LOOPBACK));
        assert_eq!(response(fetch).status, 200);
    }
    assert_eq!(server.count(), 2);
    assert!(is_refused(&web.fetch(&request).await.answer, OTHER));
    assert!(trap.accept().is_err(), "the closed address was connected to");
}

#[tokio::test]
async fn a_redirect_of_robots_to_a_name_that_is_rebound_is_refused() {
    let target = "Location: http://rebound.test:PORT/robots.txt\r\n";
    let server = Server::start(move |mut stream| async move {
        let port = stream.local_addr().unwrap().port();
        let target = target.replace("PORT", &port.to_string());
        let head = format!("HTTP/1.1 301 Moved\r\n{target}Content-Length: 0\r\n\r\n");
        while read_request(&mut stream).await.is_some() {
            stream.write_all(head.as_bytes()).await.unwrap();
        }
    })
    .await;
    let trap = trap(server.address.port());
    let turns = vec![vec![LOOPBACK], vec![OTHER]];
    let web = guarded(FixedNames::default().with_answers("rebound.test", turns));
    let mut chase = Chase::new(&format!("http://127.0.0.1:{}", server.address.port())).unwrap();
    let mut answers = Vec::new();
    loop {
        let fetch = web.fetch(&chase.request(Timestamp::from_millis(0))).await;
        let step = chase.take(&fetch);
        answers.push(fetch.answer);
        if matches!(step, Step::Done) {
            break;
        }
    }
    // From the address to the name while it is open, and once more when it is not.
    assert_eq!(answers.len(), 3);
    assert!(is_refused(&answers[2], OTHER), "{:?}", answers[2]);
    assert!(trap.accept().is_err(), "the closed address was connected to");
}

#[tokio::test]
async fn of_several_addresses_only_those_that_are_open_are_used() {
    let server = Server::answering(ok("", b"hello")).await;
    let web = guarded(FixedNames::default().with("mixed.test", &[OTHER, LOOPBACK]));
    let fetch = web.fetch(&ask("mixed.test", server.address.port())).await;
    assert_eq!(fetch.address, Some(LOOPBACK));
    assert_eq!(response(fetch).status, 200);
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_a_new_exchange_and_refused() {
    let server = Server::answering(ok("Location: http://169.254.169.254/latest/meta-data\r\n", b"")).await;
    let web = guarded(FixedNames::default());
    let first = response(web.fetch(&ask("127.0.0.1", server.address.port())).await);
    let target = url::Url::parse(first.headers[LOCATION].to_str().unwrap()).unwrap();
    let second = web.fetch(&ask(target.host_str().unwrap(), 80)).await;
    let refusal =
        Refusal::PrivateAddress { address: [169, 254, 169, 254].into(), range: AddressRange::Metadata };
    assert!(matches!(second.answer, Answer::Refused(found) if found == refusal), "{:?}", second.answer);
    assert_eq!(refusal.to_string(), "169.254.169.254 is metadata service");
}

#[tokio::test]
async fn an_address_chosen_by_the_caller_is_judged_too() {
    let server = Server::answering(ok("", b"")).await;
    let web = guarded(FixedNames::default().with("chosen.test", &[LOOPBACK]));
    let mut request = ask("chosen.test", server.address.port());
    request.address = Some(OTHER);
    let answer = web.fetch(&request).await.answer;
    assert!(is_refused(&answer, OTHER), "{answer:?}");
}
