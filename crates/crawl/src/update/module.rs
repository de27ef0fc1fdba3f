//! The UpdateModule: a queue of orders per site, filled within the budget and what sites can take.
//!
//! Each site has a short queue. The module fills queues by value, within the budget: with tasks that are due
//! (rules, lists, pins, retries), with pages never visited, and with pages that the policy chooses. It never
//! gives a site more than the site can take soon; what a slow site cannot take goes to others. The fetch
//! tasks empty the queues, at the pace that politeness allows.
//!
//! # Promises
//! - A page is leased to at most one fetcher.
//! - A site is asked for its rules before anything else, and no more often than politeness allows.
//! - No more visits are ordered than the budget allows.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use freshet_fetch::change::weights::KindWeights;
use freshet_fetch::web::politeness::{Experience, Politeness, Turn, Why};
use freshet_fetch::web::robots::RobotsPolicy;
use freshet_partition::budget::Budget;
use freshet_partition::policy::Outcome;
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::{PolitenessState, SiteRecord};
use freshet_theory::units::MILLIS_PER_DAY;

use super::calendar::Calendar;
use super::discovery::Discovery;
use super::overrides::{Overrides, PageOverrides, SiteOverrides};
use super::refresh::Refresh;
use super::shadow::Shadow;
use super::site::{Address, QUEUE_SLOW, Site, kept, manners};
use super::worth::Worth;
use crate::event::Event;
use crate::robots;
use crate::settings::SiteRules;
use crate::status::Status;
use crate::visit::{Order, Reason};

/// Maximum fraction of the refresh visits that dates in lists may claim.
const SIGNAL_SHARE: f64 = 0.5;
/// Maximum number of visits that signals may claim at once because they claimed fewer before.
const SIGNALS_OWED_MAX: f64 = 100.0;
/// Queues are filled when one in this many of the orders that are kept ready is missing.
const FILLED_IN: usize = 8;
/// Delay of the visit to a page with a rhythm, after the hour at which it is expected to change, in
/// milliseconds: not all changes are on time.
const AFTER_ITS_HOUR: i64 = 15 * 60_000;
/// Maximum wait, in milliseconds, before queues that could not be filled are looked at again. By then their
/// sites have taken some orders.
const LOOK_AGAIN: i64 = 60_000;
/// Maximum number of waiting signals. Further ones are dropped; the policy will visit their pages in its own
/// time.
const SIGNALS_MAX: usize = 100_000;

/// Settings of the module.
#[derive(Clone, Copy, Debug)]
pub struct UpdateSettings {
    /// Fraction of the visits that may go to pages never visited, while there are any.
    pub discovery_share: f64,
    /// Number of orders that are kept ready, over all sites.
    pub ready: usize,
    /// Exponent of a page's importance in the value of a visit.
    pub importance_weight: f32,
    /// Whether pages are visited again.
    pub refresh: bool,
    /// Whether bytes are limited as well as visits. Then cheap pages are visited more.
    pub prices_bytes: bool,
    /// Whether politeness sets a delay between two visits to a site.
    pub has_delay: bool,
}

/// What a fetch task does next.
#[derive(Debug)]
pub enum Next {
    /// Carry out this order.
    Order(Assignment),
    /// Resolve the address of this host, for this site.
    Resolve(SiteNumber, Arc<str>),
    /// Wait until this moment.
    Wait(Timestamp),
    /// Wait until something becomes known.
    Idle,
}

/// An order that was handed to a fetch task.
#[derive(Debug)]
pub struct Assignment {
    /// The order.
    pub order: Order,
    /// The rules of the site.
    pub rules: Option<Arc<RobotsPolicy>>,
    turn: Turn,
}

/// How long a host is reserved for the crawl's own next turn after a lent one, once the host may be visited
/// again, in milliseconds.
const OWN_TURN: i64 = 1_000;

