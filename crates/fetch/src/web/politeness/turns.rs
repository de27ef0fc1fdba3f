//! The politeness scheduler: one visit at a time per host and per address, pauses between visits, and the
//! queue of ready hosts.
//!
//! A host's pause is the longest of: the delay, its crawl-delay, a multiple of its response time, its
//! `Retry-After`, and the pause for its consecutive troubles. A host with pages to visit is enlisted;
//! [`Politeness::next_ready`] returns hosts as their time comes.
//!
//! # Promises
//! - No interleaving of calls lets more visits to a host or an address run at once than the settings allow,
//!   or one begin before the pause after the last has passed.
//! - Every enlisted host is returned once its time has come, however many share its address.
//! - The amortised cost of each call is logarithmic in the number of hosts.
//!
//! # Departures
//! - A crawl-delay longer than the settings allow is cut, and this can be queried.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use freshet_protocol::time::Timestamp;

use super::experience::{Experience, pause};
use super::rate::Rate;
use super::settings::{PolitenessSettings, millis};
use super::state::SiteManners;

/// Decides which host may be visited when.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use freshet_fetch::web::politeness::{Experience, Politeness, PolitenessSettings};
/// use freshet_protocol::time::Timestamp;
///
/// let settings = PolitenessSettings { delay: Duration::from_secs(5), ..PolitenessSettings::default() };
/// let mut politeness = Politeness::new(settings);
/// let now = Timestamp::from_millis(0);
/// let turn = politeness.begin("a.example", None, now).expect("nobody was there yet");
/// // One visit at a time, and a pause after it.
/// assert!(politeness.begin("a.example", None, now).is_err());
/// politeness.end(turn, Experience::Served, now.plus_millis(200));
/// assert!(politeness.begin("a.example", None, now.plus_millis(1_000)).is_err());
/// assert!(politeness.begin("a.example", None, now.plus_millis(6_000)).is_ok());
/// ```
#[derive(Debug)]
pub struct Politeness {
    settings: PolitenessSettings,
    names: HashMap<Arc<str>, HostId>,
    hosts: Vec<Host>,
    address_ids: HashMap<IpAddr, AddressId>,
    addresses: Vec<Address>,
    /// Enlisted hosts by the time at which they are examined next.
    queue: BTreeSet<(Timestamp, HostId)>,
    /// Number of enlisted hosts.
    enlisted: usize,
    rate: Rate,
}

/// Permission for one visit, to be returned with [`Politeness::end`].
#[derive(Debug, Eq, PartialEq)]
#[must_use = "a host stays busy until its turn is ended"]
pub struct Turn {
    host: HostId,
    address: Option<AddressId>,
    begun: Timestamp,
}

/// Why a host may not be visited now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// When it may; earlier if the state changes. None: when a running visit has ended.
    pub until: Option<Timestamp>,
    /// The reason.
    pub why: Why,
}

/// The reason why a visit must wait.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Why {
    /// A visit to the host is running.
    HostBusy,
    /// A visit to the address is running.
    AddressBusy,
    /// The delay between visits to a host.
    #[default]
    Delay,
    /// The host's crawl-delay.
    CrawlDelay,
    /// The host answers slowly.
    Slow,
    /// The host asked for fewer requests.
    Overloaded,
    /// The host could not be reached.
    Unreachable,
    /// The delay between visits to an address.
    AddressDelay,
    /// The host's visiting hours are over.
    Closed,
    /// The rate limit of all visits.
    GlobalRate,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct HostId(u32);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct AddressId(u32);

#[derive(Debug)]
struct Host {
    name: Arc<str>,
    manners: SiteManners,
    why: Why,
    closed_until: Timestamp,
    under_way: u32,
    address: Option<AddressId>,
    place: Place,
    /// The address for which it waits in the queue, on behalf of all hosts parked there.
    stands_for: Option<AddressId>,
}

/// Where an enlisted host waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// Not enlisted.
    Nowhere,
    /// In the queue, at this time.
    Queued(Timestamp),
    /// Waiting for a running visit to it to end.
    AtHost,
    /// Waiting for its address, parked with others.
    AtAddress,
}

