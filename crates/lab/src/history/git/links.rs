//! Resolves links in page sources to pages.
//!
//! A target that begins with a slash is relative to the root of the site. Any other is relative to the page:
//! first to its file, as authors write links for their tools, then to its path, as a browser would read it.
//! Extensions, a last *index*, fragments and queries are ignored.
//!
//! # Promises
//! - A link resolves to an existing page, and never to the page it is on.

use std::collections::HashMap;

use super::address::{content_root, without_extension, without_index};
use super::lives::FilePage;

/// The pages of a site, by every name that a link may use.
pub(super) struct SiteMap<'a> {
    pages: &'a [FilePage],
    paths: &'a [String],
    /// Pages by file and by path, both without extension and index.
    by_name: HashMap<&'a str, usize>,
    root: String,
}

impl<'a> SiteMap<'a> {
    /// The map of all living pages.
    pub(super) fn new(pages: &'a [FilePage], paths: &'a [String]) -> Self {
        let mut by_name = HashMap::new();
        let there = || (0..pages.len()).filter(|page| pages[*page].alive);
        for page in there() {
            by_name.entry(plain(&pages[page].file)).or_insert(page);
        }
        for page in there() {
            by_name.entry(plain(paths[page].trim_start_matches('/'))).or_insert(page);
        }
        Self { pages, paths, by_name, root: content_root(pages) }
    }

    /// The page that a link of `page` leads to.
    pub(super) fn resolve(&self, page: usize, target: &str) -> Option<usize> {
        let target = target.split(['#', '?']).next()?.trim();
        if target.is_empty() || target.starts_with("//") || has_scheme(target) {
            return None;
        }
        let target = decoded(target);
        let found = match target.strip_prefix('/') {
            Some(absolute) => self.find("", absolute).or_else(|| self.find(&self.root, absolute)),
            None => self
                .find(folder(&self.pages[page].file), &target)
                .or_else(|| self.find(&self.paths[page], &target))
                .or_else(|| self.find(folder(&self.paths[page]), &target)),
        };
        found.filter(|to| *to != page)
    }

    fn find(&self, base: &str, target: &str) -> Option<usize> {
        let joined = joined(base, target)?;
        self.by_name.get(plain(&joined)).copied()
    }
}

fn plain(name: &str) -> &str {
    without_index(without_extension(name))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether it starts with a scheme such as `https:` or `mailto:`.
fn has_scheme(target: &str) -> bool {
    let scheme = |before: &str| {
        !before.is_empty()
            && before.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    target.split_once(':').is_some_and(|(before, _)| scheme(before))
}

/// Resolves a path relative to `base`, including `.` and `..`. `None` if it leaves the site.
fn joined(base: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Decodes `%20` and the like, if the result is valid text.
fn decoded(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::address::{paths, tests::pages};
    use super::*;

    const FILES: [&str; 6] = [
        "content/_index.md",
        "content/docs/a.md",
        "content/docs/b c.md",
        "content/docs/deep/index.md",
        "content/docs/deep/x.md",
        "content/blog/y.html",
    ];

    #[track_caller]
    fn check(from: &str, target: &str, to: Option<&str>) {
        let pages = pages(&FILES);
        let paths = paths(&pages);
        let map = SiteMap::new(&pages, &paths);
        let from = FILES.iter().position(|file| *file == from).expect("a file");
        assert_eq!(map.resolve(from, target).map(|page| FILES[page]), to, "{target}");
    }

    #[test]
    fn relative_links_count_from_the_file() {
        check("content/docs/a.md", "b%20c.md#part", Some("content/docs/b c.md"));
        check("content/docs/a.md", "./deep/", Some("content/docs/deep/index.md"));
        check("content/docs/deep/x.md", "../a.md", Some("content/docs/a.md"));
        check("content/docs/deep/x.md", "../../blog/y.html?q=1", Some("content/blog/y.html"));
    }

    #[test]
    fn relative_links_count_from_the_path_too() {
        check("content/docs/a.md", "../deep/x", Some("content/docs/deep/x.md"));
    }

    #[test]
    fn absolute_links_count_from_the_root() {
        check("content/docs/deep/x.md", "/docs/a/", Some("content/docs/a.md"));
        check("content/docs/deep/x.md", "/", Some("content/_index.md"));
        check("content/docs/deep/x.md", "/content/docs/a.md", Some("content/docs/a.md"));
    }

    #[test]
    fn what_is_no_page_of_the_site_is_no_link() {
        for target in [
            "https://example.org/docs/a",
            "mailto:a@b",
            "//example.org/",
            "#part",
            "",
            "no.md",
            "../../../../x",
        ] {
            check("content/docs/a.md", target, None);
        }
        check("content/docs/a.md", "a.md", None);
    }
}
