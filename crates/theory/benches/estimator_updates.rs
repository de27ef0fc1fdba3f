//! Benchmark: observations per second of each running estimator on one core.
//!
//! The same visits come in three orders: all to *one page*, where only the arithmetic counts; to a million
//! pages *in order*, as at the end of a cycle; and to pages *at random*, as in a running crawl, where memory
//! counts and a larger state costs more. *Read ahead* is the random order with the states of 64 visits read
//! before they are updated, so that the memory waits overlap. Each row is compared with a plain pass in the
//! same order, which sums the intervals of each page.
//!
//! It would worry us if even visits fell below 100 million per second, or the gamma posterior with discount
//! below 15 million, for one page or in order. At random, it would worry us if they took much longer than the
//! plain pass and their own arithmetic together.

mod table;

use std::hint::black_box;
use std::time::Duration;

use freshet_theory::estimate::bayes::{ClassEvidence, RateClasses};
use freshet_theory::estimate::complete::CompleteHistory;
use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::gamma::{Discount, DiscountedHistory, ExposedVisit, GammaPrior};
use freshet_theory::estimate::irregular_visits::IrregularVisits;
use freshet_theory::estimate::last_modified::DatedVisits;
use freshet_theory::units::{ChangesPerDay, Days};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use table::{Table, best_of};

const VISITS: usize = 4_000_000;
const PAGES: usize = 1_000_000;
const RUNS: usize = 7;
const CLASSES: usize = 14;

/// Number of visits whose states are read before the first of them is updated.
const READ_AHEAD_VISITS: usize = 64;

/// Largest state, in bytes, that is read ahead: one cache line. Reading larger ones ahead does not pay.
const READ_AHEAD_BYTES_MAX: usize = 64;

/// One visit of the stream.
#[derive(Clone, Copy)]
struct Observation {
    interval: f64,
    since_change: f64,
    page: u32,
    changed: bool,
}

fn main() {
    let at_random = visits();
    let mut in_order = at_random.clone();
    in_order.sort_by_key(|visit| visit.page);
    let one_page: Vec<_> = at_random.iter().map(|visit| Observation { page: 0, ..*visit }).collect();
    let orders = [("one page", one_page), ("in order", in_order), ("at random", at_random)];
    let table = Table::new(
        &format!("Observations observed on one core: {VISITS} visits, {PAGES} pages, best of {RUNS} runs"),
        &["estimator", "order", "bytes of state", "million/s", "times plain", "wanted"],
    );
    let plain = orders.each_ref().map(|(_, visits)| {
        let mut sums = vec![0.0; PAGES];
        best_of(RUNS, || visits.iter().for_each(|visit| sums[visit.page as usize] += visit.interval)).0
    });
    let bench = Bench { orders: &orders, table: &table, plain };
    for (order, time) in plain.iter().enumerate() {
        bench.print("plain pass", orders[order].0, 8, (*time, *time), "");
    }

    let prior = GammaPrior::new(1.0, ChangesPerDay::new(0.1));
    let discount = Discount::new(0.97);
    let rates: Vec<_> = (0..CLASSES).map(|i| ChangesPerDay::new(0.001 * 2f64.powi(i as i32))).collect();
    let classes = RateClasses::new(&rates, &[1.0; CLASSES]);

    bench.row("even visits", "100 million/s", EvenVisits::NONE, |state, visit| state.observe(visit.changed));
    bench.row("irregular visits, by octaves", "", IrregularVisits::NONE, |state, visit| {
        state.observe(Days::new(visit.interval), visit.changed);
    });
    bench.row("date of the last change", "", DatedVisits::NONE, |state, visit| {
        state.observe(Days::new(visit.since_change), Days::new(visit.interval));
    });
    bench.row("complete history", "", CompleteHistory::NONE, |state, visit| {
        state.observe(u64::from(visit.changed), Days::new(visit.interval));
    });
    let evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; CLASSES]);
    bench.row(&format!("Bayes over {CLASSES} classes"), "", evidence, |state, visit| {
        state.observe(&classes, Days::new(visit.interval), visit.changed);
    });
    bench.row("gamma posterior with discount", "15 million/s", DiscountedHistory::NONE, |state, visit| {
        let (elapsed, exposure) = (Days::new(visit.interval), Days::new(visit.interval));
        state.observe(&prior, discount, &ExposedVisit { elapsed, exposure, changed: visit.changed });
    });
}

/// Random visits: intervals over four orders of magnitude, and a change at a third of them.
fn visits() -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let visit = |random: &mut ChaCha8Rng| {
        let interval = 10f64.powf(random.random_range(-2.0..2.0));
        let changed = random.random_bool(0.3);
        let since_change = if changed { interval * random.random::<f64>() } else { 2.0 * interval };
        Observation { interval, since_change, page: random.random_range(0..PAGES as u32), changed }
    };
    (0..VISITS).map(|_| visit(&mut random)).collect()
}

struct Bench<'a> {
    orders: &'a [(&'static str, Vec<Observation>); 3],
    table: &'a Table,
    /// Time of the plain pass in each of the three orders.
    plain: [Duration; 3],
}

impl Bench<'_> {
    /// Times one estimator in every order and prints its row.
    fn row<S: Copy>(&self, name: &str, wanted: &str, none: S, observe: impl Fn(&mut S, &Observation)) {
        let mut states: Vec<S> = std::iter::repeat_n(none, PAGES).collect();
        for ((order, visits), plain) in self.orders.iter().zip(self.plain) {
            let run = || visits.iter().for_each(|visit| observe(&mut states[visit.page as usize], visit));
            let (time, ()) = best_of(RUNS, run);
            self.print(name, order, size_of::<S>(), (time, plain), wanted);
        }
        if size_of::<S>() <= READ_AHEAD_BYTES_MAX {
            let (time, ()) = best_of(RUNS, || {
                for block in self.orders[2].1.chunks(READ_AHEAD_VISITS) {
                    block.iter().for_each(|visit| _ = black_box(states[visit.page as usize]));
                    block.iter().for_each(|visit| observe(&mut states[visit.page as usize], visit));
                }
            });
            self.print(name, "read ahead", size_of::<S>(), (time, self.plain[2]), wanted);
        }
    }

    fn print(
        &self,
        name: &str,
        order: &str,
        bytes: usize,
        (time, plain): (Duration, Duration),
        wanted: &str,
    ) {
        self.table.row(&[
            name.to_owned(),
            order.to_owned(),
            bytes.to_string(),
            format!("{:.1}", VISITS as f64 / time.as_secs_f64() / 1e6),
            format!("{:.1}", time.as_secs_f64() / plain.as_secs_f64()),
            wanted.to_owned(),
        ]);
    }
}
