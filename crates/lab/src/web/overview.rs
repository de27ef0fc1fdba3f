//! Overview pages: roots with the newest articles, and the listings of directories.
//!
//! # Promises
//! - Every live article is on its listing. Every listing is linked from the previous one, or from the parent
//!   directory.

use std::fmt::Write as _;

use super::atlas::PageNumber;
use super::chance::{Chance, Subject};
use super::dates;
use super::document::View;
use super::living_web::LivingWeb;
use super::words;

/// Number of newest articles on a root.
const NEWEST: usize = 10;

impl LivingWeb {
    /// Appends the content of a root and returns the title.
    pub(super) fn push_root(
        &self,
        main: &mut String,
        page: PageNumber,
        site: u32,
        view: &mut View<'_>,
    ) -> String {
        let title = self.title(page, 0);
        let _ = write!(main, "<h1>{title}</h1>\n<p>");
        let mut chance =
            Chance::of(self.settings.seed, Subject::Paragraph, page.0.into(), view.version.main.into());
        words::push_prose(main, 60, &mut chance);
        main.push_str("</p>\n");
        if let Some(noise) = &mut view.noise {
            noise.push_within(main);
        }
        main.push_str("<h2>Newest</h2>\n<ul>\n");
        for (born, article) in self.born_until(site, view.at).iter().rev().take(NEWEST) {
            let path = self.atlas.path(*article, false);
            let (title, day) = (self.title(*article, 0), dates::day(*born));
            let _ = writeln!(main, "<li><a href=\"{path}\">{title}</a> {day}</li>");
        }
        main.push_str("</ul>\n");
        title
    }

    /// Appends the content of a listing and returns the title.
    pub(super) fn push_listing(
        &self,
        main: &mut String,
        directory: u32,
        number: u32,
        view: &mut View<'_>,
    ) -> String {
        let listing = PageNumber(self.atlas.directories[directory as usize].first_page + number);
        let title = self.title(listing, 0);
        self.push_crumbs(main, directory);
        let _ = writeln!(main, "<h1>{title}</h1>");
        if let Some(noise) = &mut view.noise {
            noise.push_within(main);
        }
        let directory_facts = &self.atlas.directories[directory as usize];
        if number == 0 && !directory_facts.children.is_empty() {
            main.push_str("<ul class=\"directories\">\n");
            for child in &directory_facts.children {
                let path = &self.atlas.directories[*child as usize].path;
                let _ = writeln!(main, "<li><a href=\"{path}\">{}</a></li>", self.directory_name(*child));
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
                let _ = writeln!(main, "<li><a href=\"{path}\">{}</a>{note}</li>", self.title(article, 0));
            }
        }
        main.push_str("</ol>\n");
        push_pager(main, &directory_facts.path, number, directory_facts.listings);
        title
    }

    /// Appends breadcrumbs from the root to a directory.
    pub(super) fn push_crumbs(&self, main: &mut String, directory: u32) {
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
