//! Saved options: what a crawl was given on its command line and keeps when it is started again.
//!
//! `freshet crawl URL --budget 500/day`, stopped and started again as `freshet crawl`, is the same crawl. The
//! options are a record in its log, and are also in `options.toml` in its directory, under the names of the
//! options. Options given now come first, then the configuration file, then saved options.
//!
//! # Promises
//! - An option that was never given is not saved, so that a later default holds for old crawls too.
//! - The file is replaced atomically, and only by a process that has the crawl open. If it differs from the
//!   log, the log counts.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_store::directory::odd_files::refuse_odd_files;
use freshet_store::log::event::saved_options;
use serde::{Deserialize, Serialize};

use super::config::{Config, ModeName, UpdateName, WeightsConfig};

/// Name of the file in the directory of the crawl.
const FILE: &str = "options.toml";

/// Options that hold until something else is said.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct SavedOptions {
    /// Visits: 20000/day, 1/s, unlimited
    #[arg(long, value_name = "VISITS/SPAN")]
    budget: Option<String>,

    /// Bytes: 5GB/day, unlimited
    #[arg(long, value_name = "BYTES/SPAN")]
    bytes: Option<String>,

    /// Pages to keep at most
    #[arg(long, value_name = "N")]
    pages: Option<usize>,

    /// What the copy is kept for: mix, changes, fresh or age
    #[arg(long, value_name = "OBJECTIVE", conflicts_with = "policy")]
    objective: Option<String>,

    /// Which page next: any policy of `freshet lab replay`
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,

    /// Words that pages should be about: such pages, those whose links say so and those near them are visited
    /// first, and kept
    #[arg(long, value_name = "WORDS")]
    topic: Option<String>,

    /// What changes are worth by their kinds: title, text, links, numbers; as in numbers=0.1,links=0.2
    #[arg(long, value_name = "KIND=WEIGHT,...")]
    change_weights: Option<String>,

    /// How visits are spread over time; batch needs --cycle
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeName>,

    /// When readers see what was found; shadow needs --cycle
    #[arg(long, value_enum, value_name = "WHEN")]
    update: Option<UpdateName>,

    /// The length of a batch, or between two collections with shadowing: 7d
    #[arg(long, value_name = "SPAN")]
    cycle: Option<String>,

    /// Whom the owner of a site may write to: a page or a mail address
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,

    /// Between two visits to a host: 1s, 500ms, 0
    #[arg(long, value_name = "SPAN")]
    host_delay: Option<String>,

    /// Connections at a time
    #[arg(long, value_name = "N")]
    connections: Option<usize>,

    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allow_private: bool,

    /// Follow links to other sites too
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    follow_other_sites: bool,
}

