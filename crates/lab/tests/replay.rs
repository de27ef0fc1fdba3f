//! Promises of a replay on small worlds: exact averages, equal budgets, ceilings that no policy exceeds.

use std::sync::Mutex;

use freshet_lab::history::synthetic::{Model, Synthetic};
use freshet_lab::history::{Mass, Tables, Window, World};
use freshet_lab::replay::contestant::{Contestant, Entry};
use freshet_lab::replay::oracle::Ceiling;
use freshet_lab::replay::run::{Run, run};
use freshet_lab::replay::stage::{KnownImportance, Setting};
use freshet_lab::replay::{Contest, Stage};
use freshet_partition::policy::{Catalogue, Form, Observation, PageId, Policy};
use freshet_theory::units::Days;

/// A small world of a model, written to disk and read back.
fn world(model: Model, seed: u64) -> World {
    let place = tempfile::tempdir().expect("a directory");
    let synthetic = Synthetic { model, sites: 5, pages_per_site: 30, days: 500.0, seed };
    synthetic.record().write(place.path()).expect("it is written");
    let tables = Tables::read(place.path()).expect("it is read");
    let window = Window { family: None, days: 420.0, mass: Mass::Keep, pages_per_site_max: None };
    World::cut(&tables, &window).expect("a window")
}

fn setting(budget: f64) -> Setting {
    Setting { cycle_days: 14.0, budget, told: KnownImportance::Equal }
}

fn run_of(stage: &Stage<'_>, contestant: &Contestant, seed: u64) -> Run {
    run(stage, contestant.form(), contestant.build(stage, seed).as_mut(), &|| {})
}

fn changes_found(run: &Run) -> usize {
    run.cycles.iter().map(|cycle| cycle.found).sum()
}

/// Records every visit of a policy.
struct Noted<'a> {
    policy: Box<dyn Policy + 'a>,
    visits: &'a Mutex<Vec<(usize, f64)>>,
}

impl Policy for Noted<'_> {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        self.policy.discover(catalogue, first, now);
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        self.policy.begin_cycle(catalogue, now, budget);
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        self.policy.choose(catalogue, room, chosen);
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        let visits =
            observations.iter().map(|observation| (observation.page.index(), observation.time.get()));
        self.visits.lock().expect("one thread").extend(visits);
        self.policy.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.policy.end_cycle(catalogue);
    }
}

/// Freshness and age by checking every copy at many moments.
fn by_grid(stage: &Stage<'_>, visits: &[(usize, f64)]) -> (f64, f64) {
    const MOMENTS_PER_CYCLE: usize = 280;
    let cycle_days = stage.setting().cycle_days;
    let moments = stage.cycles() * MOMENTS_PER_CYCLE;
    let mut times = vec![Vec::new(); stage.pages()];
    visits.iter().for_each(|(page, time)| times[*page].push(*time));
    let (mut freshness, mut age) = (0.0, 0.0);
    for moment in 0..moments {
        let now = (moment as f64 + 0.5) * cycle_days / MOMENTS_PER_CYCLE as f64;
        let (mut held, mut fresh, mut days) = (0.0, 0.0, 0.0);
        for (page, times) in times.iter().enumerate() {
            let copied = stage.cycle_end(stage.discovered(page));
            let visits_so_far = times.partition_point(|time| *time <= now);
            let last = times[..visits_so_far].last().copied().unwrap_or(copied);
            if now < copied || stage.died(page) <= last {
                continue;
            }
            let change = stage.changes(page).iter().copied().find(|time| last < *time);
            let stale_since = change.unwrap_or(f64::INFINITY).min(stage.died(page));
            held += 1.0;
            fresh += if stale_since <= now { 0.0 } else { 1.0 };
            days += (now - stale_since).max(0.0);
        }
        freshness += fresh / held;
        age += days / held;
    }
    (freshness / moments as f64, age / moments as f64)
}

#[track_caller]
fn check_averages(name: &str, seed: u64) {
    let world = world(Model::Gamma, seed);
    let stage = Stage::new(&world, setting(0.15)).expect("a stage");
    let contestant: Contestant = name.parse().expect("a name");
    let visits = Mutex::new(Vec::new());
    let mut policy = Noted { policy: contestant.build(&stage, seed), visits: &visits };
    let run = run(&stage, contestant.form(), &mut policy, &|| {});
    let cycles = run.cycles.iter().map(|cycle| cycle.quality.expect("there are copies"));
    let (freshness, age): (Vec<f64>, Vec<f64>) =
        cycles.map(|quality| (quality.freshness, quality.age_days)).unzip();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (grid_freshness, grid_age) = by_grid(&stage, &visits.lock().expect("one thread"));
    assert!((mean(&freshness) - grid_freshness).abs() < 3e-4, "{} {grid_freshness}", mean(&freshness));
    assert!((mean(&age) - grid_age).abs() < 1e-3 * (1.0 + grid_age), "{} {grid_age}", mean(&age));
}

#[test]
fn freshness_and_age_agree_with_a_fine_grid() {
    check_averages("round-robin", 1);
    check_averages("freshet:fresh", 2);
}

#[test]
fn freshness_and_age_agree_with_a_fine_grid_in_the_steady_form() {
    check_averages("uniform", 3);
}

