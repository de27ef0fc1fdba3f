//! Benchmark: a Cox fit of 100,000 subjects, compared with the Python package lifelines.
//!
//! Five covariates, five strata and Efron's ties, with times in weeks (many ties) and in hours (few ties).
//! Both programs fit the same file. lifelines runs in its own Python, with its precision tightened so that
//! both find the same maximum.
//!
//! It would worry us if we were less than 30 times as fast, or if a coefficient differed by more than 1e-6.
//!
//! Run it with `./bench cox_regression`, which prepares the Python environment of lifelines.

mod table;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use freshet_theory::survival::cox::fit;
use freshet_theory::survival::lifetime::Lifetime;
use freshet_theory::survival::risk_sets::Ties;
use freshet_theory::survival::subjects::Subjects;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use table::{Table, best_of};

const SUBJECTS: usize = 100_000;
const STRATA: u32 = 5;
const EFFECTS: [f64; 5] = [0.3, -0.5, 0.2, 0.7, -0.1];
const RATIO_WANTED: f64 = 30.0;
const DIFFERENCE_WANTED: f64 = 1e-6;

fn main() {
    let columns = ["times in", "Freshet (ms)", "lifelines (ms)", "ratio", "wanted", "difference", "wanted"];
    let table =
        Table::new("Cox regression: 100,000 subjects, 5 covariates, 5 strata, Efron's ties", &columns);
    for (unit, per_week) in [("weeks (about 100 different)", 1.0), ("hours (about 17,000 different)", 168.0)]
    {
        let cohort = Cohort::draw(per_week);
        let (ours, coefficients) = best_of(30, || {
            let subjects = Subjects::stratified(&cohort.lifetimes, &cohort.covariates, &cohort.strata);
            fit(&subjects, Ties::Efron).expect("the data are ordinary").coefficients
        });
        let (theirs, their_coefficients) = lifelines(&cohort);
        let difference =
            coefficients.iter().zip(&their_coefficients).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        table.row(&[
            unit.to_owned(),
            format!("{:.2}", milliseconds(ours)),
            format!("{:.0}", milliseconds(theirs)),
            format!("{:.0}", theirs.as_secs_f64() / ours.as_secs_f64()),
            format!(">= {RATIO_WANTED}"),
            format!("{difference:.1e}"),
            format!("<= {DIFFERENCE_WANTED:e}"),
        ]);
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

struct Cohort {
    lifetimes: Vec<Lifetime>,
    covariates: Vec<Vec<f64>>,
    strata: Vec<u32>,
}

impl Cohort {
    /// Weibull lifetimes of about a year, observed for up to two years, rounded up to a part of a week.
    fn draw(per_week: f64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut cohort = Self { lifetimes: Vec::new(), covariates: vec![Vec::new(); 5], strata: Vec::new() };
        for _ in 0..SUBJECTS {
            let normal: [f64; 3] = std::array::from_fn(|_| StandardNormal.sample(&mut random));
            let binary = f64::from(random.random::<bool>());
            let count = f64::from(random.random_range(0..4u8));
            let row = [normal[0], normal[1], normal[2], binary, count];
            let stratum = random.random_range(0..STRATA);
            let effect: f64 = row.iter().zip(EFFECTS).map(|(x, beta)| x * beta).sum();
            let hazard = -(1.0 - random.random::<f64>()).ln() * (-effect).exp();
            let end = hazard.powf(1.0 / 0.9) * 60.0 * (1.0 + 0.2 * f64::from(stratum));
            let watched = 5.0 + 99.0 * random.random::<f64>();
            let time = (end.min(watched) * per_week).ceil();
            let ended = end <= watched;
            cohort.lifetimes.push(if ended { Lifetime::ended_at(time) } else { Lifetime::censored_at(time) });
            cohort.covariates.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            cohort.strata.push(stratum);
        }
        cohort
    }

    /// The cohort as CSV for the Python script. Every number parses back to the same value.
    fn as_csv(&self) -> String {
        let mut text = String::from("time,event,stratum,x0,x1,x2,x3,x4\n");
        for (i, lifetime) in self.lifetimes.iter().enumerate() {
            let _ = write!(text, "{},{},{}", lifetime.time(), u8::from(lifetime.ended()), self.strata[i]);
            for column in &self.covariates {
                let _ = write!(text, ",{:?}", column[i]);
            }
            text.push('\n');
        }
        text
    }
}

/// Fits the cohort with lifelines. Returns the best time of its runs and the coefficients.
fn lifelines(cohort: &Cohort) -> (Duration, Vec<f64>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/bench-python/bin/python");
    assert!(python.exists(), "lifelines is not installed: run `./bench cox_regression`");
    let file = std::env::temp_dir().join(format!("cox_regression_{}.csv", std::process::id()));
    std::fs::write(&file, cohort.as_csv()).expect("the temporary directory is writable");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/compare/cox_regression.py");
    let output = Command::new(python).arg(script).arg(&file).output().expect("Python starts");
    std::fs::remove_file(&file).expect("the file is ours");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the script prints text");
    let mut numbers =
        text.split_whitespace().map(|word| word.parse::<f64>().expect("the script prints numbers"));
    let seconds = numbers.next().expect("the time comes first");
    (Duration::from_secs_f64(seconds), numbers.collect())
}
