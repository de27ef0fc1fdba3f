//! A bounded cache of DNS answers, kept as long as the name servers say.
//!
//! # Promises
//! - An answer is returned until it expires and never after. Lifetimes are clamped: see [`CacheLimits`].
//! - At most [`CacheLimits::names`] names are cached; the least recently used go first.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::DnsFault;

/// The addresses of a name, or why there are none.
pub(super) type Resolved = Result<Arc<[IpAddr]>, DnsFault>;

/// Limits of the cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheLimits {
    /// Maximum number of names.
    pub names: usize,
    /// Minimum lifetime of an answer, so that the requests of a page share one lookup.
    pub shortest: Duration,
    /// Maximum lifetime of an answer.
    pub longest: Duration,
    /// Lifetime of a failed lookup.
    pub failure: Duration,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            names: 1 << 16,
            shortest: Duration::from_secs(60),
            longest: Duration::from_secs(24 * 3600),
            failure: Duration::from_secs(30),
        }
    }
}

/// The cache, in two generations. The young one fills up to half the limit and then replaces the old one.
#[derive(Debug)]
pub(super) struct NameCache {
    limits: CacheLimits,
    young: HashMap<Box<str>, Entry>,
    old: HashMap<Box<str>, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    resolved: Resolved,
    until: Instant,
}

impl NameCache {
    pub(super) fn new(limits: CacheLimits) -> Self {
        Self { limits, young: HashMap::new(), old: HashMap::new() }
    }

    /// The cached answer for a name, unless it has expired.
    pub(super) fn get(&mut self, name: &str, now: Instant) -> Option<Resolved> {
        if let Some(entry) = self.young.get(name) {
            return (now < entry.until).then(|| entry.resolved.clone());
        }
        let entry = self.old.remove(name).filter(|entry| now < entry.until)?;
        let resolved = entry.resolved.clone();
        self.keep(name, entry);
        Some(resolved)
    }

    /// Caches an answer that is valid for `valid_for`.
    pub(super) fn put(&mut self, name: &str, resolved: Resolved, valid_for: Duration, now: Instant) {
        let held = match resolved {
            Ok(_) => valid_for.clamp(self.limits.shortest, self.limits.longest.max(self.limits.shortest)),
            Err(_) => self.limits.failure,
        };
        self.old.remove(name);
        self.keep(name, Entry { resolved, until: now + held });
    }

    fn keep(&mut self, name: &str, entry: Entry) {
        if self.limits.names / 2 <= self.young.len() && !self.young.contains_key(name) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name.into(), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(names: usize) -> CacheLimits {
        CacheLimits {
            names,
            shortest: Duration::from_secs(10),
            longest: Duration::from_secs(100),
            failure: Duration::from_secs(5),
        }
    }

    fn address() -> Resolved {
        Ok([IpAddr::from([192, 0, 2, 1])].into())
    }

    #[track_caller]
    fn check(resolved: Resolved, said: u64, held: u64) {
        let (mut cache, start) = (NameCache::new(limits(8)), Instant::now());
        cache.put("a", resolved.clone(), Duration::from_secs(said), start);
        assert_eq!(cache.get("a", start + Duration::from_secs(held - 1)), Some(resolved));
        assert_eq!(cache.get("a", start + Duration::from_secs(held)), None);
    }

    #[test]
    fn times_are_clamped_and_failures_held_shortly() {
        check(address(), 0, 10);
        check(address(), 50, 50);
        check(address(), 1_000_000, 100);
        check(Err(DnsFault::NoSuchHost), 1000, 5);
    }

    #[test]
    fn a_name_asked_for_all_the_time_stays() {
        let (mut cache, now) = (NameCache::new(limits(8)), Instant::now());
        cache.put("a", address(), Duration::from_secs(50), now);
        for other in 0..100 {
            cache.put(&other.to_string(), address(), Duration::from_secs(50), now);
            assert!(cache.get("a", now).is_some());
        }
    }

    proptest! {
        #[test]
        fn the_bound_holds(names in prop::collection::vec("[a-z]{1,2}", 0..200)) {
            let (mut cache, now) = (NameCache::new(limits(16)), Instant::now());
            for name in names {
                cache.put(&name, address(), Duration::from_secs(50), now);
                prop_assert!(cache.get(&name, now).is_some());
                prop_assert!(cache.young.len() + cache.old.len() <= 16);
            }
        }
    }
}
