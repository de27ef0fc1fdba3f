//! The promises of the store as stories, one file each.
//!
//! - [`crawl`]: a crawl of one site, used by the stories.
//! - [`a_store_in_the_making`], [`a_crawl_is_kept`], [`killed_at_any_instant`], [`the_disk_is_full`],
//!   [`the_engine_is_opened_again`], [`damage_is_found`], [`damage_is_repaired`],
//!   [`old_versions_are_dropped`]: stories.
//! - [`format_document`]: `docs/FORMAT.md` agrees with the code.

mod crawl;

mod a_crawl_is_kept;
mod a_store_in_the_making;
mod damage_is_found;
mod damage_is_repaired;
mod format_document;
mod killed_at_any_instant;
mod old_versions_are_dropped;
mod the_disk_is_full;
mod the_engine_is_opened_again;
