//! `freshet db list`: lists the text databases.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::Args;
use comfy_table::{Table, presets};
use serde_json::json;

use super::home::{Home, documents, moment, size};

/// List the databases
#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    home: Home,
}

/// Lists the databases.
pub(crate) fn run(options: &ListOptions) -> Result<()> {
    let store = options.home.store();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["name", "what", "category", "documents", "words", "versions", "newest"]);
    let mut lines = Vec::new();
    for name in options.home.names()? {
        let database = store.database(&name)?;
        let versions = store.times(&name)?.len();
        let latest = store.latest(&name)?;
        lines.push(json!({
            "name": name,
            "kind": database.kind(),
            "category": database.stratum(),
            "versions": versions,
            "words": latest.as_ref().map(|version| version.summary.len()),
            "facts": latest.as_ref().map(|version| &version.facts),
        }));
        let told = latest.map_or([String::new(), String::new(), "never sampled".to_owned()], |version| {
            [size(version.facts.size), documents(version.summary.len() as f64), moment(version.facts.time())]
        });
        let [documents, words, newest] = told;
        table.add_row([
            name,
            database.kind().to_owned(),
            database.stratum(),
            documents,
            words,
            versions.to_string(),
            newest,
        ]);
    }
    let mut output = io::stdout().lock();
    if options.home.json {
        writeln!(output, "{}", serde_json::to_string(&lines)?)?;
    } else {
        writeln!(output, "{table}")?;
    }
    Ok(())
}
