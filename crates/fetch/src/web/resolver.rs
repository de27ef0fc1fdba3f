//! DNS resolver: from a host to its addresses.
//!
//! It uses the system's name servers, or a table of names in their place: for tests, for the lab, and for
//! users who map hosts by hand. A host that is an address resolves to itself. Answers of the name servers are
//! cached (`name_cache`). Those of a table are not, so that a test can change an address from one exchange to
//! the next.
//!
//! # Promises
//! - IPv4 and IPv6 addresses alternate; there are at most [`ADDRESSES_MAX`] of them, without duplicates.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;

use super::answer::{DnsFault, Failure, Phase};
use super::name_cache::{CacheLimits, NameCache, Resolved};
use super::request::literal_address;

/// Maximum number of addresses of a host that are tried. More would only make a dead host cost more time.
pub const ADDRESSES_MAX: usize = 4;

/// Where names are looked up.
#[derive(Clone, Debug, Default)]
pub enum Names {
    /// By the system's name servers and hosts file.
    #[default]
    System,
    /// In a table.
    Fixed(FixedNames),
}

/// A table of names.
#[derive(Clone, Debug, Default)]
pub struct FixedNames {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    otherwise: Option<IpAddr>,
}

impl FixedNames {
    /// A table in which every name has this address.
    pub fn all_at(address: IpAddr) -> Self {
        Self { answers: HashMap::new(), otherwise: Some(address) }
    }

    /// Adds a name with these addresses.
    pub fn with(self, name: &str, addresses: &[IpAddr]) -> Self {
        self.with_answers(name, vec![addresses.to_vec()])
    }

    /// Adds a name with a different answer for each lookup; the last one repeats.
    pub fn with_answers(mut self, name: &str, answers: Vec<Vec<IpAddr>>) -> Self {
        self.answers.insert(name.to_owned(), answers);
        self
    }
}

/// Looks up names and caches the answers.
#[derive(Debug)]
pub(super) struct Resolver {
    source: Source,
    time_limit: Duration,
}

enum Source {
    System { asked: Box<TokioResolver>, cache: Mutex<NameCache> },
    Fixed { names: FixedNames, times_asked: Mutex<HashMap<String, usize>> },
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::System { .. } => "System",
            Self::Fixed { .. } => "Fixed",
        })
    }
}

impl Resolver {
    /// A resolver, or why the system's name server settings cannot be used.
    pub(super) fn new(names: Names, cache: CacheLimits, time_limit: Duration) -> Result<Self, String> {
        let source = match names {
            Names::System => Source::System {
                asked: Box::new(system_resolver(time_limit)?),
                cache: Mutex::new(NameCache::new(cache)),
            },
            Names::Fixed(names) => Source::Fixed { names, times_asked: Mutex::default() },
        };
        Ok(Self { source, time_limit })
    }

    /// The addresses of a host, best first, at least one.
    pub(super) async fn addresses(&self, host: &str) -> Result<Arc<[IpAddr]>, Failure> {
        if let Some(address) = literal_address(host) {
            return Ok([address].into());
        }
        let resolved = match &self.source {
            Source::System { asked, cache } => self.ask(asked, cache, host).await?,
            Source::Fixed { names, times_asked } => look_in_table(names, times_asked, host),
        };
        resolved.map_err(Failure::Dns)
    }

    async fn ask(
        &self,
        asked: &TokioResolver,
        cache: &Mutex<NameCache>,
        host: &str,
    ) -> Result<Resolved, Failure> {
        let cache = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = cache().get(host, Instant::now()) {
            return Ok(resolved);
        }
        let answer = tokio::time::timeout(self.time_limit, asked.lookup_ip(full_name(host))).await;
        let (resolved, valid_until) = match &answer {
            Ok(Ok(found)) => (in_turn(found.iter()), found.valid_until()),
            Ok(Err(error)) if error.is_nx_domain() || error.is_no_records_found() => {
                (Err(DnsFault::NoSuchHost), Instant::now())
            }
            Ok(Err(_)) | Err(_) => (Err(DnsFault::ServerFailure), Instant::now()),
        };
        let now = Instant::now();
        cache().put(host, resolved.clone(), valid_until.saturating_duration_since(now), now);
        if answer.is_err() { Err(Failure::Timeout(Phase::Dns)) } else { Ok(resolved) }
    }
}

