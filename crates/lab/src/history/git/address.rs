//! Determines which files are pages, and their paths on the site. This is the best guess without the site's
//! generator.
//!
//! - A page is a file with one of the extensions below, outside of hidden folders and template folders.
//! - The content root is found by descending while one folder contains at least four fifths of the pages:
//!   `content/en` of a site in Hugo, `docs` of one in Sphinx. It is not part of the path.
//! - The extension is removed, and so is a last part that only says *index*.
//!
//! # Promises
//! - No two pages have the same path. On a collision the later one keeps its extension.

use std::collections::HashSet;

use super::lives::FilePage;

/// Extensions of page sources.
pub(super) const EXTENSIONS: [&str; 9] =
    ["md", "mdx", "markdown", "mdown", "rst", "adoc", "asciidoc", "html", "htm"];

/// Folders that contain parts of pages, or pages of others.
const NO_PAGES_IN: [&str; 9] = [
    "_includes",
    "_layouts",
    "_templates",
    "archetypes",
    "layouts",
    "node_modules",
    "partials",
    "themes",
    "vendor",
];

/// Last parts of a path that stand for their folder.
const INDEX_NAMES: [&str; 3] = ["index", "_index", "readme"];

/// Minimum fraction of the pages that the content root must contain.
const ROOT_SHARE: f64 = 0.8;

/// Whether a file is a page source.
pub(super) fn is_page(file: &str) -> bool {
    let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
    let of_pages = |folder: &str| !folder.starts_with('.') && !NO_PAGES_IN.contains(&folder);
    let known = |(stem, extension): (&str, &str)| {
        !stem.is_empty() && EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
    };
    folders.split('/').all(of_pages) && !name.starts_with('.') && name.rsplit_once('.').is_some_and(known)
}

/// The path of each page.
pub(super) fn paths(pages: &[FilePage]) -> Vec<String> {
    let root = content_root(pages);
    let mut taken = HashSet::new();
    let path_of = |page: &FilePage| {
        let file = page.file.strip_prefix(root.as_str()).unwrap_or(&page.file);
        let path = format!("/{}", without_index(without_extension(file)));
        let path = if taken.contains(&path) { format!("/{}", page.file) } else { path };
        taken.insert(path.clone());
        path
    };
    pages.iter().map(path_of).collect()
}

/// The folder that contains nearly all pages, with a trailing slash. Empty if there is none.
pub(super) fn content_root(pages: &[FilePage]) -> String {
    let there: Vec<&FilePage> = pages.iter().filter(|page| page.alive).collect();
    let files: Vec<&str> = if there.is_empty() {
        pages.iter().map(|page| page.file.as_str()).collect()
    } else {
        there.iter().map(|page| page.file.as_str()).collect()
    };
    let enough = ROOT_SHARE * files.len() as f64;
    let mut root = String::new();
    loop {
        let within = files.iter().filter_map(|file| file.strip_prefix(root.as_str())?.split_once('/'));
        let mut folders: Vec<&str> = within.map(|(folder, _)| folder).collect();
        folders.sort_unstable();
        let largest = folders.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len());
        match largest {
            Some(chunk) if enough <= chunk.len() as f64 => {
                root.push_str(chunk[0]);
                root.push('/');
            }
            _ => return root,
        }
    }
}

/// A file name without its page extension.
pub(super) fn without_extension(file: &str) -> &str {
    match file.rsplit_once('.') {
        Some((stem, extension)) if EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension)) => {
            stem
        }
        _ => file,
    }
}

/// A path without a last part that only says *index*, and without a trailing slash.
pub(super) fn without_index(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if INDEX_NAMES.iter().any(|index| index.eq_ignore_ascii_case(name)) { folder } else { path }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn pages(files: &[&str]) -> Vec<FilePage> {
        let page = |file: &&str| FilePage {
            file: (*file).to_owned(),
            first_seen: 0,
            initial: true,
            moved_from: None,
            alive: true,
            blob: String::new(),
            events: Vec::new(),
        };
        files.iter().map(page).collect()
    }

    #[test]
    fn content_files_are_pages() {
        for file in ["a.md", "docs/b.RST", "x/y z/c.html", "README.md"] {
            assert!(is_page(file), "{file}");
        }
        for file in [
            "a.png",
            ".github/a.md",
            "docs/.hidden.md",
            "_layouts/a.html",
            "md",
            ".md",
            "a/node_modules/b.md",
        ] {
            assert!(!is_page(file), "{file}");
        }
    }

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        assert_eq!(paths(&pages(files)), expected);
    }

    #[test]
    fn the_content_root_is_no_part_of_a_path() {
        check(
            &[
                "content/en/_index.md",
                "content/en/docs/a.md",
                "content/en/docs/b/index.md",
                "content/en/x.html",
                "README.md",
            ],
            &["/", "/docs/a", "/docs/b", "/x", "/README.md"],
        );
        check(&["a.md", "b/c.md"], &["/a", "/b/c"]);
        check(&["docs/a.md"], &["/a"]);
    }

    #[test]
    fn no_two_pages_have_the_same_path() {
        check(&["a.md", "a.html", "a/index.md", "b/c.md"], &["/a", "/a.html", "/a/index.md", "/b/c"]);
    }
}