/// Decides what is visited next.
pub struct UpdateModule {
    settings: UpdateSettings,
    refresh: Refresh,
    discovery: Discovery,
    calendar: Calendar,
    politeness: Politeness,
    visits: Budget,
    bytes: Budget,
    sites: Vec<Site>,
    sites_of_host: HashMap<Arc<str>, Vec<SiteNumber>>,
    /// Hosts that another program waits to borrow the next turn at.
    promised: HashSet<Arc<str>>,
    /// Hosts whose next turn is the crawl's own because the last one was lent, and until when.
    own_turns: HashMap<Arc<str>, Timestamp>,
    /// Sites with work whose hosts have no address yet.
    unresolved: VecDeque<SiteNumber>,
    /// Leased pages: in a queue, in progress, or not committed yet.
    out: HashSet<PageNumber>,
    /// Pages that have changed according to lists.
    signals: VecDeque<(PageNumber, SiteNumber)>,
    /// What users set for single pages, over the policy.
    page_overrides: PageOverrides,
    kinds: KindWeights,
    worth: Worth,
    /// Settings of users for single sites.
    site_rules: Vec<SiteRules>,
    /// Swaps collections, if readers do not see results at once.
    shadow: Option<Shadow>,
    /// Number of orders in queues.
    queued: usize,
    /// Number of orders in progress.
    under_way: usize,
    /// Number of orders that came back and were not committed yet.
    uncommitted: usize,
    /// Mean bytes of a visit.
    bytes_mean: f64,
    /// Fraction of a visit that is owed to pages visited before.
    refresh_owed: f64,
    /// Fraction of a first turn at the queues that is owed to pages visited before.
    first_turns_owed: f64,
    /// Number of visits that signals may claim.
    signals_owed: f64,
}

impl UpdateModule {
    /// Creates a module that knows no page yet.
    pub fn new(
        settings: UpdateSettings,
        refresh: Refresh,
        politeness: Politeness,
        visits: Budget,
        bytes: Budget,
        overrides: Overrides,
    ) -> Self {
        let Overrides { intervals, site_rules, kinds, shadow } = overrides;
        Self {
            settings,
            refresh,
            discovery: Discovery::default(),
            calendar: Calendar::default(),
            politeness,
            visits,
            bytes,
            sites: Vec::new(),
            sites_of_host: HashMap::new(),
            promised: HashSet::new(),
            own_turns: HashMap::new(),
            unresolved: VecDeque::new(),
            out: HashSet::new(),
            signals: VecDeque::new(),
            page_overrides: PageOverrides::new(intervals),
            worth: Worth::new(settings.importance_weight, &kinds),
            kinds,
            site_rules,
            shadow,
            queued: 0,
            under_way: 0,
            uncommitted: 0,
            bytes_mean: 10_000.0,
            refresh_owed: 0.0,
            first_turns_owed: 0.0,
            signals_owed: 0.0,
        }
    }

    /// Decides what a fetch task does next.
    pub fn next(&mut self, now: Timestamp) -> Next {
        self.run_tasks(now);
        if self.queued + (self.settings.ready / FILLED_IN).max(1) <= self.queued_max() {
            self.fill(now);
        }
        while let Some(site) = self.unresolved.pop_front() {
            let state = &mut self.sites[site.index()];
            if state.address == Address::Unknown {
                state.address = Address::Asked;
                return Next::Resolve(site, Arc::clone(&state.host));
            }
        }
        while let Some(host) = self.politeness.next_ready(now) {
            if let Some(assignment) = self.take(&host, now) {
                return Next::Order(assignment);
            }
        }
        let waits = [self.politeness.next_ready_at(), self.calendar.next_due(), self.fill_at(now)];
        waits.into_iter().flatten().min().map_or(Next::Idle, Next::Wait)
    }

    /// Sets the address of a site's host. None if it cannot be resolved.
    pub fn resolved(&mut self, site: SiteNumber, address: Option<IpAddr>, now: Timestamp) {
        self.sites[site.index()].address = Address::Known(address);
        self.enlist(site, now);
    }

