//! The truth about the living web: what happened, and how fresh copies are.
//!
//! A copy of a URL is fresh as long as nothing lasting has happened to the URL since it was fetched: its page
//! has not changed, moved or died, and no page has appeared where none was. Its age is the time since the
//! first event it missed, and zero while it is fresh (thesis, section 5.2). Noise is not a change.
//!
//! # Promises
//! - The reported events are what is served: two answers for a URL differ, except for noise, exactly if an
//!   event is reported between them.
//! - Events are reported in time order, each once.

use freshet_protocol::time::Timestamp;
use freshet_theory::units::Days;

use super::atlas::PageNumber;
use super::changes::Version;
use super::lives::{NEVER, Standing};
use super::living_web::LivingWeb;

/// An event of a page, with its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Happening {
    /// Time.
    pub time: Timestamp,
    /// The page.
    pub page: PageNumber,
    /// The event.
    pub event: Event,
    /// Version of its main text after the event.
    pub main: u32,
    /// Version of its template after the event.
    pub template: u32,
}

/// What can happen to a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// It appeared.
    Born,
    /// Its lasting text changed.
    Changed(Part),
    /// Its address changed.
    Moved,
    /// It died.
    Died,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// Its own content.
    Main,
    /// The text around it that is common to the pages of the site.
    Template,
}

/// Which changes count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// All visible text that lasts.
    Text,
    /// The main text only.
    Main,
}

/// State of a URL at some moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlState {
    /// The page whose URL it is, was or will be.
    pub page: PageNumber,
    /// Whether the page is there.
    pub standing: Standing,
    /// The version of the page; the last one if it is gone.
    pub version: Version,
}

/// Freshness and age of copies at some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Fraction of the copies that are fresh. 1 without copies.
    pub freshness: f64,
    /// Mean age of the copies. Zero without copies.
    pub age: Days,
    /// Number of judged copies.
    pub copies: usize,
    /// Number of copies of URLs that this web never has. They are not judged.
    pub unknown: usize,
}

impl LivingWeb {
    /// The events after `since` and up to `until`, in order.
    pub fn happenings(&self, since: Timestamp, until: Timestamp) -> Vec<Happening> {
        let mut happenings = Vec::new();
        for site in 0..self.atlas.site_count() {
            let templates = self.template_changes(site, until);
            for page in self.atlas.sites[site as usize].pages.clone().map(PageNumber) {
                self.push_happenings(page, &templates, since, until, &mut happenings);
            }
        }
        happenings.sort_by_key(|happening| (happening.time, happening.page));
        happenings
    }

    /// Number of lasting changes of text after `since` and up to `until`, over all pages.
    pub fn changes_between(&self, since: Timestamp, until: Timestamp, scope: Scope) -> usize {
        let counts = |happening: &&Happening| match happening.event {
            Event::Changed(Part::Main) => true,
            Event::Changed(Part::Template) => scope == Scope::Text,
            Event::Born | Event::Moved | Event::Died => false,
        };
        self.happenings(since, until).iter().filter(counts).count()
    }

    /// The pages that exist at some moment, in the order of their numbers.
    pub fn live_pages(&self, at: Timestamp) -> impl Iterator<Item = PageNumber> {
        (0..self.atlas.pages()).map(PageNumber).filter(move |page| self.life(*page).is_live_at(at))
    }

    /// The page of a URL, and whether the URL is the one it moves to. Print views and queries belong to the
    /// page.
    pub fn page_of(&self, url: &str) -> Option<(PageNumber, bool)> {
        let (site, path) = self.atlas.hosts().split(url, self.atlas.site_count())?;
        self.atlas.find(site, path)
    }

    /// The state of a URL at some moment. `None` if it never is the URL of a page.
    pub fn url_state(&self, url: &str, at: Timestamp) -> Option<UrlState> {
        let (page, moved) = self.page_of(url)?;
        let standing = self.life(page).standing(moved, at);
        Some(UrlState { page, standing, version: self.version(page, at) })
    }

