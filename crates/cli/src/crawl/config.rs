//! The configuration file in TOML. Every key has a default; errors name unknown keys and bad values with
//! their line.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use freshet_crawl::hours::Hours;
use freshet_crawl::settings::{IntervalRule, Mode, Pin, Publication, Settings, SiteRules};
use freshet_fetch::change::definition::{Rule, SIGNIFICANT};
use freshet_fetch::change::weights::KindWeights;
use freshet_fetch::change::{Definition, Definitions, Extent};
use freshet_fetch::page::scope::Pattern;
use freshet_fetch::page::selector::Selector;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{PrivateAddresses, WebSettings};
use freshet_partition::policy::PolicyName;
use freshet_store::collection::Keep;
use freshet_theory::units::{Days, SECONDS_PER_DAY};
use serde::{Deserialize, Serialize};

use crate::plan::quantity::parse_frequency;
use crate::span::parse_days;

/// The template that `freshet init` writes: every key with its default.
pub(super) const TEMPLATE: &str = include_str!("freshet.toml");

/// The content of a configuration file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Config {
    pub(super) seeds: Vec<String>,
    pub(super) contact: Option<String>,
    pub(super) follow_other_sites: Option<bool>,
    pub(super) budget: Option<String>,
    pub(super) bytes: Option<String>,
    pub(super) pages: Option<usize>,
    pub(super) discovery_share: Option<f64>,
    pub(super) audit_share: Option<f64>,
    pub(super) db_share: Option<f64>,
    pub(super) policy: Option<String>,
    pub(super) importance_weight: Option<f64>,
    pub(super) topic: Option<String>,
    pub(super) mode: Option<ModeName>,
    pub(super) update: Option<UpdateName>,
    pub(super) cycle: Option<String>,
    pub(super) connections: Option<usize>,
    pub(super) allow_private: Option<bool>,
    pub(super) clean_urls: Option<bool>,
    pub(super) trap_defence: Option<bool>,
    pub(super) seed: Option<u64>,
    pub(super) politeness: Politeness,
    pub(super) limits: Limits,
    pub(super) keep: KeepConfig,
    pub(super) change: ChangeConfig,
    pub(super) site: Vec<Site>,
    pub(super) pin: Vec<PinConfig>,
    pub(super) interval: Vec<IntervalConfig>,
}

/// How visits are spread over time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ModeName {
    /// Evenly, without end
    Steady,
    /// The visits of a whole cycle at once, then none until the next
    Batch,
}

/// When readers see what was found.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum UpdateName {
    /// At once
    InPlace,
    /// All of a cycle at its end
    Shadow,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Politeness {
    pub(super) delay: Option<String>,
    pub(super) connections_per_host: Option<u32>,
    pub(super) crawl_delay_max: Option<String>,
    pub(super) retry_after_max: Option<String>,
    pub(super) visits_per_second: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    pub(super) page_bytes: Option<String>,
    pub(super) visit_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct KeepConfig {
    pub(super) versions: Option<u32>,
    pub(super) age: Option<String>,
    pub(super) bytes: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) pages: Option<usize>,
    pub(super) hours: Option<String>,
    pub(super) share: Option<f64>,
    pub(super) change: Option<SiteChange>,
}

/// What counts as a change of a site's pages: one word, or a table.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(super) enum SiteChange {
    Word(String),
    Table(DefinitionConfig),
}

/// What counts as a change.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ChangeConfig {
    pub(super) definition: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) more_than: Option<f32>,
    pub(super) pattern: Vec<PatternConfig>,
    pub(super) weights: WeightsConfig,
}

