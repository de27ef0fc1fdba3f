//! `freshet db select`: ranks the databases for a query.

use std::io::{self, Write as _};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{Table, presets};
use freshet_text::select::{Algorithm, Catalogue, Choice};
use serde_json::json;

use super::home::{Home, documents};

/// Say which databases to ask a query, the best first, and why
#[derive(Args)]
#[command(after_help = "Example:\n  freshet db select \"heart disease\" --top 3")]
pub(crate) struct SelectOptions {
    /// The words of the query
    query: String,

    #[command(flatten)]
    ranking: Ranking,

    #[command(flatten)]
    home: Home,
}

/// How databases are ranked, and how many are wanted.
#[derive(Args)]
pub(super) struct Ranking {
    /// How to rank
    #[arg(long, value_enum, default_value = "cori")]
    algorithm: AlgorithmChoice,

    /// How many databases at most
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(super) top: usize,
}

impl Ranking {
    /// The same ranking without a limit on the number of databases.
    pub(super) fn all(&self) -> Self {
        Self { algorithm: self.algorithm, top: usize::MAX }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum AlgorithmChoice {
    /// Inference network: frequent here, rare elsewhere
    Cori,
    /// Documents expected to hold all words
    Bgloss,
    /// Language models
    Kl,
}

/// Runs the command.
pub(crate) fn run(options: &SelectOptions) -> Result<()> {
    let choices = ranked(&options.home, &options.query, &options.ranking)?;
    let mut output = io::stdout().lock();
    if options.home.json {
        let lines: Vec<_> = choices
            .iter()
            .map(|choice| {
                json!({
                    "name": choice.name,
                    "score": choice.score,
                    "words": choice.words.iter().cloned().collect::<std::collections::BTreeMap<_, _>>()
                })
            })
            .collect();
        writeln!(output, "{}", serde_json::to_string(&lines)?)?;
        return Ok(());
    }
    if choices.is_empty() {
        writeln!(output, "no database has any of these words")?;
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["database", "score", "because"]);
    for choice in choices {
        let because: Vec<String> =
            choice.words.iter().map(|(word, f)| format!("{word} in {} documents", documents(*f))).collect();
        table.add_row([choice.name, format!("{:.4}", choice.score), because.join(", ")]);
    }
    writeln!(output, "{table}")?;
    Ok(())
}

/// The databases that hold words of the query, the best first.
pub(super) fn ranked(home: &Home, query: &str, ranking: &Ranking) -> Result<Vec<Choice>> {
    let mut catalogue = Catalogue::of(&home.store())?;
    if catalogue.is_empty() {
        home.names()?;
        bail!("no database has a summary yet: `freshet db sample NAME` learns one");
    }
    let algorithm = match ranking.algorithm {
        AlgorithmChoice::Cori => Algorithm::Cori,
        AlgorithmChoice::Bgloss => Algorithm::BGloss,
        AlgorithmChoice::Kl => Algorithm::Kl,
    };
    Ok(catalogue.select(query, algorithm, ranking.top)?)
}
