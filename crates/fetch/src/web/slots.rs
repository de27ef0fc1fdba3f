//! The connection pool: idle connections, and limits of open ones.
//!
//! After its exchange a connection is kept idle under its scheme, host, port and address until the next
//! exchange with them, until it has been idle for too long, or until another host needs its slot.
//!
//! # Promises
//! - The number of open connections, including idle ones, never exceeds the limits, in all and per host.
//! - A waiting exchange gets the next free slot: no connection stays idle while one waits.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::Connection;
use super::limits::ConnectionLimits;

/// Scheme, host and port: the key of a connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Site {
    pub(super) https: bool,
    pub(super) host: Box<str>,
    pub(super) port: u16,
}

/// The connection pool.
#[derive(Debug)]
pub(super) struct Slots {
    limits: ConnectionLimits,
    total: Arc<Semaphore>,
    /// Number of exchanges that wait for a slot.
    waiting: AtomicUsize,
    resting: Mutex<Resting>,
}

#[derive(Debug, Default)]
struct Resting {
    sites: HashMap<Arc<Site>, SiteSlots>,
    /// Idle connections in the order in which they became idle.
    order: BTreeMap<u64, Arc<Site>>,
    next_serial: u64,
}

#[derive(Debug)]
struct SiteSlots {
    turns: Arc<Semaphore>,
    connections: Vec<Rested>,
}

#[derive(Debug)]
struct Rested {
    serial: u64,
    since: Instant,
    address: IpAddr,
    connection: Connection,
}

/// Permission for one exchange with a site.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    site: Arc<Site>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        let limits =
            ConnectionLimits { total: limits.total.max(1), per_host: limits.per_host.max(1), ..limits };
        let total = Arc::new(Semaphore::new(limits.total));
        Self { limits, total, waiting: AtomicUsize::new(0), resting: Mutex::default() }
    }

    /// Waits for permission for an exchange with a site.
    pub(super) async fn turn(&self, site: Site) -> Turn<'_> {
        let site = Arc::new(site);
        let turns = {
            let mut resting = self.resting();
            let entry = resting.sites.entry(Arc::clone(&site)).or_insert_with(|| SiteSlots {
                turns: Arc::new(Semaphore::new(self.limits.per_host)),
                connections: Vec::new(),
            });
            Arc::clone(&entry.turns)
        };
        // Created before the wait, so that a cancelled wait is cleaned up too.
        let mut turn = Turn { slots: self, site, permit: None };
        turn.permit = turns.acquire_owned().await.ok();
        turn
    }

    /// Number of idle connections.
    pub(super) fn resting_count(&self) -> usize {
        self.resting().order.len()
    }

    /// Number of open connections.
    pub(super) fn open_count(&self) -> usize {
        self.limits.total - self.total.available_permits()
    }

    fn resting(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Takes an idle connection to one of the addresses, the most recently used first.
    pub(super) fn take(&self, addresses: &[IpAddr]) -> Option<(IpAddr, Connection)> {
        let mut resting = self.slots.resting();
        resting.end_rested_since(Instant::now().checked_sub(self.slots.limits.idle));
        loop {
            let entry = resting.sites.get_mut(&self.site)?;
            let place = entry.connections.iter().rposition(|rested| addresses.contains(&rested.address))?;
            let rested = entry.connections.remove(place);
            resting.order.remove(&rested.serial);
            if !rested.connection.sender.is_closed() {
                return Some((rested.address, rested.connection));
            }
        }
    }

    /// Keeps a connection idle, unless an exchange waits for its slot.
    pub(super) fn rest(&self, address: IpAddr, connection: Connection) {
        if connection.sender.is_closed() {
            return;
        }
        let mut resting = self.slots.resting();
        if 0 < self.slots.waiting.load(Ordering::SeqCst) {
            return;
        }
        let serial = resting.next_serial;
        resting.next_serial += 1;
        if let Some(entry) = resting.sites.get_mut(&self.site) {
            entry.connections.push(Rested { serial, since: Instant::now(), address, connection });
            resting.order.insert(serial, Arc::clone(&self.site));
        }
        resting.end_rested_since(Instant::now().checked_sub(self.slots.limits.idle));
    }

    /// Waits for permission to open a connection to this site. Idle connections are closed if they are in the
    /// way.
    pub(super) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        self.make_room_at_site();
        if let Ok(slot) = Arc::clone(&self.slots.total).try_acquire_owned() {
            return Some(slot);
        }
        let _waiting = Waiting::begin(&self.slots.waiting);
        self.slots.resting().end_oldest();
        Arc::clone(&self.slots.total).acquire_owned().await.ok()
    }

    /// Closes idle connections to this site until there is room for one more.
    fn make_room_at_site(&self) {
        let per_host = self.slots.limits.per_host;
        let mut resting = self.slots.resting();
        let Some(entry) = resting.sites.get_mut(&self.site) else { return };
        let in_use = per_host - entry.turns.available_permits();
        let surplus = (in_use + entry.connections.len()).saturating_sub(per_host);
        let ended: Vec<u64> = entry
            .connections
            .drain(..surplus.min(entry.connections.len()))
            .map(|rested| rested.serial)
            .collect();
        for serial in ended {
            resting.order.remove(&serial);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut resting = self.slots.resting();
        if let Some(entry) = resting.sites.get(&self.site)
            && entry.connections.is_empty()
            && Arc::strong_count(&entry.turns) == 1
        {
            resting.sites.remove(&self.site);
        }
    }
}

impl Resting {
    /// Closes the connections that have been idle since before `moment`.
    fn end_rested_since(&mut self, moment: Option<Instant>) {
        let Some(moment) = moment else { return };
        while let Some((&serial, site)) = self.order.first_key_value() {
            let rested = self.sites.get(site).and_then(|entry| entry.connections.first());
            if rested.is_some_and(|rested| rested.serial == serial && moment < rested.since) {
                return;
            }
            self.end_oldest();
        }
    }

    /// Closes the connection that has been idle longest.
    fn end_oldest(&mut self) {
        let Some((serial, site)) = self.order.pop_first() else { return };
        if let Some(entry) = self.sites.get_mut(&site) {
            entry.connections.retain(|rested| rested.serial != serial);
            if entry.connections.is_empty() && Arc::strong_count(&entry.turns) == 1 {
                self.sites.remove(&site);
            }
        }
    }
}

/// Counts waiting exchanges; the count is correct even if a wait is cancelled.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