/// A resolver for the system's name servers. It does not cache: answers are cached in this module, so that
/// there is one set of limits.
fn system_resolver(time_limit: Duration) -> Result<TokioResolver, String> {
    let mut builder = TokioResolver::builder_tokio().map_err(|error| error.to_string())?;
    let options = builder.options_mut();
    options.cache_size = 0;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.timeout = (time_limit / 2).max(Duration::from_millis(1));
    options.attempts = 2;
    builder.build().map_err(|error| error.to_string())
}

/// The name to look up. A name with a dot is complete: the local domain is not searched.
fn full_name(host: &str) -> String {
    if host.contains('.') && !host.ends_with('.') { format!("{host}.") } else { host.to_owned() }
}

fn look_in_table(names: &FixedNames, times_asked: &Mutex<HashMap<String, usize>>, host: &str) -> Resolved {
    let Some(answers) = names.answers.get(host) else {
        return in_turn(names.otherwise.into_iter());
    };
    let mut times_asked = times_asked.lock().unwrap_or_else(PoisonError::into_inner);
    let times = times_asked.entry(host.to_owned()).or_insert(0);
    let answer = answers.get(*times).or_else(|| answers.last());
    *times += 1;
    in_turn(answer.into_iter().flatten().copied())
}

/// Alternates IPv4 and IPv6 addresses, without duplicates, up to the maximum. An empty list is an error.
fn in_turn(addresses: impl Iterator<Item = IpAddr>) -> Resolved {
    let (v4, v6): (Vec<_>, Vec<_>) = addresses.partition(IpAddr::is_ipv4);
    let mut ordered = Vec::with_capacity(ADDRESSES_MAX);
    for rank in 0..v4.len().max(v6.len()) {
        for address in [v4.get(rank), v6.get(rank)].into_iter().flatten() {
            if ordered.len() < ADDRESSES_MAX && !ordered.contains(address) {
                ordered.push(*address);
            }
        }
    }
    if ordered.is_empty() { Err(DnsFault::NoSuchHost) } else { Ok(ordered.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<IpAddr> {
        text.split_whitespace().map(|address| address.parse().unwrap()).collect()
    }

    async fn resolve(resolver: &Resolver, host: &str) -> Result<Vec<IpAddr>, Failure> {
        resolver.addresses(host).await.map(|found| found.to_vec())
    }

    fn fixed(names: FixedNames) -> Resolver {
        Resolver::new(Names::Fixed(names), CacheLimits::default(), Duration::from_secs(1)).unwrap()
    }

    #[track_caller]
    fn check_order(given: &str, expected: &str) {
        assert_eq!(in_turn(addresses(given).into_iter()).unwrap().to_vec(), addresses(expected));
    }

    #[test]
    fn families_take_turns() {
        check_order("1.0.0.1 1.0.0.2 2000::1", "1.0.0.1 2000::1 1.0.0.2");
        check_order("2000::1 2000::1 2000::2", "2000::1 2000::2");
        check_order("1.0.0.1 1.0.0.2 1.0.0.3 1.0.0.4 1.0.0.5", "1.0.0.1 1.0.0.2 1.0.0.3 1.0.0.4");
    }

    #[tokio::test]
    async fn an_address_stands_for_itself_and_a_table_for_its_names() {
        let resolver = fixed(FixedNames::default().with("a.test", &addresses("1.0.0.1")));
        assert_eq!(resolve(&resolver, "[::1]").await, Ok(addresses("::1")));
        assert_eq!(resolve(&resolver, "10.0.0.1").await, Ok(addresses("10.0.0.1")));
        assert_eq!(resolve(&resolver, "a.test").await, Ok(addresses("1.0.0.1")));
        assert_eq!(resolve(&resolver, "b.test").await, Err(Failure::Dns(DnsFault::NoSuchHost)));
    }

    #[tokio::test]
    async fn a_table_may_change_its_mind() {
        let turns = vec![addresses("1.0.0.1"), vec![], addresses("1.0.0.2")];
        let resolver = fixed(FixedNames::default().with_answers("a.test", turns));
        assert_eq!(resolve(&resolver, "a.test").await, Ok(addresses("1.0.0.1")));
        assert!(resolve(&resolver, "a.test").await.is_err());
        assert_eq!(resolve(&resolver, "a.test").await, Ok(addresses("1.0.0.2")));
        assert_eq!(resolve(&resolver, "a.test").await, Ok(addresses("1.0.0.2")));
    }
}