    /// Takes back an order. How the site answered decides when it may be visited again. Returns its
    /// politeness state from now on.
    pub fn returned(
        &mut self,
        assignment: Assignment,
        experience: Experience,
        now: Timestamp,
        bytes: u64,
        address: Option<IpAddr>,
    ) -> PolitenessState {
        let site = assignment.order.site();
        // A host may move: from now on it shares the turns of its new address.
        if address.is_some() {
            self.sites[site.index()].address = Address::Known(address);
        }
        self.under_way -= 1;
        self.uncommitted += 1;
        self.politeness.end(assignment.turn, experience, now);
        let state = &mut self.sites[site.index()];
        state.has_pauses = now < self.politeness.may_visit_at(&state.host, None);
        self.bytes.spend(bytes as f64);
        self.bytes_mean += (bytes as f64 - self.bytes_mean) / 256.0;
        self.enlist(site, now);
        self.politeness_of(site)
    }

    /// Lends a turn at a host to a caller outside of the queues, paid from the budget of visits. If the host
    /// is not free, returns when to ask again, if that is known. The host's next turn is then reserved for
    /// the caller, because one that asks every few moments would never find it free. But a lent turn is
    /// followed by one of the crawl's own, if it has work there.
    pub fn lend(
        &mut self,
        host: &str,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Turn, Option<Timestamp>> {
        if let Some(until) = self.own_turns.get(host).filter(|until| now < **until) {
            return Err(Some(*until));
        }
        match self.politeness.begin(host, address, now) {
            Ok(turn) => {
                self.promised.remove(host);
                self.visits.spend(1.0);
                Ok(turn)
            }
            Err(wait) => {
                self.promised.insert(host.into());
                Err(wait.until)
            }
        }
    }

    /// Ends the reservation of the next turn at a host for another caller.
    pub fn lend_no_more(&mut self, host: &str, now: Timestamp) {
        self.promised.remove(host);
        for site in self.sites_of_host.get(host).cloned().unwrap_or_default() {
            self.enlist(site, now);
        }
    }

    /// Ends a turn that was lent, which cost this many bytes.
    pub fn take_back(&mut self, host: &str, turn: Turn, experience: Experience, bytes: u64, now: Timestamp) {
        self.politeness.end(turn, experience, now);
        self.bytes.spend(bytes as f64);
        self.lend_no_more(host, now);
        let sites = self.sites_of_host.get(host).into_iter().flatten();
        if sites.into_iter().any(|site| self.sites[site.index()].has_work()) {
            let until = self.politeness.may_visit_at(host, None).plus_millis(OWN_TURN);
            self.own_turns.insert(host.into(), until);
        }
    }

    /// Marks this many orders that came back as committed.
    pub fn committed(&mut self, orders: usize) {
        self.uncommitted = self.uncommitted.saturating_sub(orders);
    }

    /// Handles an event: something that was committed.
    pub fn hear(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Site { site, record } => self.know_site(site, &record, now),
            Event::Admitted { page, site, priority } => self.discovery.add(site, page, priority),
            Event::Raised { page, site, priority } => {
                // A page in progress need not be raised.
                if !self.out.contains(&page) {
                    self.discovery.raise(site, page, priority);
                }
            }
            Event::Copied { page, site, path, importance, time } => {
                #[cfg(test)]
                crate::tripwire::trip("panic-in-policy", &path);
                self.out.remove(&page);
                let weight = self.worth.weight(page, importance);
                self.refresh.add(page, site, &path, weight, time);
                self.bind(page, site, &path, time);
            }
            Event::Visited { page, time, outcome, prompted, date, bytes_expected, kinds } => {
                self.out.remove(&page);
                self.page_overrides.visited(page, time);
                self.refresh.learn(page, time, outcome, prompted, date);
                let worth = kinds.map(|kinds| self.kinds.worth(kinds));
                if let Some(weight) = worth.and_then(|worth| self.worth.found(page, worth)) {
                    self.refresh.weigh(page, weight);
                }
                if outcome == Outcome::Gone {
                    self.refresh.forget(page);
                } else if self.settings.prices_bytes {
                    let cost = (f64::from(bytes_expected) / self.bytes_mean.max(1.0)).clamp(0.05, 100.0);
                    self.refresh.price(page, cost as f32);
                }
            }
            Event::Unsettled { page, site, is_first, again } => {
                self.out.remove(&page);
                let reason = if is_first { Reason::First } else { Reason::Retry };
                self.calendar.add(again, Order::Page { page, site, reason });
            }
            // The page stays leased, so that nothing else visits it before the second look.
            Event::SecondLooks { page, site, again } => {
                self.calendar.add(again, Order::Page { page, site, reason: Reason::Look });
            }
            Event::Left { page, time } => {
                self.out.remove(&page);
                self.page_overrides.forget(page);
                self.worth.forget(page);
                self.refresh.retire(page, time);
            }
            Event::Weighed { page, importance } => {
                let weight = self.worth.weight(page, importance);
                self.refresh.weigh(page, weight);
            }
            Event::Signal { page, site } => {
                if self.signals.len() < SIGNALS_MAX {
                    self.signals.push_back((page, site));
                }
            }
            Event::Expected { page, site, change } => {
                if self.refresh.is_worth_if_fresh_for(change.period) {
                    let due = change.at.plus_millis(AFTER_ITS_HOUR);
                    self.calendar.add(due, Order::Page { page, site, reason: Reason::Rhythm });
                }
            }
            Event::Unaltered { pages, time } => self.refresh.confirm(&pages, time),
            Event::Altered { pages } => self.refresh.tell_changed(&pages),
            Event::List { site, url, due } => self.calendar.add(due, Order::Listing { site, url }),
            Event::Pinned { page, site, every, due } => {
                self.page_overrides.pin(page, every as i64);
                self.calendar.add(due, Order::Page { page, site, reason: Reason::Pin });
            }
        }
    }

