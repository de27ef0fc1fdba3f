//! The commands that query a crawl or change it, whether it runs or not: `status`, `pages`, `explain`,
//! `changes`, `cat`, `pin`, `pause`.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{Table, presets};
use freshet_crawl::opening::{change, is_crawl};
use freshet_crawl::queries::{Account, Answer, PageLine, PageOrder, Question};
use freshet_crawl::query_socket::{self, Reply};
use freshet_crawl::settings::Settings;
use freshet_crawl::status::{ChangeLine, Process};
use freshet_crawl::stopped;
use freshet_store::directory::odd_files::refuse_odd_files;
use freshet_theory::units::MILLIS_PER_DAY;

use super::config::Config;
use super::run::warn_of_conversion;
use super::saved_options::config_of;
use super::words::{moment, span};
use super::{audit, diff, screen};
use crate::span::parse_days;

/// Where the crawl is, and how to answer.
#[derive(Args)]
pub(crate) struct Place {
    /// The directory of the crawl
    #[arg(long, default_value = "crawl", value_name = "DIR")]
    pub(super) dir: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Say how a crawl stands
#[derive(Args)]
pub(crate) struct StatusOptions {
    #[command(flatten)]
    place: Place,
}

/// List the pages of a crawl
#[derive(Args)]
pub(crate) struct PagesOptions {
    /// Only of this site: a host, or scheme and host
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// In which order
    #[arg(long, value_enum, default_value = "due")]
    sort: Sort,

    /// How many at most
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sort {
    /// The one that is visited next first
    Due,
    /// The one that changes most often first
    Rate,
    /// The most important first
    Importance,
}

/// Say all that is known of a URL, and why it is visited when it is visited
#[derive(Args)]
pub(crate) struct ExplainOptions {
    /// The URL
    url: String,

    #[command(flatten)]
    place: Place,
}

/// Say what changed
#[derive(Args)]
pub(crate) struct ChangesOptions {
    /// Since how long ago
    #[arg(long, default_value = "1d", value_name = "SPAN", value_parser = parse_days)]
    since: f64,

    /// Only on this site
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// How many at most, the newest
    #[arg(long, default_value_t = 1000, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    place: Place,
}

/// Print what a page said
#[derive(Args)]
pub(crate) struct CatOptions {
    /// The URL
    url: String,

    /// When: a date such as 2026-11-16 or 2026-11-16T12:00:00Z; now if nothing is said
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// Its visible text alone
    #[arg(long)]
    text: bool,

    #[command(flatten)]
    place: Place,
}

/// Visit a page at a fixed interval, whatever the policy says
#[derive(Args)]
pub(crate) struct PinOptions {
    /// The URL
    url: String,

    /// How often: 6h, 1d; 0d to leave it to the policy again
    #[arg(long, value_name = "SPAN", value_parser = parse_days)]
    every: f64,

    #[command(flatten)]
    place: Place,
}

/// Visit a site no longer, until it is resumed
#[derive(Args)]
pub(crate) struct PauseOptions {
    /// The site: a host, or scheme and host
    site: String,

