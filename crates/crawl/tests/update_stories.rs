//! How the UpdateModule reacts to events, in a small deterministic world:
//! - pages whose changes are only numbers are visited less often when numbers count little, and as often as
//!   others when they do not;
//! - if a trusted sitemap says which pages have changed, visits go to those and nowhere else;
//! - pages whose dates show their hour are visited shortly after it;
//! - only sites with work have their addresses resolved;
//! - a slow site that could be visited again and again is first seen whole, and is not left alone meanwhile.

use std::collections::HashMap;
use std::time::Duration;

use freshet_crawl::event::{Event, Expected};
use freshet_crawl::update::refresh::Refresh;
use freshet_crawl::update::{Next, Overrides, UpdateModule, UpdateSettings};
use freshet_crawl::visit::{Order, Reason};
use freshet_fetch::change::Kinds;
use freshet_fetch::change::weights::KindWeights;
use freshet_fetch::web::politeness::{Experience, Politeness, PolitenessSettings};
use freshet_partition::budget::Budget;
use freshet_partition::policy::{Outcome, PolicyName, Setting};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};
use freshet_store::sites::{RobotsCopy, SiteRecord};
use freshet_theory::units::Days;

const PAGES: u32 = 120;
const DAY: i64 = MILLIS_PER_DAY;
const DAYS: i64 = 120;
/// One visit per page in ten days.
const VISITS_PER_DAY: f64 = PAGES as f64 / 10.0;
const SITE: SiteNumber = SiteNumber(0);

/// A world, and how it is crawled.
#[derive(Clone, Copy)]
struct Trial {
    /// Days between the changes of every page.
    changes_every: i64,
    policy: &'static str,
    weights: KindWeights,
    /// Evidence of changes besides visits.
    evidence: Evidence,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Evidence {
    Nothing,
    /// A sitemap is read each day, and trusted.
    Sitemap,
    /// Pages have rhythms: their dates show the hour of their changes.
    Dates,
}

/// The results of the second half.
#[derive(Default)]
struct Tally {
    /// Visits to pages with changes of numbers only.
    numbers: u32,
    /// Visits to the others.
    texts: u32,
    /// Moments at which a copy was up to date, and all moments.
    fresh: (u32, u32),
}

/// Every other page has changes of numbers only.
fn kinds(page: PageNumber) -> Kinds {
    if page.0.is_multiple_of(2) { Kinds::NUMBERS } else { Kinds::TEXT }
}

/// How often a page has changed by a moment. Each page has an hour of its own.
fn version(trial: Trial, page: PageNumber, now: Timestamp) -> i64 {
    let interval = trial.changes_every * DAY;
    (now.millis() + i64::from(page.0) * interval / i64::from(PAGES)) / interval
}

/// The next change of a page.
fn expected(trial: Trial, page: PageNumber, now: Timestamp) -> Expected {
    let period = trial.changes_every * DAY;
    let hour = i64::from(page.0) * period / i64::from(PAGES);
    Expected { at: Timestamp::from_millis((version(trial, page, now) + 1) * period - hour), period }
}

fn settings() -> UpdateSettings {
    UpdateSettings {
        discovery_share: 0.8,
        ready: 4,
        importance_weight: 0.0,
        refresh: true,
        prices_bytes: false,
        has_delay: false,
    }
}

fn module(trial: Trial) -> UpdateModule {
    let start = Timestamp::from_millis(0);
    let name: PolicyName = trial.policy.parse().expect("a policy");
    let policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.1, seed: 1 });
    let politeness = PolitenessSettings {
        delay: Duration::ZERO,
        address_delay: Duration::ZERO,
        ..PolitenessSettings::default()
    };
    let overrides = Overrides { kinds: trial.weights, ..Overrides::default() };
    let visits = Budget::new(Some(VISITS_PER_DAY), 1.0, start);
    let refresh = Refresh::new(policy, start, DAY / 28);
    let bytes = Budget::new(None, 0.0, start);
    UpdateModule::new(settings(), refresh, Politeness::new(politeness), visits, bytes, overrides)
}

/// A site that allows everything.
fn site() -> Event {
    let robots =
        RobotsCopy { fetched: Timestamp::from_millis(DAYS * DAY), status: 404, ..RobotsCopy::default() };
    let record =
        SiteRecord { site: "http://127.0.0.1".to_owned(), robots: Some(robots), ..SiteRecord::default() };
    Event::Site { site: SITE, record: Box::new(record) }
}

