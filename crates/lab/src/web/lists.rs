//! What a site offers besides pages: robots.txt, sitemaps, feeds, and an endless calendar.
//!
//! # Promises
//! - A sitemap lists exactly the live pages that robots.txt allows. A large site has an index of several
//!   sitemaps.
//! - An honest sitemap states the time of the last change of the main text. A lying one states today.
//! - A feed contains the newest articles, newest first.

use std::fmt::Write as _;

use freshet_protocol::time::Timestamp;

use super::atlas::PageNumber;
use super::chance::{Chance, Subject};
use super::character::{FeedKind, RobotsKind, SitemapKind};
use super::dates;
use super::living_web::LivingWeb;
use super::words;

/// Maximum number of pages per sitemap.
const SITEMAP_PAGES: u32 = 1_000;

/// Maximum number of entries of a feed.
const FEED_ENTRIES: usize = 20;

/// Last year of the calendar. It is only bounded because the number is.
const YEAR_MAX: u32 = 4_000_000_000;

impl LivingWeb {
    /// The robots.txt of a site, if it has one.
    pub(super) fn robots_file(&self, site: u32) -> Option<String> {
        let facts = &self.atlas.sites[site as usize];
        let range = facts.directories.start as usize..facts.directories.end as usize;
        let disallowed = self.atlas.directories[range].iter().find(|directory| !directory.allowed);
        // A disallowed directory needs a robots.txt, so such a site has one whatever its kind.
        if facts.character.robots == RobotsKind::Missing && disallowed.is_none() {
            return None;
        }
        let mut text = format!("# {}\nUser-agent: *\n", facts.name);
        match disallowed {
            Some(directory) => {
                let _ = writeln!(text, "Disallow: {}", directory.path);
            }
            None => text.push_str("Disallow:\n"),
        }
        if let RobotsKind::Delay(tenths) = facts.character.robots {
            let _ = writeln!(text, "Crawl-delay: {}", f64::from(tenths) / 10.0);
        }
        if facts.character.sitemap.is_some() {
            let _ = writeln!(text, "\nSitemap: {}/sitemap.xml", self.atlas.hosts().origin(site));
        }
        Some(text)
    }

    /// The sitemap of a site, or the index of its sitemaps.
    pub(super) fn sitemap(&self, site: u32, at: Timestamp) -> Option<String> {
        let facts = &self.atlas.sites[site as usize];
        facts.character.sitemap?;
        let parts = (facts.pages.end - facts.pages.start).div_ceil(SITEMAP_PAGES);
        if parts == 1 {
            return self.sitemap_part(site, 1, at);
        }
        let mut xml = format!("{XML}<sitemapindex xmlns=\"{SITEMAP_SPACE}\">\n");
        for part in 1..=parts {
            let origin = self.atlas.hosts().origin(site);
            let _ = writeln!(xml, "<sitemap><loc>{origin}/sitemap-{part}.xml</loc></sitemap>");
        }
        xml.push_str("</sitemapindex>\n");
        Some(xml)
    }

    /// One of the sitemaps of a site, counted from one.
    pub(super) fn sitemap_part(&self, site: u32, part: u32, at: Timestamp) -> Option<String> {
        let facts = &self.atlas.sites[site as usize];
        let kind = facts.character.sitemap?;
        let first = part.checked_sub(1)?.checked_mul(SITEMAP_PAGES)?.checked_add(facts.pages.start)?;
        if first >= facts.pages.end {
            return None;
        }
        let mut xml = format!("{XML}<urlset xmlns=\"{SITEMAP_SPACE}\">\n");
        for page in (first..first.saturating_add(SITEMAP_PAGES).min(facts.pages.end)).map(PageNumber) {
            if !self.life(page).is_live_at(at) || !self.is_allowed(page) {
                continue;
            }
            let _ = write!(xml, "<url><loc>{}</loc>", self.url(page, self.has_moved(page, at)));
            let modified = match kind {
                SitemapKind::Honest => Some(dates::xml_date(self.version(page, at).main_since)),
                SitemapKind::Lying => Some(dates::day(at)),
                SitemapKind::Silent => None,
            };
            if let Some(modified) = modified {
                let _ = write!(xml, "<lastmod>{modified}</lastmod>");
            }
            xml.push_str("</url>\n");
        }
        xml.push_str("</urlset>\n");
        Some(xml)
    }

