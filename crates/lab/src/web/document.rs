//! Renders a page as bytes: a template around a main text, and noise within both.
//!
//! # Promises
//! - Without noise the bytes are a function of the page, its address and its version.
//! - A change of the main text changes its visible text. A change of the template changes the visible text
//!   around it.
//! - Every page lists the directories under the root.

use std::fmt::Write as _;

use freshet_protocol::time::Timestamp;

use super::atlas::{Form, PageNumber, Place};
use super::chance::{Chance, Subject};
use super::changes::Version;
use super::character::FeedKind;
use super::living_web::LivingWeb;
use super::noise::Noise;
use super::words;

/// How to render a page.
pub(super) struct View<'a> {
    /// Moment of the answer.
    pub(super) at: Timestamp,
    pub(super) version: Version,
    /// Print view: only the main text.
    pub(super) print: bool,
    pub(super) noise: Option<Noise<'a>>,
}

impl LivingWeb {
    /// Renders a page.
    pub(super) fn document(&self, page: PageNumber, view: View<'_>) -> Vec<u8> {
        match self.atlas.place(page) {
            Place::Article { .. } => match self.atlas.form(page) {
                Form::Html => self.html(page, view).into_bytes(),
                Form::Text => self.plain_text(page, &view).into_bytes(),
                Form::Pdf => self.pdf(page, &view),
            },
            _ => self.html(page, view).into_bytes(),
        }
    }

    /// The title of a page in one of its revisions.
    pub(super) fn title(&self, page: PageNumber, revision: u32) -> String {
        match self.atlas.place(page) {
            Place::Root => self.atlas.sites[self.atlas.site_of(page) as usize].name.clone(),
            Place::Listing { directory, number } => {
                let mut title = String::new();
                words::push_capitalised(&mut title, self.directory_name(directory));
                if number > 0 {
                    let _ = write!(title, ", page {}", number + 1);
                }
                title
            }
            Place::Article { .. } => {
                let mut chance =
                    Chance::of(self.settings.seed, Subject::Title, page.0.into(), revision.into());
                let mut title = String::new();
                words::push_title(&mut title, 4, &mut chance);
                title
            }
        }
    }

    pub(super) fn directory_name(&self, directory: u32) -> &str {
        let path = self.atlas.directories[directory as usize].path.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default()
    }

    fn html(&self, page: PageNumber, mut view: View<'_>) -> String {
        let site = self.atlas.site_of(page);
        let mut main = String::with_capacity(16 * 1024);
        let title = match self.atlas.place(page) {
            Place::Root => self.push_root(&mut main, page, site, &mut view),
            Place::Listing { directory, number } => {
                self.push_listing(&mut main, directory, number, &mut view)
            }
            Place::Article { .. } => self.push_article(&mut main, page, &mut view),
        };
        let mut html = String::with_capacity(main.len() + 8 * 1024);
        self.push_head(&mut html, page, site, &title, &view);
        let template = &TEMPLATES[usize::from(self.atlas.sites[site as usize].character.template)];
        if view.print {
            let _ = writeln!(html, "<body>\n{main}</body>\n</html>");
            return html;
        }
        html.push_str("<body>\n");
        self.push_header(&mut html, site, &mut view);
        html.push_str(template.open);
        html.push_str(&main);
        html.push_str(template.close);
        if let Some(noise) = &mut view.noise {
            noise.push_aside(&mut html, self, site);
        }
        self.push_footer(&mut html, site, view.version.template);
        html
    }

    fn push_head(&self, html: &mut String, page: PageNumber, site: u32, title: &str, view: &View<'_>) {
        let character = &self.atlas.sites[site as usize].character;
        let name = &self.atlas.sites[site as usize].name;
        let _ = writeln!(
            html,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} - \
             {name}</title>\n<meta name=\"viewport\" content=\"width=device-width\">"
        );
        if character.print_views {
            let url = self.url(page, self.has_moved(page, view.at));
            let _ = writeln!(html, "<link rel=\"canonical\" href=\"{url}\">");
        }
        let kind = match character.feed {
            Some(FeedKind::Atom) => Some("atom"),
            Some(FeedKind::Rss) => Some("rss"),
            None => None,
        };
        if let Some(kind) = kind {
            let _ = writeln!(
                html,
                "<link rel=\"alternate\" type=\"application/{kind}+xml\" title=\"Newest\" href=\"/feed.xml\">"
            );
        }
        if let Place::Listing { directory, number } = self.atlas.place(page) {
            let directory = &self.atlas.directories[directory as usize];
            if number + 1 < directory.listings {
                let _ = writeln!(html, "<link rel=\"next\" href=\"{}?page={}\">", directory.path, number + 2);
            }
        }
        html.push_str(STYLE);
        html.push_str("</head>\n");
    }

    fn push_header(&self, html: &mut String, site: u32, view: &mut View<'_>) {
        let name = &self.atlas.sites[site as usize].name;
        let _ = write!(html, "<header>\n<a href=\"/\">{name}</a>\n<p class=\"tagline\">");
        words::push_prose(html, 9, &mut self.template_text(site, view.version.template, 0));
        html.push_str("</p>\n");
        if let Some(noise) = &mut view.noise {
            noise.push_header(html);
        }
        html.push_str("</header>\n<nav><ul>\n");
        for directory in self.atlas.top_directories(site) {
            let (path, name) = (&directory.path, directory.path.trim_matches('/'));
            let _ = writeln!(html, "<li><a href=\"{path}\">{name}</a></li>");
        }
        if self.atlas.sites[site as usize].character.calendar {
            html.push_str("<li><a href=\"/calendar/2026/1/\">Calendar</a></li>\n");
        }
        html.push_str("</ul></nav>\n");
    }

    fn push_footer(&self, html: &mut String, site: u32, template_version: u32) {
        html.push_str("<footer><p>");
        words::push_prose(html, 40, &mut self.template_text(site, template_version, 1));
        let _ = writeln!(html, "</p><p>Edition {} of this site.</p></footer>", template_version + 1);
        html.push_str(SCRIPT);
        html.push_str("</body>\n</html>\n");
    }

    fn template_text(&self, site: u32, version: u32, part: u64) -> Chance {
        Chance::of(self.settings.seed, Subject::TemplateText, site.into(), 2 * u64::from(version) + part)
    }
}

