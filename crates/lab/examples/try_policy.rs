//! Throwaway.
#![allow(clippy::print_stdout)]
use freshet_crawl::policy::freshet::{Freshet, Objective, Settings};
use freshet_lab::history::{Family, Mass, Tables, Window, World};
use freshet_lab::replay::run::run;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let start = Instant::now();
    let tables = Tables::read(std::path::Path::new(&a[1])).unwrap();
    println!("read {:?}", start.elapsed());
    let ota = a[2] == "ota";
    let (cycle, budget): (f64, f64) = (a[3].parse().unwrap(), a[4].parse().unwrap());
    let cap: usize = a[5].parse().unwrap();
    let mass = if a.get(6).is_some_and(|m| m == "keep") { Mass::Keep } else { Mass::Drop };
    let window = Window {
        family: Some(if ota { Family::Ota } else { Family::Git }),
        days: 3.0 * 365.0,
        mass,
        pages_per_site_max: (cap > 0).then_some(cap),
        pages_per_site_min: if ota { 1 } else { 15 },
    };
    let world = World::cut(&tables, &window).unwrap();
    println!(
        "sites {} pages {} changes {} {:?}",
        world.sites.len(),
        world.pages.len(),
        world.changes(),
        start.elapsed()
    );
    let which = a.get(7).cloned().unwrap_or_else(|| "cmfa".into());
    for objective in [Objective::Changes, Objective::Mix, Objective::Fresh, Objective::Age] {
        if !which.contains(format!("{objective:?}").to_lowercase().chars().next().unwrap()) {
            continue;
        }
        let mut policy = Freshet::new(Settings { objective, budget_share: budget, seed: 1 });
        let r = run(&world, &mut policy, cycle, budget);
        let d: usize = r.cycles.iter().map(|c| c.downloads).sum();
        println!(
            "{objective:?} ranges {:.3} {:.3} {:.3} {:.3} {:.3} mean {:.4} fresh {:.4} age {:.3} policy {:?} us/download {:.2}",
            r.change_ratio(0..3),
            r.change_ratio(3..10),
            r.change_ratio(10..25),
            r.change_ratio(25..50),
            r.change_ratio(50..999),
            r.change_ratio(0..999),
            r.freshness,
            r.age_days,
            r.policy_time,
            r.policy_time.as_secs_f64() * 1e6 / d as f64
        );
    }
}
