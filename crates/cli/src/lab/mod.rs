//! `freshet lab`: measures policies on recorded histories, reproduces the papers, makes histories, and serves
//! a living web to crawl.
//!
//! In reading order:
//! - [`source`]: where a history comes from, tables or a crawl; [`answer`]: how answers are given;
//! - [`replay`]: `freshet lab replay`, with its answers as [`replay_text`], [`replay_json`] and
//!   [`replay_figures`];
//! - [`evolution`]: `freshet lab evolution`, with its answers as [`evolution_text`] and [`evolution_json`];
//! - [`report`]: `freshet lab report`;
//! - [`history`]: `freshet lab history`;
//! - [`web`]: `freshet lab web`.

mod answer;
mod evolution;
mod evolution_json;
mod evolution_text;
mod history;
mod replay;
mod replay_figures;
mod replay_json;
mod replay_text;
mod report;
mod source;
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
