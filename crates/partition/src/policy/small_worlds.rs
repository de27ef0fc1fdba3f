//! Small simulated webs for tests, and the promises that every policy keeps in all of them.
//!
//! A cycle is a day. A page changes every so many cycles; it may be born and die. The driver itself checks
//! the promises of every policy: the budget is spent exactly as long as there are pages, no page is visited
//! twice in a cycle, and no page is visited that is known to be gone or not known yet. A second driver is
//! rough: sites have little room, visits fail, pages are retired, and others make visits too.

use std::collections::HashSet;

use freshet_theory::units::Days;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId, SiteId};
use super::name::{PolicyName, Setting};
use super::name_examples::other_names;
use super::visit::{Observation, Outcome, Policy};

/// One page of a small world.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) site: u32,
    pub(super) path: String,
    /// The page changes in every cycle that is a multiple of this; 0: never.
    pub(super) changes_every: u32,
    pub(super) born: u32,
    pub(super) dies: u32,
}

/// A page that is always there.
pub(super) fn life(site: u32, path: &str, changes_every: u32) -> Life {
    Life { site, path: path.to_string(), changes_every, born: 0, dies: u32::MAX }
}

/// Pages in the order of their birth, with links between them.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallWorld {
    pub(super) pages: Vec<Life>,
    pub(super) links: Vec<(u32, u32)>,
}

impl SmallWorld {
    /// Sites given as pairs: the number of pages, and the number of cycles between their changes.
    pub(super) fn of_sites(sites: &[(usize, u32)]) -> Self {
        let pages_of = |(site, (pages, changes_every)): (usize, &(usize, u32))| {
            let page = move |page| (site as u32, page, *changes_every);
            (0..*pages).map(page).collect::<Vec<_>>()
        };
        let pages = sites.iter().enumerate().flat_map(pages_of);
        let pages = pages.map(|(site, page, every)| life(site, &format!("d{}/{page}", page % 3), every));
        Self { pages: pages.collect(), links: Vec::new() }
    }

    /// Whether a page changed after cycle `after` and up to cycle `until`.
    fn has_changed(&self, page: usize, after: u32, until: u32) -> bool {
        let every = self.pages[page].changes_every;
        every > 0 && until / every > after / every
    }
}

/// The policy with this name, for cycles of a day.
pub(super) fn policy(name: &str, budget_share: f64, seed: u64) -> Box<dyn Policy> {
    let name: PolicyName = name.parse().unwrap_or_else(|error| panic!("{error}"));
    name.build(&Setting { cycle: Days::new(1.0), budget_share, seed })
}

/// Drives a policy through a world and returns the visits of each cycle, in order.
pub(super) fn drive(
    world: &SmallWorld,
    policy: &mut dyn Policy,
    cycles: u32,
    budget: usize,
) -> Vec<Vec<Observation>> {
    drive_in_portions(world, policy, cycles, budget, budget)
}

/// Like [`drive`], asking for at most `portion` pages at a time.
fn drive_in_portions(
    world: &SmallWorld,
    policy: &mut dyn Policy,
    cycles: u32,
    budget: usize,
    portion: usize,
) -> Vec<Vec<Observation>> {
    let mut catalogue = Catalogue::new();
    let mut copied: Vec<u32> = Vec::new();
    let mut held: Vec<bool> = Vec::new();
    let mut visits = Vec::new();
    for cycle in 0..=cycles {
        let now = Days::new(f64::from(cycle));
        let first = catalogue.pages();
        while world.pages.get(catalogue.pages()).is_some_and(|page| page.born <= cycle) {
            let page = &world.pages[catalogue.pages()];
            let id = catalogue.add_page(SiteId(page.site), &page.path);
            catalogue.set_importance(id, (id.0 % 50) as f32);
            copied.push(cycle);
            held.push(true);
        }
        let links: Vec<_> = world.links.iter().map(|(from, to)| (PageId(*from), PageId(*to))).collect();
        catalogue.set_links(&links);
        if catalogue.pages() > first {
            policy.discover(&catalogue, PageId(first as u32), now);
        }
        if cycle == 0 {
            continue;
        }
        let expected = budget.min(held.iter().filter(|held| **held).count());
        policy.begin_cycle(&catalogue, now, budget);
        let mut of_cycle: Vec<Observation> = Vec::new();
        let mut seen = HashSet::new();
        while of_cycle.len() < budget {
            let mut chosen = Vec::new();
            let room = portion.min(budget - of_cycle.len());
            policy.choose(&catalogue, room, &mut chosen);
            if chosen.is_empty() {
                break;
            }
            assert!(chosen.len() <= room, "more than there is room for");
            let mut observations = Vec::new();
            for page in chosen {
                let index = page.index();
                assert!(index < catalogue.pages(), "{page:?} is not known yet");
                assert!(held[index], "{page:?} is gone");
                assert!(seen.insert(page), "{page:?} is visited twice");
                let outcome = if world.pages[index].dies <= cycle {
                    Outcome::Gone
                } else if world.has_changed(index, copied[index], cycle) {
                    Outcome::Changed
                } else {
                    Outcome::Unchanged
                };
                copied[index] = cycle;
                held[index] = outcome != Outcome::Gone;
                observations.push(Observation { page, time: now, outcome });
            }
            policy.learn(&catalogue, &observations);
            of_cycle.extend(observations);
        }
        assert_eq!(of_cycle.len(), expected, "the budget of cycle {cycle}");
        policy.end_cycle(&catalogue);
        visits.push(of_cycle);
    }
    visits
}

