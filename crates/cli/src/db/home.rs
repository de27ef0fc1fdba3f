//! Where text databases are kept, and how times and numbers are formatted.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use freshet_protocol::time::Timestamp;
use freshet_text::summary_store::SummaryStore;
use freshet_text::version::Size;

/// Where databases are kept, and how to answer.
#[derive(Args)]
pub(crate) struct Home {
    /// The directory of the crawl; databases are kept in its folder db/
    #[arg(long = "home", default_value = "crawl", value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Home {
    /// The summary store of the directory.
    pub(crate) fn store(&self) -> SummaryStore {
        SummaryStore::in_directory(&self.directory)
    }

    /// The names of all databases. Fails if there are none, and says what to do.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let names = self.store().names()?;
        if names.is_empty() {
            bail!(
                "there is no database in {}: `freshet db add` adds one",
                self.store().directory().display()
            );
        }
        Ok(names)
    }
}

/// Parses a time given by a user. A date means the end of that day.
pub(crate) fn parse_moment(text: &str) -> Result<Timestamp, String> {
    let iso = match text.len() {
        10 => format!("{text}T23:59:59.999Z"),
        _ if text.ends_with('Z') => text.replace(' ', "T"),
        _ => format!("{}Z", text.replace(' ', "T")),
    };
    Timestamp::from_iso(&iso)
        .ok_or_else(|| "it is no moment: write 2026-11-16 or 2026-11-16T12:00:00Z".to_owned())
}

/// Formats a time for people.
pub(crate) fn moment(time: Timestamp) -> String {
    time.iso().replace('T', " ").chars().take(19).collect()
}

/// Formats the size of a database and the number of its words.
pub(crate) fn extent(of: Size, words: usize) -> String {
    let words = documents(words as f64);
    match of {
        Size::Unknown => format!("an unknown number of documents, {words} different words"),
        known => format!("{} documents, {words} different words", size(known)),
    }
}

/// Formats a number of documents.
pub(crate) fn documents(number: f64) -> String {
    if number < 10.0 && number.fract() != 0.0 {
        return format!("{number:.1}");
    }
    crate::plan::quantity::grouped(number.round() as usize)
}

/// Formats a size, with its uncertainty if it is an estimate.
pub(crate) fn size(size: Size) -> String {
    match size {
        Size::Counted(counted) => documents(counted),
        Size::Estimated { documents: estimated, low, high } => {
            format!("about {} ({} to {})", documents(estimated), documents(low), documents(high))
        }
        Size::Unknown => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_written() {
        let time = parse_moment("2026-11-16 12:30:00").expect("a moment");
        assert_eq!(moment(time), "2026-11-16 12:30:00");
        assert_eq!(moment(parse_moment("2026-11-16").expect("a day")), "2026-11-16 23:59:59");
        assert!(parse_moment("soon").is_err());
    }
}