    /// Orders a visit to a page for an audit. Returns whether it is made: not before the minimum interval
    /// that a user has set for the page.
    pub fn visit_for_audit(&mut self, page: PageNumber, site: SiteNumber, now: Timestamp) -> bool {
        let may_be_visited = self.page_overrides.earliest_after(page, now).is_none();
        if may_be_visited {
            self.calendar.add(now, Order::Page { page, site, reason: Reason::Audit });
        }
        may_be_visited
    }

    /// Whether every known page was visited and nothing is in progress. Sites that do not answer do not
    /// count.
    pub fn has_seen_everything(&self) -> bool {
        self.discovery.pages() == 0
            && self.under_way == 0
            && self.uncommitted == 0
            && self.sites.iter().all(|site| site.queue.is_empty() || site.is_blocked())
    }

    /// Returns the moment up to which readers may see results from now on, if it changes.
    pub fn swap(&mut self, now: Timestamp) -> Option<Timestamp> {
        let is_spent = self.visits.gather(now) < 1.0;
        let is_done = is_spent && self.queued == 0 && self.under_way == 0 && self.uncommitted == 0;
        self.shadow.as_mut()?.swap(now, is_done)
    }

    /// The policy and its pages.
    pub fn refresh(&self) -> &Refresh {
        &self.refresh
    }

    /// Moves orders that are due into the queues of their sites.
    fn run_tasks(&mut self, now: Timestamp) {
        while let Some(order) = self.calendar.take_due(now) {
            if let Order::Page { page, reason, .. } = order {
                let due = self.page_overrides.due(page, reason, now);
                if let Some(again) = due.again {
                    self.calendar.add(again, order.clone());
                }
                let has_left = reason == Reason::Rhythm && !self.refresh.has(page);
                if !due.is_now || has_left || (!self.out.insert(page) && reason != Reason::Look) {
                    continue;
                }
            }
            self.visits.spend(1.0);
            self.enqueue(order, now);
        }
    }