/// Drives a policy with the irregularities of a real crawl, drawn from a seed, in `steps` short cycles per
/// day.
fn drive_roughly(
    world: &SmallWorld,
    policy: &mut dyn Policy,
    days: u32,
    steps: u32,
    budget: usize,
    seed: u64,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut catalogue = Catalogue::new();
    for page in &world.pages {
        catalogue.add_page(SiteId(page.site), &page.path);
    }
    let pages = catalogue.pages() as u32;
    policy.discover(&catalogue, PageId(0), Days::ZERO);
    let mut left = HashSet::new();
    for step in 1..=days * steps {
        let now = Days::new(f64::from(step) / f64::from(steps));
        // Between the cycles others visit pages, pages leave, and weights change.
        for _ in 0..2 {
            let page = PageId(rng.random_range(0..pages));
            let outcome = [Outcome::Changed, Outcome::Unchanged, Outcome::Failed][rng.random_range(0..3)];
            if !left.contains(&page) {
                policy.learn(&catalogue, &[Observation { page, time: now, outcome }]);
            }
            catalogue.set_importance(page, rng.random_range(0.0..9.0));
            catalogue.set_cost(page, rng.random_range(0.1..9.0));
            policy.reweigh(&catalogue, page);
        }
        if rng.random_bool(0.2) {
            let page = PageId(rng.random_range(0..pages));
            policy.retire(&catalogue, page, now);
            left.insert(page);
        }
        catalogue.clear_rooms();
        if rng.random_bool(0.8) {
            (0..catalogue.sites() as u32)
                .for_each(|site| catalogue.set_room(SiteId(site), rng.random_range(0..4)));
        }
        policy.begin_cycle(&catalogue, now, budget);
        let mut visited = HashSet::new();
        while visited.len() < budget {
            let mut chosen = Vec::new();
            let room = rng.random_range(1..=budget - visited.len());
            policy.choose(&catalogue, room, &mut chosen);
            if chosen.is_empty() {
                break;
            }
            assert!(chosen.len() <= room, "more than there is room for");
            let (mut observations, mut of_site) = (Vec::new(), vec![0; catalogue.sites()]);
            for page in chosen {
                assert!(!left.contains(&page), "{page:?} has left");
                assert!(visited.insert(page), "{page:?} is visited twice");
                let site = catalogue.site_of(page);
                of_site[site.index()] += 1;
                assert!(of_site[site.index()] <= catalogue.room(site), "{site:?} has no room");
                let outcome = match rng.random_range(0..10) {
                    0 => Outcome::Gone,
                    1 | 2 => Outcome::Failed,
                    3..6 => Outcome::Changed,
                    _ => Outcome::Unchanged,
                };
                if outcome == Outcome::Gone {
                    left.insert(page);
                }
                observations.push(Observation { page, time: now, outcome });
            }
            policy.learn(&catalogue, &observations);
        }
        policy.end_cycle(&catalogue);
        check_account(policy, &catalogue, PageId(rng.random_range(0..pages)), now);
    }
}

