//! The main text of an article: its parts in their revisions, as HTML, plain text, or a binary document.
//!
//! # Promises
//! - All forms contain the same parts.
//! - A change of any part is visible.

use std::fmt::Write as _;

use freshet_protocol::time::Timestamp;

use super::atlas::{PageNumber, Place};
use super::chance::{Chance, Subject};
use super::clock::START;
use super::dates;
use super::document::View;
use super::living_web::LivingWeb;
use super::words;

/// Random streams of headings start beyond those of all title revisions.
const HEADING: u64 = 1 << 40;

impl LivingWeb {
    /// Appends the main text and returns the title.
    pub(super) fn push_article(&self, main: &mut String, page: PageNumber, view: &mut View<'_>) -> String {
        let article = self.article_parts(page, view);
        if let Place::Article { directory, .. } = self.atlas.place(page) {
            self.push_crumbs(main, directory);
        }
        let _ = writeln!(main, "<h1>{}</h1>", article.title);
        let character = &self.atlas.sites[self.atlas.site_of(page) as usize].character;
        if character.shows_date {
            let _ =
                writeln!(main, "<p class=\"meta\">Updated {}</p>", dates::spoken(view.version.main_since));
        }
        for (number, paragraph) in article.paragraphs.iter().enumerate() {
            if number % 4 == 2 {
                main.push_str("<h2>");
                words::push_title(
                    main,
                    2,
                    &mut Chance::of(
                        self.settings.seed,
                        Subject::Title,
                        page.0.into(),
                        HEADING + number as u64,
                    ),
                );
                main.push_str("</h2>\n");
            }
            let _ = writeln!(main, "<p>{paragraph}</p>");
            if let (0, Some(noise)) = (number, &mut view.noise) {
                noise.push_within(main);
            }
        }
        if !article.figures.is_empty() {
            main.push_str("<table class=\"figures\">\n");
            for (name, value) in &article.figures {
                let _ = writeln!(main, "<tr><th>{name}</th><td>{value}</td></tr>");
            }
            main.push_str("</table>\n");
        }
        main.push_str("<h2>See also</h2>\n<ul class=\"see-also\">\n");
        for (reference, anchor) in &article.links {
            let _ = writeln!(main, "<li><a href=\"{reference}\">{anchor}</a></li>");
        }
        main.push_str("</ul>\n");
        if character.print_views && !view.print {
            main.push_str("<p><a href=\"?view=print\">Print</a></p>\n");
        }
        article.title
    }

    /// The main text as plain text.
    pub(super) fn plain_text(&self, page: PageNumber, view: &View<'_>) -> String {
        let article = self.article_parts(page, view);
        let mut text = format!("{}\n\n", article.title);
        for paragraph in &article.paragraphs {
            let _ = writeln!(text, "{paragraph}\n");
        }
        for (name, value) in &article.figures {
            let _ = writeln!(text, "{name}: {value}");
        }
        for (reference, anchor) in &article.links {
            let _ = writeln!(text, "{anchor}: {reference}");
        }
        text
    }

    /// A PDF header around the text: enough that no HTML parser mistakes it for HTML.
    pub(super) fn pdf(&self, page: PageNumber, view: &View<'_>) -> Vec<u8> {
        let text = self.plain_text(page, view);
        let mut bytes = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nstream\n".to_vec();
        bytes.extend(text.bytes().map(|byte| byte ^ 0x80));
        bytes.extend_from_slice(b"\nendstream\nendobj\n%%EOF\n");
        bytes
    }

    fn article_parts(&self, page: PageNumber, view: &View<'_>) -> Article {
        let shape = self.shape(page);
        let revisions = self.revisions(page, shape, view.version.main);
        let stream = |subject, number: u32, revision: u32| {
            Chance::of(
                self.settings.seed,
                subject,
                page.0.into(),
                u64::from(number) << 32 | u64::from(revision),
            )
        };
        let paragraph = |(number, revision): (usize, &u32)| {
            let mut chance = stream(Subject::Paragraph, number as u32, *revision);
            let mut text = String::with_capacity(700);
            words::push_prose(&mut text, 40 + chance.below(70), &mut chance);
            text
        };
        let figures = match shape.figures {
            true => figures(
                &mut stream(Subject::Figures, 0, 0),
                &mut stream(Subject::Figures, 1, revisions.figures),
            ),
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

/// Content of an article.
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
