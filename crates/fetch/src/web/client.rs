//! The HTTP client `Web`: one exchange at a time, within limits, with private addresses blocked.
//!
//! # Promises
//! - The address of every connection is checked after DNS and before a byte is sent, in every exchange: a
//!   rebound name, or a redirect to a private address, is refused.
//! - A request goes to a host of the public Internet only when a contact is set.
//! - Redirects are not followed: they are results, and left to the caller.
//! - An idle connection that turns out to be closed is replaced by a new one, once.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address_ranges::{AddressRange, PrivateAddresses};
use super::answer::{Answer, Failure, Fetch, Phase, Refusal, Response};
use super::connection::{Connection, Door};
use super::exchange::{Ending, Trace, exchange, is_ready};
use super::limits::{ConnectionLimits, SizeLimits, TimeLimits};
use super::name_cache::CacheLimits;
use super::request::{Request, literal_address};
use super::resolver::{Names, Resolver};
use super::slots::{Site, Slots, Turn};
use super::tls;

/// The name of this crawler in `robots.txt` files.
pub const PRODUCT_TOKEN: &str = "freshet";

/// How long connecting to an address may take before the next one of the same host is tried.
const NEXT_ADDRESS_AFTER: Duration = Duration::from_secs(2);

/// Settings of the client.
#[derive(Clone, Debug, Default)]
pub struct WebSettings {
    /// How sites can reach whoever runs this crawl: a URL or an e-mail address. Part of the User-Agent.
    pub contact: Option<String>,
    /// Where names are looked up.
    pub names: Names,
    /// Which non-public addresses may be visited.
    pub private: PrivateAddresses,
    /// Root certificates to trust in addition to Mozilla's: private authorities, tests.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Time limits of the phases of an exchange.
    pub times: TimeLimits,
    /// Size limits of the parts of a response.
    pub sizes: SizeLimits,
    /// Limits of open connections.
    pub connections: ConnectionLimits,
    /// Limits of the name cache.
    pub name_cache: CacheLimits,
}

/// Why no client can be made with these settings.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The contact is not valid in a header.
    #[error(
        "the contact `{0}` cannot be written in a User-Agent: use an address such as \
         https://example.org/crawl or me@example.org"
    )]
    Contact(String),
    /// The system's name server settings cannot be used.
    #[error("the system's settings of name servers cannot be used: {0}")]
    NameServers(String),
    /// An extra root certificate is invalid.
    #[error("an extra root certificate cannot be used: {0}")]
    Root(String),
    /// The limit of a response head is smaller than HTTP software allows.
    #[error("the limit of a response head must be at least 8192 bytes, not {0}")]
    HeadLimit(usize),
}

/// The HTTP client.
#[derive(Debug)]
pub struct Web {
    settings: WebSettings,
    user_agent: HeaderValue,
    resolver: Resolver,
    tls: Arc<ClientConfig>,
    slots: Slots,
}

impl Web {
    /// The first address of a host, if it resolves.
    pub async fn address_of(&self, host: &str) -> Option<IpAddr> {
        self.resolver.addresses(host).await.ok().and_then(|addresses| addresses.first().copied())
    }

    /// A client with these settings. Must be created and used within a tokio runtime.
    pub fn new(mut settings: WebSettings) -> Result<Self, WebError> {
        const HEAD_BYTES_MIN: usize = 8192;
        if settings.sizes.head_bytes < HEAD_BYTES_MIN {
            return Err(WebError::HeadLimit(settings.sizes.head_bytes));
        }
        let user_agent = user_agent(settings.contact.as_deref())?;
        let tls = tls::client(&settings.extra_roots).map_err(|error| WebError::Root(error.to_string()))?;
        let names = std::mem::take(&mut settings.names);
        let resolver =
            Resolver::new(names, settings.name_cache, settings.times.dns).map_err(WebError::NameServers)?;
        let slots = Slots::new(settings.connections);
        Ok(Self { settings, user_agent, resolver, tls, slots })
    }

    /// Makes one exchange.
    pub async fn fetch(&self, request: &Request) -> Fetch {
        let began = Instant::now();
        let mut progress = Progress::default();
        let answer = match self.answer(request, &mut progress).await {
            Ok(response) => Answer::Response(*response),
            Err(Stopped::Failed(failure)) => Answer::Failed(failure),
            Err(Stopped::Refused(refusal)) => Answer::Refused(refusal),
        };
        Fetch {
            started: request.started,
            address: progress.address,
            request_head: progress.trace.request_head,
            bytes_received: progress.trace.bytes_received,
            elapsed: began.elapsed(),
            answer,
        }
    }

    /// The addresses of a host, best first, at least one. Cached according to [`WebSettings::name_cache`].
    pub async fn addresses(&self, host: &str) -> Result<Arc<[IpAddr]>, Failure> {
        self.resolver.addresses(host).await
    }

    /// Whether visits to this host would be refused because no contact is set. A name counts as public unless
    /// it is one of this machine's. The address it resolves to is checked again at every exchange.
    pub fn needs_contact(&self, host: &str) -> bool {
        let is_local_name = host == "localhost" || host.ends_with(".localhost");
        match literal_address(host) {
            Some(address) => self.address_needs_contact(address),
            None => self.settings.contact.is_none() && !is_local_name,
        }
    }

    /// Whether visits to this address would be refused because no contact is set.
    pub fn address_needs_contact(&self, address: IpAddr) -> bool {
        self.settings.contact.is_none() && AddressRange::of(address) == AddressRange::Public
    }