/// Weight of a change by kind.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WeightsConfig {
    pub(super) title: Option<f32>,
    pub(super) text: Option<f32>,
    pub(super) links: Option<f32>,
    pub(super) numbers: Option<f32>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct IntervalConfig {
    pub(super) site: Option<String>,
    pub(super) path: String,
    pub(super) shortest: Option<String>,
    pub(super) longest: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DefinitionConfig {
    pub(super) definition: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) more_than: Option<f32>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PatternConfig {
    pub(super) path: String,
    pub(super) site: Option<String>,
    pub(super) definition: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) more_than: Option<f32>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PinConfig {
    pub(super) url: String,
    pub(super) every: String,
}

impl Config {
    /// Reads and checks a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} cannot be used", path.display()))
    }

    /// Parses a text and checks every value.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text).map_err(|error| anyhow::anyhow!("{}", explained(&error)))?;
        config.settings(Path::new("."))?;
        Ok(config)
    }

    /// Converts the configuration to the settings of a crawl.
    pub(super) fn settings(&self, directory: &Path) -> Result<Settings> {
        let budget = self.budget.as_deref().map(budget).transpose().context("budget")?;
        let bytes = self.bytes.as_deref().map(bytes_per_day).transpose().context("bytes")?;
        let share = self.discovery_share.unwrap_or(0.8);
        if !(0.0..=1.0).contains(&share) {
            bail!("discovery_share: {share} is not between 0 and 1");
        }
        let audit_share = self.audit_share.unwrap_or(0.02);
        if !(0.0..=1.0).contains(&audit_share) {
            bail!("audit_share: {audit_share} is not between 0 and 1");
        }
        let db_share = self.db_share();
        if !(0.0..=1.0).contains(&db_share) {
            bail!("db_share: {db_share} is not between 0 and 1");
        }
        let importance_weight = self.importance_weight.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&importance_weight) {
            bail!("importance_weight: {importance_weight} is not between 0 and 1");
        }
        let connections = self.connections.unwrap_or(64);
        if !(1..=10_000).contains(&connections) {
            bail!("connections: {connections} is not between 1 and 10000");
        }
        let mode = match self.mode.unwrap_or(ModeName::Steady) {
            ModeName::Steady => Mode::Steady,
            ModeName::Batch => Mode::Batch,
        };
        let publication = match self.update.unwrap_or(UpdateName::InPlace) {
            UpdateName::InPlace => Publication::InPlace,
            UpdateName::Shadow => Publication::Shadow,
        };
        let cycle = self.cycle.as_deref().map(days).transpose().context("cycle")?;
        let in_cycles = mode == Mode::Batch || publication == Publication::Shadow;
        if in_cycles && cycle.is_none() {
            bail!("cycle: a batch and a shadow need one, as in cycle = \"7d\"");
        }
        if publication == Publication::Shadow && self.keep.versions == Some(1) {
            bail!("keep.versions: a shadow needs two versions, one that is read and one that is made");
        }
        let usual = if mode == Mode::Batch { "freshet:mix" } else { "freshet:mix:steady" };
        let policy: PolicyName = self.policy.as_deref().unwrap_or(usual).parse().context("policy")?;
        Ok(Settings {
            directory: directory.to_owned(),
            seeds: self.seeds.clone(),
            sites: self.site.iter().map(Site::rules).collect::<Result<_>>()?,
            follow_other_sites: self.follow_other_sites.unwrap_or(false),
            visits_per_day: budget.unwrap_or(Some(DEFAULT_BUDGET)),
            bytes_per_day: bytes.flatten(),
            discovery_share: share,
            audit_share,
            pages_max: self.pages.unwrap_or(DEFAULT_PAGES),
            connections,
            policy,
            importance_weight,
            topic: self.topic.iter().flat_map(|topic| topic.split_whitespace()).map(str::to_owned).collect(),
            pins: self.pin.iter().map(PinConfig::pin).collect::<Result<_>>()?,
            change: self.definitions()?,
            clean_urls: self.clean_urls.unwrap_or(true),
            trap_defence: self.trap_defence.unwrap_or(true),
            politeness: self.politeness.settings(self.seed.unwrap_or(1))?,
            web: self.web(connections)?,
            keep: self.keep.keep()?,
            intervals: self.interval.iter().map(IntervalConfig::rule).collect::<Result<_>>()?,
            mode,
            publication,
            cycle: cycle.filter(|_| in_cycles),
            once: false,
            seed: self.seed.unwrap_or(1),
        })
    }

    /// Share of the visits that text databases may use.
    pub(super) fn db_share(&self) -> f64 {
        self.db_share.unwrap_or(0.1)
    }

    /// What counts as a change: by page pattern, by site, and for all pages.
    fn definitions(&self) -> Result<Definitions> {
        let change = &self.change;
        let usual =
            definition(change.definition.as_deref(), &change.include, &change.exclude, change.more_than)
                .context("change")?;
        let mut rules = Vec::new();
        for rule in &change.pattern {
            let path = Pattern::new(&rule.path).context("change.pattern")?;
            let definition =
                definition(rule.definition.as_deref(), &rule.include, &rule.exclude, rule.more_than)
                    .with_context(|| format!("change.pattern of {}", rule.path))?;
            rules.push(Rule { site: rule.site.clone(), path: Some(path), definition });
        }
        for site in &self.site {
            let definition = match &site.change {
                None => continue,
                Some(SiteChange::Word(word)) => definition(Some(word), &[], &[], None),
                Some(SiteChange::Table(table)) => {
                    definition(table.definition.as_deref(), &table.include, &table.exclude, table.more_than)
                }
            };
            let definition = definition.with_context(|| format!("change of the site {}", site.name))?;
            rules.push(Rule { site: Some(site.name.clone()), path: None, definition });
        }
        let weights = change.weights.weights().context("change.weights")?;
        Ok(Definitions { usual, rules, weights })
    }

    fn web(&self, connections: usize) -> Result<WebSettings> {
        let mut web = WebSettings {
            contact: self.contact.clone().filter(|contact| !contact.is_empty()),
            ..WebSettings::default()
        };
        if self.allow_private.unwrap_or(false) {
            web.private = PrivateAddresses::Allowed;
        }
        web.connections.total = web.connections.total.max(connections);
        let size = self.limits.page_bytes.as_deref().unwrap_or(DEFAULT_PAGE_BYTES);
        web.sizes.body_bytes = parse_bytes(size).context("limits.page_bytes")? as usize;
        if let Some(time) = &self.limits.visit_time {
            let longest = span(time).context("limits.visit_time")?;
            web.times.body_total = longest;
            // No phase of a visit may take longer than the whole visit.
            let times = &mut web.times;
            for part in [&mut times.connect, &mut times.tls, &mut times.head, &mut times.body_idle] {
                *part = longest.min(*part);
            }
        }
        Ok(web)
    }
}