/// Checks that the explanation of a page and the estimate of the copy are consistent.
fn check_account(policy: &dyn Policy, catalogue: &Catalogue, page: PageId, now: Days) {
    if let Some(explanation) = policy.explain(catalogue, page, now) {
        assert!(explanation.change_rate_low <= explanation.change_rate, "{explanation:?}");
        assert!(explanation.change_rate <= explanation.change_rate_high, "{explanation:?}");
        assert!((0.0..=1.0).contains(&explanation.changed_probability), "{explanation:?}");
        assert!(explanation.index.is_finite() && explanation.threshold.is_finite(), "{explanation:?}");
    }
    if let Some(estimate) = policy.copy_estimate(catalogue, now) {
        assert!((0.0..=1.0).contains(&estimate.freshness), "{estimate:?}");
        assert!(estimate.freshness_error >= 0.0 && estimate.age_error >= Days::ZERO, "{estimate:?}");
    }
}

/// How often each page was visited.
pub(super) fn visits_of_pages(world: &SmallWorld, visits: &[Vec<Observation>]) -> Vec<usize> {
    let mut counts = vec![0; world.pages.len()];
    visits.iter().flatten().for_each(|visit| counts[visit.page.index()] += 1);
    counts
}

/// How many visits of a cycle went to each site.
pub(super) fn visits_of_sites(world: &SmallWorld, visits: &[Observation]) -> Vec<usize> {
    let sites = world.pages.iter().map(|page| page.site as usize + 1).max().unwrap_or(0);
    let mut counts = vec![0; sites];
    visits.iter().for_each(|visit| counts[world.pages[visit.page.index()].site as usize] += 1);
    counts
}

/// Births and deaths, large and small sites, directories and links.
fn lively_world() -> SmallWorld {
    let mut world = SmallWorld::of_sites(&[(60, 1), (40, 3), (30, 7), (2, 2), (1, 0), (25, 0)]);
    for (number, page) in world.pages.iter_mut().enumerate() {
        page.dies = if number % 7 == 3 { 2 + number as u32 % 9 } else { u32::MAX };
    }
    for late in 0..30u32 {
        let born = 1 + late / 4;
        let path = format!("d{}/late/{late}", late % 4);
        world.pages.push(Life { born, dies: born + 1 + late % 9, ..life(late % 8, &path, 1 + late % 5) });
    }
    let pages = world.pages.len() as u32;
    world.links = (0..3 * pages).map(|link| (link * 7 % pages, link * 13 % (pages + 4))).collect();
    world
}

#[test]
fn every_policy_spends_its_budget_and_visits_no_page_twice_or_after_its_end() {
    let world = lively_world();
    for name in PolicyName::all() {
        for budget in [0, 1, 3, 20, 90, 1_000] {
            let setting = Setting { cycle: Days::new(1.0), budget_share: 0.1, seed: 1 };
            drive(&world, &mut *name.build(&setting), 14, budget);
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_choices_and_another_seed_others() {
    let world = lively_world();
    for name in PolicyName::all() {
        let visits = |seed| {
            let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.1, seed });
            let visits = drive(&world, &mut *policy, 12, 16);
            visits.into_iter().flatten().map(|visit| visit.page).collect::<Vec<_>>()
        };
        assert_eq!(visits(1), visits(1), "{name}");
        assert_ne!(visits(1), visits(2), "{name}");
    }
}

#[test]
fn pages_that_are_discovered_later_are_visited() {
    let mut world = SmallWorld::of_sites(&[(12, 2), (12, 2)]);
    world.pages.extend((0..6).map(|late| Life { born: 3, ..life(late % 3, &format!("d0/new{late}"), 1) }));
    for name in PolicyName::all() {
        let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.25, seed: 1 });
        let counts = visits_of_pages(&world, &drive(&world, &mut *policy, 60, 8));
        assert!(counts[24..].iter().all(|count| *count > 0), "{name}: {counts:?}");
    }
}

#[test]
fn an_empty_world_is_no_trouble() {
    for name in PolicyName::all() {
        let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.1, seed: 1 });
        drive(&SmallWorld::default(), &mut *policy, 3, 5);
    }
}

#[test]
fn every_combination_keeps_the_promises_too() {
    let world = lively_world();
    for name in other_names() {
        for budget in [2, 17, 120] {
            drive(&world, &mut *policy(&name, 0.1, 3), 9, budget);
        }
    }
}