#[derive(Debug, Default)]
struct Address {
    under_way: u32,
    not_before: Timestamp,
    parked: VecDeque<HostId>,
    /// Whether one host waits in the queue on behalf of all that are parked.
    has_first: bool,
}

/// Earlier than any real time.
const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN);

impl Politeness {
    /// A scheduler without hosts.
    pub fn new(settings: PolitenessSettings) -> Self {
        let settings = PolitenessSettings {
            visits_per_host: settings.visits_per_host.max(1),
            visits_per_address: settings.visits_per_address.max(1),
            ..settings
        };
        Self {
            settings,
            names: HashMap::new(),
            hosts: Vec::new(),
            address_ids: HashMap::new(),
            addresses: Vec::new(),
            queue: BTreeSet::new(),
            enlisted: 0,
            rate: Rate::new(settings.global_rate),
        }
    }

    /// The earliest time at which a host may be visited, apart from running visits. Without an address, that
    /// of the last visit is used.
    pub fn may_visit_at(&self, host: &str, address: Option<IpAddr>) -> Timestamp {
        let host = self.names.get(host).map(|id| &self.hosts[id.0 as usize]);
        let own = host.map_or(LONG_AGO, |host| host.manners.not_before.max(host.closed_until));
        let address = match address {
            Some(address) => self.address_ids.get(&address).copied(),
            None => host.and_then(|host| host.address),
        };
        let shared = address.map_or(LONG_AGO, |id| self.addresses[id.0 as usize].not_before);
        own.max(shared).max(self.rate.open_at())
    }

    /// The reason why a visit must wait now; none if it may begin.
    pub fn wait(&self, host: &str, address: Option<IpAddr>, now: Timestamp) -> Option<Wait> {
        let Some(&id) = self.names.get(host) else {
            let address = address.and_then(|address| self.address_ids.get(&address).copied());
            return self.address_wait(address, now).or_else(|| self.rate_wait(now));
        };
        let address = match address {
            Some(address) => self.address_ids.get(&address).copied(),
            None => self.hosts[id.0 as usize].address,
        };
        self.host_wait(id, now).or_else(|| self.address_wait(address, now)).or_else(|| self.rate_wait(now))
    }

    /// Begins a visit, or returns the reason why it must wait. The address is the one that will be connected
    /// to; without one, that of the last visit is used. It is stored in either case, so that a host that is
    /// enlisted again waits for its address too.
    pub fn begin(&mut self, host: &str, address: Option<IpAddr>, now: Timestamp) -> Result<Turn, Wait> {
        let id = self.host_id(host);
        if let Some(address) = address {
            self.host_mut(id).address = Some(self.address_id(address));
        }
        let address = self.host(id).address;
        let waits = self.host_wait(id, now).or_else(|| self.address_wait(address, now));
        if let Some(wait) = waits.or_else(|| self.rate_wait(now)) {
            return Err(wait);
        }
        let pause = millis(self.settings.delay).max(self.settings.host_interval());
        let crawl_delay = self.settings.crawl_delay_of(self.host(id).manners.crawl_delay_millis);
        let host = self.host_mut(id);
        host.under_way += 1;
        hold(host, now, pause, Why::Delay);
        hold(host, now, crawl_delay, Why::CrawlDelay);
        if let Some(address) = address {
            self.address_mut(address).under_way += 1;
            self.hold_address(address, now);
        }
        self.rate.use_up(now);
        Ok(Turn { host: id, address, begun: now })
    }

    /// Ends a visit.
    #[expect(clippy::needless_pass_by_value, reason = "a turn that has ended cannot be ended again")]
    pub fn end(&mut self, turn: Turn, experience: Experience, now: Timestamp) {
        let Turn { host: id, address, begun } = turn;
        let was_asked = experience != Experience::NotAsked;
        let host = &mut self.hosts[id.0 as usize];
        host.under_way -= 1;
        if was_asked {
            learn(host, experience, now.millis_since(begun).max(0), now, &self.settings);
        }
        if host.place == Place::AtHost {
            self.put_in_queue(id, now);
        }
        if let Some(address) = address {
            self.address_mut(address).under_way -= 1;
            if was_asked {
                self.hold_address(address, now);
            }
            self.wake_one(address, now);
        }
    }