/// Maximum weight of a kind of change; one that counts in full has weight 1.
const WEIGHT_MAX: f32 = 1000.0;
/// Default budget, in visits a day.
const DEFAULT_BUDGET: f64 = 20_000.0;
/// Default size limit of a page.
const DEFAULT_PAGE_BYTES: &str = "10MB";
/// Default number of pages to keep.
const DEFAULT_PAGES: usize = 100_000;

impl Politeness {
    fn settings(&self, seed: u64) -> Result<PolitenessSettings> {
        let mut settings = PolitenessSettings { seed, ..PolitenessSettings::default() };
        if let Some(delay) = &self.delay {
            settings.delay = span(delay).context("politeness.delay")?;
            settings.address_delay = settings.delay;
        }
        if let Some(connections) = self.connections_per_host {
            settings.visits_per_host = connections.max(1);
            settings.visits_per_address = connections.max(1);
        }
        if let Some(most) = &self.crawl_delay_max {
            settings.crawl_delay_max = span(most).context("politeness.crawl_delay_max")?;
        }
        if let Some(most) = &self.retry_after_max {
            settings.retry_after_max = span(most).context("politeness.retry_after_max")?;
        }
        settings.global_rate = self.visits_per_second;
        Ok(settings)
    }
}

impl KeepConfig {
    fn keep(&self) -> Result<Keep> {
        let days = self.age.as_deref().map(|age| parse_days(age).map_err(anyhow::Error::msg)).transpose();
        Ok(Keep {
            versions: self.versions,
            days: days.context("keep.age")?.map(|days| days as u32),
            bytes: self.bytes.as_deref().map(parse_bytes).transpose().context("keep.bytes")?,
        })
    }
}

