//! The page as bytes: a template around a main text, and noise within both.
//!
//! # Promises
//! - Without noise the bytes are a function of the page, its address and its version.
//! - A change of the main text changes what a reader sees of it; a change of the template what he sees around it.
//! - Every live article stands on its listing, every listing is linked from the one before or from the directory above, and
//!   the directories under the root stand on every page.

use std::fmt::Write as _;

use freshet_store::time::Timestamp;

use super::atlas::{Form, PageNumber, Place};
use super::chance::{Chance, Subject};
use super::changes::Version;
use super::character::FeedKind;
use super::clock::START;
use super::dates;
use super::edits::Shape;
use super::living_web::LivingWeb;
use super::noise::Noise;
use super::words;

/// Newest articles on a root.
const NEWEST: usize = 10;

/// How a page is to be shown.
pub(super) struct View<'a> {
    /// Moment of the answer.
    pub(super) at: Timestamp,
    pub(super) version: Version,
    /// Without what surrounds the main text.
    pub(super) print: bool,
    pub(super) noise: Option<Noise<'a>>,
}

impl LivingWeb {
    /// The bytes of a page.
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

    /// The title of a page in a revision of it.
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
                let mut chance = Chance::of(self.settings.seed, Subject::Title, page.0.into(), revision.into());
                let mut title = String::new();
                words::push_title(&mut title, 4, &mut chance);
                title
            }
        }
    }

    fn directory_name(&self, directory: u32) -> &str {
        let path = self.atlas.directories[directory as usize].path.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default()
    }

    fn html(&self, page: PageNumber, mut view: View<'_>) -> String {
        let site = self.atlas.site_of(page);
        let mut main = String::with_capacity(16 * 1024);
        let title = match self.atlas.place(page) {
            Place::Root => self.push_root(&mut main, page, site, &mut view),
            Place::Listing { directory, number } => self.push_listing(&mut main, directory, number, &mut view),
            Place::Article { .. } => self.push_article(&mut main, page, &mut view),
        };
        let mut html = String::with_capacity(main.len() + 8 * 1024);
        self.push_head(&mut html, page, site, &title, &view);
        let template = &TEMPLATES[usize::from(self.atlas.sites[site as usize].character.template)];
        if view.print {
            let _ = write!(html, "<body>\n{main}</body>\n</html>\n");
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
        let _ = write!(
            html,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} - \
             {name}</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        );
        if character.print_views {
            let url = self.url(page, self.has_moved(page, view.at));
            let _ = write!(html, "<link rel=\"canonical\" href=\"{url}\">\n");
        }
        let kind = match character.feed {
            Some(FeedKind::Atom) => Some("atom"),
            Some(FeedKind::Rss) => Some("rss"),
            None => None,
        };
        if let Some(kind) = kind {
            let _ = write!(
                html,
                "<link rel=\"alternate\" type=\"application/{kind}+xml\" title=\"Newest\" href=\"/feed.xml\">\n"
            );
        }
        if let Place::Listing { directory, number } = self.atlas.place(page) {
            let directory = &self.atlas.directories[directory as usize];
            if number + 1 < directory.listings {
                let _ = write!(html, "<link rel=\"next\" href=\"{}?page={}\">\n", directory.path, number + 2);
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
            let _ = write!(html, "<li><a href=\"{0}\">{0}</a></li>\n", directory.path);
        }
        if self.atlas.sites[site as usize].character.calendar {
            html.push_str("<li><a href=\"/calendar/2026/1/\">Calendar</a></li>\n");
        }
        html.push_str("</ul></nav>\n");
    }

    fn push_footer(&self, html: &mut String, site: u32, template_version: u32) {
        html.push_str("<footer><p>");
        words::push_prose(html, 40, &mut self.template_text(site, template_version, 1));
        let _ = write!(html, "</p><p>Edition {} of this site.</p></footer>\n", template_version + 1);
        html.push_str(SCRIPT);
        html.push_str("</body>\n</html>\n");
    }

    fn template_text(&self, site: u32, version: u32, part: u64) -> Chance {
        Chance::of(self.settings.seed, Subject::TemplateText, site.into(), 2 * u64::from(version) + part)
    }

    fn push_root(&self, main: &mut String, page: PageNumber, site: u32, view: &mut View<'_>) -> String {
        let title = self.title(page, 0);
        let _ = write!(main, "<h1>{title}</h1>\n<p>");
        let mut chance = Chance::of(self.settings.seed, Subject::Paragraph, page.0.into(), view.version.main.into());
        words::push_prose(main, 60, &mut chance);
        main.push_str("</p>\n");
        if let Some(noise) = &mut view.noise {
            noise.push_within(main);
        }
        main.push_str("<h2>Newest</h2>\n<ul>\n");
        for (born, article) in self.born_until(site, view.at).iter().rev().take(NEWEST) {
            let path = self.atlas.path(*article, false);
            let (title, day) = (self.title(*article, 0), dates::day(*born));
            let _ = write!(main, "<li><a href=\"{path}\">{title}</a> {day}</li>\n");
        }
        main.push_str("</ul>\n");
        title
    }

    fn push_listing(&self, main: &mut String, directory: u32, number: u32, view: &mut View<'_>) -> String {
        let listing = PageNumber(self.atlas.directories[directory as usize].first_page + number);
        let title = self.title(listing, 0);
        self.push_crumbs(main, directory);
        let _ = write!(main, "<h1>{title}</h1>\n");
        if let Some(noise) = &mut view.noise {
            noise.push_within(main);
        }
        let directory_facts = &self.atlas.directories[directory as usize];
        if number == 0 && !directory_facts.children.is_empty() {
            main.push_str("<ul class=\"directories\">\n");
            for child in &directory_facts.children {
                let path = &self.atlas.directories[*child as usize].path;
                let _ = write!(main, "<li><a href=\"{path}\">{}</a></li>\n", self.directory_name(*child));
            }
            main.push_str("</ul>\n");
        }
        main.push_str("<ol class=\"articles\">\n");
        for article in self.atlas.listed(directory, number) {
            let life = self.life(article);
            if life.is_live_at(view.at) {
                let moved = life.moved <= view.at;
                let note = if moved { " <em>at a new address</em>" } else { "" };
                let path = self.atlas.path(article, moved);
                let _ = write!(main, "<li><a href=\"{path}\">{}</a>{note}</li>\n", self.title(article, 0));
            }
        }
        main.push_str("</ol>\n");
        push_pager(main, &directory_facts.path, number, directory_facts.listings);
        title
    }

    fn push_crumbs(&self, main: &mut String, directory: u32) {
        let mut above = Vec::new();
        let mut next = Some(directory);
        while let Some(directory) = next {
            above.push(directory);
            next = self.atlas.directories[directory as usize].parent;
        }
        main.push_str("<p class=\"crumbs\"><a href=\"/\">Home</a>");
        for directory in above.into_iter().rev() {
            let path = &self.atlas.directories[directory as usize].path;
            let _ = write!(main, " / <a href=\"{path}\">{}</a>", self.directory_name(directory));
        }
        main.push_str("</p>\n");
    }

    fn push_article(&self, main: &mut String, page: PageNumber, view: &mut View<'_>) -> String {
        let article = self.article_parts(page, view);
        if let Place::Article { directory, .. } = self.atlas.place(page) {
            self.push_crumbs(main, directory);
        }
        let _ = write!(main, "<h1>{}</h1>\n", article.title);
        let character = &self.atlas.sites[self.atlas.site_of(page) as usize].character;
        if character.shows_date {
            let _ = write!(main, "<p class=\"meta\">Updated {}</p>\n", dates::spoken(view.version.main_since));
        }
        for (number, paragraph) in article.paragraphs.iter().enumerate() {
            if number % 4 == 2 {
                main.push_str("<h2>");
                words::push_title(main, 2, &mut Chance::of(self.settings.seed, Subject::Title, page.0.into(), HEADING + number as u64));
                main.push_str("</h2>\n");
            }
            let _ = write!(main, "<p>{paragraph}</p>\n");
            if let (0, Some(noise)) = (number, &mut view.noise) {
                noise.push_within(main);
            }
        }
        if !article.figures.is_empty() {
            main.push_str("<table class=\"figures\">\n");
            for (name, value) in &article.figures {
                let _ = write!(main, "<tr><th>{name}</th><td>{value}</td></tr>\n");
            }
            main.push_str("</table>\n");
        }
        main.push_str("<h2>See also</h2>\n<ul class=\"see-also\">\n");
        for (reference, anchor) in &article.links {
            let _ = write!(main, "<li><a href=\"{reference}\">{anchor}</a></li>\n");
        }
        main.push_str("</ul>\n");
        if character.print_views && !view.print {
            main.push_str("<p><a href=\"?view=print\">Print</a></p>\n");
        }
        article.title
    }

    fn plain_text(&self, page: PageNumber, view: &View<'_>) -> String {
        let article = self.article_parts(page, view);
        let mut text = format!("{}\n\n", article.title);
        for paragraph in &article.paragraphs {
            let _ = write!(text, "{paragraph}\n\n");
        }
        for (name, value) in &article.figures {
            let _ = write!(text, "{name}: {value}\n");
        }
        for (reference, anchor) in &article.links {
            let _ = write!(text, "{anchor}: {reference}\n");
        }
        text
    }

    /// The head of a PDF around the text: enough that no reader of HTML takes it for his own.
    fn pdf(&self, page: PageNumber, view: &View<'_>) -> Vec<u8> {
        let text = self.plain_text(page, view);
        let mut bytes = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nstream\n".to_vec();
        bytes.extend(text.bytes().map(|byte| byte ^ 0x80));
        bytes.extend_from_slice(b"\nendstream\nendobj\n%%EOF\n");
        bytes
    }

    fn article_parts(&self, page: PageNumber, view: &View<'_>) -> Article {
        let shape: Shape = self.shape(page);
        let revisions = self.revisions(page, shape, view.version.main);
        let stream = |subject, number: u32, revision: u32| {
            Chance::of(self.settings.seed, subject, page.0.into(), u64::from(number) << 32 | u64::from(revision))
        };
        let paragraph = |(number, revision): (usize, &u32)| {
            let mut chance = stream(Subject::Paragraph, number as u32, *revision);
            let mut text = String::with_capacity(700);
            words::push_prose(&mut text, 40 + chance.below(70), &mut chance);
            text
        };
        let figures = match shape.figures {
            true => figures(&mut stream(Subject::Figures, 0, 0), &mut stream(Subject::Figures, 1, revisions.figures)),
            false => Vec::new(),
        };
        Article {
            title: self.title(page, revisions.title),
            paragraphs: revisions.paragraphs.iter().enumerate().map(paragraph).collect(),
            figures,
            links: self.article_links(page, revisions.links, view.at),
        }
    }

    /// Links of a revision, with the moment at which it was written.
    fn article_links(&self, page: PageNumber, revision: u32, at: Timestamp) -> Vec<(String, String)> {
        let written = match revision {
            0 => self.life(page).born.max(START),
            _ => self.main_changes(page, at)[revision as usize - 1],
        };
        let links = self.text_links(page, revision, written).into_iter();
        let mut links: Vec<_> = links.map(|link| (link.reference, link.anchor)).collect();
        // A list whose targets were all unborn still shows that it was edited.
        if links.is_empty() {
            links.push(("/".to_owned(), format!("Home, edition {revision}")));
        }
        links
    }
}