    /// The feed of a site, with its content type.
    pub(super) fn feed(&self, site: u32, at: Timestamp) -> Option<(&'static str, String)> {
        let facts = &self.atlas.sites[site as usize];
        let kind = facts.character.feed?;
        let origin = self.atlas.hosts().origin(site);
        let newest = self.born_until(site, at).iter().rev().take(FEED_ENTRIES);
        let entries = newest.map(|(born, page)| Entry {
            born: *born,
            url: self.url(*page, false),
            title: self.title(*page, 0),
        });
        Some(match kind {
            FeedKind::Atom => {
                ("application/atom+xml; charset=utf-8", atom(&facts.name, &origin, entries.collect()))
            }
            FeedKind::Rss => {
                ("application/rss+xml; charset=utf-8", rss(&facts.name, &origin, entries.collect()))
            }
        })
    }

    /// A month or a day of the calendar, if the site has one. Each links to further ones, endlessly.
    pub(super) fn calendar(&self, site: u32, path: &str) -> Option<String> {
        if !self.atlas.sites[site as usize].character.calendar {
            return None;
        }
        let mut parts = path.strip_prefix("/calendar/")?.trim_end_matches('/').split('/');
        let year: u32 = parts.next()?.parse().ok().filter(|year| (1..YEAR_MAX).contains(year))?;
        let month: u32 = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
        let mut html =
            format!("<!doctype html>\n<title>Calendar {year}-{month}</title>\n<h1>{year}-{month}</h1>\n<p>");
        let mut chance = Chance::of(
            self.settings.seed,
            Subject::Paragraph,
            u64::from(year) << 8 | u64::from(month),
            site.into(),
        );
        words::push_prose(&mut html, 20, &mut chance);
        let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let (last_year, last_month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        let _ = writeln!(
            html,
            "</p>\n<a href=\"/calendar/{next_year}/{next_month}/\">next</a>\n<a \
             href=\"/calendar/{last_year}/{last_month}/\">previous</a>"
        );
        for day in 1..=28 {
            let _ = writeln!(html, "<a href=\"/calendar/{year}/{month}/{day}/\">{day}</a>");
        }
        Some(html)
    }
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP_SPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// An entry of a feed.
struct Entry {
    born: Timestamp,
    url: String,
    title: String,
}

fn atom(name: &str, origin: &str, entries: Vec<Entry>) -> String {
    let updated = entries.first().map_or_else(String::new, |entry| dates::xml_date(entry.born));
    let mut xml = format!(
        "{XML}<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{name}</title>\n<id>{origin}/</id>\n<link \
         href=\"{origin}/\"/>\n<updated>{updated}</updated>\n"
    );
    for Entry { born, url, title } in entries {
        let _ = writeln!(
            xml,
            "<entry><title>{title}</title><id>{url}</id><link href=\"{url}\"/><updated>{}</updated></entry>",
            dates::xml_date(born)
        );
    }
    xml.push_str("</feed>\n");
    xml
}

fn rss(name: &str, origin: &str, entries: Vec<Entry>) -> String {
    let mut xml = format!(
        "{XML}<rss \
         version=\"2.0\"><channel>\n<title>{name}</title>\n<link>{origin}/</link>\n<description>Newest \
         pages</description>\n"
    );
    for Entry { born, url, title } in entries {
        let _ = writeln!(
            xml,
            "<item><title>{title}</title><link>{url}</link><guid>{url}</guid><pubDate>{}</pubDate></item>",
            dates::http_date(born)
        );
    }
    xml.push_str("</channel></rss>\n");
    xml
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use quick_xml::Reader;
    use quick_xml::events::Event;

    use super::super::clock::{START, days_after_start};
    use super::super::living_web::tests::{of, small};
    use super::super::settings::WebSettings;
    use super::*;

    /// The texts of the elements of one name. The XML must be well-formed.
    fn elements(xml: &str, name: &str) -> Vec<String> {
        let mut reader = Reader::from_str(xml);
        let mut found = Vec::new();
        let mut inside = false;
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(start) => inside = start.name().as_ref() == name,
                Event::End(_) => inside = false,
                Event::Text(text) if inside => found.push(text.as_ref().to_owned()),
                Event::Eof => return found,
                _ => {}
            }
        }
    }

    fn site_with(web: &LivingWeb, wanted: impl Fn(u32) -> bool) -> u32 {
        (0..web.atlas.site_count()).find(|site| wanted(*site)).expect("there is one")
    }

    #[test]
    fn a_sitemap_lists_the_live_pages_that_are_allowed() {
        let web = of(WebSettings { sites: 12, pages: 6_000, ..WebSettings::default() });
        let at = days_after_start(30.0);
        let mut indexes = 0;
        for site in 0..web.atlas.site_count() {
            let Some(xml) = web.sitemap(site, at) else {
                continue;
            };
            let mut listed = elements(&xml, "loc");
            if xml.contains("<sitemapindex") {
                indexes += 1;
                listed = (1..=listed.len() as u32)
                    .flat_map(|part| elements(&web.sitemap_part(site, part, at).expect("a part"), "loc"))
                    .collect();
            }
            let pages = web.atlas.sites[site as usize].pages.clone().map(PageNumber);
            let expected: HashSet<String> = pages
                .filter(|page| web.life(*page).is_live_at(at) && web.is_allowed(*page))
                .map(|page| web.url(page, web.has_moved(page, at)))
                .collect();
            assert_eq!(listed.into_iter().collect::<HashSet<_>>(), expected, "site {site}");
            assert_eq!(web.sitemap_part(site, 0, at), None);
            assert_eq!(web.sitemap_part(site, u32::MAX, at), None);
        }
        assert!(indexes > 0);
    }