/// The event of a visit, with the kinds of the change that it found, if any.
fn visited(page: PageNumber, time: Timestamp, prompted: bool, kinds: Option<Kinds>) -> Event {
    let outcome = if kinds.is_some() { Outcome::Changed } else { Outcome::Unchanged };
    Event::Visited { page, time, outcome, prompted, date: None, bytes_expected: 1000.0, kinds }
}

/// The events of a reading of a sitemap of all pages.
fn sitemap(trial: Trial, seen: &HashMap<PageNumber, i64>, now: Timestamp) -> Vec<Event> {
    let is_unaltered = |page: &PageNumber| seen[page] == version(trial, *page, now);
    let (pages, changed): (Vec<_>, Vec<_>) = (0..PAGES).map(PageNumber).partition(is_unaltered);
    let signals = changed.into_iter().map(|page| Event::Signal { page, site: SITE });
    signals.chain([Event::Unaltered { pages, time: now }]).collect()
}

fn run(trial: Trial) -> Tally {
    let mut module = module(trial);
    let mut seen: HashMap<PageNumber, i64> = HashMap::new();
    let mut now = Timestamp::from_millis(0);
    module.hear(site(), now);
    for page in (0..PAGES).map(PageNumber) {
        seen.insert(page, version(trial, page, now));
        let path = format!("/{}/{}", page.0 % 12, page.0);
        module.hear(Event::Copied { page, site: SITE, path, importance: 1.0, time: now }, now);
    }
    let mut tally = Tally::default();
    while now.millis() < DAYS * DAY {
        now = now.plus_millis(DAY / 96);
        let counts = DAYS * DAY / 2 < now.millis();
        while let Next::Order(assignment) = module.next(now) {
            let order = assignment.order.clone();
            module.returned(assignment, Experience::Served, now, 1000, None);
            module.committed(1);
            let Order::Page { page, reason, .. } = order else { panic!("{order:?}") };
            let current = version(trial, page, now);
            let changed = seen.insert(page, current) != Some(current);
            module.hear(visited(page, now, reason.is_prompted(), changed.then(|| kinds(page))), now);
            if changed && trial.evidence == Evidence::Dates {
                let change = expected(trial, page, now);
                module.hear(Event::Expected { page, site: SITE, change }, now);
            }
            if counts {
                *(if page.0.is_multiple_of(2) { &mut tally.numbers } else { &mut tally.texts }) += 1;
            }
        }
        if trial.evidence == Evidence::Sitemap && now.millis() % DAY == 0 {
            sitemap(trial, &seen, now).into_iter().for_each(|event| module.hear(event, now));
        }
        if counts {
            let fresh = seen.iter().filter(|(page, seen)| **seen == version(trial, **page, now)).count();
            tally.fresh = (tally.fresh.0 + fresh as u32, tally.fresh.1 + PAGES);
        }
    }
    tally
}

#[test]
fn pages_of_which_only_numbers_change_are_visited_less_if_numbers_count_little() {
    let visits = |weights| {
        let policy = "freshet:fresh:steady";
        let Tally { numbers, texts, .. } =
            run(Trial { changes_every: 4, policy, weights, evidence: Evidence::Nothing });
        (numbers, texts)
    };
    let (numbers, texts) = visits(KindWeights::default());
    let ratio = f64::from(numbers) / f64::from(texts);
    assert!(numbers + texts > 600 && (0.8..1.25).contains(&ratio), "{numbers} and {texts}");
    let (numbers, texts) = visits(KindWeights { numbers: 0.1, ..KindWeights::default() });
    assert!(numbers + texts > 600 && 2 * numbers < texts, "{numbers} and {texts}");
    assert!(numbers > 0, "they are not forgotten");
}

/// The fraction of time in which copies are up to date.
fn freshness(changes_every: i64, policy: &'static str, evidence: Evidence) -> f64 {
    let weights = KindWeights::default();
    let (fresh, all) = run(Trial { changes_every, policy, weights, evidence }).fresh;
    f64::from(fresh) / f64::from(all)
}

/// Checks that copies are up to date more often than `with` thanks to the evidence, and less often than
/// `without` if there is none. A policy that uses only visits gains nothing from it.
#[track_caller]
fn check(changes_every: i64, evidence: Evidence, without: f64, with: f64) {
    for policy in ["freshet:mix:steady", "freshet:fresh:steady"] {
        let [alone, told] =
            [Evidence::Nothing, evidence].map(|evidence| freshness(changes_every, policy, evidence));
        assert!(alone < without && with < told, "{policy}: {alone} and {told}");
    }
    let difference = freshness(changes_every, "uniform", Evidence::Nothing)
        - freshness(changes_every, "uniform", evidence);
    assert!(difference.abs() < 1e-9, "{difference}");
}