/// What surrounds the main text.
struct Template {
    open: &'static str,
    close: &'static str,
}

const TEMPLATES: [Template; super::character::TEMPLATES as usize] = [
    Template { open: "<main>\n<article>\n", close: "</article>\n</main>\n" },
    Template { open: "<div id=\"content\"><div class=\"inner\">\n", close: "</div></div>\n" },
    Template {
        open: "<table class=\"layout\"><tr><td class=\"left\">&nbsp;</td><td>\n",
        close: "</td></tr></table>\n",
    },
    Template { open: "<section role=\"main\">\n", close: "</section>\n" },
];

const STYLE: &str = "<style>
body{font:16px/1.5 Georgia,serif;margin:0 auto;max-width:72rem;color:#222;background:#fff}
header{display:flex;gap:1rem;align-items:baseline;padding:1rem;border-bottom:1px solid #ccc}
header a{font-size:1.4rem;font-weight:bold;color:inherit;text-decoration:none}
nav ul{display:flex;flex-wrap:wrap;gap:.5rem 1rem;list-style:none;margin:0;padding:.5rem \
    1rem;background:#f4f4f0}
main,#content,section[role=main]{padding:1rem 2rem}
h1{font-size:1.8rem;line-height:1.2;margin:.6rem 0}
h2{font-size:1.2rem;margin:1.4rem 0 .4rem}
p{margin:.6rem 0}
.meta,.crumbs,.pager{color:#666;font-size:.85rem}
.figures{border-collapse:collapse;margin:1rem 0}
.figures th,.figures td{border:1px solid #ddd;padding:.2rem .6rem;text-align:left}
.ads{background:#fffbe6;border:1px solid #eee0a0;padding:.5rem 1rem}
.related{border-top:1px solid #eee;padding:0 2rem}
footer{border-top:1px solid #ccc;color:#777;font-size:.8rem;padding:1rem}
</style>
";

const SCRIPT: &str = "<script>
document.querySelectorAll('nav a').forEach(function (link) {
  if (location.pathname.indexOf(link.getAttribute('href')) === 0) { link.className = 'here'; }
});
</script>
";

#[cfg(test)]
mod tests {
    use super::super::clock::{START, days_after_start};
    use super::super::living_web::tests::small;
    use super::*;

    fn shown(web: &LivingWeb, page: PageNumber, at: Timestamp) -> Vec<u8> {
        web.document(page, View { at, version: web.version(page, at), print: false, noise: None })
    }

    #[test]
    fn without_noise_bytes_differ_exactly_when_the_version_or_the_address_does() {
        let web = small();
        let moments: Vec<_> = (0..8).map(|week| days_after_start(7.0 * f64::from(week))).collect();
        let (mut same, mut different) = (0, 0);
        for page in (0..web.atlas.pages()).map(PageNumber).step_by(3) {
            for pair in moments.windows(2).filter(|pair| pair.iter().all(|at| web.life(page).is_live_at(*at)))
            {
                let facts = |at| {
                    let version = web.version(page, at);
                    (version.main, version.template, web.has_moved(page, at))
                };
                let equal = shown(&web, page, pair[0]) == shown(&web, page, pair[1]);
                let (before, after) = (facts(pair[0]), facts(pair[1]));
                if before == after {
                    assert!(equal, "page {page:?} at {pair:?}");
                    same += 1;
                } else if before.0 != after.0 {
                    assert!(!equal, "page {page:?} at {pair:?}");
                    different += 1;
                }
            }
        }
        assert!(same > 300 && different > 300, "{same} {different}");
    }

    #[test]
    fn noise_differs_at_every_request_and_hides_no_text() {
        let web = small();
        let noisy = |page: &PageNumber| web.is_noisy(*page) && web.life(*page).is_live_at(START);
        for page in (0..web.atlas.pages()).map(PageNumber).filter(noisy).take(100) {
            let ask = |request| {
                let noise = web.noise(page, START, request);
                let view = View { at: START, version: web.version(page, START), print: false, noise };
                String::from_utf8(web.document(page, view)).expect("HTML")
            };
            let clock_only = web.atlas.sites[web.atlas.site_of(page) as usize].character.noise
                == [super::super::character::NoiseKind::Clock];
            assert_eq!(ask(1) == ask(2), clock_only, "a clock alone stands still within its second");
            let (plain, noisy) = (shown(&web, page, START), ask(3));
            let plain = String::from_utf8(plain).expect("HTML");
            assert!(plain.lines().all(|line| noisy.contains(line)));
        }
    }

    #[test]
    fn pages_have_the_sizes_of_pages() {
        let web = small();
        let mut sizes: Vec<usize> =
            web.live_pages(START).map(|page| shown(&web, page, START).len()).collect();
        sizes.sort_unstable();
        let (median, largest) = (sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
        assert!((3_000..12_000).contains(&median), "{median}");
        assert!((15_000..60_000).contains(&largest), "{largest}");
    }
}