    /// Enlists a host with pages to visit: it will be returned when its time comes.
    pub fn enlist(&mut self, host: &str, now: Timestamp) {
        let id = self.host_id(host);
        if self.host(id).place == Place::Nowhere {
            self.enlisted += 1;
            self.put_in_queue(id, now);
        }
    }

    /// Removes a host without pages to visit from the waiting ones.
    pub fn dismiss(&mut self, host: &str, now: Timestamp) {
        let Some(&id) = self.names.get(host) else { return };
        if self.host(id).place != Place::Nowhere {
            self.enlisted -= 1;
        }
        if let Some(address) = self.take_from_queue(id) {
            self.wake_one(address, now);
        }
        self.host_mut(id).place = Place::Nowhere;
    }

    /// Takes an enlisted host that may be visited now. It must be enlisted again to be returned again.
    pub fn next_ready(&mut self, now: Timestamp) -> Option<Arc<str>> {
        if self.rate_wait(now).is_some() {
            return None;
        }
        loop {
            let &(_, id) = self.queue.first().filter(|(at, _)| *at <= now)?;
            let stood_for = self.take_from_queue(id);
            let address = self.host(id).address;
            if let Some(wait) = self.host_wait(id, now) {
                match wait.until {
                    Some(until) => self.queue_at(id, until),
                    None => self.host_mut(id).place = Place::AtHost,
                }
            } else if let Some(wait) = self.address_wait(address, now)
                && let Some(address) = address
            {
                self.wait_at_address(id, address, wait, stood_for == Some(address));
                // The others wait behind it, unless it waited for an address that it has left.
                if stood_for.is_none_or(|stood_for| stood_for == address) {
                    continue;
                }
            } else {
                self.enlisted -= 1;
                self.host_mut(id).place = Place::Nowhere;
                // If it is not visited after all, the others at its address must not wait for it.
                if let Some(address) = stood_for.or(address) {
                    self.wake_one(address, now);
                }
                return Some(Arc::clone(&self.host(id).name));
            }
            if let Some(address) = stood_for {
                self.wake_one(address, now);
            }
        }
    }

