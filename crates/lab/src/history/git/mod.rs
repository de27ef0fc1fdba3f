//! Histories from clones of content repositories: a repository is a site, a content file a page.
//!
//! A commit on the first-parent line of the checked-out branch that altered a file is a change of its page,
//! at the commit's time. So a merge counts when it is merged, as the site would publish it. In reading order:
//! - `repository`: reads a clone through the `git` program;
//! - `log`: parses what commits did to files;
//! - `lives`: converts changes of files into events of pages;
//! - `address`: determines which files are pages, and their paths;
//! - `targets`: finds links in source texts;
//! - `links`: resolves links to pages.

mod address;
mod links;
mod lives;
mod log;
mod repository;
mod targets;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use self::lives::{FilePage, Lives};
use self::repository::Repository;
use super::recording::{RecordedPage, RecordedSite};

/// Reads the history of one clone.
pub fn record(clone: &Path) -> Result<RecordedSite> {
    let repository = Repository::open(clone)?;
    let context = || format!("cannot read the history of {}", clone.display());
    let mut lives = Lives::default();
    repository.first_parent_log(|commit| lives.observe(&commit)).with_context(context)?;
    let Lives { pages, start, end, commits, head, .. } = lives;
    ensure!(
        !pages.is_empty(),
        "{} holds no page: no file with one of the extensions {} was ever committed",
        clone.display(),
        address::EXTENSIONS.join(", ")
    );
    let paths = address::paths(&pages);
    let Heads { sizes, links } = read_heads(&repository, &pages, &paths).with_context(context)?;
    let pages = pages.into_iter().zip(paths).zip(sizes);
    let recorded = |((page, path), size): ((FilePage, String), Option<u64>)| RecordedPage {
        path,
        first_seen: page.first_seen,
        initial: page.initial,
        size,
        moved_from: page.moved_from,
        events: page.events,
    };
    Ok(RecordedSite {
        name: repository.name(),
        family: "git".to_owned(),
        start,
        end,
        commits,
        head,
        pages: pages.map(recorded).collect(),
        links,
    })
}

/// Facts from the final sources.
struct Heads {
    /// Size of each page's source in bytes. `None` if it is deleted.
    sizes: Vec<Option<u64>>,
    /// Links between pages.
    links: Vec<(usize, usize)>,
}

/// Reads the sources of the pages that exist at the end.
fn read_heads(repository: &Repository, pages: &[FilePage], paths: &[String]) -> Result<Heads> {
    let alive: Vec<usize> = (0..pages.len()).filter(|page| pages[*page].alive).collect();
    let blobs: Vec<&str> = alive.iter().map(|page| pages[*page].blob.as_str()).collect();
    let site_map = links::SiteMap::new(pages, paths);
    let mut heads = Heads { sizes: vec![None; pages.len()], links: Vec::new() };
    repository.blobs(&blobs, |number, size, text| {
        let page = alive[number];
        heads.sizes[page] = Some(size);
        for target in targets::targets(&pages[page].file, text) {
            heads.links.extend(site_map.resolve(page, target).map(|to| (page, to)));
        }
    })?;
    heads.links.sort_unstable();
    heads.links.dedup();
    Ok(heads)
}
