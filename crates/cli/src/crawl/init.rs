//! `freshet init` and `freshet check-config`: writes the configuration file with every default, and
//! checks it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use super::config::{Config, TEMPLATE};

/// Write a configuration file with every setting and its default
#[derive(Args)]
pub(crate) struct InitOptions {
    /// The file to write; an existing one is left alone
    #[arg(default_value = "freshet.toml", value_name = "FILE")]
    file: PathBuf,
}

/// Check a configuration file
#[derive(Args)]
pub(crate) struct CheckOptions {
    /// The file to check
    #[arg(default_value = "freshet.toml", value_name = "FILE")]
    file: PathBuf,
}

/// Writes the template.
pub(crate) fn init(options: &InitOptions) -> Result<()> {
    let path = options.file.display();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&options.file)
        .with_context(|| format!("cannot write {path}; an existing file is never overwritten"))?;
    file.write_all(TEMPLATE.as_bytes()).with_context(|| format!("cannot write {path}"))?;
    writeln!(
        io::stdout(),
        "{path} is written: name seeds and a contact in it, then: freshet crawl --config {path}"
    )?;
    Ok(())
}

/// Checks a file.
pub(crate) fn check(options: &CheckOptions) -> Result<()> {
    let config = Config::read(&options.file)?;
    writeln!(
        io::stdout(),
        "{} is good: {} seeds, {} sites with rules",
        options.file.display(),
        config.seeds.len(),
        config.site.len()
    )?;
    Ok(())
}