    /// Maximum number of orders in queues.
    fn queued_max(&self) -> usize {
        self.settings.ready + QUEUE_SLOW * self.sites.len()
    }

    /// Fills queues in order of value, within the budget.
    fn fill(&mut self, now: Timestamp) {
        let can = self.visits.gather(now);
        if can < 1.0 || self.bytes.gather(now) <= 0.0 {
            return;
        }
        let wanted = (can as usize).min(self.queued_max().saturating_sub(self.queued));
        let before = self.queued;
        let left = |module: &Self| wanted.saturating_sub(module.queued - before);
        if self.settings.refresh && self.discovery.pages() > 0 {
            let share = self.refresh_share(wanted);
            if !self.has_refresh_first_turn() {
                self.fill_with_discovery(now, wanted - share);
            }
            self.fill_with_refresh(now, share.min(left(self)));
        }
        self.fill_with_discovery(now, left(self));
        if self.settings.refresh {
            self.fill_with_refresh(now, left(self));
        }
        self.visits.spend((self.queued - before) as f64);
    }

    /// How many of this many visits go to pages visited before, while others wait for their first visit.
    /// Keeps their share over time.
    fn refresh_share(&mut self, wanted: usize) -> usize {
        self.refresh_owed += wanted as f64 * (1.0 - self.settings.discovery_share);
        let quota = self.refresh_owed as usize;
        self.refresh_owed -= quota as f64;
        quota.min(wanted)
    }

    /// Whether pages visited before are put into the queues first this time, while others wait for their
    /// first visit. A slow site has room for few orders, and whoever comes first takes it. So the turns are
    /// shared as the visits are, and no site is visited again and again while some of its pages were never
    /// seen.
    fn has_refresh_first_turn(&mut self) -> bool {
        self.first_turns_owed += 1.0 - self.settings.discovery_share;
        let is_owed = self.first_turns_owed >= 1.0;
        self.first_turns_owed -= f64::from(u8::from(is_owed));
        is_owed
    }

    fn fill_with_discovery(&mut self, now: Timestamp, wanted: usize) {
        let mut taken = Vec::new();
        let sites = &mut self.sites;
        let mut rooms: HashMap<SiteNumber, usize> = HashMap::new();
        self.discovery.take(
            wanted,
            |site| {
                let room = rooms.entry(site).or_insert_with(|| sites[site.index()].room(now));
                std::mem::take(room)
            },
            |site, page| taken.push((site, page)),
        );
        for (site, page) in taken {
            if self.out.insert(page) {
                self.enqueue(Order::Page { page, site, reason: Reason::First }, now);
            }
        }
    }

    /// Advances time: the policy begins its next cycle, if the last has ended. A replay calls this before
    /// each visit.
    pub fn let_pass(&mut self, now: Timestamp) {
        let per_tick = self.visits.per_day().map_or(f64::from(u32::MAX), |per_day| {
            per_day * self.refresh.tick_millis() as f64 / MILLIS_PER_DAY
        });
        self.refresh.begin_tick(now, per_tick.ceil() as usize);
    }

    fn fill_with_refresh(&mut self, now: Timestamp, wanted: usize) {
        self.signals_owed = (self.signals_owed + wanted as f64 * SIGNAL_SHARE).min(SIGNALS_OWED_MAX);
        let signals_used = self.fill_with_signals(now, wanted.min(self.signals_owed as usize));
        self.signals_owed -= signals_used as f64;
        self.let_pass(now);
        let mut has_room = false;
        for (site, state) in self.sites.iter_mut().enumerate() {
            let room = state.room(now) as u32;
            has_room |= room > 0;
            self.refresh.set_room(SiteNumber(site as u32), room);
        }
        if !has_room {
            return;
        }
        let chosen: Vec<_> = self.refresh.choose(wanted.saturating_sub(signals_used)).collect();
        for (page, site) in chosen {
            if let Some(earliest) = self.page_overrides.earliest_after(page, now) {
                self.calendar.add(earliest, Order::Page { page, site, reason: Reason::Refresh });
            } else if self.out.insert(page) {
                self.enqueue(Order::Page { page, site, reason: Reason::Refresh }, now);
            }
        }
    }