impl SavedOptions {
    /// Reads the saved options of a directory. Empty if none were given or it holds no crawl yet.
    pub(super) fn before(directory: &Path) -> Result<Self> {
        let path = directory.join(FILE);
        let found = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.with_context(|| format!("cannot read {}", path.display()))?),
        };
        let Some(told) = saved_options(directory, found.as_deref())? else { return Ok(Self::default()) };
        let text = String::from_utf8(told).ok();
        let options = text.as_deref().map(toml::from_str).transpose().with_context(|| {
            format!("{} cannot be used: mend it, or remove it and give the options again", path.display())
        })?;
        options
            .with_context(|| format!("{} is no text: `freshet fsck --repair` writes it anew", path.display()))
    }

    /// The content of the file; `None` if no option was given.
    pub(super) fn text(&self) -> Result<Option<String>> {
        if *self == Self::default() {
            return Ok(None);
        }
        Ok(Some(format!("{HEAD}{}", toml::to_string(self).context("the options cannot be kept")?)))
    }

    /// Writes the file into the crawl's directory.
    pub(super) fn keep(&self, directory: &Path) -> Result<()> {
        let (path, unfinished) = (directory.join(FILE), directory.join("options.toml.unfinished"));
        let Some(text) = self.text()? else { return Ok(()) };
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(());
        }
        fs::write(&unfinished, text)
            .and_then(|()| fs::rename(&unfinished, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// These options, with the earlier ones where these say nothing.
    pub(super) fn or(self, before: Self) -> Self {
        let says_policy = self.policy.is_some() || self.objective.is_some();
        let (objective, policy) =
            if says_policy { (self.objective, self.policy) } else { (before.objective, before.policy) };
        Self {
            budget: self.budget.or(before.budget),
            bytes: self.bytes.or(before.bytes),
            pages: self.pages.or(before.pages),
            objective,
            policy,
            topic: self.topic.or(before.topic),
            change_weights: self.change_weights.or(before.change_weights),
            mode: self.mode.or(before.mode),
            update: self.update.or(before.update),
            cycle: self.cycle.or(before.cycle),
            contact: self.contact.or(before.contact),
            host_delay: self.host_delay.or(before.host_delay),
            connections: self.connections.or(before.connections),
            allow_private: self.allow_private || before.allow_private,
            follow_other_sites: self.follow_other_sites || before.follow_other_sites,
        }
    }

    /// The options that are set here and not in `other`, written as on a command line.
    pub(super) fn beyond(&self, other: &Self) -> Result<String> {
        let [own, others] = [self, other].map(toml::Table::try_from);
        let (own, others) = (own?, others?);
        let option = |(name, value): (&String, &toml::Value)| match value {
            toml::Value::Boolean(_) => format!("--{name}"),
            toml::Value::String(text) => format!("--{name} {text}"),
            other => format!("--{name} {other}"),
        };
        let options: Vec<_> =
            own.iter().filter(|(name, _)| !others.contains_key(*name)).map(option).collect();
        Ok(options.join(" "))
    }

    /// Applies the options to a configuration.
    pub(super) fn lay(&self, how: How, config: &mut Config) -> Result<()> {
        how.lay(&self.budget, &mut config.budget);
        how.lay(&self.bytes, &mut config.bytes);
        how.lay(&self.pages, &mut config.pages);
        how.lay(&self.topic, &mut config.topic);
        how.lay(&self.mode, &mut config.mode);
        how.lay(&self.update, &mut config.update);
        how.lay(&self.cycle, &mut config.cycle);
        how.lay(&self.contact, &mut config.contact);
        how.lay(&self.host_delay, &mut config.politeness.delay);
        how.lay(&self.connections, &mut config.connections);
        how.lay(&self.allow_private.then_some(true), &mut config.allow_private);
        how.lay(&self.follow_other_sites.then_some(true), &mut config.follow_other_sites);
        let form = if config.mode == Some(ModeName::Batch) { "" } else { ":steady" };
        let by_objective = self.objective.as_ref().map(|objective| format!("freshet:{objective}{form}"));
        how.lay(&self.policy.clone().or(by_objective), &mut config.policy);
        let (mut weights, old) = (WeightsConfig::default(), &mut config.change.weights);
        weights.replace(self.change_weights.as_deref().unwrap_or_default()).context("--change-weights")?;
        how.lay(&weights.title, &mut old.title);
        how.lay(&weights.text, &mut old.text);
        how.lay(&weights.links, &mut old.links);
        how.lay(&weights.numbers, &mut old.numbers);
        Ok(())
    }
}

/// Precedence of options and configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum How {
    /// Options override the configuration: they are given now.
    Over,
    /// Options only fill what the configuration leaves out: they were given before.
    Under,
}

impl How {
    fn lay<T: Clone>(self, option: &Option<T>, setting: &mut Option<T>) {
        if option.is_some() && (self == Self::Over || setting.is_none()) {
            setting.clone_from(option);
        }
    }
}

/// The configuration of the crawl in a directory: the named file, or the one in the directory, completed with
/// the saved options.
pub(super) fn config_of(directory: &Path, file: Option<&Path>) -> Result<Config> {
    if directory.exists() && !directory.is_dir() {
        bail!("--dir: {} is a file, and must be the directory of a crawl", directory.display());
    }
    refuse_odd_files(directory)?;
    let beside = directory.join("freshet.toml");
    let mut config = match file {
        Some(path) => Config::read(path)?,
        None if beside.is_file() => Config::read(&beside)?,
        None => Config::default(),
    };
    SavedOptions::before(directory)?.lay(How::Under, &mut config)?;
    Ok(config)
}

const HEAD: &str = "\
# What `freshet crawl` was told last, by the names of its options. It holds until an option or \
    freshet.toml says something else.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> SavedOptions {
        toml::from_str(text).expect("these are options")
    }

    #[test]
    fn what_was_said_is_kept_and_what_is_said_now_comes_first() {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        assert_eq!(SavedOptions::before(directory.path()).expect("it is empty"), SavedOptions::default());
        let first = told("budget = '3000/day'\nhost-delay = '100ms'\nallow-private = true\npages = 50");
        first.keep(directory.path()).expect("it can be written");
        assert_eq!(SavedOptions::before(directory.path()).expect("it was written"), first);
        let now = told("budget = '1/s'\nobjective = 'fresh'").or(first);
        assert_eq!(
            now,
            told(
                "budget = '1/s'\nobjective = 'fresh'\nhost-delay = '100ms'\nallow-private = true\npages = 50"
            )
        );
        assert_eq!(told("policy = 'uniform'").or(now.clone()).objective, None);
        let beyond = now.beyond(&told("pages = 7\nbudget = '1/s'")).expect("it is plain");
        assert_eq!(beyond, "--allow-private --host-delay 100ms --objective fresh");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        fs::write(directory.path().join(FILE), "budged = '1/s'").expect("it can be written");
        let error =
            format!("{:#}", SavedOptions::before(directory.path()).expect_err("there is no such option"));
        assert!(error.contains("options.toml cannot be used") && error.contains("budged"), "{error}");
    }
}