    /// Visit it again
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    place: Place,
}

/// `freshet status`.
pub(crate) fn status(options: &StatusOptions) -> Result<()> {
    show(&options.place, &Question::Status)
}

/// `freshet pages`.
pub(crate) fn pages(options: &PagesOptions) -> Result<()> {
    let sort = match options.sort {
        Sort::Due => PageOrder::Due,
        Sort::Rate => PageOrder::Rate,
        Sort::Importance => PageOrder::Importance,
    };
    show(&options.place, &Question::Pages { site: options.site.clone(), sort, limit: options.limit })
}

/// `freshet explain`.
pub(crate) fn explain(options: &ExplainOptions) -> Result<()> {
    show(&options.place, &Question::Explain { url: options.url.clone() })
}

/// `freshet changes`.
pub(crate) fn changes(options: &ChangesOptions) -> Result<()> {
    let Answer::Status(status) = ask(&options.place.dir, &Question::Status)? else {
        bail!("the crawl does not say its time")
    };
    let since_ms = status.now_ms - (options.since * MILLIS_PER_DAY) as i64;
    show(&options.place, &Question::Changes { since_ms, site: options.site.clone(), limit: options.limit })
}

/// `freshet cat`.
pub(crate) fn cat(options: &CatOptions) -> Result<()> {
    let at_ms = options.at.as_deref().map(parse_moment).transpose()?;
    show(&options.place, &Question::Cat { url: options.url.clone(), at_ms, text: options.text })
}

/// `freshet pin`.
pub(crate) fn pin(options: &PinOptions) -> Result<()> {
    let every_ms = (options.every * MILLIS_PER_DAY) as u64;
    tell(&options.place, &Question::Pin { url: options.url.clone(), every_ms })
}

/// `freshet pause`.
pub(crate) fn pause(options: &PauseOptions) -> Result<()> {
    tell(&options.place, &Question::Pause { site: options.site.clone(), paused: !options.resume })
}

pub(super) fn show(place: &Place, question: &Question) -> Result<()> {
    let answer = ask(&place.dir, question)?;
    show_answer(place, answer)
}

/// Prints an answer. Fails with the reason if there is none.
pub(super) fn show_answer(place: &Place, answer: Answer) -> Result<()> {
    let mut output = io::stdout().lock();
    if let Answer::Unknown(why) = &answer {
        bail!("{why}");
    }
    if place.json {
        writeln!(output, "{}", json(&answer)?)?;
        return Ok(());
    }
    match answer {
        Answer::Status(status) => writeln!(output, "{}", screen::screen(&status))?,
        Answer::Pages(pages) => writeln!(output, "{}", page_table(&pages))?,
        Answer::Explain(account) => write!(output, "{}", explained(&account))?,
        Answer::Changes(changes) => {
            changes.iter().try_for_each(|change| writeln!(output, "{}", change_line(change)))?;
        }
        Answer::Cat(copy) => output.write_all(copy.content.as_bytes())?,
        Answer::Diff(earlier, later) => diff::show(&mut output, &earlier, &later)?,
        Answer::Audit(report) => audit::show(&mut output, &report)?,
        Answer::Done(what) => writeln!(output, "{what}")?,
        // No command here asks for these.
        Answer::Turn | Answer::NoTurn | Answer::Opening(_) | Answer::Past(_) | Answer::Unknown(_) => {}
    }
    Ok(())
}

/// The content of an answer, without the name of its variant.
fn json(answer: &Answer) -> Result<String> {
    let value = serde_json::to_value(answer)?;
    let inner = value.as_object().and_then(|object| object.values().next().cloned());
    Ok(serde_json::to_string_pretty(&inner.unwrap_or(value))?)
}

/// Queries the process that crawls or, if none answers, the files of the crawl.
pub(crate) fn ask(directory: &Path, question: &Question) -> Result<Answer> {
    must_be_crawl(directory)?;
    let in_directory = || format!("cannot ask the crawl in {}", directory.display());
    match query_socket::ask(directory, question).with_context(in_directory)? {
        Reply::Answer(answer) => Ok(answer),
        Reply::Opening(part) if *question == Question::Status => {
            let mut answer = ask_files(directory, question)?;
            if let Answer::Status(status) = &mut answer {
                status.process = Process::Opening;
                status.limit = format!("the crawl is being opened: {:.0}% is done", 100.0 * part);
            }
            Ok(answer)
        }
        Reply::Opening(_) | Reply::Frozen(_) | Reply::Forbidden | Reply::Nobody => {
            ask_files(directory, question)
        }
    }
}

/// Sends a change to the process that crawls or, if none runs, applies it to the files.
fn tell(place: &Place, question: &Question) -> Result<()> {
    must_be_crawl(&place.dir)?;
    let in_directory = || format!("cannot tell the crawl in {}", place.dir.display());
    let reply =
        query_socket::ask(&place.dir, question).and_then(Reply::required).with_context(in_directory)?;
    let answer = match reply {
        Some(answer) => answer,
        None => {
            warn_of_conversion(&place.dir);
            change(&settings_to_go_on(&place.dir)?, question).with_context(in_directory)?
        }
    };
    show_answer(place, answer)
}

/// Fails if the directory holds no crawl.
pub(super) fn must_be_crawl(directory: &Path) -> Result<()> {
    // A directory that this user may not search may still hold a crawl.
    match fs::metadata(directory.join("FORMAT")) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(error).with_context(|| format!("cannot look into {}", directory.display()));
        }
        _ => {}
    }
    refuse_odd_files(directory)?;
    if !is_crawl(directory) {
        bail!(
            "{} holds no crawl: begin one with freshet crawl, or name its directory with --dir",
            directory.display()
        );
    }
    Ok(())
}