impl Site {
    fn rules(&self) -> Result<SiteRules> {
        let named = || format!("site {}", self.name);
        if self.name.is_empty() {
            bail!("site: name is missing, as in name = \"example.org\"");
        }
        if let Some(share) = self.share.filter(|share| !(0.0..=1.0).contains(share)) {
            bail!("{}: share: {share} is not between 0 and 1", named());
        }
        let hours = self.hours.as_deref().map(str::parse::<Hours>).transpose().with_context(named)?;
        for pattern in self.include.iter().chain(&self.exclude) {
            Pattern::new(pattern).with_context(|| format!("{}: {pattern}", named()))?;
        }
        Ok(SiteRules {
            site: self.name.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            pages_max: self.pages,
            hours,
            share_max: self.share,
        })
    }
}

impl WeightsConfig {
    /// Sets weights from an option such as `numbers=0.1,links=0.2`. Kinds that are not named keep theirs.
    pub(super) fn replace(&mut self, text: &str) -> Result<()> {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (kind, weight) = part
                .split_once('=')
                .with_context(|| format!("`{part}` is no weight: write for example numbers=0.1"))?;
            let number = weight.trim().parse().with_context(|| format!("`{weight}` is not a number"))?;
            let place = match kind.trim() {
                "title" => &mut self.title,
                "text" => &mut self.text,
                "links" => &mut self.links,
                "numbers" => &mut self.numbers,
                other => bail!("`{other}` is no kind of change: use title, text, links or numbers"),
            };
            *place = Some(number);
        }
        Ok(())
    }

    fn weights(&self) -> Result<KindWeights> {
        let usual = KindWeights::default();
        let checked = |name: &str, weight: Option<f32>, usual: f32| {
            let weight = weight.unwrap_or(usual);
            if !(0.0..=WEIGHT_MAX).contains(&weight) {
                bail!("{name}: {weight} is not between 0 and {WEIGHT_MAX}");
            }
            Ok(weight)
        };
        Ok(KindWeights {
            title: checked("title", self.title, usual.title)?,
            text: checked("text", self.text, usual.text)?,
            links: checked("links", self.links, usual.links)?,
            numbers: checked("numbers", self.numbers, usual.numbers)?,
        })
    }
}

impl IntervalConfig {
    fn rule(&self) -> Result<IntervalRule> {
        let named = || format!("interval of {}", self.path);
        Pattern::new(&self.path).with_context(named)?;
        let shortest = self.shortest.as_deref().map(days).transpose().with_context(named)?;
        let longest = self.longest.as_deref().map(days).transpose().with_context(named)?;
        if longest.is_some_and(|longest| longest.get() <= 0.0) {
            bail!("{}: longest must be above zero", named());
        }
        if let (Some(shortest), Some(longest)) = (shortest, longest)
            && longest < shortest
        {
            bail!("{}: longest is shorter than shortest", named());
        }
        Ok(IntervalRule { site: self.site.clone(), path: self.path.clone(), shortest, longest })
    }
}

