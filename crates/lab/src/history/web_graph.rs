//! Links of a web graph: `webgraph/cnr-2000.parquet` of a data directory, with the columns `src` and `dst`.
//!
//! # Promises
//! - Pages are numbered as in the file, from zero to the highest number that occurs. A negative number is an
//!   error that names its row.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use freshet_theory::rank::Graph;

use super::columns;

/// Path of the file within a data directory.
pub const FILE: &str = "webgraph/cnr-2000.parquet";

/// Highest page number accepted: the graph allocates memory for all numbers below the highest.
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
