//! What the default policy costs per download, from 100,000 pages to 10 million (or `--pages N`).
//!
//! A web from a seed: groups of 100 pages, 20 groups a site, rates over four orders of magnitude; every cycle downloads a tenth of the
//! pages. Measured: time in the policy (choice and update) per download, and resident memory per page. Worrying would be more than
//! 3 microseconds, more than 40 bytes, or a cost that grows more than 1.6 times from the smallest web to the largest.
#![allow(clippy::print_stdout, reason = "printing is the purpose of a benchmark")]

use std::time::{Duration, Instant};

use freshet_crawl::policy::freshet::{Freshet, Objective, Settings};
use freshet_crawl::policy::{Catalogue, Form, Observation, Outcome, PageId, Policy, SiteId};
use freshet_theory::units::Days;

const PAGES_PER_GROUP: u32 = 100;
const GROUPS_PER_SITE: u32 = 20;
const CYCLES: u32 = 8;

fn main() {
    let wanted: Vec<u32> = std::env::args()
        .skip_while(|word| word != "--pages")
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if wanted.is_empty() { vec![100_000, 1_000_000, 10_000_000] } else { wanted };
    println!(
        "\n| pages      | groups    | downloads a cycle | µs a download | bytes a page | beside the smallest |"
    );
    println!(
        "|------------|-----------|-------------------|---------------|--------------|---------------------|"
    );
    let mut smallest = None;
    for pages in sizes {
        let (microseconds, bytes, downloads) = measure(pages);
        let first = *smallest.get_or_insert(microseconds);
        println!(
            "| {pages:<10} | {:<9} | {downloads:<17} | {microseconds:<13.2} | {bytes:<12.1} | {:<19.2} |",
            pages / PAGES_PER_GROUP,
            microseconds / first
        );
    }
}

/// Microseconds of policy time per download, bytes of memory per page, and downloads per cycle.
fn measure(pages: u32) -> (f64, f64, usize) {
    let mut catalogue = Catalogue::new();
    for group in 0..pages / PAGES_PER_GROUP {
        let site = SiteId(group / GROUPS_PER_SITE);
        let directory = catalogue.directory_named(site, &format!("{}", group % GROUPS_PER_SITE));
        for _ in 0..PAGES_PER_GROUP {
            catalogue.add_page_in(directory);
        }
    }
    let before = resident_bytes();
    let budget = pages as usize / 10;
    let mut policy = Freshet::new(Settings {
        objective: Objective::Mix,
        form: Form::Cycle,
        cycle: Days::new(1.0),
        budget_share: 0.1,
        oldest_share: Settings::OLDEST_SHARE,
        seed: 1,
    });
    let mut last = vec![0u32; pages as usize];
    policy.discover(&catalogue, PageId(0), Days::ZERO);
    let (mut time, mut downloads) = (Duration::ZERO, 0);
    let mut chosen = Vec::new();
    for cycle in 1..=CYCLES {
        let now = Days::new(f64::from(cycle));
        let mut left = budget;
        let start = Instant::now();
        policy.begin_cycle(&catalogue, now, budget);
        let mut spent = start.elapsed();
        loop {
            chosen.clear();
            let start = Instant::now();
            policy.choose(&catalogue, left, &mut chosen);
            spent += start.elapsed();
            if chosen.is_empty() {
                break;
            }
            left -= chosen.len();
            let observations: Vec<_> = chosen.iter().map(|page| visit(*page, cycle, &mut last)).collect();
            let start = Instant::now();
            policy.learn(&catalogue, &observations);
            spent += start.elapsed();
        }
        let start = Instant::now();
        policy.end_cycle(&catalogue);
        spent += start.elapsed();
        // The first cycles know nothing yet and weigh every page; a crawl runs for hundreds.
        if cycle > 3 {
            time += spent;
            downloads += budget - left;
        }
    }
    let bytes = (resident_bytes() - before - f64::from(pages) * 4.0) / f64::from(pages);
    (time.as_secs_f64() * 1e6 / downloads as f64, bytes, budget)
}

/// Whether a page has changed since its last visit, by its rate and chance from its number.
fn visit(page: PageId, cycle: u32, last: &mut [u32]) -> Observation {
    let chance = |salt: u64| {
        let mixed = (u64::from(page.0) ^ (salt << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
    };
    let rate = 10f64.powf(-3.5 + 2.0 * chance(1) + 2.0 * chance(2));
    let elapsed = f64::from(cycle - last[page.index()]);
    last[page.index()] = cycle;
    let changed = chance(u64::from(cycle) + 10) < -(-rate * elapsed).exp_m1();
    let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
    Observation { page, time: Days::new(f64::from(cycle)), outcome }
}

/// Memory that this process holds now.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
