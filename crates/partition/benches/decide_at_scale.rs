//! Benchmark: cost of the default policy per download, from 100,000 pages to 10 million (or `--pages N...`),
//! over 30 cycles (or `--cycles N`).
//!
//! The web is generated from a seed: groups of 100 pages, 20 groups per site, rates over four orders of
//! magnitude. Every cycle downloads a tenth of the pages. Measured: processor time in the policy (choice and
//! update) per download, in the first third of the cycles, when all pages still look alike, and in the rest;
//! and the maximum memory per page of the policy. These would be alarming: more than 3 microseconds in the
//! rest, more than 40 bytes, or a cost that grows more than 1.6 times from the smallest web to the largest.
#![allow(clippy::print_stdout, reason = "printing is the purpose of a benchmark")]

use std::time::Duration;

use freshet_partition::policy::freshet::{Freshet, Objective, Settings};
use freshet_partition::policy::{Catalogue, Form, Observation, Outcome, PageId, Policy, SiteId};
use freshet_theory::units::Days;

const PAGES_PER_GROUP: u32 = 100;
const GROUPS_PER_SITE: u32 = 20;
const CYCLES: u32 = 30;

fn main() {
    let sizes = numbers_after("--pages");
    let sizes = if sizes.is_empty() { vec![100_000, 1_000_000, 10_000_000] } else { sizes };
    let cycles = numbers_after("--cycles").first().copied().unwrap_or(CYCLES);
    println!(
        "\n| pages      | groups    | downloads a cycle | µs a download | µs at first | bytes a page | \
         beside the smallest |"
    );
    println!(
        "|------------|-----------|-------------------|---------------|-------------|--------------|\
         ---------------------|"
    );
    let mut smallest = None;
    for pages in sizes {
        let Cost { microseconds, microseconds_at_first, bytes, downloads } = measure(pages, cycles);
        let first = *smallest.get_or_insert(microseconds);
        println!(
            "| {pages:<10} | {:<9} | {downloads:<17} | {microseconds:<13.2} | {microseconds_at_first:<11.2} \
             | {bytes:<12.1} | {:<19.2} |",
            pages / PAGES_PER_GROUP,
            microseconds / first
        );
    }
}

fn numbers_after(option: &str) -> Vec<u32> {
    let words = std::env::args().skip_while(|word| word != option).skip(1);
    words.map_while(|word| word.parse().ok()).collect()
}

struct Cost {
    microseconds: f64,
    microseconds_at_first: f64,
    bytes: f64,
    downloads: usize,
}

fn measure(pages: u32, cycles: u32) -> Cost {
    let mut catalogue = Catalogue::new();
    for group in 0..pages / PAGES_PER_GROUP {
        let site = SiteId(group / GROUPS_PER_SITE);
        let directory = catalogue.directory_named(site, &format!("{}", group % GROUPS_PER_SITE));
        for _ in 0..PAGES_PER_GROUP {
            catalogue.add_page_in(directory);
        }
    }
    let mut last = vec![0u32; pages as usize];
    last.fill(1);
    last.fill(0);
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
    policy.discover(&catalogue, PageId(0), Days::ZERO);
    let (mut at_first, mut later) = (Spent::default(), Spent::default());
    let mut most = 0.0f64;
    for cycle in 1..=cycles {
        let spent = if cycle <= cycles / 3 { &mut at_first } else { &mut later };
        run_cycle(&mut policy, &catalogue, cycle, budget, &mut last, spent);
        most = most.max(spent.bytes);
    }
    let microseconds = |spent: &Spent| spent.time.as_secs_f64() * 1e6 / spent.downloads.max(1) as f64;
    Cost {
        microseconds: microseconds(&later),
        microseconds_at_first: microseconds(&at_first),
        bytes: (most - before) / f64::from(pages),
        downloads: budget,
    }
}

/// Costs so far.
#[derive(Default)]
struct Spent {
    time: Duration,
    downloads: usize,
    /// Maximum memory of the process after a choice, in bytes.
    bytes: f64,
}

fn run_cycle(
    policy: &mut Freshet,
    catalogue: &Catalogue,
    cycle: u32,
    budget: usize,
    last: &mut [u32],
    spent: &mut Spent,
) {
    let mut left = budget;
    let mut chosen = Vec::new();
    let start = processor_time();
    policy.begin_cycle(catalogue, Days::new(f64::from(cycle)), budget);
    spent.time += processor_time() - start;
    loop {
        chosen.clear();
        let start = processor_time();
        policy.choose(catalogue, left, &mut chosen);
        spent.time += processor_time() - start;
        spent.bytes = spent.bytes.max(resident_bytes());
        if chosen.is_empty() {
            break;
        }
        left -= chosen.len();
        let observations: Vec<_> = chosen.iter().map(|page| visit(*page, cycle, last)).collect();
        let start = processor_time();
        policy.learn(catalogue, &observations);
        spent.time += processor_time() - start;
    }
    let start = processor_time();
    policy.end_cycle(catalogue);
    spent.time += processor_time() - start;
    spent.downloads += budget - left;
}

/// Processor time of this thread: other load on the machine disturbs it less than wall time.
fn processor_time() -> Duration {
    // The kernel's count ends at its last tick; a yield brings it up to date.
    std::thread::yield_now();
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = schedule.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Visits a page. Whether it has changed since its last visit follows from its rate and a hash of its number.
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

/// Resident memory of this process, in bytes.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
