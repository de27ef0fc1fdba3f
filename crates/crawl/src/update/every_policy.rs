//! Tests of every policy, driven as a crawl drives it while pages are found, leave and come back all the
//! time.
//!
//! A crawl finds pages in the middle of a cycle. It visits them at any moment, in another order than they
//! were chosen or not at all, and its clock may stand still or leap. A policy must cope with all of it, go on
//! choosing pages, and keep no state that a fold over the visits would not restore: a restarted crawl goes on
//! as it would have without the restart.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use freshet_fetch::web::politeness::{Experience, Politeness, PolitenessSettings};
use freshet_partition::budget::Budget;
use freshet_partition::policy::name_examples::other_names;
use freshet_partition::policy::{Form, Outcome, Policy, PolicyName, Setting};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::{RobotsCopy, SiteRecord};
use freshet_theory::units::Days;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::module::{Assignment, Next};
use super::overrides::Overrides;
use super::refresh::Refresh;
use super::{UpdateModule, UpdateSettings};
use crate::event::Event;
use crate::visit::{Order, Reason};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Number of seeds per policy.
const SEEDS: u64 = 2;
/// Ticks in a cycle of a steady policy, as in a crawl.
const STEADY_STEPS: i64 = 28;

/// All named policies, as a crawl accepts them.
fn names() -> impl Iterator<Item = PolicyName> {
    let others = other_names().into_iter().map(|name| name.parse().expect("a policy"));
    PolicyName::all().into_iter().chain(others)
}

/// A policy with cycles of a day, and the length of its ticks in milliseconds.
fn policy(name: &PolicyName, seed: u64) -> (Box<dyn Policy>, i64) {
    let name = name.clone().settled(Form::Steady);
    let tick = if name.form() == Form::Steady { DAY / STEADY_STEPS } else { DAY };
    (name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.5, seed }), tick)
}

/// Advances a clock that stands still, creeps, walks and leaps.
fn later(now: Timestamp, rng: &mut ChaCha8Rng) -> Timestamp {
    now.plus_millis(match rng.random_range(0..100) {
        0..20 => 0,
        20..60 => rng.random_range(1..1_000),
        60..98 => rng.random_range(1..2 * HOUR),
        _ => rng.random_range(1..9 * DAY),
    })
}

/// A crawl with its simulated web.
struct Crawl {
    module: UpdateModule,
    rng: ChaCha8Rng,
    now: Timestamp,
    sites: u32,
    pages: u32,
    /// Pages that we have a copy of, and their sites.
    copies: BTreeMap<PageNumber, SiteNumber>,
    under_way: Vec<Assignment>,
    visits: u32,
    visits_again: u32,
}

impl Crawl {
    fn new(name: &PolicyName, seed: u64) -> Self {
        let start = Timestamp::from_millis(1_790_000_000_000);
        let (policy, tick) = policy(name, seed);
        let settings = UpdateSettings {
            discovery_share: 0.5,
            ready: 16,
            importance_weight: 0.5,
            refresh: true,
            prices_bytes: seed.is_multiple_of(2),
            has_delay: false,
        };
        let politeness = PolitenessSettings {
            delay: Duration::ZERO,
            address_delay: Duration::ZERO,
            ..PolitenessSettings::default()
        };
        let per_day = (!seed.is_multiple_of(3)).then_some(400.0);
        let module = UpdateModule::new(
            settings,
            Refresh::new(policy, start, tick),
            Politeness::new(politeness),
            Budget::new(per_day, 20.0, start),
            Budget::new(None, 0.0, start),
            Overrides::default(),
        );
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let (copies, under_way) = (BTreeMap::new(), Vec::new());
        Self { module, rng, now: start, sites: 0, pages: 0, copies, under_way, visits: 0, visits_again: 0 }
    }

    fn hear(&mut self, event: Event) {
        self.module.hear(event, self.now);
    }

    /// A random page that we have a copy of.
    fn any_copy(&mut self) -> Option<(PageNumber, SiteNumber)> {
        let place = self.rng.random_range(0..self.copies.len().max(1));
        self.copies.iter().nth(place).map(|(page, site)| (*page, *site))
    }

