//! What exhibits are made from: recorded histories, a web graph, the past of text databases, and chance from
//! a seed.
//!
//! # Promises
//! - A table is read once, by the first exhibit that needs it.
//! - The random numbers of an exhibit depend only on the seed and its name, not on what else is made.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, ensure};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::text_databases::TextDatabases;
use crate::history::{Tables, web_graph};

/// Data that an exhibit needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// Nothing but random numbers.
    Nothing,
    /// Recorded histories of pages.
    Histories,
    /// Links of a web graph.
    WebGraph,
    /// Word counts of sites over time.
    Words,
}

impl Need {
    /// How to provide the missing data.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Nothing => "It needs no data.",
            Self::Histories => {
                "It needs recorded histories: give a directory with sites.parquet, pages.parquet and \
                 changes.parquet by --data DIR (freshet lab history makes one)."
            }
            Self::WebGraph => {
                "It needs a web graph: give by --data DIR a directory with webgraph/cnr-2000.parquet, links \
                 as columns src and dst."
            }
            Self::Words => {
                "It needs word counts: give by --data DIR a directory with text/df.parquet and \
                 text/weeks.parquet."
            }
        }
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Histories => &["sites.parquet", "pages.parquet", "changes.parquet"],
            Self::WebGraph => &[web_graph::FILE],
            Self::Words => &["sites.parquet", "text/df.parquet", "text/weeks.parquet"],
        }
    }
}

/// Sources of exhibits.
#[derive(Debug)]
pub struct Sources {
    data: Option<PathBuf>,
    seed: u64,
    histories: OnceLock<Result<Tables>>,
    text_databases: OnceLock<Result<TextDatabases>>,
}

impl Sources {
    /// The sources in a data directory, if there is one. Fails if it is not a directory.
    pub fn new(data: Option<PathBuf>, seed: u64) -> Result<Self> {
        if let Some(directory) = &data {
            ensure!(directory.is_dir(), "{} is not a directory", directory.display());
        }
        Ok(Self { data, seed, histories: OnceLock::new(), text_databases: OnceLock::new() })
    }

    /// Whether an exhibit with this need can be made.
    pub fn meet(&self, need: Need) -> bool {
        let has = |file: &&str| self.data.as_ref().is_some_and(|data| data.join(file).is_file());
        need.files().iter().all(has)
    }

    /// The data directory. Fails if there is none; exhibits with a [`Need`] are only made if there is one.
    pub fn data(&self) -> Result<&Path> {
        self.data.as_deref().context("no data directory was given")
    }

    /// The seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The recorded histories.
    pub fn histories(&self) -> Result<&Tables> {
        let read = || Tables::read(self.data()?).context("cannot read the histories");
        self.histories.get_or_init(read).as_ref().map_err(|error| anyhow!("{error:#}"))
    }

    /// The past of the text databases. `progress` is told the share that is done, if they are read now.
    pub(super) fn text_databases(&self, progress: impl Fn(f64)) -> Result<&TextDatabases> {
        let read = || TextDatabases::read(&self.data()?.join("text"), self.seed, progress);
        self.text_databases.get_or_init(read).as_ref().map_err(|error| anyhow!("{error:#}"))
    }

    /// A random generator for an exhibit, or for a named part of one.
    pub fn chance(&self, name: &str) -> ChaCha8Rng {
        let mut chance = ChaCha8Rng::seed_from_u64(self.seed);
        chance.set_stream(name_number(name));
        chance
    }
}

/// 64-bit FNV-1a hash of a name.
fn name_number(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    #[test]
    fn chance_depends_on_seed_and_name() {
        let draw =
            |seed, name| Sources::new(None, seed).expect("no data is no error").chance(name).next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn needs_are_met_by_the_files_they_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = Sources::new(Some(folder.path().to_owned()), 1).expect("a directory");
        assert!(sources.meet(Need::Nothing) && !sources.meet(Need::Histories));
        for file in Need::Histories.files() {
            std::fs::write(folder.path().join(file), "").expect("a file");
        }
        assert!(sources.meet(Need::Histories) && !sources.meet(Need::WebGraph));
        assert!(sources.histories().is_err());
        assert!(Sources::new(Some(folder.path().join("missing")), 1).is_err());
    }
}
