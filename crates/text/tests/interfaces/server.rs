//! A search engine on loopback that answers as a test says.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use freshet_crawl::clock::{Clock, Pace};
use freshet_fetch::web::{PolitenessSettings, PrivateAddresses, WebSettings};
use freshet_text::interface::{Documents, Interface};
use freshet_text::sample::event::Journal;
use freshet_text::sample::{SampleRules, take_sample};
use freshet_text::version::Version;
use freshet_text::visitor::Visitor;
use freshet_text::words::Wording;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A running server. It stops with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer to a path: status, media type, body.
pub(crate) type Reply = (u16, &'static str, Vec<u8>);

impl Server {
    /// Starts a server that answers each path except robots.txt by a function.
    pub(crate) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let answer = Arc::clone(&answer);
                tokio::spawn(async move {
                    loop {
                        let mut head = Vec::new();
                        while !head.ends_with(b"\r\n\r\n") {
                            match stream.read_u8().await {
                                Ok(byte) => head.push(byte),
                                Err(_) => return,
                            }
                        }
                        let head = String::from_utf8_lossy(&head).into_owned();
                        let path = head.split(' ').nth(1).unwrap_or("/");
                        let (status, media_type, body) = answer(path);
                        let head = format!(
                            "HTTP/1.1 {status} x\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
                            body.len()
                        );
                        if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, task }
    }

    /// A search interface of this server.
    pub(crate) fn interface(&self, results: &str, count: Option<&str>, documents: Documents) -> Interface {
        Interface {
            search: format!("http://{}/search?q={{query}}&page={{n}}", self.address),
            results: results.to_owned(),
            link: None,
            text: None,
            count: count.map(str::to_owned),
            documents,
        }
    }
}

/// A visitor that does not wait and may reach loopback.
pub(crate) fn visitor() -> Visitor {
    let web = WebSettings { private: PrivateAddresses::Allowed, ..WebSettings::default() };
    let politeness = PolitenessSettings {
        delay: Duration::ZERO,
        address_delay: Duration::ZERO,
        failure_pause: Duration::ZERO,
        overload_pause: Duration::ZERO,
        ..PolitenessSettings::default()
    };
    Visitor::new(web, politeness, Arc::new(Clock::new(Pace::WALL))).expect("a visitor")
}

/// Samples an interface, with its journal in a folder.
pub(crate) async fn sample(interface: &Interface, rules: &SampleRules, folder: &Path) -> Version {
    let journal = Journal::at(folder.join("sampling.jsonl"));
    let version =
        take_sample(interface, rules, Wording::default(), &visitor(), &journal, |_, _| {}, || false).await;
    version.expect("nothing of ours fails").expect("it was not stopped")
}

/// The value of a query parameter in a path.
pub(crate) fn parameter<'a>(path: &'a str, name: &str) -> &'a str {
    path.split(['?', '&']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
}
