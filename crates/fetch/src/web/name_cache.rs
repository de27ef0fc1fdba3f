//! What names have lately resolved to, for as long as the name servers say and within bounds of ours.
//!
//! # Promises
//! - An answer is given until its time has passed and never after. Times are clamped: see [`CacheLimits`].
//! - At most [`CacheLimits::names`] names are held; those not asked for lately go first.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::DnsFault;

/// What a name resolves to.
pub(super) type Resolved = Result<Arc<[IpAddr]>, DnsFault>;

/// Bounds of the cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheLimits {
    /// Names that are held.
    pub names: usize,
    /// An answer is held at least this long: a page and its neighbours do not ask twice.
    pub shortest: Duration,
    /// An answer is held at most this long.
    pub longest: Duration,
    /// That a name does not resolve is held this long.
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

/// The cache: two generations. The young fills up to half the bound and then takes the place of the old.
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

    /// What the name resolves to, if that is known and still holds.
    pub(super) fn get(&mut self, name: &str, now: Instant) -> Option<Resolved> {
        if let Some(entry) = self.young.get(name) {
            return (now < entry.until).then(|| entry.resolved.clone());
        }
        let entry = self.old.remove(name).filter(|entry| now < entry.until)?;
        let resolved = entry.resolved.clone();
        self.keep(name, entry);
        Some(resolved)
    }

    /// Keeps what a name resolves to for as long as its name servers allow.
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