/// Builds a definition of change from its configuration.
fn definition(
    word: Option<&str>,
    include: &[String],
    exclude: &[String],
    more_than: Option<f32>,
) -> Result<Definition> {
    let selectors = |texts: &[String]| -> Result<Vec<Selector>> {
        let lists = texts.iter().map(|text| Selector::list(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(lists.into_iter().flatten().collect())
    };
    let usual = if include.is_empty() { "main" } else { "selector" };
    let (extent, least) = match word.unwrap_or(usual) {
        "raw" => (Extent::Raw, 0.0),
        "text" => (Extent::Text, 0.0),
        "main" => (Extent::Main, 0.0),
        "significant" => (Extent::Main, SIGNIFICANT),
        "selector" if include.is_empty() => {
            bail!("definition: selector needs include, as in include = [\"#content\"]")
        }
        "selector" => (Extent::Selected, 0.0),
        other => bail!("definition: `{other}` is none of raw, text, main, selector, significant"),
    };
    if !include.is_empty() && extent != Extent::Selected {
        bail!("include: it goes with definition = \"selector\" only");
    }
    let more_than = more_than.unwrap_or(least);
    if !(0.0..1.0).contains(&more_than) {
        bail!("more_than: {more_than} is no share from 0 to 1");
    }
    Ok(Definition {
        extent,
        include: selectors(include).context("include")?,
        exclude: selectors(exclude).context("exclude")?,
        more_than,
    })
}

impl PinConfig {
    fn pin(&self) -> Result<Pin> {
        let every = days(&self.every).with_context(|| format!("pin of {}", self.url))?;
        Ok(Pin { url: self.url.clone(), every })
    }
}

/// Parses a time span to days.
fn days(text: &str) -> Result<Days> {
    Ok(Days::new(parse_days(text).map_err(anyhow::Error::msg)?))
}

/// Parses a budget of visits: `20000/day`, or `unlimited`.
pub(super) fn budget(text: &str) -> Result<Option<f64>> {
    if text == "unlimited" {
        return Ok(None);
    }
    Ok(Some(parse_frequency(text).map_err(anyhow::Error::msg)?.get()))
}

/// Parses a budget of bytes: `5GB/day`, or `unlimited`.
pub(super) fn bytes_per_day(text: &str) -> Result<Option<f64>> {
    if text == "unlimited" {
        return Ok(None);
    }
    let (amount, unit) = text.split_once('/').context("write bytes and a span, as in 5GB/day")?;
    let per = if unit.starts_with(|first: char| first.is_ascii_digit()) {
        unit.to_owned()
    } else {
        format!("1{unit}")
    };
    let days = parse_days(&per).map_err(anyhow::Error::msg)?;
    Ok(Some(parse_bytes(amount)? as f64 / days))
}

/// Parses an amount of bytes: `10MB`, `1.5 GB`, `4096`.
pub(super) fn parse_bytes(text: &str) -> Result<u64> {
    let text = text.trim();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" | "k" => 1e3,
        "mb" | "m" => 1e6,
        "gb" | "g" => 1e9,
        "tb" | "t" => 1e12,
        other => bail!("`{other}` is not a unit of bytes: use B, kB, MB, GB or TB"),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((number * factor) as u64),
        _ => bail!("`{text}` is not an amount of bytes: write for example 10MB"),
    }
}

/// Parses a time span: `1s`, `30s`, `2h`, or a number of seconds.
pub(super) fn span(text: &str) -> Result<Duration> {
    let text = text.trim();
    let millis = text.strip_suffix("ms").and_then(|millis| millis.trim().parse::<f64>().ok());
    let seconds = match (millis, text.parse::<f64>()) {
        (Some(millis), _) => millis / 1000.0,
        (None, Ok(seconds)) => seconds,
        (None, Err(_)) => parse_days(text).map_err(anyhow::Error::msg)? * SECONDS_PER_DAY,
    };
    Duration::try_from_secs_f64(seconds).with_context(|| format!("`{text}` is not a span of time"))
}

/// A TOML error, with the key that was probably meant.
fn explained(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let quoted: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    let Some((unknown, known)) =
        quoted.split_first().filter(|_| error.message().starts_with("unknown field"))
    else {
        return text;
    };
    match known.iter().map(|key| (distance(unknown, key), key)).min() {
        Some((edits, key)) if edits <= 1 + unknown.len() / 3 => format!("{text}did you mean `{key}`?"),
        _ => text,
    }
}

/// Edit distance: letters to insert, delete or replace to turn one word into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, compared) in other.iter().enumerate() {
            let best = (diagonal + usize::from(letter != *compared)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(text: &str, expected: &[&str]) {
        let error = format!("{:#}", Config::parse(text).unwrap_err());
        for part in expected {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_template_says_what_holds_without_it() {
        let written = Config::parse(TEMPLATE).unwrap().settings(Path::new("crawl")).unwrap();
        let silent = Config::default().settings(Path::new("crawl")).unwrap();
        assert_eq!(format!("{written:?}"), format!("{silent:?}"));
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line_and_what_was_meant() {
        check_error("seeds = []\nbugdet = \"1/day\"\n", &["line 2", "bugdet", "did you mean `budget`"]);
        check_error("[politeness]\ndelai = \"1s\"\n", &["line 2", "did you mean `delay`"]);
    }

    #[test]
    fn a_bad_value_is_named() {
        check_error("budget = \"many\"", &["budget", "many"]);
        check_error("connections = 0", &["connections"]);
        check_error("discovery_share = 2.0", &["discovery_share", "between 0 and 1"]);
        check_error("db_share = -0.1", &["db_share", "between 0 and 1"]);
        check_error("policy = \"gready\"", &["policy", "gready"]);
        check_error("[limits]\npage_bytes = \"10 apples\"", &["limits.page_bytes", "apples"]);
        check_error("pages = \"x\"", &["line 1"]);
        check_error("mode = \"batch\"", &["cycle", "7d"]);
        check_error("mode = \"bach\"", &["line 1", "batch"]);
        check_error("update = \"shadow\"\ncycle = \"1d\"\n[keep]\nversions = 1", &["keep.versions"]);
        check_error("[[site]]\nname = \"a.org\"\nhours = \"9 to 5\"", &["a.org", "22:00-06:00"]);
        check_error("[[site]]\nname = \"a.org\"\nshare = 1.5", &["a.org", "share"]);
        check_error("[[interval]]\npath = \"news\"\nlongest = \"1d\"", &["news", "begins with /"]);
        check_error("[[interval]]\npath = \"/**\"\nshortest = \"2d\"\nlongest = \"1d\"", &["shorter"]);
    }

    #[test]
    fn a_definition_of_change_is_read_and_a_bad_one_named() {
        let text = "[change]\ndefinition = \"significant\"\n[[change.pattern]]\npath = \"/p/**\"\n\
            include = [\"#price\"]\n[[site]]\nname = \"a.example\"\nchange = \"text\"\n[[site]]\n\
            name = \"b.example\"\nchange = { exclude = [\".ads\"] }";
        let definitions = Config::parse(text).unwrap().settings(Path::new(".")).unwrap().change;
        assert_eq!(definitions.usual.more_than, SIGNIFICANT);
        let extents: Vec<_> = definitions.rules.iter().map(|rule| rule.definition.extent).collect();
        assert_eq!(extents, [Extent::Selected, Extent::Text, Extent::Main]);
        check_error("[change]\ndefinition = \"mian\"", &["change", "mian", "significant"]);
        check_error("[change]\ndefinition = \"selector\"", &["include"]);
        check_error("[change]\nexclude = [\"a > b\"]", &["exclude", "a > b"]);
        check_error("[[site]]\nname = \"a.example\"\nchange = \"all\"", &["a.example", "all"]);
    }

    #[test]
    fn weights_of_kinds_are_read_and_bad_ones_named() {
        let mut config = Config::parse("[change]\nweights = { links = 0.2, numbers = 0.1 }").unwrap();
        config.change.weights.replace("numbers=0, title = 2").unwrap();
        let weights = config.settings(Path::new(".")).unwrap().change.weights;
        assert_eq!(weights, KindWeights { title: 2.0, text: 1.0, links: 0.2, numbers: 0.0 });
        check_error("[change]\nweights = { number = 0.1 }", &["line 2", "did you mean `numbers`"]);
        check_error("[change]\nweights = { text = -1.0 }", &["change.weights", "text", "between 0"]);
        for (text, word) in [("colour=1", "no kind"), ("numbers", "numbers=0.1"), ("text=x", "not a number")]
        {
            let error = format!("{:#}", config.change.weights.replace(text).unwrap_err());
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn amounts_are_read() {
        assert_eq!(parse_bytes("1.5 GB").unwrap(), 1_500_000_000);
        assert_eq!(bytes_per_day("24MB/h").unwrap(), Some(576e6));
        assert_eq!(span("0").unwrap(), Duration::ZERO);
        assert_eq!(span("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(budget("unlimited").unwrap(), None);
    }
}
