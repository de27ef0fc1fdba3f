//! Answers of the living web: a function of the moment, the path and the conditions of a request.
//!
//! # Promises
//! - Every request has an answer. What does not exist is 404; what no longer exists is 404 or 410, depending
//!   on the site.
//! - A page that moved answers 301 at its old address, with the new one.
//! - The same request at the same moment has the same answer, except for noise and lies.

use freshet_protocol::time::Timestamp;

use super::atlas::{Form, PageNumber, Place};
use super::document::View;
use super::lives::Standing;
use super::living_web::LivingWeb;
use super::validators::{Conditions, Subject, Validators};

/// A request to a site.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The site.
    pub site: u32,
    /// Path and query.
    pub path_and_query: &'a str,
    /// Its conditional headers.
    pub conditions: Conditions<'a>,
    /// The moment.
    pub now: Timestamp,
    /// Its number, which noise and lies depend on.
    pub request: u64,
}

/// An answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Content type, if there is a body.
    pub content_type: &'static str,
    /// The body. Empty for a 304.
    pub body: Vec<u8>,
    /// Its validators.
    pub validators: Validators,
    /// Target of a redirect.
    pub location: Option<String>,
    /// The page and the version that were served or found unchanged.
    pub served: Option<Served>,
}

/// The page and version of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Served {
    /// The page.
    pub page: PageNumber,
    /// Version of its main text.
    pub main: u32,
    /// Version of its template.
    pub template: u32,
}

const HTML: &str = "text/html; charset=utf-8";

impl LivingWeb {
    /// Answers a request.
    pub fn answer(&self, asked: &Asked<'_>) -> Answer {
        let Asked { site, path_and_query, now, .. } = *asked;
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        if let Some((page, later_address)) = self.atlas.find(site, path_and_query) {
            return self.answer_page(asked, page, later_address, query);
        }
        let listed = match path {
            "/robots.txt" => self.robots_file(site).map(|text| ("text/plain; charset=utf-8", text)),
            "/sitemap.xml" => self.sitemap(site, now).map(|xml| ("application/xml", xml)),
            "/feed.xml" => self.feed(site, now),
            _ => self.numbered(site, path, now),
        };
        if let Some((content_type, text)) = listed {
            return Answer { content_type, body: text.into_bytes(), ..Answer::empty(200) };
        }
        match self.redirect(site, path, now) {
            Some((status, location)) => {
                Answer { location: Some(location), ..Answer::message(status, "Elsewhere") }
            }
            None => Answer::message(404, "Not found"),
        }
    }

    /// Sitemaps of a large site, and the calendar.
    fn numbered(&self, site: u32, path: &str, now: Timestamp) -> Option<(&'static str, String)> {
        match path.strip_prefix("/sitemap-").and_then(|rest| rest.strip_suffix(".xml")) {
            Some(part) => Some(("application/xml", self.sitemap_part(site, part.parse().ok()?, now)?)),
            None => Some((HTML, self.calendar(site, path)?)),
        }
    }

    /// Addresses that only redirect.
    fn redirect(&self, site: u32, path: &str, now: Timestamp) -> Option<(u16, String)> {
        if path == "/index.html" {
            return Some((301, "/".to_owned()));
        }
        if let Some(number) = path.strip_prefix("/go/") {
            let pages = &self.atlas.sites[site as usize].pages;
            let number = number.parse::<u32>().ok().and_then(|number| number.checked_add(pages.start))?;
            let page = pages.contains(&number).then_some(PageNumber(number))?;
            return Some((302, self.atlas.path(page, self.has_moved(page, now))));
        }
        let with_slash = format!("{path}/");
        self.atlas.directory(site, &with_slash).map(|_| (301, with_slash))
    }

    fn answer_page(&self, asked: &Asked<'_>, page: PageNumber, later_address: bool, query: &str) -> Answer {
        let life = self.life(page);
        match life.standing(later_address, asked.now) {
            Standing::Unborn => Answer::message(404, "Not found"),
            Standing::Gone => {
                let gone = self.atlas.sites[asked.site as usize].character.gone_status;
                Answer::message(gone, if gone == 410 { "Gone" } else { "Not found" })
            }
            Standing::Moved => {
                let location = Some(self.atlas.path(page, true));
                Answer { location, ..Answer::message(301, "Moved") }
            }
            Standing::Live => self.answer_live(asked, page, life.span_at(later_address).0, query),
        }
    }