/// What an article says.
struct Article {
    title: String,
    paragraphs: Vec<String>,
    figures: Vec<(&'static str, String)>,
    links: Vec<(String, String)>,
}

/// Rows of a table: names that stay and values that change.
fn figures(names: &mut Chance, values: &mut Chance) -> Vec<(&'static str, String)> {
    let row = |_| (words::thing(names), format!("{}.{:02}", values.below(10_000), values.below(100)));
    (0..4).map(row).collect()
}

fn push_pager(main: &mut String, path: &str, number: u32, listings: u32) {
    if listings < 2 {
        return;
    }
    main.push_str("<p class=\"pager\">");
    if number == 1 {
        let _ = write!(main, "<a rel=\"prev\" href=\"{path}\">Previous</a> ");
    } else if number > 1 {
        let _ = write!(main, "<a rel=\"prev\" href=\"{path}?page={number}\">Previous</a> ");
    }
    if number + 1 < listings {
        let _ = write!(main, "<a rel=\"next\" href=\"{path}?page={}\">Next</a>", number + 2);
    }
    main.push_str("</p>\n");
}

/// Streams of headings lie beyond those of all revisions of titles.
const HEADING: u64 = 1 << 40;

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
nav ul{display:flex;flex-wrap:wrap;gap:.5rem 1rem;list-style:none;margin:0;padding:.5rem 1rem;background:#f4f4f0}
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
