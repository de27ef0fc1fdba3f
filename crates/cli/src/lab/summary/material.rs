//! The past of the databases, read and compared once for all exhibits.
//!
//! # Promises
//! - Only the folder `text` of the data directory is read; an error says what is wrong with it.
//! - The same seed gives the same samples.

use std::sync::OnceLock;

use anyhow::{Result, anyhow};
use freshet_lab::report::chapter::Progress;
use freshet_lab::report::sources::Sources;
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

/// The past of the databases, with what is learned from it.
pub(super) struct Material {
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

impl Material {
    /// Reads the data directory. A report has only one, which the first exhibit that asks reads.
    pub(super) fn of(sources: &Sources, progress: &Progress<'_>) -> Result<&'static Self> {
        static READ: OnceLock<Result<Material, String>> = OnceLock::new();
        let read = READ.get_or_init(|| Self::read(sources, progress).map_err(|error| format!("{error:#}")));
        read.as_ref().map_err(|why| anyhow!("{why}"))
    }

    /// Describes the data in a sentence.
    pub(super) fn about(&self) -> String {
        let weeks = self.complete.iter().map(Drift::weeks).max().unwrap_or(0);
        format!("{} sites over {weeks} weeks.", self.complete.len())
    }

    fn read(sources: &Sources, progress: &Progress<'_>) -> Result<Self> {
        let chronicles = read_tables(&sources.data()?.join("text"))?;
        let (mut complete, mut sampled) = (Vec::new(), Vec::new());
        for (number, chronicle) in chronicles.iter().enumerate() {
            complete.push(Drift::complete(chronicle, usize::MAX));
            sampled.push(Drift::sampled(chronicle, usize::MAX, SAMPLE, SAMPLES, sources.seed()));
            progress((number + 1) as f64 / (chronicles.len() + 1) as f64);
        }
        let observation = Observation::of(&complete, TRAINING, Some(REACH), None)?;
        let (features, lives) = (features(&complete, TRAINING), lives(&complete, &observation));
        let threshold = observation.thresholds[observation.thresholds.len() / 2];
        let contest = Contest::of(&complete, &observation, &features, &lives, threshold);
        Ok(Self { complete, sampled, observation, features, lives, threshold, contest })
    }
}
