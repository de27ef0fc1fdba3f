//! Politeness and network options of commands that send requests outside of a crawl.

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;
use freshet_fetch::web::WebSettings;
use freshet_fetch::web::politeness::PolitenessSettings;

use super::saved_options::config_of;

/// What the command line says of it.
#[derive(Args)]
pub(crate) struct Manners {
    /// Whom the owner of a site may write to: a page or a mail address
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,

    /// Between two requests to a host: 1s, 500ms, 0
    #[arg(long, value_name = "SPAN")]
    host_delay: Option<String>,

    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    allow_private: bool,
}

impl Manners {
    /// The settings of the crawl, overridden by these options.
    pub(crate) fn settings(&self, directory: &Path) -> Result<(WebSettings, PolitenessSettings)> {
        let mut config = config_of(directory, None)?;
        config.contact = self.contact.clone().or(config.contact);
        config.politeness.delay = self.host_delay.clone().or(config.politeness.delay);
        config.allow_private = self.allow_private.then_some(true).or(config.allow_private);
        let settings = config.settings(directory).context("the settings cannot be used")?;
        Ok((settings.web, settings.politeness))
    }
}

/// The request budget of a crawl, as configured.
pub(crate) struct Purse {
    /// Visits a day; `None` if unlimited.
    pub(crate) visits_per_day: Option<f64>,
    /// Share of these visits that text databases may use.
    pub(crate) db_share: f64,
}

impl Purse {
    /// Reads the budget of the crawl in a directory.
    pub(crate) fn of(directory: &Path) -> Result<Self> {
        let config = config_of(directory, None)?;
        let settings = config.settings(directory).context("the settings cannot be used")?;
        Ok(Self { visits_per_day: settings.visits_per_day, db_share: config.db_share() })
    }
}
