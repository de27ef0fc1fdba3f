//! Well-behaved servers and their responses.

use std::time::Duration;

use freshet_fetch::web::{Answer, Refusal, Validators, Web, WebSettings};
use freshet_protocol::time::Timestamp;
use tokio::io::AsyncWriteExt as _;

use crate::server::{LOOPBACK, Server, ok, quick, read_request, response};

#[tokio::test]
async fn heads_are_kept_as_they_were_sent_and_received() {
    let head = "HTTP/1.1 200 Fine Thing\r\nX-odd:   spaced \r\ncontent-LENGTH: 5\r\nx-ODD: twice\r\n\r\n";
    let server = Server::answering([head, "hello"].concat()).await;
    let fetch = server.fetch().await;
    assert_eq!(fetch.started, Timestamp::from_millis(7));
    assert_eq!(fetch.address, Some(LOOPBACK));
    assert_eq!(fetch.bytes_received, head.len() as u64 + 5);
    let sent = String::from_utf8(fetch.request_head.clone()).unwrap();
    assert!(sent.starts_with("GET / HTTP/1.1\r\nHost: 127.0.0.1:"), "{sent}");
    assert!(sent.contains("\r\nUser-Agent: freshet/") && sent.ends_with("\r\n\r\n"), "{sent}");
    let response = response(fetch);
    assert_eq!(response.head, head.as_bytes());
    assert_eq!((response.status, &*response.body, response.truncated), (200, &b"hello"[..], None));
    assert_eq!(response.headers.get_all("x-odd").iter().count(), 2);
}

#[tokio::test]
async fn bodies_end_by_length_by_chunks_or_by_the_end_of_the_connection() {
    for wire in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: v\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 \
         OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    ] {
        let response = response(Server::closing_after(wire).await.fetch().await);
        assert_eq!((&*response.raw_body, response.truncated), (&b"hello"[..], None), "{wire}");
        assert!(response.head.starts_with(b"HTTP/1.") && !response.head.starts_with(b"HTTP/1.1 1"), "{wire}");
    }
}

#[tokio::test]
async fn a_server_that_holds_the_same_version_answers_304() {
    let server = Server::start(async |mut stream| {
        while let Some(head) = read_request(&mut stream).await {
            let is_same = head.contains("\r\nIf-None-Match: \"v1\"\r\n")
                && head.contains("\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
            let answer = if is_same {
                b"HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n".to_vec()
            } else {
                ok("ETag: \"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", b"hello")
            };
            stream.write_all(&answer).await.unwrap();
        }
    })
    .await;
    let web = Web::new(quick()).unwrap();
    let first = response(web.fetch(&server.request("/")).await);
    let mut again = server.request("/");
    again.validators = Validators::of(&first.headers);
    let second = response(web.fetch(&again).await);
    assert_eq!((first.status, second.status, second.body.len()), (200, 304, 0));
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_body_is_decoded_and_kept_as_received() {
    let raw = zstd::stream::encode_all(&b"hello"[..], 1).unwrap();
    let server = Server::answering(ok("Content-Encoding: zstd\r\n", &raw)).await;
    let response = response(server.fetch().await);
    assert_eq!((&*response.body, &*response.raw_body), (&b"hello"[..], &raw[..]));
}

#[tokio::test]
async fn a_contact_is_named_and_asked_for_where_hosts_are_public() {
    let settings = WebSettings { contact: Some("https://example.org/crawl".to_owned()), ..quick() };
    let web = Web::new(settings).unwrap();
    assert!(web.user_agent().ends_with(" (+https://example.org/crawl)"), "{}", web.user_agent());
    assert!(!web.needs_contact("example.org"));
    let web = Web::new(quick()).unwrap();
    assert!(web.needs_contact("example.org") && web.needs_contact("1.1.1.1"));
    assert!(
        !web.needs_contact("localhost") && !web.needs_contact("127.0.0.1") && !web.needs_contact("[::1]")
    );
    let mut request = Server::answering(ok("", b"")).await.request("/");
    request.address = Some([1, 1, 1, 1].into());
    assert!(matches!(web.fetch(&request).await.answer, Answer::Refused(Refusal::NoContact)));
    for contact in ["", "me", "me@example.org\r\nX: y", "(me@example.org)"] {
        assert!(Web::new(WebSettings { contact: Some(contact.to_owned()), ..quick() }).is_err(), "{contact}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_without_a_word() {
    let server = Server::answering(ok("", b"")).await;
    let web = Web::new(quick()).unwrap();
    let fetch = web.fetch(&server.request("/a b")).await;
    assert!(matches!(fetch.answer, Answer::Refused(Refusal::Malformed)), "{:?}", fetch.answer);
    assert!(fetch.request_head.is_empty());
    assert!(fetch.elapsed < Duration::from_secs(20));
}
