//! Progress of long work. Shown only on a terminal, and only after the work has lasted a while.

use std::io::{self, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws of the progress line per second.
const DRAWS_PER_SECOND: u8 = 5;

/// Interval between redraws while the work itself reports nothing.
const TICK: Duration = Duration::from_millis(200);

/// A line on the terminal for work of a known size, counted in bytes.
pub(crate) fn bytes(doing: &str, total: u64) -> ProgressBar {
    bar(doing, total, "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left")
}

/// A line on the terminal for work of a known size, counted in steps.
pub(crate) fn steps(doing: &str, total: u64) -> ProgressBar {
    bar(doing, total, "{msg} {wide_bar} {human_pos} of {human_len}, {eta} left")
}

/// A line on the terminal for work of unknown length.
pub(crate) fn unknown(doing: &str) -> ProgressBar {
    let bar = bar(doing, 0, "{msg} {spinner} {elapsed}");
    bar.enable_steady_tick(TICK);
    bar
}

fn bar(doing: &str, total: u64, template: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
    let style = ProgressStyle::with_template(template).expect("the templates of this file are valid");
    ProgressBar::with_draw_target(Some(total), target).with_style(style).with_message(doing.to_owned())
}

/// Input that moves a progress line as it is read.
pub(crate) struct Watched<R> {
    input: R,
    progress: ProgressBar,
}

impl<R> Watched<R> {
    /// Watches this input.
    pub(crate) fn new(input: R, progress: ProgressBar) -> Self {
        Self { input, progress }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.inc(count as u64);
        Ok(count)
    }
}

impl<R> Drop for Watched<R> {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}