#[test]
fn a_sitemap_that_is_believed_is_worth_a_visit_to_each_of_its_pages() {
    // A page that changes every 20 days and is visited within one day of it is out of date for at most a
    // twentieth of the time.
    check(20, Evidence::Sitemap, 0.9, 0.95);
}

#[test]
fn pages_that_change_at_their_hour_are_visited_after_it() {
    check(14, Evidence::Dates, 0.8, 0.95);
    // Pages that change faster than the visits can follow are not chased.
    let [alone, told] =
        [Evidence::Nothing, Evidence::Dates].map(|evidence| freshness(1, "freshet:fresh:steady", evidence));
    assert!((alone - told).abs() < 0.05, "{alone} and {told}");
}

/// A crawl with ten thousand known sites resolved all their addresses when it was started, before the first
/// visit.
#[test]
fn only_hosts_with_work_are_looked_up() {
    let trial = Trial {
        changes_every: 10,
        policy: "uniform",
        weights: KindWeights::default(),
        evidence: Evidence::Nothing,
    };
    let (mut module, now) = (module(trial), Timestamp::from_millis(DAY));
    for number in 0..100 {
        let record = SiteRecord { site: format!("http://host-{number}.example"), ..SiteRecord::default() };
        module.hear(Event::Site { site: SiteNumber(number), record: Box::new(record) }, now);
    }
    assert!(!matches!(module.next(now), Next::Resolve(..)));
    let (page, site) = (PageNumber(0), SiteNumber(42));
    module.hear(Event::Admitted { page, site, priority: 0.0 }, now);
    assert!(
        matches!(module.next(now), Next::Resolve(found, host) if found == site && *host == *"host-42.example")
    );
    assert!(!matches!(module.next(now), Next::Resolve(..)));
    module.resolved(site, "127.0.0.1".parse().ok(), now);
    assert!(matches!(module.next(now), Next::Order(assignment) if assignment.order.site() == site));
}

/// In a crawl with long cycles queues were filled a few times an hour. A slow site had room for four orders
/// each time, and pages that were visited before took it: sixty pages of a good site were not seen in two
/// days, while the budget was idle.
#[test]
fn a_slow_site_is_seen_whole_before_its_pages_are_visited_again_and_again() {
    let start = Timestamp::from_millis(0);
    let settings = UpdateSettings { has_delay: true, ready: 100, ..settings() };
    let delay = Duration::from_secs(60);
    let politeness = PolitenessSettings { delay, ..PolitenessSettings::default() };
    let name: PolicyName = "freshet:mix:steady".parse().expect("a policy");
    let policy = name.build(&Setting { cycle: Days::new(0.7), budget_share: 0.1, seed: 1 });
    let visits = Budget::new(Some(5_000.0), 100.0, start);
    let mut module = UpdateModule::new(
        settings,
        Refresh::new(policy, start, DAY / 40),
        Politeness::new(politeness),
        visits,
        Budget::new(None, 0.0, start),
        Overrides::default(),
    );
    module.hear(site(), start);
    let copied = |page: PageNumber, time| {
        let path = format!("/{}", page.0 % 2);
        Event::Copied { page, site: SITE, path, importance: 1.0, time }
    };
    (0..20).map(PageNumber).for_each(|page| module.hear(copied(page, start), start));
    for page in (20..100).map(PageNumber) {
        module.hear(Event::Admitted { page, site: SITE, priority: 0.0 }, start);
    }
    let (mut now, mut first, mut again) = (start, 0, 0);
    while first < 80 && now.millis() < DAY {
        match module.next(now) {
            Next::Order(assignment) => {
                let order = assignment.order.clone();
                module.returned(assignment, Experience::Served, now, 1000, None);
                module.committed(1);
                let Order::Page { page, reason, .. } = order else { panic!("{order:?}") };
                if reason == Reason::First {
                    first += 1;
                    module.hear(copied(page, now), now);
                } else {
                    again += 1;
                    module.hear(visited(page, now, false, None), now);
                }
            }
            Next::Wait(until) => now = until.max(now.plus_millis(1)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(first, 80, "after {} minutes, and {again} other visits", now.millis() / 60_000);
    assert!((5..=40).contains(&again), "{again}");
    assert!(now.millis() < DAY / 8, "after {} minutes", now.millis() / 60_000);
}