    /// The first event of a URL after `fetched` and up to `at`: since then a copy is out of date. The outer
    /// `None` is a URL that this web never has.
    pub fn first_missed(
        &self,
        url: &str,
        fetched: Timestamp,
        at: Timestamp,
        scope: Scope,
    ) -> Option<Option<Timestamp>> {
        let (page, moved) = self.page_of(url)?;
        let life = self.life(page);
        let (from, until) = life.span_at(moved);
        let mut moments = vec![from, until, life.died];
        // A page that never appears at this URL never dies there either.
        moments.retain(|moment| from != NEVER && *moment != NEVER);
        let mut changes = self.main_changes(page, at);
        if scope == Scope::Text {
            changes.extend(self.template_changes(self.atlas.site_of(page), at));
        }
        moments.extend(changes.into_iter().filter(|change| from < *change && *change < until));
        Some(moments.into_iter().filter(|moment| fetched < *moment && *moment <= at).min())
    }

    /// The quality of copies at some moment, each given by its URL and its fetch time.
    pub fn quality_of<U: AsRef<str>>(
        &self,
        copies: &[(U, Timestamp)],
        at: Timestamp,
        scope: Scope,
    ) -> Quality {
        let (mut judged, mut fresh, mut age) = (0, 0, 0.0);
        for (url, fetched) in copies {
            let Some(missed) = self.first_missed(url.as_ref(), *fetched, at, scope) else {
                continue;
            };
            judged += 1;
            match missed {
                None => fresh += 1,
                Some(since) => age += at.days_since(since).get(),
            }
        }
        let mean = |sum: f64, of_none: f64| if judged == 0 { of_none } else { sum / judged as f64 };
        Quality {
            freshness: mean(f64::from(fresh), 1.0),
            age: Days::new(mean(age, 0.0)),
            copies: judged,
            unknown: copies.len() - judged,
        }
    }