#[test]
fn every_policy_spends_its_budget_in_portions_too() {
    let world = lively_world();
    let names = PolicyName::all().into_iter().map(|name| name.to_string()).chain(other_names());
    for name in names {
        for portion in [1, 3] {
            drive_in_portions(&world, &mut *policy(&name, 0.1, 3), 9, 17, portion);
        }
    }
}

#[test]
fn every_policy_bears_a_rough_driver() {
    let world = SmallWorld::of_sites(&[(60, 1), (40, 3), (30, 7), (2, 2), (1, 0), (25, 0)]);
    let names = PolicyName::all().into_iter().map(|name| name.to_string()).chain(other_names());
    for name in names {
        let mut built = policy(&name, 0.1, 1);
        drive_roughly(&world, &mut *built, 12, 1, 16, 1);
    }
    for name in ["freshet:mix:steady", "freshet:age:steady", "optimal", "nutch", "greedy"] {
        drive_roughly(&world, &mut *policy(name, 0.1, 1), 20, 24, 2, 3);
    }
}

#[test]
fn a_site_without_room_is_made_up_for_when_it_has_some() {
    let world = SmallWorld::of_sites(&[(10, 1), (10, 1)]);
    for name in PolicyName::all() {
        let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.2, seed: 1 });
        let mut catalogue = Catalogue::new();
        for page in &world.pages {
            catalogue.add_page(SiteId(page.site), &page.path);
        }
        policy.discover(&catalogue, PageId(0), Days::ZERO);
        let mut visits = [0; 2];
        for day in 1..=60 {
            catalogue.set_room(SiteId(1), if day % 2 == 0 { 0 } else { u32::MAX });
            let time = Days::new(f64::from(day));
            policy.begin_cycle(&catalogue, time, 4);
            let mut left = 4;
            while left > 0 {
                let mut chosen = Vec::new();
                policy.choose(&catalogue, left, &mut chosen);
                if chosen.is_empty() {
                    break;
                }
                left -= chosen.len();
                chosen.iter().for_each(|page| visits[catalogue.site_of(*page).index()] += 1);
                let visit = |page: &PageId| Observation { page: *page, time, outcome: Outcome::Changed };
                let observations: Vec<_> = chosen.iter().map(visit).collect();
                policy.learn(&catalogue, &observations);
            }
            policy.end_cycle(&catalogue);
        }
        assert!(visits[1] >= 10, "{name}: {visits:?}");
    }
}

fn any_life() -> impl Strategy<Value = Life> {
    let path = prop::sample::select(vec!["", "a/", "a/b/", "a/b/c/", "x/"]);
    (0u32..6, path, 0u32..5, 0u32..6, 1u32..12, 0u32..1000).prop_map(
        |(site, directory, changes_every, born, lives, number)| Life {
            born,
            dies: if lives > 8 { u32::MAX } else { born + lives },
            ..life(site, &format!("{directory}{number}"), changes_every)
        },
    )
}

fn any_world() -> impl Strategy<Value = SmallWorld> {
    let links = prop::collection::vec((0u32..40, 0u32..40), 0..60);
    (prop::collection::vec(any_life(), 0..40), links).prop_map(|(mut pages, links)| {
        pages.sort_by_key(|page| page.born);
        SmallWorld { pages, links }
    })
}

fn any_name() -> impl Strategy<Value = String> {
    let representatives = PolicyName::all().into_iter().map(|name| name.to_string());
    prop::sample::select(representatives.chain(other_names()).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_policy_keeps_its_promises_in_any_world(
        world in any_world(),
        name in any_name(),
        budget in 0usize..45,
        budget_share in 0.01f64..1.0,
        seed in 0u64..100,
    ) {
        drive(&world, &mut *policy(&name, budget_share, seed), 10, budget);
    }

    #[test]
    fn every_policy_bears_a_rough_driver_in_any_world(
        world in any_world().prop_filter("some page", |world| !world.pages.is_empty()),
        name in any_name(),
        budget in 0usize..45,
        steps in 1u32..5,
        seed in 0u64..100,
    ) {
        drive_roughly(&world, &mut *policy(&name, 0.1, seed), 6, steps, budget, seed);
    }
}