    /// Simulates what happens besides the visits of the policy.
    fn live(&mut self) {
        if self.sites == 0 || self.rng.random_bool(0.02) {
            let site = SiteNumber(self.sites);
            self.sites += 1;
            let fetched = Timestamp::from_millis(self.now.millis() + 10_000 * DAY);
            let robots = Some(RobotsCopy { fetched, status: 404, ..RobotsCopy::default() });
            let name = format!("http://127.0.0.{}:{}", 1 + site.0 % 5, 1000 + site.0);
            let record = SiteRecord { site: name, robots, ..SiteRecord::default() };
            self.hear(Event::Site { site, record: Box::new(record) });
        }
        for _ in 0..self.rng.random_range(0..4) {
            let (page, site) = (PageNumber(self.pages), SiteNumber(self.rng.random_range(0..self.sites)));
            self.pages += 1;
            let priority = self.rng.random_range(0.0..3.0);
            self.hear(Event::Admitted { page, site, priority });
        }
        let Some((page, site)) = self.any_copy() else { return };
        match self.rng.random_range(0..30) {
            0 => {
                self.copies.remove(&page);
                self.hear(Event::Left { page, time: self.now });
            }
            1..8 => {
                let importance = [0.0, 0.3, 1.0, 40.0][self.rng.random_range(0..4)];
                self.hear(Event::Weighed { page, importance });
            }
            8 => self.hear(Event::Signal { page, site }),
            9 => self.hear(Event::Unaltered { pages: vec![page], time: self.now }),
            10 => self.hear(Event::Altered { pages: vec![page] }),
            11 => {
                self.module.visit_for_audit(page, site, self.now);
            }
            _ => {}
        }
    }

    /// Takes the orders of the module.
    fn take_orders(&mut self) {
        while self.under_way.len() < 24 {
            match self.module.next(self.now) {
                Next::Order(assignment) => self.under_way.push(assignment),
                Next::Resolve(site, _) => {
                    let address = format!("127.0.0.{}", 1 + site.0 % 5).parse().ok();
                    self.module.resolved(site, address, self.now);
                }
                Next::Wait(_) | Next::Idle => return,
            }
        }
    }

    /// Ends some of the visits in progress, in any order.
    fn end_visits(&mut self) {
        for _ in 0..self.rng.random_range(0..=self.under_way.len()) {
            let place = self.rng.random_range(0..self.under_way.len());
            let assignment = self.under_way.swap_remove(place);
            let order = assignment.order.clone();
            self.module.returned(assignment, Experience::Served, self.now, 1_000, None);
            self.module.committed(1);
            let Order::Page { page, site, reason } = order else { continue };
            self.end_visit(page, site, reason);
        }
    }

