//! How answers of the lab are given: JSON or text on standard output, figures in a directory.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// An answer as it is wanted.
pub(super) enum Answer {
    /// For programs.
    Json(Value),
    /// For people.
    Text(String),
}

/// Prints an answer.
pub(super) fn print(answer: &Answer) -> Result<()> {
    let mut output = io::stdout().lock();
    match answer {
        Answer::Json(object) => {
            serde_json::to_writer_pretty(&mut output, object)?;
            writeln!(output)?;
        }
        Answer::Text(text) => output.write_all(text.as_bytes())?,
    }
    Ok(output.flush()?)
}

/// Writes figures, each to a file of its own, to a directory that is made if need be.
pub(super) fn write_figures(figures: Vec<(&'static str, String)>, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for (name, svg) in figures {
        let path = directory.join(name);
        fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
