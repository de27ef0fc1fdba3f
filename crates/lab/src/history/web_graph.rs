//! Links of a web graph: `webgraph/cnr-2000.parquet` of a data directory, with the columns `src` and `dst`.
//!
//! # Promises
//! - Pages are numbered as in the file, from zero to the highest number that occurs; a number below zero is an error that
//!   names its row.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use freshet_theory::rank::Graph;

use super::columns;

/// Where a data directory keeps it.
pub const FILE: &str = "webgraph/cnr-2000.parquet";

/// Highest number of a page: what a number costs is memory for all below it.
const PAGE_MAX: i64 = 1 << 28;

/// Reads the web graph of a data directory.
pub fn read(directory: &Path) -> Result<Graph> {
    let mut links = Vec::new();
    let mut pages = 0;
    columns::read(&directory.join(FILE), &["src", "dst"], |rows| {
        let (sources, targets) = (rows.integers("src")?, rows.integers("dst")?);
        for row in 0..rows.len() {
            let page = |number: i64| -> Result<u32> {
                let is_page = (0..PAGE_MAX).contains(&number);
                ensure!(is_page, "row {} names the page {number}, which is none", rows.number(row));
                u32::try_from(number).context("a page has 32 bits")
            };
            let (source, target) = (page(sources[row])?, page(targets[row])?);
            pages = pages.max(source.max(target) as usize + 1);
            links.push((source, target));
        }
        Ok(())
    })?;
    Ok(Graph::from_links(pages, &links))
}
