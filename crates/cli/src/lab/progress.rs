//! Progress of long work, shown only on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws of the progress line per second.
const DRAWS_PER_SECOND: u8 = 5;

/// A progress line for work of known size in steps.
pub(crate) fn steps(doing: &str, total: u64) -> ProgressBar {
    bar(doing, total, "{msg} {wide_bar} {human_pos} of {human_len}, {eta} left")
}

/// A progress line for work of unknown length.
pub(super) fn unknown(doing: &str) -> ProgressBar {
    let bar = bar(doing, 0, "{msg} {spinner} {elapsed}");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn bar(doing: &str, total: u64, template: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
    let style = ProgressStyle::with_template(template).expect("the templates of this file are valid");
    ProgressBar::with_draw_target(Some(total), target).with_style(style).with_message(doing.to_owned())
}
