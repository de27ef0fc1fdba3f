//! Benchmark: exchanges per second of `Web` on loopback, and its own processor time.
//!
//! A server in a thread of its own answers with pages of 8 KB over kept-alive connections; 64 tasks fetch
//! from 200 hosts. `-- ADDRESS:PORT PATH` uses another server, such as nginx, instead. These would be
//! alarming: less than 10,000 exchanges a second, or more than 0.08 processor seconds per thousand with
//! another server. The goal is that the whole crawler makes 3,000 pages a second on two cores with everything
//! on.
#![allow(clippy::print_stdout, reason = "printing is the purpose of a benchmark")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use freshet_fetch::web::{
    Answer, ConnectionLimits, FixedNames, Names, PrivateAddresses, Request, Web, WebSettings,
};
use freshet_protocol::time::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const TASKS: u64 = 64;
const HOSTS: u64 = 200;
const EXCHANGES: u64 = 100_000;
const BODY_BYTES: usize = 8 << 10;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let given = words.first().and_then(|word| word.parse::<SocketAddr>().ok());
    let path = words.get(1).cloned().unwrap_or_else(|| "/".to_owned());
    let server = given.unwrap_or_else(start_server);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let before = processor_seconds();
    let began = Instant::now();
    let (fetched, bytes) = runtime.block_on(fetch_all(server, path));
    let seconds = began.elapsed().as_secs_f64();
    let spent = (processor_seconds() - before) * 1000.0 / fetched as f64;
    println!(
        "{fetched} exchanges of {EXCHANGES} in {seconds:.2} s: {:.0} a second",
        fetched as f64 / seconds
    );
    println!("{spent:.3} processor seconds per 1,000 (this process), {:.1} MB", bytes as f64 / 1e6);
}

async fn fetch_all(server: SocketAddr, path: String) -> (u64, u64) {
    let web = Arc::new(
        Web::new(WebSettings {
            private: PrivateAddresses::Allowed,
            names: Names::Fixed(FixedNames::all_at(server.ip())),
            connections: ConnectionLimits { total: 256, ..ConnectionLimits::default() },
            ..WebSettings::default()
        })
        .expect("settings that hold"),
    );
    let next = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (web, next, path) = (Arc::clone(&web), Arc::clone(&next), path.clone());
            tokio::spawn(async move {
                let (mut fetched, mut bytes) = (0, 0);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if EXCHANGES <= number {
                        return (fetched, bytes);
                    }
                    let host = format!("h{}.test", number % HOSTS);
                    let request =
                        Request::page(false, &host, server.port(), &path, Timestamp::from_millis(0));
                    if let Answer::Response(response) = web.fetch(&request).await.answer {
                        fetched += u64::from(response.status == 200);
                        bytes += response.body.len() as u64;
                    }
                }
            })
        })
        .collect();
    let (mut fetched, mut bytes) = (0, 0);
    for task in tasks {
        let (part, part_bytes) = task.await.expect("a task that ends");
        fetched += part;
        bytes += part_bytes;
    }
    (fetched, bytes)
}

/// Starts a server in a thread of its own.
fn start_server() -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
            tell.send(listener.local_addr().expect("an address")).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
    });
    told.recv().expect("a server")
}

async fn serve(mut stream: TcpStream) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
    let answer = [head.as_bytes(), &[b'x'; BODY_BYTES]].concat();
    let mut read = [0; 4096];
    while let Ok(1..) = stream.read(&mut read).await {
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// Processor seconds of this process, as the system counts them; zero where the system does not say.
fn processor_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}
