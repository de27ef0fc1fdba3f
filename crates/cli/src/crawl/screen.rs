//! Shows the status of a running crawl: a screen in a terminal, lines elsewhere, JSON for programs.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use freshet_crawl::clock::wall_now;
use freshet_crawl::crawler::Crawler;
use freshet_crawl::status::{Process, Status};
use freshet_theory::units::MILLIS_PER_DAY;

use super::terminal::{Drawing, can_draw};
use super::words::{bytes, count, moment, span};

/// Interval between redraws of the screen.
const DRAW_EVERY: Duration = Duration::from_millis(500);
/// Interval between lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Age in milliseconds from which the age of a running crawl's figures is shown.
const OLD: i64 = 5_000;

/// How the status of a crawl is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Show {
    /// A screen in a terminal, lines elsewhere.
    Usual,
    /// One JSON object per line.
    Json,
    /// Nothing.
    Quiet,
}

/// Shows the status until the task is aborted.
pub(super) async fn watch(crawler: Arc<Crawler>, show: Show) -> io::Result<()> {
    let is_screen = show == Show::Usual && can_draw();
    let every = if is_screen { DRAW_EVERY } else { LINE_EVERY };
    let mut drawing = Drawing::default();
    loop {
        tokio::time::sleep(every).await;
        let status = crawler.status_now();
        match show {
            Show::Quiet => {}
            Show::Json => say(&serde_json::to_string(&status)?)?,
            Show::Usual if is_screen => drawing.draw(&screen(&status))?,
            Show::Usual => say(&line(&status))?,
        }
    }
}

/// Shows the final status, below everything else.
pub(super) fn close(status: &Status, show: Show) -> io::Result<()> {
    match show {
        Show::Quiet => Ok(()),
        Show::Json => say(&serde_json::to_string(status)?),
        // Overwrite what the terminal shows of Ctrl-C.
        Show::Usual if can_draw() => say(&format!("\r\x1b[K{}", line(status))),
        Show::Usual => say(&line(status)),
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// The status in one line.
pub(super) fn line(status: &Status) -> String {
    let freshness = status.freshness.map_or(String::new(), |(value, error)| {
        format!(", fresh {:.1}% ± {:.1}", 100.0 * value, 196.0 * error)
    });
    let limit = if status.limit.is_empty() { String::new() } else { format!(" ({})", status.limit) };
    format!(
        "{} {} pages kept of {} URLs, {} visits ({:.1}/s), {} changes{freshness}{limit}",
        moment(status.now_ms),
        count(status.pages_kept),
        count(status.urls_known),
        count(status.visits),
        status.visits_per_second,
        count(status.changes),
    )
}

/// The status as a screen.
pub(super) fn screen(status: &Status) -> String {
    let mut lines = vec![format!("Freshet   {} UTC   {}", moment(status.now_ms), process(status))];
    lines.push(format!(
        "pages     {} kept, {} copied, {} waiting; {} URLs known on {} sites",
        count(status.pages_kept),
        count(status.pages_copied),
        count(status.pages_waiting),
        count(status.urls_known),
        count(status.sites)
    ));
    lines.push(format!(
        "visits    {} ({:.1}/s), {} not modified, {} failed; {} received",
        count(status.visits),
        status.visits_per_second,
        count(status.not_modified),
        count(status.failures),
        bytes(status.bytes)
    ));
    lines.push(format!(
        "changes   {} found ({:.1}/s), {} gone",
        count(status.changes),
        status.changes_per_second,
        count(status.gone)
    ));
    lines.push(match (status.budget_per_day, status.budget_used) {
        (Some(budget), Some(used)) => {
            format!("budget    {} visits a day, {:.0}% used", count(budget as u64), 100.0 * used)
        }
        _ => "budget    unlimited".to_owned(),
    });
    if let (Some((freshness, error)), Some((age, age_error))) = (status.freshness, status.age_days) {
        let audits = match status.audits {
            0 => String::new(),
            1 => "; calibrated by an audit".to_owned(),
            audits => format!("; calibrated by {audits} audits"),
        };
        lines.push(format!(
            "copy      {:.1}% ± {:.1} believed fresh, mean age {} ± {}{audits}",
            100.0 * freshness,
            196.0 * error,
            span(age),
            span(1.96 * age_error)
        ));
    }
    lines.push(format!(
        "now       {} under way, {} in queues; {} sites at their limit, {} closed",
        status.under_way, status.queued, status.sites_at_limit, status.sites_closed
    ));
    let (state, collection, history) = status.disk;
    lines.push(format!(
        "disk      {} state, {} collection, {} history",
        bytes(state),
        bytes(collection),
        bytes(history)
    ));
    for (site, trouble) in status.troubles.iter().take(5) {
        lines.push(format!("trouble   {site}: {trouble}"));
    }
    for met in status.met.iter().take(8) {
        lines.push(format!("met       {}: {}, {} times", met.site, met.what, count(met.count)));
    }
    for (reason, cut) in status.traps.iter().take(5) {
        lines.push(format!("trap      {}: {} URLs cut", reason, count(*cut)));
    }
    if !status.limit.is_empty() {
        lines.push(format!("limit     {}", status.limit));
    }
    for change in status.last_changes.iter().take(8) {
        let size = change.size.map_or(String::new(), |size| format!(" {:.0}%", 100.0 * size));
        lines.push(format!("{:9} {}{size}", change.what, change.url));
    }
    lines.join("\n")
}

/// The state of the crawl's process. Also the age of the figures, if the process did not report them itself.
fn process(status: &Status) -> String {
    let process = match status.process {
        Process::Running if status.running => "running",
        Process::Running | Process::Ended => "not running",
        Process::Opening => "opening",
        Process::Frozen => "stopped by a signal",
        Process::Killed => "not running: it was killed, or ended with an error",
    };
    let age = status.published_ms.map(|published| wall_now().millis() - published);
    match age {
        Some(age) if status.process != Process::Running || age >= OLD => {
            format!("{process}; figures of {} ago", span(age.max(0) as f64 / MILLIS_PER_DAY))
        }
        _ => process.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_that_has_not_begun_can_be_shown() {
        let text = screen(&Status::default());
        assert!(text.contains("0 kept"), "{text}");
        assert!(line(&Status::default()).contains("0 visits"));
    }
}
