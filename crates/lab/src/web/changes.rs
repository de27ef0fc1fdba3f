//! When pages of the living web change.
//!
//! An article has its own change process, and takes part in sweeps over its directory:
//! - still: no process of its own;
//! - Poisson, with a rate gamma-distributed around that of its directory (thesis, sections 4.6 and 5.5.1);
//! - bursty: sessions are a Poisson process, each with several changes within hours;
//! - daily and weekly: once per period, at a fixed hour of its own.
//!
//! The root changes at each birth of an article, and occasionally on its own. A listing changes when one of
//! its articles is born, moves or dies. A site's template changes on all its pages at once, and does not
//! affect main text.
//!
//! # Promises
//! - Changes until a moment do not depend on any later moment that is asked about.
//! - All changes are at whole seconds, and no two changes of a page's main text are in the same second. So
//!   Last-Modified distinguishes them.
//! - A page changes only while it lives.

use freshet_protocol::time::Timestamp;
use freshet_theory::units::MILLIS_PER_DAY;
use rand_distr::{Distribution as _, Gamma, LogNormal};

use super::atlas::{PageNumber, Place};
use super::chance::{Chance, Subject};
use super::clock::{START, days_after_start};
use super::lives::NEVER;
use super::living_web::LivingWeb;

/// Spread of the rates of directories, as a standard deviation of the logarithm.
const DIRECTORY_SPREAD: f64 = 1.0;
/// Shape of the gamma distribution of pages within a directory: below one, most are slow and a few are fast.
const PAGE_SHAPE: f64 = 0.5;
/// Maximum rate per day: a page that changes every hour.
const RATE_MAX: f64 = 24.0;
/// Probability that a session has another change, and mean days between two changes.
const SESSION: (f64, f64) = (0.65, 0.1);
/// Probability that a page takes part in a sweep of its directory.
const TAKES_PART: f64 = 0.6;
/// Changes per day of a root on its own, as a multiple of the mean rate of articles.
const ROOT_PACE: f64 = 2.0;

/// Days from the start after which nothing changes any more: ten years, so that questions about the infinite
/// future have an answer.
pub const DAYS_MAX: f64 = 3_652.5;

/// The change process of an article.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// No changes of its own.
    Still,
    /// Changes at random, at this rate per day.
    Poisson(f64),
    /// Sessions of changes. The value is the overall number of changes per day.
    Bursty(f64),
    /// One change per day. The value is the days from the start to the first.
    Daily(f64),
    /// One change per week. The value is the days from the start to the first.
    Weekly(f64),
}

/// The version of a page at a moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Version {
    /// Number of changes of its main text since its birth or the start.
    pub main: u32,
    /// Number of changes of its site's template since the start.
    pub template: u32,
    /// When its main text last changed.
    pub main_since: Timestamp,
    /// When its whole text last changed.
    pub since: Timestamp,
}

impl Process {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Poisson(_) => "poisson",
            Self::Bursty(_) => "bursty",
            Self::Daily(_) => "daily",
            Self::Weekly(_) => "weekly",
        }
    }

    /// Its mean changes per day.
    pub fn changes_per_day(self) -> f64 {
        match self {
            Self::Still => 0.0,
            Self::Poisson(rate) | Self::Bursty(rate) => rate,
            Self::Daily(_) => 1.0,
            Self::Weekly(_) => 1.0 / 7.0,
        }
    }

    /// Its changes until `until` days after the start, unordered.
    fn days(self, until: f64, chance: &mut Chance) -> Vec<f64> {
        match self {
            Self::Still => Vec::new(),
            Self::Poisson(rate) => poisson(rate, until, chance),
            Self::Bursty(rate) => bursty(rate, until, chance),
            Self::Daily(first) => periodic(first, 1.0, until),
            Self::Weekly(first) => periodic(first, 7.0, until),
        }
    }
}

impl LivingWeb {
    /// The process of an article.
    pub fn process(&self, page: PageNumber) -> Process {
        let Place::Article { directory, .. } = self.atlas.place(page) else {
            return Process::Still;
        };
        let mix = self.settings.pace.mix;
        let mut chance = Chance::of(self.settings.seed, Subject::Process, page.0.into(), 0);
        let mut point = chance.unit() * (mix.still + mix.poisson + mix.bursty + mix.daily + mix.weekly);
        let phase = chance.unit();
        let rate = self.directory_rate(directory) * relative_rate(&mut chance);
        let choices = [
            (mix.still, Process::Still),
            (mix.poisson, Process::Poisson(rate.min(RATE_MAX))),
            (mix.bursty, Process::Bursty(rate.min(RATE_MAX))),
            (mix.daily, Process::Daily(phase)),
            (mix.weekly, Process::Weekly(7.0 * phase)),
        ];
        for (share, process) in choices {
            if point < share {
                return process;
            }
            point -= share;
        }
        Process::Still
    }