    /// When to call [`Politeness::next_ready`] next, unless a visit ends or a host is enlisted before.
    pub fn next_ready_at(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| (*at).max(self.rate.open_at()))
    }

    /// Number of enlisted hosts that wait.
    pub fn waiting(&self) -> usize {
        self.enlisted
    }

    /// Sets a host's crawl-delay.
    pub fn set_crawl_delay(&mut self, host: &str, crawl_delay: Option<Duration>) {
        let id = self.host_id(host);
        self.host_mut(id).manners.crawl_delay_millis =
            crawl_delay.map(|delay| u32::try_from(delay.as_millis()).unwrap_or(u32::MAX));
    }

    /// Whether a host asks for a longer crawl-delay than the settings allow.
    pub fn crawl_delay_is_cut(&self, host: &str) -> bool {
        let asked = self.names.get(host).and_then(|id| self.hosts[id.0 as usize].manners.crawl_delay_millis);
        asked.is_some_and(|asked| millis(self.settings.crawl_delay_max) < asked.into())
    }

    /// Closes a host until a time, because its visiting hours are over.
    pub fn close_until(&mut self, host: &str, until: Timestamp) {
        let id = self.host_id(host);
        self.host_mut(id).closed_until = until;
        self.requeue(id, LONG_AGO);
    }

    /// The state of a host to keep across restarts; none if the host is unknown.
    pub fn export(&self, host: &str) -> Option<SiteManners> {
        self.names.get(host).map(|id| self.hosts[id.0 as usize].manners)
    }

    /// Restores the state of a host, unless the current state is more recent. Each site of a host stores the
    /// state as of its own last visit; the most recent one counts. A time further in the future than any
    /// pause of ours is cut: the clock was wrong.
    pub fn import(&mut self, host: &str, manners: SiteManners, now: Timestamp) {
        let longest =
            millis(self.settings.retry_after_max).max(millis(self.settings.pause_max).saturating_mul(2));
        let id = self.host_id(host);
        let host = self.host_mut(id);
        if manners.not_before <= host.manners.not_before {
            return;
        }
        let not_before = manners.not_before.min(now.plus_millis(longest));
        host.manners = SiteManners { not_before, ..manners };
        host.why = match (manners.overloads, manners.failures) {
            (0, 0) => Why::Delay,
            (overloads, _) if overloads > 0 => Why::Overloaded,
            _ => Why::Unreachable,
        };
        self.requeue(id, now);
    }

    /// Pauses every known host from now on: a process that was killed may have visited it a moment ago
    /// without recording it.
    pub fn hold_all(&mut self, now: Timestamp) {
        // Which hosts share an address is not known yet.
        let delay = self.settings.delay.max(self.settings.address_delay);
        let pause = millis(delay).max(self.settings.host_interval());
        for number in 0..self.hosts.len() {
            let id = HostId(number as u32);
            let crawl_delay = self.settings.crawl_delay_of(self.host(id).manners.crawl_delay_millis);
            let host = self.host_mut(id);
            hold(host, now, pause, Why::Delay);
            hold(host, now, crawl_delay, Why::CrawlDelay);
            self.requeue(id, now);
        }
    }

    fn host_id(&mut self, name: &str) -> HostId {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let id = HostId(u32::try_from(self.hosts.len()).expect("fewer than 2^32 hosts"));
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name), id);
        self.hosts.push(Host {
            name,
            manners: SiteManners { not_before: LONG_AGO, ..SiteManners::default() },
            why: Why::Delay,
            closed_until: LONG_AGO,
            under_way: 0,
            address: None,
            place: Place::Nowhere,
            stands_for: None,
        });
        id
    }

    fn address_id(&mut self, address: IpAddr) -> AddressId {
        *self.address_ids.entry(address).or_insert_with(|| {
            let id = AddressId(u32::try_from(self.addresses.len()).expect("fewer than 2^32 addresses"));
            self.addresses.push(Address { not_before: LONG_AGO, ..Address::default() });
            id
        })
    }

    fn host_wait(&self, id: HostId, now: Timestamp) -> Option<Wait> {
        let host = &self.hosts[id.0 as usize];
        if self.settings.visits_per_host <= host.under_way {
            Some(Wait { until: None, why: Why::HostBusy })
        } else if now < host.closed_until && host.manners.not_before <= host.closed_until {
            Some(Wait { until: Some(host.closed_until), why: Why::Closed })
        } else if now < host.manners.not_before {
            Some(Wait { until: Some(host.manners.not_before), why: host.why })
        } else {
            None
        }
    }

    fn address_wait(&self, address: Option<AddressId>, now: Timestamp) -> Option<Wait> {
        let address = &self.addresses[address?.0 as usize];
        if self.settings.visits_per_address <= address.under_way {
            Some(Wait { until: None, why: Why::AddressBusy })
        } else if now < address.not_before {
            Some(Wait { until: Some(address.not_before), why: Why::AddressDelay })
        } else {
            None
        }
    }

    fn rate_wait(&self, now: Timestamp) -> Option<Wait> {
        let open_at = self.rate.open_at();
        (now < open_at).then_some(Wait { until: Some(open_at), why: Why::GlobalRate })
    }

    /// Queues a host at the time at which the host itself may be visited.
    fn put_in_queue(&mut self, id: HostId, now: Timestamp) {
        let host = self.host(id);
        self.queue_at(id, host.manners.not_before.max(host.closed_until).max(now));
    }

    fn queue_at(&mut self, id: HostId, at: Timestamp) {
        self.host_mut(id).place = Place::Queued(at);
        self.queue.insert((at, id));
    }

    /// Removes a host from the queue, if it is there. Returns the address for which it waited there.
    fn take_from_queue(&mut self, id: HostId) -> Option<AddressId> {
        if let Place::Queued(at) = self.host(id).place {
            self.queue.remove(&(at, id));
        }
        let stood_for = self.host_mut(id).stands_for.take()?;
        self.address_mut(stood_for).has_first = false;
        Some(stood_for)
    }

    /// Moves a queued host to its current time.
    fn requeue(&mut self, id: HostId, now: Timestamp) {
        if let Place::Queued(_) = self.host(id).place {
            let stood_for = self.take_from_queue(id);
            self.put_in_queue(id, now);
            if let Some(address) = stood_for {
                self.wake_one(address, now);
            }
        }
    }

    /// Makes a host wait for its address: one host waits for the delay in the queue, all others are parked
    /// behind it.
    fn wait_at_address(&mut self, id: HostId, address_id: AddressId, wait: Wait, was_first: bool) {
        let address = self.address_mut(address_id);
        match wait.until {
            Some(until) if !address.has_first => {
                address.has_first = true;
                self.host_mut(id).stands_for = Some(address_id);
                self.queue_at(id, until);
            }
            _ => {
                if was_first {
                    address.parked.push_front(id);
                } else {
                    address.parked.push_back(id);
                }
                self.host_mut(id).place = Place::AtAddress;
            }
        }
    }

    /// Moves the next host parked at an address to the queue, unless another one waits there for all of them.
    fn wake_one(&mut self, address_id: AddressId, now: Timestamp) {
        if self.address_mut(address_id).has_first {
            return;
        }
        let at = self.address_mut(address_id).not_before.max(now);
        while let Some(id) = self.address_mut(address_id).parked.pop_front() {
            // Skips a host that was dismissed in the meantime, or waits elsewhere.
            if self.host(id).place == Place::AtAddress {
                self.address_mut(address_id).has_first = true;
                self.host_mut(id).stands_for = Some(address_id);
                self.queue_at(id, at);
                return;
            }
        }
    }

    fn hold_address(&mut self, id: AddressId, now: Timestamp) {
        let until = now.plus_millis(millis(self.settings.address_delay));
        let address = self.address_mut(id);
        address.not_before = address.not_before.max(until);
    }

    fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    fn host_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id.0 as usize]
    }

    fn address_mut(&mut self, id: AddressId) -> &mut Address {
        &mut self.addresses[id.0 as usize]
    }
}

