//! Properties of a site: its validators, noise, robots.txt, sitemap, feed and habits.
//!
//! # Promises
//! - The shares of sites hold even if there are only a few dozen sites.
//! - If the settings ask for no lies and no calendars, no site lies about its validators and none has a
//!   calendar.

use super::chance::{Chance, Subject, even_share};
use super::settings::WebSettings;

/// Properties of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// Number of the template of its pages.
    pub template: u8,
    /// Kind of its validators.
    pub validators: ValidatorKind,
    /// Noise on its noisy pages: what differs at every request. At least one kind.
    pub noise: Vec<NoiseKind>,
    /// What its sitemap says about changes, if it has one.
    pub sitemap: Option<SitemapKind>,
    /// The feed of its newest pages, if it has one.
    pub feed: Option<FeedKind>,
    /// Kind of its robots.txt.
    pub robots: RobotsKind,
    /// Status for a page that died: 404 or 410.
    pub gone_status: u16,
    /// Whether pages show when they last changed.
    pub shows_date: bool,
    /// Whether pages state their canonical address, and have print views at another address.
    pub print_views: bool,
    /// Whether it has an endless calendar.
    pub calendar: bool,
}

/// What a site says about the version of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ValidatorKind {
    /// A correct ETag and a correct Last-Modified.
    Both,
    /// A correct ETag.
    EtagOnly,
    /// A correct Last-Modified.
    DateOnly,
    /// Nothing.
    Absent,
    /// A lie: an ETag that differs at every request, so that nothing is ever unchanged.
    EverNewEtag,
    /// A lie: an ETag that never differs, so that a changed page is answered with 304.
    FrozenEtag,
    /// A lie: a Last-Modified that is always the current time.
    DateOfNow,
}

/// A kind of noise: what differs at every request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoiseKind {
    /// The time of day.
    Clock,
    /// A token in a form and a visible request number.
    Token,
    /// Advertisements.
    Advertisements,
    /// A view counter, in the middle of the main text.
    Counter,
    /// Links to related pages, different each time.
    Related,
}

/// What a sitemap says about changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SitemapKind {
    /// The truth.
    Honest,
    /// Claims that everything changed today.
    Lying,
    /// Nothing.
    Silent,
}

/// The format of a feed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FeedKind {
    /// RFC 4287.
    Atom,
    /// RSS 2.0.
    Rss,
}

/// Kind of robots.txt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RobotsKind {
    /// No file: 404.
    Missing,
    /// One without a delay.
    Plain,
    /// One with a crawl-delay, in tenths of a second.
    Delay(u8),
}

/// Number of templates.
pub(super) const TEMPLATES: u8 = 4;

impl Character {
    /// The properties of the `site`-th site.
    pub(super) fn of(settings: &WebSettings, site: u32) -> Self {
        let standing = |trait_number| even_share(settings.seed, trait_number, site);
        let mut chance = Chance::of(settings.seed, Subject::Sites, u64::from(site), 1);
        Self {
            template: chance.below(u32::from(TEMPLATES)) as u8,
            validators: validators(settings.lies, standing(0)),
            noise: noise(&mut chance),
            sitemap: sitemap(standing(1)),
            feed: feed(standing(2)),
            robots: robots(standing(3)),
            gone_status: if chance.happens(0.3) { 410 } else { 404 },
            shows_date: chance.happens(0.5),
            print_views: chance.happens(0.2),
            calendar: settings.calendars && standing(4) < 0.1,
        }
    }
}

/// The first `lies` of the sites lie in one of three ways. Of the others half send both validators, some send
/// one, some none.
fn validators(lies: f64, standing: f64) -> ValidatorKind {
    if standing < lies {
        return match (standing / lies * 3.0) as u8 {
            0 => ValidatorKind::EverNewEtag,
            1 => ValidatorKind::FrozenEtag,
            _ => ValidatorKind::DateOfNow,
        };
    }
    match (standing - lies) / (1.0 - lies) {
        part if part < 0.5 => ValidatorKind::Both,
        part if part < 0.65 => ValidatorKind::EtagOnly,
        part if part < 0.8 => ValidatorKind::DateOnly,
        _ => ValidatorKind::Absent,
    }
}

fn noise(chance: &mut Chance) -> Vec<NoiseKind> {
    let all = [
        NoiseKind::Clock,
        NoiseKind::Token,
        NoiseKind::Advertisements,
        NoiseKind::Counter,
        NoiseKind::Related,
    ];
    let always = chance.below(all.len() as u32) as usize;
    let kept = |(number, kind)| (number == always || chance.happens(0.3)).then_some(kind);
    all.into_iter().enumerate().filter_map(kept).collect()
}

fn sitemap(standing: f64) -> Option<SitemapKind> {
    match standing {
        _ if standing < 0.35 => Some(SitemapKind::Honest),
        _ if standing < 0.5 => Some(SitemapKind::Lying),
        _ if standing < 0.6 => Some(SitemapKind::Silent),
        _ => None,
    }
}

fn feed(standing: f64) -> Option<FeedKind> {
    match standing {
        _ if standing < 0.2 => Some(FeedKind::Atom),
        _ if standing < 0.4 => Some(FeedKind::Rss),
        _ => None,
    }
}

fn robots(standing: f64) -> RobotsKind {
    match standing {
        _ if standing < 0.1 => RobotsKind::Missing,
        _ if standing < 0.2 => RobotsKind::Delay(5),
        _ if standing < 0.3 => RobotsKind::Delay(10),
        _ => RobotsKind::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(settings: &WebSettings) -> Vec<Character> {
        (0..60).map(|site| Character::of(settings, site)).collect()
    }

    #[test]
    fn shares_hold_among_sixty_sites() {
        let sites = sites(&WebSettings { lies: 0.2, ..WebSettings::default() });
        let count = |which: &dyn Fn(&Character) -> bool| sites.iter().filter(|site| which(site)).count();
        let lying = [ValidatorKind::EverNewEtag, ValidatorKind::FrozenEtag, ValidatorKind::DateOfNow];
        for lie in lying {
            assert!((3..=5).contains(&count(&|site| site.validators == lie)), "{lie:?}");
        }
        assert!((34..=38).contains(&count(&|site| site.sitemap.is_some())));
        assert!((22..=26).contains(&count(&|site| site.feed.is_some())));
        assert!((5..=7).contains(&count(&|site| site.robots == RobotsKind::Missing)));
        assert_eq!(count(&|site| site.noise.is_empty()), 0);
    }

    #[test]
    fn an_honest_web_has_no_lies_and_no_calendars() {
        let honest = sites(&WebSettings { lies: 0.0, ..WebSettings::default() });
        let lies = [ValidatorKind::EverNewEtag, ValidatorKind::FrozenEtag, ValidatorKind::DateOfNow];
        assert!(honest.iter().all(|site| !lies.contains(&site.validators) && !site.calendar));
        let all = sites(&WebSettings { lies: 1.0, calendars: true, ..WebSettings::default() });
        assert!(all.iter().all(|site| lies.contains(&site.validators)));
        assert!(all.iter().any(|site| site.calendar));
    }
}