    fn end_visit(&mut self, page: PageNumber, site: SiteNumber, reason: Reason) {
        // Some time ago.
        let time = self.now.plus_millis(-[0, 0, 1, 50, 5_000][self.rng.random_range(0..5)]);
        let again = self.now.plus_millis(HOUR);
        self.visits += 1;
        if !self.copies.contains_key(&page) {
            if self.rng.random_bool(0.1) {
                return self.hear(Event::Unsettled { page, site, is_first: true, again });
            }
            self.copies.insert(page, site);
            let path = format!("/d{}/e{}/{}", page.0 % 3, page.0 % 7, page.0);
            return self.hear(Event::Copied { page, site, path, importance: 1.0, time });
        }
        self.visits_again += 1;
        let outcome = match self.rng.random_range(0..20) {
            0 => Outcome::Gone,
            1 | 2 => Outcome::Failed,
            3..9 => Outcome::Changed,
            _ => Outcome::Unchanged,
        };
        let date = self.rng.random_bool(0.2).then(|| time.plus_millis(-self.rng.random_range(0..DAY)));
        let (prompted, bytes_expected) = (reason.is_prompted(), self.rng.random_range(1.0..1e6));
        self.hear(Event::Visited { page, time, outcome, prompted, date, bytes_expected, kinds: None });
        if outcome == Outcome::Gone {
            // The page is requested again, and may be back.
            self.copies.remove(&page);
            self.hear(Event::Unsettled { page, site, is_first: false, again });
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "which policy and seed it was is said when the test fails")]
fn every_policy_lives_with_pages_that_come_and_go_at_any_moment() {
    for (name, seed) in names().flat_map(|name| (1..=SEEDS).map(move |seed| (name.clone(), seed))) {
        println!("{name}, seed {seed}");
        let mut crawl = Crawl::new(&name, seed);
        let mut before = 0;
        for round in 1..=600 {
            crawl.now = later(crawl.now, &mut crawl.rng);
            crawl.live();
            crawl.take_orders();
            crawl.end_visits();
            if round % 150 == 0 {
                assert!(crawl.visits_again > before, "no page is visited again in round {round}");
                before = crawl.visits_again;
            }
            if let Some((page, _)) = crawl.any_copy() {
                crawl.module.refresh().explain(page, crawl.now);
            }
            crawl.module.refresh().copy_estimate(crawl.now);
        }
        assert!(crawl.visits > 300, "{} visits", crawl.visits);
    }
}

/// An input of a policy.
#[derive(Clone, Debug)]
enum PolicyEvent {
    Copied(PageNumber, SiteNumber),
    Visited(PageNumber, Outcome),
    Left(PageNumber),
    Weighed(PageNumber, f32),
}

fn tell(refresh: &mut Refresh, event: &PolicyEvent, time: Timestamp) {
    match *event {
        PolicyEvent::Copied(page, site) => {
            refresh.add(page, site, &format!("/d{}/{}", page.0 % 3, page.0), 1.0, time);
        }
        PolicyEvent::Visited(page, outcome) => {
            refresh.learn(page, time, outcome, false, None);
            if outcome == Outcome::Gone {
                refresh.forget(page);
            }
        }
        PolicyEvent::Left(page) => refresh.retire(page, time),
        PolicyEvent::Weighed(page, importance) => refresh.weigh(page, importance),
    }
}

/// A policy that lives through a history, and its inputs so far.
struct Life {
    refresh: Refresh,
    rng: ChaCha8Rng,
    now: Timestamp,
    told: Vec<(Timestamp, PolicyEvent)>,
    pages: Vec<(PageNumber, SiteNumber)>,
    found: u32,
}

/// Number of visits per tick.
fn budget(tick: i64) -> usize {
    (40 * tick / DAY).max(2) as usize
}

impl Life {
    fn begin(name: &PolicyName, seed: u64) -> (Self, Refresh, i64) {
        let start = Timestamp::from_millis(0);
        let (lived, tick) = policy(name, seed);
        let told = Refresh::new(policy(name, seed).0, start, tick);
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let (refresh, now) = (Refresh::new(lived, start, tick), start);
        (Self { refresh, rng, now, told: Vec::new(), pages: Vec::new(), found: 0 }, told, tick)
    }

    fn tell(&mut self, event: PolicyEvent) {
        tell(&mut self.refresh, &event, self.now);
        self.told.push((self.now, event));
    }

    fn find(&mut self) {
        let (page, site) = (PageNumber(self.found), SiteNumber(self.rng.random_range(0..1 + self.found / 9)));
        self.found += 1;
        self.pages.push((page, site));
        self.tell(PolicyEvent::Copied(page, site));
    }

    fn step(&mut self, budget: usize) {
        self.now = later(self.now, &mut self.rng);
        self.refresh.begin_tick(self.now, budget);
        for _ in 0..self.rng.random_range(0..3) {
            self.find();
        }
        let page = self.pages[self.rng.random_range(0..self.pages.len())].0;
        match self.rng.random_range(0..20) {
            0 => self.tell(PolicyEvent::Left(page)),
            1..4 => {
                let importance = self.rng.random_range(0.0..9.0);
                self.tell(PolicyEvent::Weighed(page, importance));
            }
            // Visited for another reason than the policy.
            4 => self.tell(PolicyEvent::Visited(page, Outcome::Unchanged)),
            _ => {}
        }
        for site in 0..self.found {
            let room = if self.rng.random_bool(0.2) { 0 } else { 5 };
            self.refresh.set_room(SiteNumber(site), room);
        }
        let chosen: Vec<_> = self.refresh.choose(self.rng.random_range(0..6)).collect();
        for (page, _) in chosen {
            let outcome = match self.rng.random_range(0..30) {
                0 => Outcome::Gone,
                1 | 2 => Outcome::Failed,
                // In progress already, or excluded by its user.
                3 => continue,
                4..12 => Outcome::Changed,
                _ => Outcome::Unchanged,
            };
            self.tell(PolicyEvent::Visited(page, outcome));
        }
    }