    #[test]
    fn an_honest_sitemap_dates_changes_and_a_lying_one_says_today() {
        let web = small();
        let at = days_after_start(30.0);
        let kind = |site: u32| web.atlas.sites[site as usize].character.sitemap;
        let dates = |wanted| {
            let site = site_with(&web, |site| kind(site) == Some(wanted));
            let xml = web.sitemap_part(site, 1, at).expect("a sitemap");
            let pages = web.atlas.sites[site as usize].pages.clone().map(PageNumber);
            let listed: Vec<_> =
                pages.filter(|page| web.life(*page).is_live_at(at) && web.is_allowed(*page)).collect();
            (listed, elements(&xml, "lastmod"))
        };
        let (pages, honest) = dates(SitemapKind::Honest);
        let expected: Vec<_> =
            pages.iter().map(|page| dates::xml_date(web.version(*page, at).main_since)).collect();
        assert_eq!(honest, expected);
        let (pages, lying) = dates(SitemapKind::Lying);
        assert_eq!(lying, vec!["2026-01-31"; pages.len()]);
        assert!(dates(SitemapKind::Silent).1.is_empty());
    }

    #[test]
    fn feeds_hold_the_newest_articles_first() {
        let web = of(WebSettings { sites: 12, pages: 6_000, ..WebSettings::default() });
        let (before, at) = (START, days_after_start(90.0));
        for (kind, url) in [(FeedKind::Atom, "id"), (FeedKind::Rss, "guid")] {
            let site = site_with(&web, |site| web.atlas.sites[site as usize].character.feed == Some(kind));
            let urls = |at| {
                let mut urls = elements(&web.feed(site, at).expect("a feed").1, url);
                urls.retain(|url| url.len() > web.seeds()[site as usize].len());
                urls
            };
            let expected: Vec<_> = web
                .born_until(site, at)
                .iter()
                .rev()
                .take(20)
                .map(|(_, page)| web.url(*page, false))
                .collect();
            assert_eq!(urls(at), expected);
            assert_ne!(urls(before), urls(at));
        }
    }

    #[test]
    fn robots_files_name_what_is_disallowed_and_the_sitemap() {
        let web = of(WebSettings { sites: 60, pages: 20_000, ..WebSettings::default() });
        let mut delays = HashSet::new();
        for site in 0..60 {
            let facts = &web.atlas.sites[site as usize];
            let disallowed: Vec<_> = (facts.directories.clone())
                .map(|directory| &web.atlas.directories[directory as usize])
                .filter(|directory| !directory.allowed)
                .map(|directory| directory.path.clone())
                .collect();
            let Some(text) = web.robots_file(site) else {
                assert!(facts.character.robots == RobotsKind::Missing && disallowed.is_empty());
                continue;
            };
            let values = |name: &str| -> Vec<String> {
                let lines = text.lines().filter_map(|line| line.split_once(':'));
                lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).collect()
            };
            let rules: Vec<_> = values("Disallow").into_iter().filter(|rule| !rule.is_empty()).collect();
            assert_eq!(rules, disallowed);
            assert_eq!(values("Sitemap").len(), usize::from(facts.character.sitemap.is_some()));
            delays.extend(values("Crawl-delay"));
        }
        assert_eq!(delays, HashSet::from(["0.5".to_owned(), "1".to_owned()]));
    }

    #[test]
    fn a_calendar_leads_on_without_end() {
        let web = of(WebSettings { sites: 30, pages: 600, calendars: true, ..WebSettings::default() });
        let site = site_with(&web, |site| web.atlas.sites[site as usize].character.calendar);
        let month = web.calendar(site, "/calendar/99999/12/").expect("a month");
        assert!(month.contains("/calendar/100000/1/") && month.contains("/calendar/99999/12/28/"));
        assert!(web.calendar(site, "/calendar/2026/1/5/").is_some());
        for path in ["/calendar/", "/calendar/2026/13/", "/calendar/0/1/", "/calendar/x/1/", "/"] {
            assert_eq!(web.calendar(site, path), None, "{path}");
        }
        assert_eq!(small().calendar(0, "/calendar/2026/1/"), None);
    }
}
