//! The past of text databases, read and compared once for all exhibits.
//!
//! # Promises
//! - What is read are the tables of one folder; an error names what is wrong with them.
//! - The same seed gives the same samples.

use std::path::Path;

use anyhow::Result;
use freshet_text::weeks::contest::Contest;
use freshet_text::weeks::drift::Drift;
use freshet_text::weeks::lives::{Features, Life, Observation, features, lives};
use freshet_text::weeks::tables::read_tables;

/// Number of weeks from which the features of a database are taken.
pub(super) const TRAINING: usize = 10;

/// How far lifetimes of summaries look back, in weeks.
const REACH: usize = 52;

/// Documents in a sample, as in **summary**.
pub(super) const SAMPLE: u32 = 300;

/// Number of samples averaged.
const SAMPLES: u32 = 2;

/// The past of the databases.
#[derive(Debug)]
pub(super) struct TextDatabases {
    /// Complete summaries compared with complete ones.
    pub(super) complete: Vec<Drift>,
    /// Samples compared with complete summaries.
    pub(super) sampled: Vec<Drift>,
    pub(super) observation: Observation,
    pub(super) features: Vec<Features>,
    pub(super) lives: Vec<Life>,
    /// Divergence, in nats, at which a summary counts as changed: the middle one of the thresholds observed.
    pub(super) threshold: f64,
    /// Plans made from complete summaries.
    pub(super) contest: Contest,
}

impl TextDatabases {
    /// Reads the tables of a folder. `progress` is told the share that is done.
    pub(super) fn read(folder: &Path, seed: u64, progress: impl Fn(f64)) -> Result<Self> {
        let chronicles = read_tables(folder)?;
        let (mut complete, mut sampled) = (Vec::new(), Vec::new());
        for (number, chronicle) in chronicles.iter().enumerate() {
            complete.push(Drift::complete(chronicle, usize::MAX));
            sampled.push(Drift::sampled(chronicle, usize::MAX, SAMPLE, SAMPLES, seed));
            progress((number + 1) as f64 / (chronicles.len() + 1) as f64);
        }
        let observation = Observation::of(&complete, TRAINING, Some(REACH), None)?;
        let (features, lives) = (features(&complete, TRAINING), lives(&complete, &observation));
        let threshold = observation.thresholds[observation.thresholds.len() / 2];
        let contest = Contest::of(&complete, &observation, &features, &lives, threshold);
        Ok(Self { complete, sampled, observation, features, lives, threshold, contest })
    }

    /// What it is, in a sentence.
    pub(super) fn about(&self) -> String {
        let weeks = self.complete.iter().map(Drift::weeks).max().unwrap_or(0);
        format!("{} sites over {weeks} weeks.", self.complete.len())
    }
}
