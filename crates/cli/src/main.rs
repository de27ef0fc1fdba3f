//! Freshet: keeps a local copy of the Web fresh on a fixed download budget.
//!
//! This crate is the only one that reads the command line and prints. It holds no rule of crawling.

mod crawl;
mod db;
mod eval;
mod file_limit;
mod lab;
mod pending_file;
mod plan;
mod progress;
mod span;

use std::process::ExitCode;
use std::{io, panic};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use freshet_protocol::containment::is_quiet;

/// Global allocator. Pages are allocated by many threads and freed by one; an allocator built for this takes
/// less of a crawl's time and memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps a local copy of the Web fresh on a fixed download budget.
#[derive(Parser)]
#[command(name = "freshet", version, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Crawl(Box<crawl::run::CrawlOptions>),
    Status(crawl::ask::StatusOptions),
    Pages(crawl::ask::PagesOptions),
    Explain(crawl::ask::ExplainOptions),
    Changes(crawl::ask::ChangesOptions),
    Cat(crawl::ask::CatOptions),
    Diff(crawl::diff::DiffOptions),
    Audit(crawl::audit::AuditOptions),
    Pin(crawl::ask::PinOptions),
    Pause(crawl::ask::PauseOptions),
    Fsck(crawl::fsck::FsckOptions),
    Export(crawl::export::ExportOptions),
    Import(crawl::import::ImportOptions),
    Demo(crawl::demo::DemoOptions),
    Db(Box<db::DbOptions>),
    Init(crawl::init::InitOptions),
    CheckConfig(crawl::init::CheckOptions),
    Eval(eval::EvalOptions),
    Lab(Box<lab::LabOptions>),
    Plan(Box<plan::PlanOptions>),
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    file_limit::let_writes_fail();
    leave_out_quiet_panics();
    if let Command::Fsck(options) = &command_line.command {
        return crawl::fsck::run(options);
    }
    match run(command_line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if reader_went_away(&error) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "this is where errors reach the user")]
            {
                eprintln!("freshet: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(command_line: CommandLine) -> anyhow::Result<()> {
    match command_line.command {
        Command::Crawl(options) => crawl::run::run(&options),
        Command::Status(options) => crawl::ask::status(&options),
        Command::Pages(options) => crawl::ask::pages(&options),
        Command::Explain(options) => crawl::ask::explain(&options),
        Command::Changes(options) => crawl::ask::changes(&options),
        Command::Cat(options) => crawl::ask::cat(&options),
        Command::Diff(options) => crawl::diff::diff(&options),
        Command::Audit(options) => crawl::audit::audit(&options),
        Command::Pin(options) => crawl::ask::pin(&options),
        Command::Pause(options) => crawl::ask::pause(&options),
        Command::Fsck(_) => Ok(()),
        Command::Export(options) => crawl::export::run(&options),
        Command::Import(options) => crawl::import::run(&options),
        Command::Demo(options) => crawl::demo::run(&options),
        Command::Db(options) => db::run(&options),
        Command::Init(options) => crawl::init::init(&options),
        Command::CheckConfig(options) => crawl::init::check(&options),
        Command::Eval(options) => eval::run(&options).context("cannot evaluate the input"),
        Command::Lab(options) => lab::run(&options),
        Command::Plan(options) => plan::run(&options),
    }
}

/// Prints nothing of panics that tell a user nothing: of a decoder that was given a damaged file. The error
/// that names the file does.
fn leave_out_quiet_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !is_quiet() {
            print(panic);
        }
    }));
}

/// Whether the error is a broken pipe. `freshet ... | head` closes our output early; that is the reader's
/// choice and not a failure.
fn reader_went_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
