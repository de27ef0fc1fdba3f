//! The past of text databases: versions in the summary store, or tables of weekly document frequencies.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use freshet_text::weeks::chronicle::Chronicle;
use freshet_text::weeks::drift::Drift;
use freshet_text::weeks::from_summary_store::read_chronicle;
use freshet_text::weeks::tables::read_tables;

use super::home::Home;

/// Where the past comes from.
#[derive(Args)]
pub(super) struct Past {
    /// A directory with df.parquet and weeks.parquet instead of the databases: document frequencies week by
    /// week
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Of tables: as samples of so many documents would have seen it, instead of complete summaries
    #[arg(long, value_name = "N", requires = "data")]
    sample: Option<u32>,

    /// Samples that are averaged
    #[arg(long, default_value_t = 5, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    samples: u32,

    /// Seed of the samples
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

impl Past {
    /// Whether it comes from tables.
    pub(super) fn is_of_tables(&self) -> bool {
        self.data.is_some()
    }

    /// Describes where the past comes from.
    pub(super) fn words(&self) -> String {
        match (&self.data, self.sample) {
            (Some(data), Some(sample)) => {
                format!("{} as seen by {} samples of {sample} documents a week", data.display(), self.samples)
            }
            (Some(data), None) => format!("{}, complete summaries", data.display()),
            (None, _) => "the databases' own versions".to_owned(),
        }
    }

    /// Compares old summaries with current ones, up to this age in weeks.
    pub(super) fn drifts(&self, home: &Home, age_max: usize) -> Result<Vec<Drift>> {
        let chronicles = self.chronicles(home)?;
        let bar = crate::progress::steps("databases compared with their past", chronicles.len() as u64);
        let drift = |chronicle: &Chronicle| {
            let drift = match self.sample {
                Some(sample) => Drift::sampled(chronicle, age_max, sample, self.samples, self.seed),
                None => Drift::complete(chronicle, age_max),
            };
            bar.inc(1);
            drift
        };
        let drifts = chronicles.iter().map(drift).collect();
        bar.finish_and_clear();
        Ok(drifts)
    }

    fn chronicles(&self, home: &Home) -> Result<Vec<Chronicle>> {
        if let Some(data) = &self.data {
            return Ok(read_tables(data)?);
        }
        let store = home.store();
        let mut chronicles = Vec::new();
        for name in home.names()? {
            chronicles.extend(read_chronicle(&store, &name)?);
        }
        if chronicles.is_empty() {
            bail!(
                "no database has versions a week apart yet: sample them again later, or name tables with \
                 --data; a plan by the published model needs no past"
            );
        }
        Ok(chronicles)
    }
}

/// Positive numbers, given by a user as a comma-separated list.
#[derive(Clone, Debug)]
pub(super) struct Numbers(pub(super) Vec<f64>);

/// Parses a comma-separated list of positive numbers.
pub(super) fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let number =
        |part: &str| part.trim().parse::<f64>().ok().filter(|number| 0.0 < *number && number.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers
        .map(Numbers)
        .ok_or_else(|| "write numbers above zero with commas between, such as 0.1,0.25,0.5".to_owned())
}
