//! Shared by all benchmarks: the best of several timed runs, and a table that compares each row with a
//! baseline of the same run, as a ratio.
#![allow(
    dead_code,
    clippy::print_stdout,
    reason = "each benchmark uses a part of this, and printing is its purpose"
)]

use std::time::{Duration, Instant};

/// Runs `run` this many times. Returns the shortest time and the last result.
pub(crate) fn best_of<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    assert!(runs > 0);
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..runs {
        let start = Instant::now();
        let value = std::hint::black_box(run());
        let elapsed = start.elapsed();
        let shortest = best.as_ref().map_or(elapsed, |(shortest, _)| elapsed.min(*shortest));
        best = Some((shortest, value));
    }
    best.expect("at least one run")
}

/// A table that prints row by row, so that a long benchmark shows results as they come.
pub(crate) struct Table {
    widths: Vec<usize>,
}

impl Table {
    /// Prints the title and the column heads.
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        println!("\n{title}\n");
        let widths =
            columns.iter().enumerate().map(|(i, column)| if i == 0 { 44 } else { column.len().max(14) });
        let table = Self { widths: widths.collect() };
        table.row(columns);
        table.row(&table.widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>());
        table
    }

    /// Prints one row.
    pub(crate) fn row<S: AsRef<str>>(&self, cells: &[S]) {
        let cells: Vec<_> =
            self.widths.iter().zip(cells).map(|(width, cell)| format!("{:<width$}", cell.as_ref())).collect();
        println!("| {} |", cells.join(" | "));
    }
}