    /// Visits the pages that still wait for room.
    fn drain(&mut self) {
        (0..self.found).for_each(|site| self.refresh.set_room(SiteNumber(site), u32::MAX));
        loop {
            let chosen: Vec<_> = self.refresh.choose(1_000).collect();
            if chosen.is_empty() {
                return;
            }
            chosen
                .into_iter()
                .for_each(|(page, _)| self.tell(PolicyEvent::Visited(page, Outcome::Unchanged)));
        }
    }
}

/// The pages that are chosen in the tick that begins now.
fn choose_all(refresh: &mut Refresh, now: Timestamp, budget: usize, sites: u32) -> Vec<PageNumber> {
    refresh.begin_tick(now, budget);
    (0..sites).for_each(|site| refresh.set_room(SiteNumber(site), u32::MAX));
    let mut all = Vec::new();
    while all.len() < budget {
        let chosen: Vec<_> = refresh.choose(5.min(budget - all.len())).map(|(page, _)| page).collect();
        if chosen.is_empty() {
            break;
        }
        for page in chosen {
            let outcome = if page.0.is_multiple_of(4) { Outcome::Changed } else { Outcome::Unchanged };
            refresh.learn(page, now, outcome, false, None);
            all.push(page);
        }
    }
    all
}

#[test]
#[expect(clippy::print_stdout, reason = "which policy and seed it was is said when the test fails")]
fn a_policy_that_is_told_of_a_past_goes_on_as_the_one_that_lived_through_it() {
    for (name, seed) in names().flat_map(|name| (1..=SEEDS).map(move |seed| (name.clone(), seed))) {
        println!("{name}, seed {seed}");
        let (mut life, mut told, tick) = Life::begin(&name, seed);
        let budget = budget(tick);
        life.find();
        (0..400).for_each(|_| life.step(budget));
        life.drain();
        for (time, event) in &life.told {
            told.begin_tick(*time, budget);
            tell(&mut told, event, *time);
        }
        // By then the policies have dropped pages that were chosen and not visited.
        let mut now = life.now.plus_millis(HOUR);
        let (mut same, mut all, mut worst) = (0, 0, 0.0_f64);
        for _ in 0..6 {
            now = now.plus_millis(tick);
            for (page, _) in &life.pages {
                let (lived, told) = (life.refresh.explain(*page, now), told.explain(*page, now));
                assert_eq!(lived.is_some(), told.is_some(), "{page:?}");
                let Some((lived, told)) = lived.zip(told) else { continue };
                let apart = (lived.changed_probability - told.changed_probability).abs();
                worst = worst.max(apart);
            }
            let lived = choose_all(&mut life.refresh, now, budget, life.found);
            let told = choose_all(&mut told, now, budget, life.found);
            let of_told: HashSet<_> = told.iter().collect();
            same += lived.iter().filter(|page| of_told.contains(page)).count();
            all += lived.len();
            assert_eq!(lived.len(), told.len());
        }
        println!("  {same} of {all} pages are chosen by both, {worst:.4} apart");
        assert!(all > 0, "no page is chosen");
        // Our own policy also learns from ticks in which nothing happened, which a replayed history does not
        // contain. `tests/restart_story.rs` compares it with itself in a whole crawl.
        let is_ours = name.to_string().contains("freshet");
        assert!(is_ours || worst < 1e-9, "what is believed of a page is another {worst}");
        // Random draws and the phase of an interval are not restored.
        let is_steady = name.form() == Form::Steady;
        let is_by_chance = name.to_string().contains("random");
        assert!(
            is_ours || is_steady || is_by_chance || same == all,
            "{same} of {all} pages are chosen by both"
        );
    }
}