    /// Changes of a page's main text after the start and up to `until`, while it lives, in order.
    pub fn main_changes(&self, page: PageNumber, until: Timestamp) -> Vec<Timestamp> {
        let life = self.life(page);
        let until = until.min(life.died.plus_millis(-1));
        let days = days_to_cover(until);
        let mut changes: Vec<Timestamp> = match self.atlas.place(page) {
            Place::Root => self.root_changes(page, days),
            Place::Listing { directory, number } => self.listing_changes(directory, number),
            Place::Article { directory, .. } => {
                let mut chance = Chance::of(self.settings.seed, Subject::Changes, page.0.into(), 0);
                let own = self.process(page).days(days, &mut chance).into_iter().map(days_after_start);
                own.chain(self.sweeps_of(page, directory, days)).collect()
            }
        };
        changes.retain(|change| START < *change && life.born < *change && *change <= until);
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// Changes of a site's template after the start and up to `until`, in order.
    pub fn template_changes(&self, site: u32, until: Timestamp) -> Vec<Timestamp> {
        let mut chance = Chance::of(self.settings.seed, Subject::Templates, site.into(), 0);
        let mut changes = moments(self.settings.pace.templates_per_day, days_to_cover(until), &mut chance);
        changes.retain(|change| START < *change && *change <= until);
        changes.dedup();
        changes
    }

    /// The version of a page at a moment of its life.
    pub fn version(&self, page: PageNumber, at: Timestamp) -> Version {
        let born = self.life(page).born;
        let main = self.main_changes(page, at);
        let template = self.template_changes(self.atlas.site_of(page), at);
        let main_since = main.last().copied().unwrap_or(born);
        let template_since = template.last().copied().unwrap_or(born);
        Version {
            main: main.len() as u32,
            template: template.len() as u32,
            main_since,
            since: main_since.max(template_since),
        }
    }

    /// Mean rate per day of the articles of a directory: log-normal, with the pace of the web as its mean.
    fn directory_rate(&self, directory: u32) -> f64 {
        let mut chance = Chance::of(self.settings.seed, Subject::Process, directory.into(), 1);
        let spread = LogNormal::new(-DIRECTORY_SPREAD * DIRECTORY_SPREAD / 2.0, DIRECTORY_SPREAD)
            .expect("the deviation is finite");
        self.settings.pace.changes_per_day * spread.sample(&mut chance)
    }

    fn sweeps_of(&self, page: PageNumber, directory: u32, days: f64) -> impl Iterator<Item = Timestamp> {
        let mut sweeps = Chance::of(self.settings.seed, Subject::Sweeps, directory.into(), 0);
        let mut part = Chance::of(self.settings.seed, Subject::TakesPart, page.0.into(), 0);
        moments(self.settings.pace.sweeps_per_day, days, &mut sweeps)
            .into_iter()
            .filter(move |_| part.happens(TAKES_PART))
    }

    fn root_changes(&self, page: PageNumber, days: f64) -> Vec<Timestamp> {
        let mut chance = Chance::of(self.settings.seed, Subject::Changes, page.0.into(), 0);
        let mut changes = moments(ROOT_PACE * self.settings.pace.changes_per_day, days, &mut chance);
        let births = self.born_until(self.atlas.site_of(page), days_after_start(days));
        changes.extend(births.iter().map(|(born, _)| *born));
        changes
    }

    fn listing_changes(&self, directory: u32, number: u32) -> Vec<Timestamp> {
        let lives = self.atlas.listed(directory, number).map(|article| self.life(article));
        lives.flat_map(|life| [life.born, life.moved, life.died]).filter(|moment| *moment != NEVER).collect()
    }
}

/// Days from the start to one second after a moment, because moments are rounded to seconds. At most
/// [`DAYS_MAX`].
fn days_to_cover(until: Timestamp) -> f64 {
    (until.plus_millis(1_000).millis_since(START) as f64 / MILLIS_PER_DAY).min(DAYS_MAX)
}

/// A page's rate, divided by its directory's mean.
fn relative_rate(chance: &mut Chance) -> f64 {
    Gamma::new(PAGE_SHAPE, 1.0 / PAGE_SHAPE).expect("both parameters are above zero").sample(chance)
}

fn moments(rate: f64, until: f64, chance: &mut Chance) -> Vec<Timestamp> {
    poisson(rate, until, chance).into_iter().map(days_after_start).collect()
}

fn poisson(rate: f64, until: f64, chance: &mut Chance) -> Vec<f64> {
    let mut days = Vec::new();
    let mut day = chance.wait(rate);
    while day <= until {
        days.push(day);
        day += chance.wait(rate);
    }
    days
}

/// Sessions at a rate that makes their changes come at `rate`.
fn bursty(rate: f64, until: f64, chance: &mut Chance) -> Vec<f64> {
    let (another, gap) = SESSION;
    let mut days = Vec::new();
    let mut start = chance.wait(rate * (1.0 - another));
    while start <= until {
        // Each session has its own stream: later events must not depend on where the previous session was cut
        // off.
        let mut session = Chance::of(chance.bits(), Subject::Changes, 0, 0);
        let mut day = start;
        days.push(day);
        while session.happens(another) {
            day += session.wait(1.0 / gap);
            days.push(day);
        }
        start += chance.wait(rate * (1.0 - another));
    }
    days
}

fn periodic(first: f64, period: f64, until: f64) -> Vec<f64> {
    let count = if until < first { 0 } else { ((until - first) / period) as u32 + 1 };
    (0..count).map(|number| first + period * f64::from(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::living_web::tests::{of, small};
    use super::super::settings::{Mix, Pace, Turnover, WebSettings};
    use super::*;

    #[test]
    fn changes_do_not_depend_on_the_moment_that_is_asked_about() {
        let web = small();
        let (early, late) = (days_after_start(20.0), days_after_start(90.0));
        for page in (0..web.atlas.pages()).map(PageNumber) {
            let mut known = web.main_changes(page, late);
            known.retain(|change| *change <= early);
            assert_eq!(web.main_changes(page, early), known, "page {page:?}");
            for (number, change) in known.iter().enumerate() {
                assert_eq!(web.main_changes(page, *change).len(), number + 1, "page {page:?}");
                assert_eq!(web.main_changes(page, change.plus_millis(-1)).len(), number, "page {page:?}");
            }
        }
    }

    #[test]
    fn changes_fall_on_seconds_of_a_pages_life_and_differ() {
        let web = small();
        for page in (0..web.atlas.pages()).map(PageNumber) {
            let life = web.life(page);
            let changes = web.main_changes(page, days_after_start(200.0));
            assert!(changes.windows(2).all(|pair| pair[0] < pair[1]));
            for change in changes {
                assert_eq!(change.millis() % 1_000, 0);
                assert!(life.born < change && change < life.died && START < change);
            }
        }
    }

    #[test]
    fn processes_come_in_their_shares_and_at_their_rates() {
        let pace =
            Pace { changes_per_day: 0.2, sweeps_per_day: 0.0, templates_per_day: 0.0, mix: Mix::default() };
        let turnover = Turnover { births: 0.0, birth_days: 1.0, deaths_per_day: 0.0, moves_per_day: 0.0 };
        let web = of(WebSettings { sites: 50, pages: 20_000, pace, turnover, ..WebSettings::default() });
        let articles: Vec<_> = (0..web.atlas.pages())
            .map(PageNumber)
            .filter(|page| matches!(web.atlas.place(*page), Place::Article { .. }))
            .collect();
        let check = |name: &str, share: f64, rate: f64| {
            let these: Vec<_> = articles.iter().filter(|page| web.process(**page).name() == name).collect();
            let found = these.len() as f64 / articles.len() as f64;
            assert!((found - share).abs() < 0.02, "{name}: {found}");
            let until = days_after_start(70.0);
            let changes: usize = these.iter().map(|page| web.main_changes(**page, until).len()).sum();
            let per_day = changes as f64 / these.len() as f64 / 70.0;
            assert!((per_day - rate).abs() <= 0.15 * rate, "{name}: {per_day}");
        };
        check("still", 0.2, 0.0);
        check("poisson", 0.5, 0.2);
        check("bursty", 0.15, 0.2);
        check("daily", 0.05, 1.0);
        check("weekly", 0.1, 1.0 / 7.0);
    }

    #[test]
    fn sweeps_change_many_pages_of_a_directory_at_one_moment() {
        let mix = Mix { still: 1.0, poisson: 0.0, bursty: 0.0, daily: 0.0, weekly: 0.0 };
        let pace = Pace { changes_per_day: 0.0, sweeps_per_day: 0.05, templates_per_day: 0.0, mix };
        let web = of(WebSettings { sites: 1, pages: 500, pace, ..WebSettings::default() });
        let until = days_after_start(100.0);
        let mut moments = std::collections::HashMap::<Timestamp, u32>::new();
        for page in (0..web.atlas.pages()).map(PageNumber) {
            if matches!(web.atlas.place(page), Place::Article { .. }) {
                for change in web.main_changes(page, until) {
                    *moments.entry(change).or_default() += 1;
                }
            }
        }
        assert!(moments.values().any(|pages| *pages > 10), "{moments:?}");
    }
}
