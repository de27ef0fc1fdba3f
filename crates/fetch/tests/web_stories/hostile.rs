//! Slow, endless, broken or malicious servers: each is detected in bounded time and memory.

use std::time::Duration;

use freshet_fetch::web::{Answer, ConnectFault, DnsFault, Failure, Phase, Request, Truncation, Web};
use freshet_protocol::time::Timestamp;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::server::{LOOPBACK, Server, failure, ok, quick, read_request, response};

/// Writes bytes one by one, endlessly, with a pause after each.
async fn drip(stream: &mut TcpStream, bytes: &[u8], pause: Duration) {
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        sleep(pause).await;
    }
}

fn all(mut reader: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Writes bytes endlessly, as fast as they are read.
async fn pour(stream: &mut TcpStream, start: &[u8], bytes: &[u8]) {
    let mut outcome = stream.write_all(start).await;
    while outcome.is_ok() {
        outcome = stream.write_all(bytes).await;
    }
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        drip(&mut stream, b"X: y\r\n", Duration::from_millis(10)).await;
    })
    .await;
    assert_eq!(failure(server.fetch().await), Failure::Timeout(Phase::Head));
}

#[tokio::test]
async fn interim_heads_without_end_are_cut_off() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        while stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").await.is_ok() {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(failure(server.fetch().await), Failure::Timeout(Phase::Head));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left() {
    let server = Server::start(async |stream| {
        sleep(Duration::from_secs(30)).await;
        drop(stream);
    })
    .await;
    let fetch = server.fetch().await;
    assert!(!fetch.request_head.is_empty());
    assert_eq!(failure(fetch), Failure::Timeout(Phase::Head));
}

#[tokio::test]
async fn a_body_that_drips_is_kept_as_far_as_it_came() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await;
        drip(&mut stream, b"x", Duration::from_millis(10)).await;
    })
    .await;
    let response = response(server.fetch().await);
    assert_eq!(response.truncated, Some(Truncation::Slow));
    assert!(!response.body.is_empty());
}

#[tokio::test]
async fn a_body_that_stalls_is_left() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await;
        sleep(Duration::from_secs(30)).await;
    })
    .await;
    let response = response(server.fetch().await);
    assert_eq!((response.truncated, &*response.body), (Some(Truncation::Idle), &b"hello"[..]));
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    for start in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n",
    ] {
        let server = Server::start(async move |mut stream| {
            read_request(&mut stream).await;
            pour(&mut stream, start.as_bytes(), &[b'x'; 5000]).await;
        })
        .await;
        let response = response(server.fetch().await);
        assert_eq!((response.truncated, response.body.len()), (Some(Truncation::Size), 1 << 20), "{start}");
    }
}

#[tokio::test]
async fn a_hundred_megabytes_of_headers_are_not_read() {
    for header in [
        "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
    ] {
        let server = Server::start(async move |mut stream| {
            read_request(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nA: ").await;
            for _ in 0..(100 << 20) / header.len() / 100 {
                if stream.write_all(header.repeat(100).as_bytes()).await.is_err() {
                    return;
                }
            }
        })
        .await;
        let fetch = server.fetch().await;
        assert!(fetch.bytes_received < 1 << 20, "{}", fetch.bytes_received);
        assert_eq!(failure(fetch), Failure::HeadTooLarge);
    }
}

#[tokio::test]
async fn too_many_headers_are_not_read() {
    let server = Server::answering(ok(&"X: y\r\n".repeat(300), b"hello")).await;
    assert_eq!(failure(server.fetch().await), Failure::HeadTooLarge);
}

#[tokio::test]
async fn bad_chunks_and_early_ends_are_facts() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for (tail, truncation) in [
        ("zz\r\n", Truncation::Framing),
        ("5\r\nhelloXX", Truncation::Framing),
        ("ffffffffffffffffff\r\n", Truncation::Framing),
        ("5\r\nhe", Truncation::Closed),
        ("", Truncation::Closed),
    ] {
        let response = response(Server::closing_after([chunked, tail].concat()).await.fetch().await);
        assert_eq!(response.truncated, Some(truncation), "{tail}");
        assert!(response.body.starts_with(b"hello"));
    }
    let short = Server::closing_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await;
    let short = response(short.fetch().await);
    assert_eq!((short.truncated, &*short.body), (Some(Truncation::Closed), &b"hello"[..]));
    let long = Server::closing_after("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello").await;
    let long = response(long.fetch().await);
    assert_eq!((long.truncated, &*long.body), (None, &b"hel"[..]));
}

