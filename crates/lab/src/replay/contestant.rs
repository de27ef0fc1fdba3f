//! Contestants of a replay by name: policies and ceilings.
//!
//! A policy has the name that the crawler gives it. Ceilings know the truth, so they exist only here:
//! `oracle` and `oracle:fresh`, `rate-oracle:changes` (also `rate-oracle`) and `rate-oracle:fresh`. An oracle
//! driven in short cycles, for comparison with a steady policy, is `oracle:steady` or `oracle:fresh:steady`.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use freshet_partition::policy::{Form, Policy, PolicyName, Setting};
use freshet_theory::units::Days;

use super::oracle::{Ceiling, Oracle};
use super::rate_oracle::RateOracle;
use super::run::steps_of;
use super::stage::Stage;

/// A contestant: a policy or a ceiling.
#[derive(Clone, Debug, PartialEq)]
pub enum Contestant {
    /// A policy of the crawler.
    Policy(PolicyName),
    /// Knows every page's mean rate.
    RateOracle(Ceiling),
    /// Sees which pages differ.
    Oracle(Ceiling, Form),
}

/// A contestant with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name as it was written: `freshet` stays `freshet`.
    pub name: String,
    /// The contestant.
    pub contestant: Contestant,
}

impl From<Contestant> for Entry {
    fn from(contestant: Contestant) -> Self {
        Self { name: contestant.to_string(), contestant }
    }
}

impl Entry {
    /// Parses comma-separated names, or `all`. Each may occur once.
    pub fn parse_list(names: &str) -> Result<Vec<Self>> {
        if names.trim() == "all" {
            return Ok(Contestant::all().into_iter().map(Self::from).collect());
        }
        let mut entries: Vec<Self> = Vec::new();
        for name in names.split(',').map(str::trim) {
            let contestant: Contestant = name.parse()?;
            let twice = entries.iter().find(|entry| entry.contestant == contestant);
            if let Some(Self { name: first, .. }) = twice {
                bail!("the policy `{name}` is named twice: `{first}` is the same");
            }
            entries.push(Self { name: name.to_owned(), contestant });
        }
        Ok(entries)
    }
}

impl Contestant {
    /// Every representative policy and all ceilings of cycle policies.
    pub fn all() -> Vec<Self> {
        let policies = PolicyName::all().into_iter().map(Self::Policy);
        let ceilings = [Ceiling::Changes, Ceiling::Fresh];
        let rate_oracles = ceilings.map(Self::RateOracle);
        let oracles = ceilings.map(|ceiling| Self::Oracle(ceiling, Form::Cycle));
        policies.chain(rate_oracles).chain(oracles).collect()
    }

    /// The form in which it is driven.
    pub fn form(&self) -> Form {
        match self {
            Self::Policy(name) => name.form(),
            Self::RateOracle(_) => Form::Cycle,
            Self::Oracle(_, form) => *form,
        }
    }

    /// The form of the oracle that is its upper bound.
    pub fn ceiling_form(&self) -> Form {
        match self.form() {
            Form::Cycle => Form::Cycle,
            Form::Steady | Form::Settling => Form::Steady,
        }
    }

    /// Whether its result depends on the seed.
    pub fn has_chance(&self) -> bool {
        !matches!(self, Self::Oracle(..))
    }

    /// Creates the policy, with no page known. A steady policy of the texts gets the short cycles that it is
    /// driven in. The default policy uses whole cycles for its ticks in all its forms, as in a crawl.
    pub fn build<'a>(&self, stage: &'a Stage<'a>, seed: u64) -> Box<dyn Policy + 'a> {
        let steps = match self {
            Self::Policy(PolicyName::Freshet { .. }) => 1.0,
            _ => steps_of(self.form()) as f64,
        };
        match self {
            Self::Policy(name) => name.build(&Setting {
                cycle: Days::new(stage.setting().cycle_days / steps),
                budget_share: stage.setting().budget / steps,
                seed,
            }),
            Self::RateOracle(ceiling) => Box::new(RateOracle::new(stage, *ceiling, seed)),
            Self::Oracle(ceiling, _) => Box::new(Oracle::new(stage, *ceiling)),
        }
    }
}

/// The names of the ceilings.
const CEILINGS: [(&str, Contestant); 6] = [
    ("rate-oracle:changes", Contestant::RateOracle(Ceiling::Changes)),
    ("rate-oracle:fresh", Contestant::RateOracle(Ceiling::Fresh)),
    ("oracle", Contestant::Oracle(Ceiling::Changes, Form::Cycle)),
    ("oracle:fresh", Contestant::Oracle(Ceiling::Fresh, Form::Cycle)),
    ("oracle:steady", Contestant::Oracle(Ceiling::Changes, Form::Steady)),
    ("oracle:fresh:steady", Contestant::Oracle(Ceiling::Fresh, Form::Steady)),
];

impl FromStr for Contestant {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let full = if name == "rate-oracle" { "rate-oracle:changes" } else { name };
        if let Some((_, ceiling)) = CEILINGS.iter().find(|(ceiling, _)| *ceiling == full) {
            return Ok(ceiling.clone());
        }
        name.parse::<PolicyName>().map(Self::Policy).map_err(|error| {
            let ceilings = CEILINGS.map(|(ceiling, _)| ceiling).join(", ");
            anyhow!("{error}; the lab also knows the ceilings {ceilings}")
        })
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Policy(name) = self {
            return name.fmt(formatter);
        }
        let (name, _) =
            CEILINGS.iter().find(|(_, ceiling)| ceiling == self).expect("every ceiling has a name");
        formatter.pad(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_written() {
        for contestant in Contestant::all() {
            let name = contestant.to_string();
            assert_eq!(name.parse::<Contestant>().expect("a name"), contestant, "{name}");
        }
        assert_eq!("rate-oracle".parse::<Contestant>().expect("a name").to_string(), "rate-oracle:changes");
    }

    #[test]
    fn an_unknown_name_is_named_with_the_choices() {
        let error = Entry::parse_list("oracle,magic").expect_err("no policy").to_string();
        assert!(error.contains("magic") && error.contains("rate-oracle:fresh"), "{error}");
        let entries = Entry::parse_list("freshet, greedy").expect("two policies");
        assert_eq!(
            entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
            ["freshet", "greedy"]
        );
        let error = Entry::parse_list("rate-oracle,rate-oracle:changes").expect_err("twice").to_string();
        assert!(error.contains("named twice"), "{error}");
        assert!(Entry::parse_list("").is_err());
    }
}