    /// Our User-Agent.
    pub fn user_agent(&self) -> &str {
        self.user_agent.to_str().unwrap_or(PRODUCT_TOKEN)
    }

    /// Number of open connections, and how many of them are idle.
    pub fn connections(&self) -> (usize, usize) {
        (self.slots.open_count(), self.slots.resting_count())
    }

    async fn answer(&self, request: &Request, progress: &mut Progress) -> Result<Box<Response>, Stopped> {
        let resolved = match request.address {
            Some(address) => [address].into(),
            None => self.resolver.addresses(&request.host).await?,
        };
        progress.address = resolved.first().copied();
        let addresses = self.allowed(&resolved)?;
        let site = Site { https: request.https, host: request.host.as_str().into(), port: request.port };
        let turn = within(self.settings.times.slot, Phase::Slot, self.slots.turn(site)).await?;
        while let Some((address, mut connection)) = turn.take(&addresses) {
            if is_ready(&mut connection).await {
                match self.ask(&turn, address, connection, request, progress).await? {
                    Some(response) => return Ok(response),
                    None => break,
                }
            }
        }
        let (address, connection) = self.connect(&turn, &addresses, request, progress).await?;
        let response = self.ask(&turn, address, connection, request, progress).await?;
        response.ok_or(Stopped::Failed(Failure::Closed))
    }

    /// The addresses that may be connected to, or the reason if there are none.
    fn allowed(&self, resolved: &[IpAddr]) -> Result<Vec<IpAddr>, Stopped> {
        let forbidden = |address: IpAddr| self.settings.private.forbid(address);
        let allowed: Vec<_> =
            resolved.iter().copied().filter(|&address| forbidden(address).is_none()).collect();
        match allowed.first() {
            Some(&address) if self.address_needs_contact(address) => {
                Err(Stopped::Refused(Refusal::NoContact))
            }
            Some(_) => Ok(allowed),
            None => Err(Stopped::Refused(
                resolved
                    .iter()
                    .find_map(|&address| {
                        forbidden(address).map(|range| Refusal::PrivateAddress { address, range })
                    })
                    .unwrap_or(Refusal::Malformed),
            )),
        }
    }

    /// Connects to the first address that accepts.
    async fn connect(
        &self,
        turn: &Turn<'_>,
        addresses: &[IpAddr],
        request: &Request,
        progress: &mut Progress,
    ) -> Result<(IpAddr, Connection), Stopped> {
        let times = &self.settings.times;
        let door = Door {
            host: &request.host,
            port: request.port,
            https: request.https,
            tls: TlsConnector::from(Arc::clone(&self.tls)),
            times,
            sizes: &self.settings.sizes,
        };
        let mut failure = Failure::Timeout(Phase::Slot);
        for (rank, &address) in addresses.iter().enumerate() {
            progress.address = Some(address);
            let is_last = rank + 1 == addresses.len();
            let patience = if is_last { times.connect } else { times.connect.min(NEXT_ADDRESS_AFTER) };
            let Some(slot) = within(times.slot, Phase::Slot, turn.slot()).await? else { break };
            match door.open(address, patience, slot).await {
                Ok(connection) => return Ok((address, connection)),
                Err(next @ (Failure::Connect(_) | Failure::Timeout(Phase::Connect))) => failure = next,
                Err(other) => return Err(other.into()),
            }
        }
        Err(failure.into())
    }

    /// Makes one exchange over a connection; none if it was closed before a byte arrived.
    async fn ask(
        &self,
        turn: &Turn<'_>,
        address: IpAddr,
        connection: Connection,
        request: &Request,
        progress: &mut Progress,
    ) -> Result<Option<Box<Response>>, Stopped> {
        progress.address = Some(address);
        let WebSettings { times, sizes, .. } = &self.settings;
        match exchange(connection, request, &self.user_agent, times, sizes, &mut progress.trace).await {
            Ending::Response(response, connection) => {
                if let Some(connection) = connection {
                    turn.rest(address, connection);
                }
                Ok(Some(response))
            }
            Ending::Stale => Ok(None),
            Ending::Failed(failure) => Err(Stopped::Failed(failure)),
            Ending::Refused(refusal) => Err(Stopped::Refused(refusal)),
        }
    }
}

/// Parses the certificates of a PEM file, for [`WebSettings::extra_roots`].
pub fn roots_from_pem(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, WebError> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| WebError::Root(error.to_string()))
}

/// The progress of an exchange.
#[derive(Debug, Default)]
struct Progress {
    address: Option<IpAddr>,
    trace: Trace,
}

/// Why an exchange ended without a response.
enum Stopped {
    Failed(Failure),
    Refused(Refusal),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

async fn within<T>(limit: Duration, phase: Phase, work: impl Future<Output = T>) -> Result<T, Stopped> {
    timeout(limit, work).await.map_err(|_| Stopped::Failed(Failure::Timeout(phase)))
}

fn user_agent(contact: Option<&str>) -> Result<HeaderValue, WebError> {
    let version = env!("CARGO_PKG_VERSION");
    let Some(contact) = contact else {
        return HeaderValue::from_str(&format!("{PRODUCT_TOKEN}/{version}"))
            .map_err(|_| WebError::Contact(String::new()));
    };
    let refused = || WebError::Contact(contact.to_owned());
    let is_address = contact.contains('@') || contact.contains("://");
    let is_writable = contact.bytes().all(|byte| byte.is_ascii_graphic() && !b"()\\".contains(&byte));
    if !is_address || !is_writable {
        return Err(refused());
    }
    HeaderValue::from_str(&format!("{PRODUCT_TOKEN}/{version} (+{contact})")).map_err(|_| refused())
}