/// The settings with which a crawl continues, including its saved options. Seeds and pins are left out: the
/// crawl has them already.
pub(super) fn settings_to_go_on(directory: &Path) -> Result<Settings> {
    let mut settings = config_of(directory, None)?.settings(directory)?;
    settings.seeds.clear();
    settings.pins.clear();
    Ok(settings)
}

/// The settings for reading a crawl, without saved options: how it last ran is in its files.
pub(super) fn settings_of(directory: &Path) -> Result<Settings> {
    let beside = directory.join("freshet.toml");
    let config = if beside.is_file() { Config::read(&beside)? } else { Config::default() };
    let mut settings = config.settings(directory)?;
    settings.seeds.clear();
    settings.pins.clear();
    Ok(settings)
}

/// Queries the files of a crawl.
fn ask_files(directory: &Path, question: &Question) -> Result<Answer> {
    stopped::ask(settings_of(directory)?, question)
        .with_context(|| format!("cannot read the crawl in {}", directory.display()))
}

/// Parses a time given by a user.
pub(super) fn parse_moment(text: &str) -> Result<i64> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(moment.as_millisecond());
    }
    // A date without a time means the end of that day: what the page said last on that day.
    let civil = if text.contains(':') {
        text.replace(' ', "T").parse::<jiff::civil::DateTime>()
    } else {
        text.parse::<jiff::civil::Date>().map(|date| date.at(23, 59, 59, 999_000_000))
    };
    let zoned = civil.ok().and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC).ok());
    match zoned {
        Some(zoned) => Ok(zoned.timestamp().as_millisecond()),
        None => bail!("`{text}` is no moment: write 2026-11-16 or 2026-11-16T12:00:00Z"),
    }
}

fn importance_from(account: &Account) -> String {
    account.likeness.map_or_else(
        || "links and depth".to_owned(),
        |likeness| format!("its likeness to the topic, {likeness:.2} of 1"),
    )
}

fn change_line(change: &ChangeLine) -> String {
    let kinds = if change.kinds.is_empty() { "text".to_owned() } else { change.kinds.replace(' ', ", ") };
    let size = change.size.map_or(String::new(), |size| format!(" ({:.0}%: {kinds})", 100.0 * size));
    let to = change.to.as_ref().map_or(String::new(), |to| format!(" to {to}"));
    format!("{}  {:8} {}{size}{to}", moment(change.time_ms), change.what, change.url)
}

fn page_table(pages: &[PageLine]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["next visit", "changes/day", "changed?", "visits", "changes", "importance", "page"]);
    for page in pages {
        let next = match page.next_visit_days {
            _ if !page.note.is_empty() => page.note.clone(),
            Some(days) => format!("in {}", span(days)),
            None => String::new(),
        };
        table.add_row([
            next,
            page.rate.map_or(String::new(), |rate| format!("{rate:.4}")),
            page.changed_probability
                .map_or(String::new(), |probability| format!("{:.0}%", 100.0 * probability)),
            page.visits.to_string(),
            page.changes.to_string(),
            format!("{:.2}", page.importance),
            page.url.clone(),
        ]);
    }
    table
}

