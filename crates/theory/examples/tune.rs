use freshet_theory::refresh::*;
use freshet_theory::units::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e6
}
fn main() {
    let n: usize = std::env::args().nth(2).map_or(1_000_000, |n| n.parse().unwrap());
    let what = std::env::args().nth(1).unwrap();
    let mut r = ChaCha8Rng::seed_from_u64(2);
    let rates: Vec<_> = (0..n).map(|_| ChangesPerDay::new(10f64.powf(r.random_range(-5.0..3.0)))).collect();
    let imp: Vec<_> = (0..n).map(|_| 10f64.powf(r.random_range(-1.0..1.0))).collect();
    let hosts = (n / 100) as u32;
    let host_of: Vec<_> = (0..n).map(|_| r.random_range(0..hosts)).collect();
    let pages = Pages { change_rates: &rates, importance: Some(&imp), costs: None };
    let budget = Constraints::budget(VisitsPerDay::new(n as f64 / 7.0));
    let mut best = f64::MAX;
    let exps = (0..10)
        .map(|_| {
            let t = cpu();
            std::hint::black_box(
                rates
                    .chunks(8192)
                    .map(|rates| rates.iter().map(|rate| (-1e-3 * rate.get()).exp()).sum::<f64>())
                    .sum::<f64>(),
            );
            cpu() - t
        })
        .fold(f64::MAX, f64::min);
    let mut sat = 0;
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    for _ in 0..8 {
        let t = cpu();
        let a = match what.as_str() {
            "f" => allocate(&pages, Objective::Freshness, &budget),
            "a" => allocate(&pages, Objective::Age, &budget),
            "h" => allocate(&pages, Objective::Harmonic, &budget),
            "c" => allocate(&pages, Objective::Changes, &budget),
            share => {
                let limit = VisitsPerDay::new(
                    share.parse::<f64>().unwrap() * budget.visit_budget.get() / f64::from(hosts),
                );
                let limits = vec![limit; hosts as usize];
                allocate(
                    &pages,
                    Objective::Freshness,
                    &Constraints {
                        host_limits: Some(HostLimits { host_of: &host_of, limits: &limits }),
                        ..budget
                    },
                )
            }
        };
        sat = a.saturated_hosts.len();
        std::hint::black_box(a);
        best = best.min(cpu() - t);
    }
    println!("{what}: exp {exps:.2} ms, solve {best:.1} ms = {:.1} exps; saturated {sat}", best / exps);
}
