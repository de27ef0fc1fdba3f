//! Kinds of change weigh in the objective: on a small world without chance, pages whose changes are only numbers are visited less
//! often when numbers count little, and as often as others when they do not.

use std::collections::HashMap;
use std::time::Duration;

use freshet_crawl::budget::Budget;
use freshet_crawl::change::Kinds;
use freshet_crawl::change::weights::KindWeights;
use freshet_crawl::keep::News;
use freshet_crawl::policy::{Outcome, PolicyName, Setting};
use freshet_crawl::update::refresh::Refresh;
use freshet_crawl::update::{Next, UpdateModule, UpdateSettings, Wishes};
use freshet_crawl::visit::Order;
use freshet_crawl::web::politeness::{Experience, Politeness, PolitenessSettings};
use freshet_store::ids::{PageNumber, SiteNumber};
use freshet_store::sites::{RobotsCopy, SiteRecord};
use freshet_store::time::Timestamp;
use freshet_theory::units::Days;

const PAGES: u32 = 120;
const DAY: i64 = 86_400_000;
/// Days between the changes of every page.
const CHANGES_EVERY: i64 = 4;
const DAYS: i64 = 120;
/// One visit per page in ten days.
const VISITS_PER_DAY: f64 = PAGES as f64 / 10.0;
const SITE: SiteNumber = SiteNumber(0);

/// Of every other page only numbers change.
fn kinds(page: PageNumber) -> Kinds {
    if page.0.is_multiple_of(2) { Kinds::NUMBERS } else { Kinds::TEXT }
}

/// How often a page has changed by a moment; each has an hour of its own.
fn version(page: PageNumber, now: Timestamp) -> i64 {
    (now.millis() + i64::from(page.0) * DAY * CHANGES_EVERY / i64::from(PAGES)) / (CHANGES_EVERY * DAY)
}

fn module(weights: KindWeights) -> UpdateModule {
    let start = Timestamp::from_millis(0);
    let settings = UpdateSettings {
        discovery_share: 0.8,
        ready: 4,
        importance_weight: 0.0,
        refresh: true,
        prices_bytes: false,
        has_delay: false,
    };
    let name: PolicyName = "freshet:fresh:steady".parse().expect("a policy");
    let policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.1, seed: 1 });
    let politeness = PolitenessSettings {
        delay: Duration::ZERO,
        address_delay: Duration::ZERO,
        ..PolitenessSettings::default()
    };
    let wishes = Wishes { kinds: weights, ..Wishes::default() };
    let visits = Budget::new(Some(VISITS_PER_DAY), 1.0, start);
    let refresh = Refresh::new(policy, start, DAY / 28);
    let bytes = Budget::new(None, 0.0, start);
    UpdateModule::new(settings, refresh, Politeness::new(politeness), visits, bytes, wishes)
}

/// A site that lets everything be visited.
fn site() -> News {
    let robots =
        RobotsCopy { fetched: Timestamp::from_millis(DAYS * DAY), status: 404, ..RobotsCopy::default() };
    let record =
        SiteRecord { site: "http://127.0.0.1".to_owned(), robots: Some(robots), ..SiteRecord::default() };
    News::Site { site: SITE, record: Box::new(record) }
}

/// The visits of the second half, to pages of which numbers change and to the others.
fn visits(weights: KindWeights) -> (u32, u32) {
    let mut module = module(weights);
    let mut seen: HashMap<PageNumber, i64> = HashMap::new();
    let mut now = Timestamp::from_millis(0);
    module.hear(site(), now);
    for page in (0..PAGES).map(PageNumber) {
        seen.insert(page, version(page, now));
        let path = format!("/{}/{}", page.0 % 12, page.0);
        module.hear(News::Copied { page, site: SITE, path, importance: 1.0, time: now }, now);
    }
    let (mut numbers, mut texts) = (0, 0);
    while now.millis() < DAYS * DAY {
        now = now.plus_millis(DAY / 96);
        while let Next::Order(assignment) = module.next(now) {
            let order = assignment.order.clone();
            module.returned(assignment, Experience::Served, now, 1000, None);
            module.committed(1);
            let Order::Page { page, .. } = order else { panic!("{order:?}") };
            let current = version(page, now);
            let changed = seen.insert(page, current) != Some(current);
            let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
            let kinds = changed.then(|| kinds(page));
            let news =
                News::Visited { page, time: now, outcome, prompted: false, bytes_expected: 1000.0, kinds };
            module.hear(news, now);
            if DAYS * DAY / 2 < now.millis() {
                *(if page.0.is_multiple_of(2) { &mut numbers } else { &mut texts }) += 1;
            }
        }
    }
    (numbers, texts)
}

#[test]
fn pages_of_which_only_numbers_change_are_visited_less_if_numbers_count_little() {
    let (numbers, texts) = visits(KindWeights::default());
    let ratio = f64::from(numbers) / f64::from(texts);
    assert!(numbers + texts > 600 && (0.9..1.1).contains(&ratio), "{numbers} and {texts}");
    let (numbers, texts) = visits(KindWeights { numbers: 0.1, ..KindWeights::default() });
    assert!(numbers + texts > 600 && 2 * numbers < texts, "{numbers} and {texts}");
    assert!(numbers > 0, "they are not forgotten");
}