#[tokio::test]
async fn a_reset_within_the_body_is_a_fact() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await;
        sleep(Duration::from_millis(50)).await;
        let _ = stream.set_zero_linger();
    })
    .await;
    assert_eq!(response(server.fetch().await).truncated, Some(Truncation::Closed));
}

#[tokio::test]
async fn what_is_not_http_is_a_fact() {
    for (wire, expected) in [
        ("", Failure::Closed),
        ("HTTP/1.1 200 OK\r\nA: b", Failure::Closed),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", Failure::Protocol(String::new())),
        ("<html>old</html>\r\n\r\n", Failure::Protocol(String::new())),
        ("HTTP/1.1 999999 Odd\r\n\r\n", Failure::Protocol(String::new())),
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            Failure::Protocol(String::new()),
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Failure::Protocol(String::new())),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            Failure::Protocol(String::new()),
        ),
    ] {
        let failure = failure(Server::closing_after(wire).await.fetch().await);
        match (&failure, &expected) {
            (Failure::Protocol(_), Failure::Protocol(_)) => {}
            _ => assert_eq!(failure, expected, "{wire}"),
        }
    }
}

#[tokio::test]
async fn bombs_of_every_encoding_are_cut() {
    use std::io::Read as _;

    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
    const SIZE: u64 = 3 << 19;
    let zeros = || std::io::repeat(0).take(SIZE);
    // 64 MB of zeros, compressed.
    let brotli = "cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ff\
                  ff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f00098038\
                  2c00ddfbbffcffff032001108705a07bff07";
    let brotli = (0..brotli.len() / 2)
        .map(|at| u8::from_str_radix(&brotli[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let zstd = zstd::stream::encode_all(zeros(), 1).unwrap();
    let gzip = all(GzEncoder::new(zeros(), Compression::fast()));
    let twice = all(GzEncoder::new(&gzip[..], Compression::fast()));
    for (encoding, bomb) in [
        ("gzip", gzip),
        ("deflate", all(ZlibEncoder::new(zeros(), Compression::fast()))),
        ("deflate", all(DeflateEncoder::new(zeros(), Compression::fast()))),
        ("br", brotli),
        ("zstd", zstd),
        ("gzip, gzip", twice),
    ] {
        let server = Server::answering(ok(&format!("Content-Encoding: {encoding}\r\n"), &bomb)).await;
        let response = response(server.fetch().await);
        assert_eq!(response.body.len(), 1 << 20, "{encoding}");
        assert!(matches!(response.truncated, Some(Truncation::Bomb | Truncation::DecodedSize)), "{encoding}");
        assert!(response.truncated.is_some_and(Truncation::is_steady));
    }
}

#[tokio::test]
async fn nobody_there_and_no_such_name_are_facts() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let web = Web::new(quick()).unwrap();
    let ask = |host: &str| Request::page(false, host, port, "/", Timestamp::from_millis(0));
    assert_eq!(failure(web.fetch(&ask("127.0.0.1")).await), Failure::Connect(ConnectFault::Refused));
    assert_eq!(failure(web.fetch(&ask("nowhere.test")).await), Failure::Dns(DnsFault::NoSuchHost));
}

#[test]
fn any_bytes_are_an_answer() {
    use proptest::prelude::*;
    let piece = prop::sample::select(vec![
        "HTTP/1.1 200 OK",
        "HTTP/1.1 ",
        "HTTP/2 ",
        "100",
        "304",
        "\r\n",
        "\n",
        "\r\n\r\n",
        "Content-Length: ",
        "5",
        "-1",
        "Transfer-Encoding: chunked",
        "Content-Encoding: gzip",
        "\u{1f}\u{8b}",
        "Connection: close",
        "hello",
        "\0",
        ":",
        " ",
        "f\r\n",
    ]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    proptest!(ProptestConfig::with_cases(100), |(
        pieces in prop::collection::vec(piece, 0..14),
        noise in prop::collection::vec(any::<u8>(), 0..20),
    )| {
        let fetch = runtime.block_on(async {
            Server::closing_after([pieces.concat().into_bytes(), noise].concat()).await.fetch().await
        });
        prop_assert!(!matches!(fetch.answer, Answer::Refused(_)));
    });
}
