//! `freshet fsck`: checks the files of a crawl, and repairs them.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use freshet_crawl::clock::wall_now;
use freshet_store::check::{Findings, check_directory};
use freshet_store::repair::{Repaired, repair};
use serde_json::{Value, json};

use super::run::warn_of_conversion;
use super::words::count;

/// Exit code if the check could not be made.
const COULD_NOT_CHECK: u8 = 2;

/// Check every file of a crawl, and repair what is damaged
///
/// Reads every record, every page and every file of the history, and follows what refers to another thing.
/// Flipped bytes, files that were cut and files that are missing are named with what they held. Without
/// --repair nothing is altered.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct FsckOptions {
    /// The directory of the crawl; to be repaired it must not be running
    #[arg(default_value = "crawl", value_name = "DIR")]
    directory: PathBuf,

    /// The same, said as other commands have it
    #[arg(long, value_name = "DIR", conflicts_with = "directory")]
    dir: Option<PathBuf>,

    /// Make it whole again: keep all that is intact, put aside what must go (in DIR/aside)
    #[arg(long)]
    repair: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl FsckOptions {
    fn directory(&self) -> &Path {
        self.dir.as_deref().unwrap_or(&self.directory)
    }
}

const AFTER_HELP: &str =
    "Exit code: 0 nothing is wrong (or all of it was repaired), 1 something is, 2 it could not be checked.

Examples:
  freshet fsck
  freshet fsck crawl --repair
  freshet fsck crawl --json | jq '.faults[]'";

/// Runs the command. The exit code says whether the files are whole.
pub(crate) fn run(options: &FsckOptions) -> ExitCode {
    match examine(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "this is where errors reach the user")]
            {
                eprintln!("freshet: {error:#}");
            }
            ExitCode::from(COULD_NOT_CHECK)
        }
    }
}

/// Checks, repairs if asked to, and prints the findings. Returns whether nothing is wrong any more.
fn examine(options: &FsckOptions) -> Result<bool> {
    let directory = options.directory();
    // A directory in an earlier format is converted by the repair, and not checked before.
    let is_converted = options.repair && warn_of_conversion(directory);
    let found = if is_converted { Ok(Findings::default()) } else { check_directory(directory) };
    let found = found.with_context(|| format!("cannot check the crawl in {}", directory.display()))?;
    let repaired = if options.repair && (is_converted || !found.is_clean()) {
        let repaired = repair(directory, wall_now())
            .with_context(|| format!("cannot repair the crawl in {}", directory.display()))?;
        Some(repaired)
    } else {
        None
    };
    let is_clean = repaired.as_ref().map_or(&found, |repaired| &repaired.findings).is_clean();
    let mut output = io::stdout().lock();
    if options.json {
        let text = serde_json::to_string_pretty(&in_json(&found, repaired.as_ref()))?;
        writeln!(output, "{text}")?;
    } else {
        write!(output, "{}", in_words(options, &found, repaired.as_ref()))?;
    }
    Ok(is_clean)
}

fn in_words(options: &FsckOptions, found: &Findings, repaired: Option<&Repaired>) -> String {
    let mut lines: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
    let unlisted = found.fault_count - found.faults.len() as u64;
    if unlisted > 0 {
        lines.push(format!("and {} more", count(unlisted)));
    }
    lines.extend(
        found.leftovers.iter().map(|left| format!("{left} (left by a stop; goes at the next start)")),
    );
    if let Some(repaired) = repaired {
        lines.extend(repaired.done.iter().map(|step| format!("repaired: {step}")));
        if repaired.versions_lost + repaired.visits_lost > 0 {
            lines.push(format!(
                "lost: {} versions of pages, {} visits",
                count(repaired.versions_lost),
                count(repaired.visits_lost)
            ));
        }
        if let Some(aside) = &repaired.aside {
            lines.push(format!("what had to go is in {}", aside.display()));
        }
        lines.extend(repaired.findings.faults.iter().map(|fault| format!("still wrong: {fault}")));
    }
    let Findings { urls, pages, records, visits, .. } = repaired.map_or(found, |repaired| &repaired.findings);
    let directory = options.directory().display();
    lines.push(match repaired {
        None if found.is_clean() => format!(
            "{directory} is whole: {} URLs, {} pages, {} records of the Collection, {} visits",
            count(*urls),
            count(*pages),
            count(*records),
            count(*visits)
        ),
        None => format!(
            "{directory} is damaged: {} faults; freshet fsck {directory} --repair keeps what is intact",
            count(found.fault_count)
        ),
        Some(repaired) if repaired.findings.is_clean() => format!(
            "{directory} is whole again: {} URLs, {} pages, {} records of the Collection, {} visits",
            count(*urls),
            count(*pages),
            count(*records),
            count(*visits)
        ),
        Some(_) => format!("{directory} could not be made whole"),
    });
    lines.push(String::new());
    lines.join("\n")
}

fn in_json(found: &Findings, repaired: Option<&Repaired>) -> Value {
    let mut value = findings_in_json(found);
    if let Some(repaired) = repaired {
        value["repaired"] = json!({
            "done": repaired.done,
            "aside": repaired.aside,
            "versions_lost": repaired.versions_lost,
            "visits_lost": repaired.visits_lost,
            "afterwards": findings_in_json(&repaired.findings),
        });
    }
    value
}

fn findings_in_json(found: &Findings) -> Value {
    let faults: Vec<Value> = found
        .faults
        .iter()
        .map(|fault| json!({"place": fault.place, "problem": fault.problem, "holds": fault.holds}))
        .collect();
    json!({
        "clean": found.is_clean(),
        "faults": faults,
        "fault_count": found.fault_count,
        "leftovers": found.leftovers,
        "urls": found.urls,
        "pages": found.pages,
        "records": found.records,
        "visits": found.visits,
    })
}