    /// Orders visits that lists ask for, if the policy finds a changed page worth one. Returns how many.
    fn fill_with_signals(&mut self, now: Timestamp, wanted: usize) -> usize {
        let mut signals_used = 0;
        for _ in 0..self.signals.len().min(4 * wanted) {
            let Some((page, site)) = self.signals.pop_front() else { break };
            if !self.refresh.is_worth_if_changed(page, now) {
                continue;
            }
            let state = &mut self.sites[site.index()];
            if signals_used == wanted
                || state.room(now) == 0
                || self.page_overrides.earliest_after(page, now).is_some()
            {
                self.signals.push_back((page, site));
            } else if self.out.insert(page) {
                self.enqueue(Order::Page { page, site, reason: Reason::Signal }, now);
                signals_used += 1;
            }
        }
        signals_used
    }

    /// Begins or resumes the crawl: no site is visited before its delay is over.
    pub fn begin(&mut self, now: Timestamp) {
        self.politeness.hold_all(now);
    }

    fn know_site(&mut self, site: SiteNumber, record: &SiteRecord, now: Timestamp) {
        while self.sites.len() <= site.index() {
            let overrides = SiteOverrides::of(&record.site, &self.site_rules, &self.visits, now);
            self.sites.push(Site::new(&record.site, overrides, self.settings.has_delay));
            let host = Arc::clone(&self.sites[self.sites.len() - 1].host);
            let number = SiteNumber(self.sites.len() as u32 - 1);
            self.sites_of_host.entry(Arc::clone(&host)).or_default().push(number);
            self.politeness.import(&host, manners(&record.politeness), now);
        }
        let state = &mut self.sites[site.index()];
        state.overrides.paused = record.paused;
        if let Some(copy) = &record.robots {
            let (policy, until) = robots::of_copy(copy, record.robots_trouble.as_ref());
            state.rules_asked = false;
            state.rules_until = until;
            let host = Arc::clone(&state.host);
            match policy {
                RobotsPolicy::Wait(until) => {
                    state.rules = None;
                    self.politeness.close_until(&host, until);
                }
                policy => {
                    if let RobotsPolicy::Rules(robots) = &policy {
                        state.has_pauses |= robots.crawl_delay().is_some();
                        self.politeness.set_crawl_delay(&host, robots.crawl_delay());
                    }
                    state.rules = Some(Arc::new(policy));
                }
            }
        }
        self.enlist(site, now);
    }

    fn enqueue(&mut self, order: Order, now: Timestamp) {
        let site = order.site();
        self.queued += 1;
        let state = &mut self.sites[site.index()];
        // Few of the known sites have work: the others need no address yet.
        if state.address == Address::Unknown && state.queue.is_empty() {
            self.unresolved.push_back(site);
        }
        state.put(order);
        self.enlist(site, now);
    }

    /// Queues the site's host for a turn, if the site has work and an address.
    fn enlist(&mut self, site: SiteNumber, now: Timestamp) {
        let state = &self.sites[site.index()];
        if state.has_work() {
            let opens = state.overrides.opens(now);
            if now < opens && self.politeness.may_visit_at(&state.host, None) < opens {
                self.politeness.close_until(&state.host, opens);
            }
            self.politeness.enlist(&state.host, now);
        }
    }

    /// Applies the intervals that a user set for a page.
    fn bind(&mut self, page: PageNumber, site: SiteNumber, path: &str, time: Timestamp) {
        let Some(state) = self.sites.get(site.index()) else { return };
        if let Some(latest) = self.page_overrides.bind(page, &state.name, path, time) {
            self.calendar.add(latest, Order::Page { page, site, reason: Reason::Interval });
        }
    }