#[test]
fn every_policy_has_the_same_downloads() {
    let world = world(Model::Gamma, 4);
    let stage = Stage::new(&world, setting(0.07)).expect("a stage");
    for contestant in Contestant::all() {
        let run = run_of(&stage, &contestant, 1);
        for (number, cycle) in run.cycles.iter().enumerate() {
            let allowed = stage.downloads(number + 1, 1, 1);
            assert_eq!(cycle.allowed, allowed, "{contestant} in cycle {}", number + 1);
            assert_eq!(cycle.downloads, allowed, "{contestant} in cycle {}", number + 1);
        }
    }
}

#[test]
fn no_policy_finds_more_than_the_oracle_of_its_form() {
    for (model, budget, seed) in [(Model::Gamma, 0.05, 5), (Model::VShape, 0.3, 6), (Model::Normal, 0.1, 7)] {
        let world = world(model, seed);
        let stage = Stage::new(&world, setting(budget)).expect("a stage");
        let ceiling = |form| changes_found(&run_of(&stage, &Contestant::Oracle(Ceiling::Changes, form), 1));
        let (in_cycles, steadily) = (ceiling(Form::Cycle), ceiling(Form::Steady));
        for contestant in Contestant::all() {
            let found = changes_found(&run_of(&stage, &contestant, 2));
            let most = if contestant.ceiling_form() == Form::Cycle { in_cycles } else { steadily };
            assert!(found <= most, "{contestant} found {found}, the oracle {most}, of {model:?}");
        }
        assert!(in_cycles <= stage.changes_total());
    }
}

#[test]
fn who_knows_more_finds_more() {
    let world = world(Model::VShape, 8);
    let stage = Stage::new(&world, setting(0.2)).expect("a stage");
    let found = |name: &str| changes_found(&run_of(&stage, &name.parse().expect("a name"), 1));
    assert!(found("random") < found("rate-oracle"));
    assert!(found("rate-oracle") < found("oracle"));
}

#[test]
fn the_oracle_of_freshness_keeps_copies_fresher() {
    let world = world(Model::Normal, 9);
    let stage = Stage::new(&world, setting(0.2)).expect("a stage");
    let freshness = |name: &str| {
        let run = run_of(&stage, &name.parse().expect("a name"), 1);
        run.cycles.iter().map(|cycle| cycle.quality.expect("copies").freshness).sum::<f64>()
    };
    assert!(freshness("rate-oracle:fresh") < freshness("oracle:fresh"));
    assert!(freshness("oracle") < freshness("oracle:fresh"));
    assert!(freshness("rate-oracle:changes") < freshness("rate-oracle:fresh"));
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let world = world(Model::Gamma, 10);
    let stage = Stage::new(&world, setting(0.1)).expect("a stage");
    let entries = Entry::parse_list("random,freshet,uniform,rate-oracle").expect("policies");
    let hold = |threads| Contest { entries: entries.clone(), seeds: 2, threads }.hold(&stage, &|| {});
    let (alone, together) = (hold(1), hold(3));
    assert_eq!(alone.oracles.len(), 2);
    for (one, other) in alone.scores.iter().zip(&together.scores) {
        assert_eq!(one.name, other.name);
        assert_eq!(one.change_ratio, other.change_ratio);
        assert_eq!(one.age_days, other.age_days);
    }
    assert!(alone.scores[0].spread > 0.0);
}

#[test]
fn work_counts_the_cycles_of_all_runs() {
    let world = world(Model::Normal, 11);
    let stage = Stage::new(&world, setting(0.1)).expect("a stage");
    let contest =
        Contest { entries: Entry::parse_list("random,oracle").expect("policies"), seeds: 3, threads: 1 };
    let done = std::sync::atomic::AtomicUsize::new(0);
    contest.hold(&stage, &|| {
        done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), contest.work(&stage));
}

#[test]
fn policies_hear_of_page_rank_only_when_told() {
    struct Listener(Vec<f32>);
    impl Policy for Listener {
        fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
            self.0.extend(
                (first.index()..catalogue.pages()).map(|page| catalogue.importance(PageId(page as u32))),
            );
        }
        fn begin_cycle(&mut self, _: &Catalogue, _: Days, _: usize) {}
        fn choose(&mut self, _: &Catalogue, _: usize, _: &mut Vec<PageId>) {}
        fn learn(&mut self, _: &Catalogue, _: &[Observation]) {}
        fn end_cycle(&mut self, _: &Catalogue) {}
    }
    let world = world(Model::Normal, 12);
    let heard = |told| {
        let stage = Stage::new(&world, Setting { told, ..setting(0.1) }).expect("a stage");
        let mut listener = Listener(Vec::new());
        let run = run(&stage, Form::Cycle, &mut listener, &|| {});
        // A policy that chooses nothing loses all its downloads.
        assert!(
            run.cycles.iter().all(|cycle| cycle.downloads == 0 && cycle.importance == cycle.allowed as f64)
        );
        listener.0
    };
    assert!(heard(KnownImportance::Equal).iter().all(|importance| *importance == 1.0));
    assert!(heard(KnownImportance::PageRank).iter().any(|importance| *importance > 2.0));
}