fn explained(account: &Account) -> String {
    let time = |millis: Option<i64>| millis.map_or("never".to_owned(), moment);
    let mut lines = vec![
        account.url.clone(),
        format!("  standing    {}", account.standing),
        format!(
            "  found       {} by {}{}",
            time(account.discovered_ms),
            account.source,
            account.found_on.as_ref().map_or(String::new(), |page| format!(" on {page}"))
        ),
        format!(
            "  place       {} links from a seed; {} pages we hold link to it{}",
            account.depth,
            account.linked_from,
            if account.anchor.is_empty() {
                String::new()
            } else {
                format!("; called “{}”", account.anchor)
            }
        ),
        format!("  robots      {}", account.robots),
        format!(
            "  visits      {} ({} changes), first {}, last {}",
            account.visits,
            account.changes,
            time(account.first_visit_ms),
            time(account.last_visit_ms)
        ),
        format!(
            "  last change {}; last status {}{}",
            time(account.last_change_ms),
            account.status,
            if account.failures > 0 {
                format!("; {} failures in a row", account.failures)
            } else {
                String::new()
            }
        ),
        format!(
            "  importance  {:.3} (one on average; from {})",
            account.importance,
            importance_from(account)
        ),
    ];
    if let Some((rate, low, high)) = account.rate {
        lines.push(format!("  rate        {rate:.4} changes a day (95%: {low:.4} to {high:.4})"));
    }
    if let Some(probability) = account.changed_probability {
        lines.push(format!("  changed?    {:.1}% likely since the last visit", 100.0 * probability));
    }
    if let Some((directory, site)) = account.clocks {
        lines.push(format!(
            "  clocks      its directory runs at {directory:.2} of its usual speed, its site at {site:.2}"
        ));
    }
    if let Some((index, threshold)) = account.index {
        lines.push(format!("  index       {index:.4} now; visited at {threshold:.4}"));
    }
    if let Some(days) = account.next_visit_days {
        lines.push(format!("  next visit  expected in {}", span(days)));
    }
    if account.paused {
        lines.push("  paused      its site is not visited until `freshet pause SITE --resume`".to_owned());
    }
    if let Some(every) = account.pinned_every_ms {
        lines.push(format!("  pinned      every {}", span(every as f64 / MILLIS_PER_DAY)));
    }
    let validators = [
        account.etag.as_ref().map(|tag| format!("ETag {tag}")),
        account.last_modified.as_ref().map(|date| format!("Last-Modified {date}")),
    ];
    let validators: Vec<String> = validators.into_iter().flatten().collect();
    if !validators.is_empty() {
        let trust = match account.last_modified {
            _ if account.validators_lied > 0 => "; found to lie, not trusted",
            Some(_) if account.dates_are_believed => "; the dates of its site are believed",
            _ => "",
        };
        lines.push(format!(
            "  validators  {}; {} times not modified{trust}",
            validators.join(", "),
            account.not_modified
        ));
    }
    if !account.definition.is_empty() {
        lines.push(format!("  changed if  {} differs", account.definition));
    }
    for part in &account.ephemeral {
        let learned = if part.learned_here { "learned here" } else { "learned on pages like it" };
        let (element, number) = (&part.element, part.number);
        let place =
            if element.is_empty() { format!("line {number}") } else { format!("{element}, {number}.") };
        lines
            .push(format!("  not counted “{}” ({place}; {learned}, {} second looks)", part.text, part.looks));
    }
    if !account.versions_ms.is_empty() {
        lines.push(format!(
            "  versions    {} kept, from {} to {}",
            account.versions_ms.len(),
            time(account.versions_ms.first().copied()),
            time(account.versions_ms.last().copied())
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_means_its_end() {
        let day = parse_moment("2026-11-16").unwrap();
        assert_eq!(day, parse_moment("2026-11-16 23:59:59.999").unwrap());
        assert_eq!(day - parse_moment("2026-11-16T00:00:00Z").unwrap(), 86_399_999);
        assert!(parse_moment("soon").is_err());
    }
}
