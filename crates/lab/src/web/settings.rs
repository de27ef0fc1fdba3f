//! Settings of the living web: how large, how active, how honest.
//!
//! # Promises
//! - Invalid settings are refused with the name of the setting and its valid range.

use anyhow::{Result, ensure};

/// Maximum number of pages. Their numbers and the lists of births fit into a few hundred megabytes.
pub const PAGES_MAX: u32 = 5_000_000;

/// Maximum number of sites: there are no addresses for more.
pub const SITES_MAX: u32 = 60_000;

/// Settings of a web. Together with the seed they determine it completely.
#[derive(Clone, Debug, PartialEq)]
pub struct WebSettings {
    /// Number of sites. Their sizes follow a power law.
    pub sites: u32,
    /// Approximate number of pages at the start, over all sites.
    pub pages: u32,
    /// Seed of all random choices.
    pub seed: u64,
    /// How pages change.
    pub pace: Pace,
    /// How pages are born, move and die.
    pub turnover: Turnover,
    /// Fraction of pages with text that differs at every request.
    pub noise: f64,
    /// Fraction of sites whose validators lie.
    pub lies: f64,
    /// Whether some sites have an endless calendar.
    pub calendars: bool,
}

/// How pages change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Mean changes per day of the pages that change at random, singly or in bursts.
    pub changes_per_day: f64,
    /// Sweeps per directory and day. In a sweep many pages of a directory change at one moment.
    pub sweeps_per_day: f64,
    /// Template changes per site and day. All pages of the site change, but not their main text.
    pub templates_per_day: f64,
    /// How pages are distributed over the change processes.
    pub mix: Mix,
}

/// Weights of the change processes. Only their ratios matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Pages that change only in sweeps.
    pub still: f64,
    /// Poisson pages, with gamma-distributed rates.
    pub poisson: f64,
    /// Pages edited in sessions of several changes within hours.
    pub bursty: f64,
    /// Pages that change once a day at a fixed hour.
    pub daily: f64,
    /// Pages that change once a week at a fixed hour.
    pub weekly: f64,
}

/// How pages are born, move and die.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turnover {
    /// Number of pages born after the start, as a fraction of those that exist at the start.
    pub births: f64,
    /// Mean days from the start to the birth of such a page.
    pub birth_days: f64,
    /// Deaths per day of a page.
    pub deaths_per_day: f64,
    /// Moves per day of a page. A page moves at most once.
    pub moves_per_day: f64,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            sites: 200,
            pages: 50_000,
            seed: 7,
            pace: Pace::default(),
            turnover: Turnover::default(),
            noise: 0.3,
            lies: 0.1,
            calendars: false,
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            changes_per_day: 0.12,
            sweeps_per_day: 1.0 / 90.0,
            templates_per_day: 1.0 / 120.0,
            mix: Mix::default(),
        }
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self { still: 0.2, poisson: 0.5, bursty: 0.15, daily: 0.05, weekly: 0.1 }
    }
}

impl Default for Turnover {
    fn default() -> Self {
        Self { births: 0.25, birth_days: 120.0, deaths_per_day: 1.0 / 500.0, moves_per_day: 1.0 / 800.0 }
    }
}

impl WebSettings {
    /// Returns what is wrong with the settings, if anything.
    pub fn check(&self) -> Result<()> {
        ensure!(
            (1..=SITES_MAX).contains(&self.sites),
            "a web has 1 to {SITES_MAX} sites, not {}",
            self.sites
        );
        ensure!(
            (self.sites..=PAGES_MAX).contains(&self.pages),
            "a web of {} sites has {} to {PAGES_MAX} pages, not {}",
            self.sites,
            self.sites,
            self.pages
        );
        for (name, share) in [("noise", self.noise), ("lies", self.lies)] {
            ensure!((0.0..=1.0).contains(&share), "{name} is a share from 0 to 1, not {share}");
        }
        let Pace { changes_per_day, sweeps_per_day, templates_per_day, mix } = self.pace;
        let Turnover { births, birth_days, deaths_per_day, moves_per_day } = self.turnover;
        for (name, value) in [
            ("changes per day", changes_per_day),
            ("sweeps per day", sweeps_per_day),
            ("template changes per day", templates_per_day),
            ("births", births),
            ("deaths per day", deaths_per_day),
            ("moves per day", moves_per_day),
        ] {
            ensure!((0.0..=MUCH).contains(&value), "{name} lie from 0 to {MUCH}, not at {value}");
        }
        ensure!(birth_days.is_finite() && 0.0 < birth_days, "births take more than 0 days, not {birth_days}");
        let shares = [mix.still, mix.poisson, mix.bursty, mix.daily, mix.weekly];
        ensure!(
            shares.iter().all(|share| (0.0..=f64::MAX).contains(share)) && shares.iter().sum::<f64>() > 0.0,
            "the processes of pages need shares of at least 0, and one above it"
        );
        Ok(())
    }
}

/// Maximum rate of any kind of event, per day: more would make a page's history too long to compute.
const MUCH: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl Fn(&mut WebSettings), message: &str) {
        let mut settings = WebSettings::default();
        change(&mut settings);
        let error = settings.check().expect_err("it is refused").to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn settings_no_web_can_be_made_from_are_refused_by_name() {
        WebSettings::default().check().expect("the defaults are fine");
        check(|settings| settings.sites = 0, "1 to 60000 sites, not 0");
        check(|settings| settings.pages = 199, "200 to 5000000 pages, not 199");
        check(|settings| settings.noise = 1.1, "noise is a share");
        check(|settings| settings.lies = f64::NAN, "lies is a share");
        check(|settings| settings.pace.changes_per_day = f64::INFINITY, "changes per day lie from 0");
        check(|settings| settings.turnover.birth_days = 0.0, "births take more than 0 days");
        check(|settings| settings.pace.mix.daily = -1.0, "processes of pages need shares");
    }
}
