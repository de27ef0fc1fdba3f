//! `freshet lab`: policies measured on recorded histories, and the making of histories.
//!
//! In reading order:
//! - [`span`]: spans of time as a user writes them;
//! - [`progress`]: what is shown meanwhile;
//! - [`replay`]: `freshet lab replay`, with its answers as [`replay_text`], [`replay_json`] and [`replay_figures`];
//! - [`history`]: `freshet lab history`.

mod history;
mod progress;
mod replay;
mod replay_figures;
mod replay_json;
mod replay_text;
mod span;

use clap::{Args, Subcommand};

/// Measure policies on recorded histories of pages, and make such histories
#[derive(Args)]
pub(crate) struct LabOptions {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Subcommand)]
enum LabCommand {
    Replay(replay::ReplayOptions),
    History(history::HistoryOptions),
}

/// Runs a command of the lab.
pub(crate) fn run(options: &LabOptions) -> anyhow::Result<()> {
    match &options.command {
        LabCommand::Replay(options) => replay::run(options),
        LabCommand::History(options) => history::run(options),
    }
}