impl PolitenessSettings {
    /// The crawl-delay to obey, in milliseconds.
    fn crawl_delay_of(&self, asked: Option<u32>) -> i64 {
        i64::from(asked.unwrap_or(0)).min(millis(self.crawl_delay_max))
    }
}

/// Pauses a host for `pause` milliseconds, unless it is paused longer already.
fn hold(host: &mut Host, now: Timestamp, pause: i64, why: Why) {
    let until = now.plus_millis(pause);
    if host.manners.not_before < until {
        host.manners.not_before = until;
        host.why = why;
    }
}

/// Updates a host after a visit that took `took` milliseconds.
fn learn(host: &mut Host, experience: Experience, took: i64, now: Timestamp, settings: &PolitenessSettings) {
    hold(host, now, millis(settings.delay), Why::Delay);
    hold(host, now, settings.crawl_delay_of(host.manners.crawl_delay_millis), Why::CrawlDelay);
    let took = u32::try_from(took).unwrap_or(u32::MAX);
    match experience {
        Experience::Served => {
            (host.manners.overloads, host.manners.failures) = (0, 0);
            let smoothed = (u64::from(host.manners.response_millis) * 3 + u64::from(took)) / 4;
            host.manners.response_millis = u32::try_from(smoothed).unwrap_or(u32::MAX);
        }
        Experience::Overloaded(asked) => {
            host.manners.overloads = host.manners.overloads.saturating_add(1);
            let doubled = pause(settings.overload_pause, host.manners.overloads, &host.name, settings);
            let asked = asked.map(|asked| millis(asked.min(settings.retry_after_max)));
            hold(host, now, asked.unwrap_or(doubled), Why::Overloaded);
        }
        Experience::Failed => {
            host.manners.failures = host.manners.failures.saturating_add(1);
            let doubled = pause(settings.failure_pause, host.manners.failures, &host.name, settings);
            hold(host, now, doubled, Why::Unreachable);
        }
        Experience::NotAsked => {}
    }
    if !settings.delay.is_zero() {
        let slow = f64::from(host.manners.response_millis) * settings.slowness_factor.max(0.0);
        hold(host, now, (slow as i64).min(millis(settings.slowness_delay_max)), Why::Slow);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn address(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn after_a_restart_every_known_host_waits_for_its_pause() {
        let settings = PolitenessSettings { delay: seconds(2), ..PolitenessSettings::default() };
        let mut politeness = Politeness::new(settings);
        politeness.import("a", SiteManners::default(), at(1000));
        politeness.set_crawl_delay("b", Some(seconds(5)));
        politeness.enlist("a", at(1000));
        politeness.enlist("b", at(1000));
        politeness.hold_all(at(1000));
        assert_eq!(politeness.may_visit_at("a", None), at(3000));
        assert_eq!(politeness.may_visit_at("b", None), at(6000));
        assert_eq!(politeness.next_ready(at(2999)), None);
        assert_eq!(politeness.next_ready(at(3000)).as_deref(), Some("a"));
    }

    /// Checks the effect of one visit from 0 to `took` on the next.
    #[track_caller]
    fn check(
        settings: PolitenessSettings,
        took: i64,
        experience: Experience,
        pause: std::ops::RangeInclusive<i64>,
        why: Why,
    ) {
        let mut politeness = Politeness::new(settings);
        let turn = politeness.begin("a", Some(address(1)), at(0)).unwrap();
        politeness.end(turn, experience, at(took));
        let wait = politeness.wait("a", Some(address(2)), at(took)).unwrap();
        assert_eq!(wait.why, why);
        let paused = wait.until.unwrap().millis_since(at(took));
        assert!(pause.contains(&paused), "{paused}");
    }

    #[test]
    fn a_host_is_left_alone_as_its_answer_asks() {
        let usual = PolitenessSettings::default();
        check(usual, 10, Experience::Served, 1000..=1000, Why::Delay);
        check(usual, 8000, Experience::Served, 4000..=4000, Why::Slow);
        check(usual, 1_000_000, Experience::Served, 30_000..=30_000, Why::Slow);
        check(usual, 10, Experience::Failed, 7500..=12_500, Why::Unreachable);
        check(usual, 10, Experience::Overloaded(None), 22_500..=37_500, Why::Overloaded);
        check(usual, 10, Experience::Overloaded(Some(seconds(100))), 100_000..=100_000, Why::Overloaded);
        check(
            usual,
            10,
            Experience::Overloaded(Some(Duration::MAX)),
            86_400_000..=86_400_000,
            Why::Overloaded,
        );
        check(usual, 10, Experience::Overloaded(Some(seconds(0))), 1000..=1000, Why::Delay);
        check(
            PolitenessSettings { host_rate: Some(0.1), ..usual },
            10,
            Experience::Served,
            9990..=9990,
            Why::Delay,
        );
    }

    #[test]
    fn troubles_in_a_row_make_pauses_grow_and_an_answer_ends_them() {
        let mut politeness = Politeness::new(PolitenessSettings::default());
        let (mut now, mut pauses) = (at(0), Vec::new());
        for experience in [Experience::Failed, Experience::Failed, Experience::Failed, Experience::Served] {
            let turn = politeness.begin("a", None, now).unwrap();
            politeness.end(turn, experience, now);
            pauses.push(politeness.may_visit_at("a", None).millis_since(now));
            now = politeness.may_visit_at("a", None);
        }
        assert!(pauses[0] < pauses[1] && pauses[1] < pauses[2], "{pauses:?}");
        assert_eq!(pauses[3], 1000);
    }

    #[test]
    fn a_crawl_delay_is_kept_and_said_to_be_cut() {
        let mut politeness = Politeness::new(PolitenessSettings::default());
        politeness.set_crawl_delay("a", Some(seconds(20)));
        politeness.set_crawl_delay("b", Some(seconds(20_000)));
        for host in ["a", "b"] {
            let turn = politeness.begin(host, None, at(0)).unwrap();
            politeness.end(turn, Experience::Served, at(5));
        }
        assert_eq!(
            politeness.wait("a", None, at(5)),
            Some(Wait { until: Some(at(20_005)), why: Why::CrawlDelay })
        );
        assert_eq!(politeness.may_visit_at("b", None), at(300_005));
        assert!(!politeness.crawl_delay_is_cut("a"));
        assert!(politeness.crawl_delay_is_cut("b"));
    }

    #[test]
    fn hosts_of_one_address_take_turns() {
        let mut politeness = Politeness::new(PolitenessSettings::default());
        let turn = politeness.begin("a", Some(address(1)), at(0)).unwrap();
        let busy = Wait { until: None, why: Why::AddressBusy };
        assert_eq!(politeness.begin("b", Some(address(1)), at(0)), Err(busy));
        assert!(politeness.begin("c", Some(address(2)), at(0)).is_ok());
        politeness.end(turn, Experience::Served, at(100));
        let delayed = Wait { until: Some(at(1100)), why: Why::AddressDelay };
        assert_eq!(politeness.begin("b", Some(address(1)), at(100)), Err(delayed));
        assert!(politeness.begin("b", Some(address(1)), at(1100)).is_ok());
    }

    #[test]
    fn what_was_not_asked_costs_no_pause_and_a_closed_host_opens() {
        let mut politeness =
            Politeness::new(PolitenessSettings { delay: Duration::ZERO, ..PolitenessSettings::default() });
        politeness.enlist("a", at(0));
        politeness.close_until("a", at(500));
        assert_eq!(politeness.next_ready(at(499)), None);
        assert_eq!(politeness.next_ready_at(), Some(at(500)));
        assert_eq!(politeness.next_ready(at(500)).as_deref(), Some("a"));
        let turn = politeness.begin("a", None, at(500)).unwrap();
        politeness.end(turn, Experience::NotAsked, at(600));
        assert_eq!(politeness.wait("a", None, at(600)), None);
    }

    #[test]
    fn manners_survive_a_restart() {
        let mut before = Politeness::new(PolitenessSettings::default());
        before.set_crawl_delay("a", Some(seconds(7)));
        let turn = before.begin("a", None, at(0)).unwrap();
        before.end(turn, Experience::Overloaded(Some(seconds(60))), at(40));
        let mut after = Politeness::new(PolitenessSettings::default());
        after.import("a", before.export("a").unwrap(), at(1000));
        assert_eq!(after.export("a"), before.export("a"));
        assert_eq!(after.may_visit_at("a", None), at(60_040));
        assert_eq!(after.wait("a", None, at(1000)).map(|wait| wait.why), Some(Why::Overloaded));
        // The clock went back a year: no host is locked out for that long.
        let mut after = Politeness::new(PolitenessSettings::default());
        after.import("a", before.export("a").unwrap(), at(-31_000_000_000));
        assert!(after.may_visit_at("a", None) <= at(-31_000_000_000 + 86_400_000));
        assert_eq!(after.export("b"), None);
    }

    #[test]
    fn what_another_site_of_a_host_kept_longer_ago_changes_nothing() {
        let mut politeness = Politeness::new(PolitenessSettings::default());
        let turn = politeness.begin("a", None, at(0)).unwrap();
        politeness.end(turn, Experience::Overloaded(Some(seconds(60))), at(40));
        let known = politeness.export("a");
        politeness.import("a", SiteManners { not_before: at(50_000), ..SiteManners::default() }, at(1000));
        assert_eq!(politeness.export("a"), known);
    }

    #[test]
    fn a_hundred_thousand_hosts_are_handed_out_in_order() {
        let mut politeness = Politeness::new(PolitenessSettings::default());
        for host in 0..100_000u32 {
            politeness.enlist(&host.to_string(), at(0));
        }
        let mut visited = 0;
        for milli in 0..5 {
            while let Some(host) = politeness.next_ready(at(milli)) {
                let number: u32 = host.parse().unwrap();
                let turn =
                    politeness.begin(&host, Some(IpAddr::from(number.to_be_bytes())), at(milli)).unwrap();
                politeness.end(turn, Experience::Served, at(milli));
                politeness.enlist(&host, at(milli));
                visited += 1;
            }
        }
        assert_eq!(visited, 100_000);
        assert_eq!(politeness.waiting(), 100_000);
        assert_eq!(politeness.next_ready_at(), Some(at(1000)));
    }

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Begin { host: u8, address: Option<u8> },
        End { which: u8, experience: u8 },
        Enlist(u8),
        Dismiss(u8),
        Take,
        Close { host: u8, millis: i64 },
    }

    fn act() -> impl Strategy<Value = (i64, Act)> {
        let act = prop_oneof![
            (0u8..5, prop::option::of(0u8..2)).prop_map(|(host, address)| Act::Begin { host, address }),
            (any::<u8>(), 0u8..4).prop_map(|(which, experience)| Act::End { which, experience }),
            (0u8..5).prop_map(Act::Enlist),
            (0u8..5).prop_map(Act::Dismiss),
            Just(Act::Take),
            (0u8..5, 0i64..500).prop_map(|(host, millis)| Act::Close { host, millis }),
        ];
        (0i64..400, act)
    }

    fn experience(number: u8) -> Experience {
        match number {
            0 => Experience::Served,
            1 => Experience::Overloaded(Some(Duration::from_millis(700))),
            2 => Experience::Failed,
            _ => Experience::NotAsked,
        }
    }

    /// A visit as seen by an observer.
    #[derive(Debug)]
    struct Seen {
        host: u8,
        address: Option<IpAddr>,
        begun: Timestamp,
        ended: Option<(Timestamp, bool)>,
    }

    fn brisk() -> PolitenessSettings {
        PolitenessSettings {
            delay: Duration::from_millis(100),
            address_delay: Duration::from_millis(50),
            failure_pause: Duration::from_millis(200),
            ..PolitenessSettings::default()
        }
    }

    proptest! {
        #[test]
        fn no_interleaving_breaks_a_rule(
            acts in prop::collection::vec(act(), 1..120),
            per_host in 1u32..3,
            per_address in 1u32..3,
        ) {
            let settings = PolitenessSettings {
                visits_per_host: per_host,
                visits_per_address: per_address,
                ..brisk()
            };
            let mut politeness = Politeness::new(settings);
            let mut now = at(0);
            let mut last_address = [None; 5];
            let mut seen: Vec<Seen> = Vec::new();
            let mut turns: Vec<(usize, Turn)> = Vec::new();
            for (step, act) in acts {
                now = now.plus_millis(step);
                match act {
                    Act::Begin { host, address: number } => {
                        let given = number.map(address);
                        last_address[host as usize] = given.or(last_address[host as usize]);
                        let place = last_address[host as usize];
                        if let Ok(turn) = politeness.begin(&host.to_string(), given, now) {
                            for (limit, pause, of) in [
                                (
                                    per_host,
                                    100,
                                    seen.iter().filter(|visit| visit.host == host).collect::<Vec<_>>(),
                                ),
                                (
                                    per_address,
                                    50,
                                    seen.iter()
                                        .filter(|visit| place.is_some() && visit.address == place)
                                        .collect(),
                                ),
                            ] {
                                let under_way = of.iter().filter(|visit| visit.ended.is_none()).count();
                                prop_assert!(under_way < limit as usize);
                                for visit in of {
                                    prop_assert!(visit.begun.plus_millis(pause) <= now);
                                    if let Some((ended, true)) = visit.ended {
                                        prop_assert!(ended.plus_millis(pause) <= now);
                                    }
                                }
                            }
                            turns.push((seen.len(), turn));
                            seen.push(Seen { host, address: place, begun: now, ended: None });
                        }
                    }
                    Act::End { which, experience: number } => if !turns.is_empty() {
                        let (visit, turn) = turns.swap_remove(which as usize % turns.len());
                        seen[visit].ended = Some((now, number != 3));
                        politeness.end(turn, experience(number), now);
                    },
                    Act::Enlist(host) => politeness.enlist(&host.to_string(), now),
                    Act::Dismiss(host) => politeness.dismiss(&host.to_string(), now),
                    Act::Take => if let Some(host) = politeness.next_ready(now) {
                        prop_assert_eq!(politeness.wait(&host, None, now), None);
                    },
                    Act::Close { host, millis } =>
                        politeness.close_until(&host.to_string(), now.plus_millis(millis)),
                }
            }
            // Whatever happened, every enlisted host is returned in the end.
            for (visit, turn) in turns {
                seen[visit].ended = Some((now, true));
                politeness.end(turn, Experience::Served, now);
            }
            for host in 0..5 {
                politeness.enlist(&host.to_string(), now);
            }
            prop_assert_eq!(politeness.waiting(), 5);
            let mut handed_out = 0;
            while let Some(moment) = politeness.next_ready_at() {
                now = now.max(moment);
                if let Some(host) = politeness.next_ready(now) {
                    handed_out += 1;
                    // Every other host is not visited after all.
                    if handed_out % 2 == 0 {
                        let turn = politeness.begin(&host, None, now).unwrap();
                        now = now.plus_millis(10);
                        politeness.end(turn, Experience::Served, now);
                    }
                }
            }
            prop_assert_eq!(handed_out, 5);
        }
    }
}