    fn answer_live(&self, asked: &Asked<'_>, page: PageNumber, placed: Timestamp, query: &str) -> Answer {
        let Asked { now, request, .. } = *asked;
        let character = &self.atlas.sites[asked.site as usize].character;
        let version = self.version(page, now);
        let print = query == "view=print" && character.print_views;
        let noise = if print { None } else { self.noise(page, now, request) };
        let noisy = noise.is_some();
        let subject = Subject { page, version, placed, noisy, print, now, request };
        let validators = Validators::of(character.validators, &subject);
        let served = Some(Served { page, main: version.main, template: version.template });
        if validators.is_unchanged(&asked.conditions) {
            return Answer { validators, served, ..Answer::empty(304) };
        }
        let content_type = match self.atlas.place(page) {
            Place::Article { .. } => match self.atlas.form(page) {
                Form::Html => HTML,
                Form::Text => "text/plain; charset=utf-8",
                Form::Pdf => "application/pdf",
            },
            _ => HTML,
        };
        let body = self.document(page, View { at: now, version, print, noise });
        Answer { content_type, body, validators, served, ..Answer::empty(200) }
    }
}

impl Answer {
    /// An answer without a body.
    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: "",
            body: Vec::new(),
            validators: Validators::default(),
            location: None,
            served: None,
        }
    }

    /// A short page that states its status.
    pub(super) fn message(status: u16, text: &str) -> Self {
        let body = format!("<!doctype html>\n<title>{text}</title>\n<h1>{text}</h1>\n").into_bytes();
        Self { content_type: HTML, body, ..Self::empty(status) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::clock::{START, days_after_start};
    use super::super::lives::NEVER;
    use super::super::living_web::tests::small;
    use super::*;

    fn ask(web: &LivingWeb, path_and_query: &str, now: Timestamp) -> Answer {
        web.answer(&Asked { site: 0, path_and_query, conditions: Conditions::default(), now, request: 0 })
    }

    #[test]
    fn addresses_that_point_to_others_redirect() {
        let web = small();
        let directory = web.atlas.directories[0].path.trim_end_matches('/');
        for (path, status, location) in [
            ("/index.html", 301, "/".to_owned()),
            (directory, 301, format!("{directory}/")),
            ("/go/1", 302, format!("{directory}/")),
        ] {
            let answer = ask(&web, path, START);
            assert_eq!((answer.status, answer.location), (status, Some(location)), "{path}");
        }
        for path in ["/go/", "/go/99999", "/go/x", "/go/4294967295", "/nothing", "/sitemap-x.xml"] {
            assert_eq!(ask(&web, path, START).status, 404, "{path}");
        }
    }

    #[test]
    fn a_page_answers_as_it_lives() {
        let web = small();
        let later = |page: &PageNumber| web.life(*page).born > START && web.life(*page).moved != NEVER;
        let page = (web.atlas.sites[0].pages.clone().map(PageNumber)).find(later).expect("there is one");
        let life = web.life(page);
        let (old, new) = (web.atlas.path(page, false), web.atlas.path(page, true));
        let gone = web.atlas.sites[0].character.gone_status;
        for (now, at_old, at_new) in
            [(START, 404, 404), (life.born, 200, 404), (life.moved, 301, 200), (life.died, gone, gone)]
        {
            assert_eq!((ask(&web, &old, now).status, ask(&web, &new, now).status), (at_old, at_new));
        }
        assert_eq!(ask(&web, &old, life.moved).location, Some(new));
        let served = ask(&web, &old, life.born).served.expect("it was served");
        assert_eq!((served.page, served.main), (page, 0));
    }

    proptest! {
        #[test]
        fn any_path_at_any_moment_has_an_answer(path in "/[a-z0-9/.?=-]{0,40}", day in -10.0..4_000.0) {
            let web = small();
            let status = ask(&web, &path, days_after_start(day)).status;
            prop_assert!([200, 301, 302, 404, 410].contains(&status));
        }
    }
}
