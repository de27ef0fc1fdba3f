//! `freshet lab`: measures policies on recorded histories, reproduces the papers, makes histories, and serves
//! a living web to crawl.
//!
//! In reading order:
//! - [`progress`]: the progress line;
//! - [`source`]: reads a history from tables or a crawl;
//! - [`replay`]: `freshet lab replay`; [`replay_text`], [`replay_json`], [`replay_figures`]: its output;
//! - [`evolution`]: `freshet lab evolution`; [`evolution_text`], [`evolution_json`]: its output;
//! - [`report`]: `freshet lab report`;
//! - [`summary`]: its chapter on text databases;
//! - [`history`]: `freshet lab history`;
//! - [`web`]: `freshet lab web`.

mod evolution;
mod evolution_json;
mod evolution_text;
mod history;
pub(crate) mod progress;
mod replay;
mod replay_figures;
mod replay_json;
mod replay_text;
mod report;
mod source;
mod summary;
mod web;

use clap::{Args, Subcommand};

/// Measure policies on recorded histories of pages, reproduce the texts, make such histories, and serve a
/// living web to crawl
#[derive(Args)]
pub(crate) struct LabOptions {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Subcommand)]
enum LabCommand {
    Replay(replay::ReplayOptions),
    Evolution(evolution::EvolutionOptions),
    Report(report::ReportOptions),
    History(history::HistoryOptions),
    Web(web::WebOptions),
}

/// Runs a command of the lab.
pub(crate) fn run(options: &LabOptions) -> anyhow::Result<()> {
    match &options.command {
        LabCommand::Replay(options) => replay::run(options),
        LabCommand::Evolution(options) => evolution::run(options),
        LabCommand::Report(options) => report::run(options),
        LabCommand::History(options) => history::run(options),
        LabCommand::Web(options) => web::run(options),
    }
}
