//! `freshet db show`: shows a summary, and how it was learned.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use clap::Args;
use comfy_table::{Table, presets};
use freshet_protocol::time::Timestamp;
use freshet_text::version::{Kind, Version};
use freshet_text::words::Wording;
use serde_json::json;

use super::home::{Home, documents, extent, moment, parse_moment};

/// Show the summary of a database: its size, its words, how it was learned and what could not be
#[derive(Args)]
pub(crate) struct ShowOptions {
    /// The database
    name: String,

    /// As it was known at this moment, such as 2026-11-16
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    at: Option<Timestamp>,

    /// How many words, the most frequent first; stop words are not shown
    #[arg(long, default_value_t = 40, value_name = "N")]
    words: usize,

    #[command(flatten)]
    home: Home,
}

/// Runs the command.
pub(crate) fn run(options: &ShowOptions) -> Result<()> {
    let store = options.home.store();
    store.database(&options.name)?;
    let moment = options.at.unwrap_or(Timestamp::from_millis(i64::MAX));
    let version = store.version_at(&options.name, moment)?.with_context(|| match options.at {
        Some(_) => format!("there is no summary of {} of that time", options.name),
        None => format!("there is no summary of {0} yet: `freshet db sample {0}` learns it", options.name),
    })?;
    describe(&options.home, &options.name, &version, options.words)
}

/// Prints a summary.
pub(super) fn describe(home: &Home, name: &str, version: &Version, words: usize) -> Result<()> {
    let summary = &version.summary;
    let english = Wording { stop_words: Some(freshet_text::words::Language::English), stemming: None };
    let mut frequent: Vec<(&str, f64)> = summary
        .words()
        .filter(|(word, _)| word.chars().nth(1).is_some() && !english.words(word).is_empty())
        .collect();
    frequent.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    frequent.truncate(words);
    let mut output = io::stdout().lock();
    if home.json {
        let words: serde_json::Map<_, _> =
            frequent.into_iter().map(|(word, f)| (word.to_owned(), json!(f))).collect();
        let value =
            json!({"name": name, "facts": version.facts, "different_words": summary.len(), "words": words});
        writeln!(output, "{value}")?;
        return Ok(());
    }
    let kind = match version.facts.kind {
        Kind::Complete => "all documents",
        Kind::Sample => "a sample",
    };
    let facts = &version.facts;
    writeln!(output, "{name}: {}", extent(facts.size, summary.len()))?;
    writeln!(
        output,
        "learned {} from {kind}: {} documents read",
        moment(facts.time()),
        documents(facts.documents_read as f64)
    )?;
    if let Some(sampling) = &facts.sampling {
        writeln!(
            output,
            "{} queries ({} without results, {} failed), {} requests, {} documents not readable; ended \
             because {}",
            sampling.queries,
            sampling.queries_without_results,
            sampling.queries_failed,
            sampling.requests,
            sampling.documents_failed,
            sampling.ended
        )?;
        sampling.failures.iter().try_for_each(|failure| writeln!(output, "  failed: {failure}"))?;
    }
    facts.notes.iter().try_for_each(|note| writeln!(output, "  {note}"))?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["word", "documents", "share"]);
    for (word, frequency) in frequent {
        let share = if summary.documents() > 0.0 { 100.0 * frequency / summary.documents() } else { 0.0 };
        table.add_row([word.to_owned(), documents(frequency), format!("{share:.1}%")]);
    }
    writeln!(output, "{table}")?;
    Ok(())
}