    /// Takes the next order for a host that is ready, from one of its sites. Unknown rules come first.
    fn take(&mut self, host: &Arc<str>, now: Timestamp) -> Option<Assignment> {
        // The host's work waits until another program has had its turn.
        if self.promised.contains(host) {
            return None;
        }
        let sites = self.sites_of_host.get_mut(host)?;
        let place = sites.iter().position(|site| self.sites[site.index()].has_work())?;
        let site = sites[place];
        sites[place..].rotate_left(1);
        let state = &mut self.sites[site.index()];
        let Address::Known(address) = state.address else { return None };
        let turn = self.politeness.begin(host, address, now).ok()?;
        self.own_turns.remove(host);
        #[cfg(test)]
        if let Some(Order::Listing { url, .. }) = state.queue.front() {
            crate::tripwire::trip("panic-in-decision", url.as_str());
        }
        let order = if state.rules.is_none() || state.rules_until <= now {
            state.rules_asked = true;
            Order::Robots { site }
        } else {
            self.queued -= 1;
            state.queue.pop_front()?
        };
        let rules = state.rules.clone();
        self.under_way += 1;
        for site in &self.sites_of_host[host] {
            let state = &self.sites[site.index()];
            if state.has_work() {
                self.politeness.enlist(host, now);
            }
        }
        Some(Assignment { order, rules, turn })
    }

    /// When queues can be filled further. None if there is nothing to fill them with.
    fn fill_at(&self, now: Timestamp) -> Option<Timestamp> {
        let has_pages = self.discovery.pages() > 0 || (self.settings.refresh && self.refresh.copies() > 0);
        let budget =
            has_pages.then(|| Some(self.visits.ready_at(1.0)?.max(self.bytes.ready_at(0.0)?))).flatten();
        // Queues may be full, or a tick spent: look again soon.
        budget.map(|at| at.max(now.plus_millis((self.refresh.tick_millis() / 4 + 1).min(LOOK_AGAIN))))
    }

    /// The politeness state of a site, as the stores keep it.
    pub fn politeness_of(&self, site: SiteNumber) -> PolitenessState {
        kept(self.politeness.export(&self.sites[site.index()].host).unwrap_or_default())
    }

    /// Adds what the module knows to a status.
    pub fn show(&self, status: &mut Status, now: Timestamp) {
        status.pages_copied = self.refresh.copies() as u64;
        status.pages_waiting = self.discovery.pages() as u64;
        status.queued = self.queued as u64;
        status.under_way = self.under_way as u64;
        status.sites = self.sites.len() as u64;
        status.budget_per_day = self.visits.per_day();
        let run = Timestamp::from_millis(status.started_ms);
        status.budget_used = self
            .visits
            .per_day()
            .map(|per_day| (self.visits.spent() / (per_day * now.days_since(run).get()).max(1.0)).min(1.0));
        let estimate = self.refresh.copy_estimate(now);
        status.freshness = estimate.map(|estimate| (estimate.freshness, estimate.freshness_error));
        status.age_days = estimate.map(|estimate| (estimate.age.get(), estimate.age_error.get()));
        (status.sites_at_limit, status.sites_closed) = (0, 0);
        for site in self.sites.iter().filter(|site| !site.queue.is_empty()) {
            match self.politeness.wait(&site.host, None, now).map(|wait| wait.why) {
                Some(Why::Overloaded | Why::Unreachable | Why::Closed) => status.sites_closed += 1,
                Some(Why::GlobalRate) | None => {}
                Some(_) => status.sites_at_limit += 1,
            }
        }
    }

    /// The rules of a site, if they are known.
    pub fn rules(&self, site: SiteNumber) -> Option<Arc<RobotsPolicy>> {
        self.sites.get(site.index())?.rules.clone()
    }
}
