//! `freshet db compare`: measures how far a summary has drifted.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_protocol::time::Timestamp;
use freshet_text::summary::Turnover;
use freshet_text::version::Version;
use serde_json::json;

use super::home::{Home, documents, moment, parse_moment};

/// Compare two versions of a database's summary: recall, precision, divergence, the words that came and went
#[derive(Args)]
#[command(after_help = "Example:\n  freshet db compare docs --from 2026-10-01 --to 2026-11-01")]
pub(crate) struct CompareOptions {
    /// The database
    name: String,

    /// The old version: the newest not later than this; the oldest if nothing is said
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Timestamp>,

    /// The current version: the newest not later than this; the newest of all if nothing is said
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Timestamp>,

    /// Compare with another database instead, such as the complete one that a sample was taken of
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    with: Option<String>,

    /// How many of the words that came and went
    #[arg(long, default_value_t = 10, value_name = "N")]
    words: usize,

    #[command(flatten)]
    home: Home,
}

/// Runs the command.
pub(crate) fn run(options: &CompareOptions) -> Result<()> {
    let (old, current) = versions(options)?;
    let comparison = old.summary.compare(&current.summary);
    let Turnover { came, went } = old.summary.came_and_went(&current.summary);
    let mut output = io::stdout().lock();
    if options.home.json {
        let words = |words: &[(&str, f64)]| {
            words.iter().take(options.words).map(|(word, _)| (*word).to_owned()).collect::<Vec<_>>()
        };
        let value = json!({
            "name": options.name,
            "from_ms": old.facts.time_ms,
            "to_ms": current.facts.time_ms,
            "recall": comparison.recall,
            "weighted_recall": comparison.weighted_recall,
            "precision": comparison.precision,
            "weighted_precision": comparison.weighted_precision,
            "divergence": comparison.divergence,
            "documents": [old.summary.documents(), current.summary.documents()],
            "came": words(&came),
            "came_in_all": came.len(),
            "went": words(&went),
            "went_in_all": went.len(),
        });
        writeln!(output, "{value}")?;
        return Ok(());
    }
    let share = |share: Option<f64>| share.map_or("not defined".to_owned(), |share| format!("{share:.4}"));
    writeln!(
        output,
        "{}: {} against {}",
        options.name,
        moment(old.facts.time()),
        moment(current.facts.time())
    )?;
    writeln!(
        output,
        "documents  {} then, {} now",
        documents(old.summary.documents()),
        documents(current.summary.documents())
    )?;
    writeln!(
        output,
        "recall     {} weighted, {} unweighted",
        share(comparison.weighted_recall),
        share(comparison.recall)
    )?;
    writeln!(
        output,
        "precision  {} weighted, {} unweighted",
        share(comparison.weighted_precision),
        share(comparison.precision)
    )?;
    writeln!(output, "KL         {} nats", share(comparison.divergence))?;
    for (what, words) in [("came", &came), ("went", &went)] {
        let told: Vec<String> =
            words.iter().take(options.words).map(|(word, f)| format!("{word} ({})", documents(*f))).collect();
        writeln!(output, "{what}       {} words: {}", documents(words.len() as f64), told.join(", "))?;
    }
    Ok(())
}

fn versions(options: &CompareOptions) -> Result<(Version, Version)> {
    let store = options.home.store();
    store.database(&options.name)?;
    let times = store.times(&options.name)?;
    let latest = Timestamp::from_millis(i64::MAX);
    if let Some(other) = &options.with {
        store.database(other)?;
        let none =
            |name: &str| format!("there is no summary of {name} yet: `freshet db sample {name}` learns it");
        let old = store.version_at(&options.name, options.to.unwrap_or(latest))?;
        let current = store.latest(other)?;
        return Ok((old.with_context(|| none(&options.name))?, current.with_context(|| none(other))?));
    }
    if times.len() < 2 {
        bail!(
            "{0} has {1} versions: a comparison needs two; `freshet db sample {0}` makes another",
            options.name,
            times.len()
        );
    }
    let from = options.from.unwrap_or(times[0]);
    let missing = |what: &str| format!("there is no summary of {} as old as {what}", options.name);
    let old = store.version_at(&options.name, from)?.with_context(|| missing("--from"))?;
    let current =
        store.version_at(&options.name, options.to.unwrap_or(latest))?.with_context(|| missing("--to"))?;
    Ok((old, current))
}