    fn push_happenings(
        &self,
        page: PageNumber,
        templates: &[Timestamp],
        since: Timestamp,
        until: Timestamp,
        happenings: &mut Vec<Happening>,
    ) {
        let life = self.life(page);
        let changes = self.main_changes(page, until);
        let counted = |moments: &[Timestamp], time| moments.partition_point(|moment| *moment <= time) as u32;
        let mut push = |time: Timestamp, event| {
            if since < time && time <= until {
                let (main, template) = (counted(&changes, time), counted(templates, time));
                happenings.push(Happening { time, page, event, main, template });
            }
        };
        push(life.born, Event::Born);
        for change in &changes {
            push(*change, Event::Changed(Part::Main));
        }
        for change in templates.iter().filter(|change| life.born < **change && **change < life.died) {
            push(*change, Event::Changed(Part::Template));
        }
        if life.moved != NEVER {
            push(life.moved, Event::Moved);
        }
        if life.died != NEVER {
            push(life.died, Event::Died);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::{START, days_after_start};
    use super::super::living_web::tests::small;
    use super::*;

    /// The first article whose life satisfies `wanted`.
    fn article(web: &LivingWeb, wanted: impl Fn(PageNumber) -> bool) -> PageNumber {
        let mut pages = (0..web.atlas.pages()).map(PageNumber);
        pages.find(|page| web.life(*page).died != NEVER && wanted(*page)).expect("there is one")
    }

    #[track_caller]
    fn check(web: &LivingWeb, url: &str, fetched: Timestamp, at: Timestamp, expected: Option<Timestamp>) {
        assert_eq!(web.first_missed(url, fetched, at, Scope::Main), Some(expected), "{url}");
        let quality = web.quality_of(&[(url, fetched)], at, Scope::Main);
        assert_eq!(quality.freshness, if expected.is_none() { 1.0 } else { 0.0 });
        assert_eq!(quality.age, expected.map_or(Days::new(0.0), |since| at.days_since(since)));
    }

    #[test]
    fn a_copy_is_fresh_until_its_page_changes() {
        let web = small();
        let late = days_after_start(100.0);
        let page = article(&web, |page| {
            let life = web.life(page);
            life.born < START
                && life.moved == NEVER
                && life.died > late
                && web.main_changes(page, late).len() > 2
        });
        let (url, changes) = (web.url(page, false), web.main_changes(page, late));
        let just_before = changes[0].plus_millis(-1);
        check(&web, &url, START, just_before, None);
        check(&web, &url, START, changes[0], Some(changes[0]));
        check(&web, &url, START, late, Some(changes[0]));
        check(&web, &url, just_before, changes[1], Some(changes[0]));
        check(&web, &url, changes[0], changes[1], Some(changes[1]));
        check(&web, &url, changes[0], changes[1].plus_millis(-1), None);
        check(&web, &(url + "?view=print"), changes[0], changes[1], Some(changes[1]));
    }

    #[test]
    fn a_move_makes_the_old_copy_stale_and_lets_a_new_one_be() {
        let web = small();
        let page = article(&web, |page| {
            let life = web.life(page);
            life.born < START && life.moved != NEVER && web.main_changes(page, life.died).is_empty()
        });
        let life = web.life(page);
        let (old, new) = (web.url(page, false), web.url(page, true));
        let after = life.moved.plus_millis(500);
        check(&web, &old, START, life.moved.plus_millis(-1), None);
        check(&web, &old, START, after, Some(life.moved));
        check(&web, &new, START, after, Some(life.moved));
        check(&web, &new, life.moved, after, None);
        check(&web, &new, life.moved, life.died, Some(life.died));
        check(&web, &old, life.died, days_after_start(3_000.0), None);
    }

    #[test]
    fn freshness_is_the_share_of_copies_and_unknown_urls_are_not_judged() {
        let web = small();
        let at = days_after_start(30.0);
        let copies: Vec<_> = web.live_pages(START).map(|page| (web.url(page, false), START)).collect();
        let fresh = |scope: Scope| {
            let state = |url: &String| web.url_state(url, at).expect("a page");
            copies
                .iter()
                .map(|(url, _)| state(url))
                .filter(|state| {
                    let since =
                        if scope == Scope::Text { state.version.since } else { state.version.main_since };
                    state.standing == Standing::Live && since <= START
                })
                .count() as f64
                / copies.len() as f64
        };
        for scope in [Scope::Text, Scope::Main] {
            let quality = web.quality_of(&copies, at, scope);
            assert!((quality.freshness - fresh(scope)).abs() < 1e-12, "{quality:?}");
            assert!(0.1 < quality.freshness && quality.freshness < 0.9, "{quality:?}");
            assert!(quality.age.get() > 0.0);
        }
        let strangers = web.quality_of(&[("http://example.org/", START)], at, Scope::Text);
        assert_eq!((strangers.freshness, strangers.copies, strangers.unknown), (1.0, 0, 1));
    }

    #[test]
    fn happenings_come_in_order_and_once_however_time_is_cut() {
        let web = small();
        let days = [0.0, 3.0, 20.0, 60.0].map(days_after_start);
        let whole = web.happenings(days[0], days[3]);
        assert!(whole.is_sorted_by_key(|happening| happening.time));
        let cut: Vec<_> = days.windows(2).flat_map(|pair| web.happenings(pair[0], pair[1])).collect();
        assert_eq!(whole, cut);
        for event in [
            Event::Born,
            Event::Changed(Part::Main),
            Event::Changed(Part::Template),
            Event::Moved,
            Event::Died,
        ] {
            assert!(whole.iter().any(|happening| happening.event == event), "{event:?}");
        }
        let counted = |scope| web.changes_between(days[0], days[3], scope);
        let main = whole.iter().filter(|happening| happening.event == Event::Changed(Part::Main)).count();
        assert_eq!(counted(Scope::Main), main);
        assert!(counted(Scope::Text) > main);
    }
}
