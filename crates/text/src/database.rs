//! Description of a text database: where its documents are, how to query it, and how its text becomes words.
//!
//! One TOML file per database:
//!
//! ```toml
//! category = "health"
//!
//! [place]
//! kind = "search"
//! search = "https://example.org/search?q={query}&page={n}"
//! results = "li.result"
//! count = "/of ([0-9,]+) results/"
//! ```

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::TextError;
use crate::interface::Interface;
use crate::sample_rules::SampleRules;
use crate::words::Wording;

/// A text database.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Kind of database. Summaries of one kind share a survival baseline. Defaults to the top-level domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where its documents are.
    pub place: Place,
    /// How text becomes words.
    #[serde(default)]
    pub wording: Wording,
    /// How it is sampled, if it is.
    #[serde(default)]
    pub sample: SampleRules,
}

/// Where the documents of a database are.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Place {
    /// Files under a directory.
    Dir {
        /// The directory.
        path: PathBuf,
    },
    /// Responses in a WARC file, or in all WARC files of a directory.
    Warc {
        /// The file or directory.
        path: PathBuf,
    },
    /// Pages of a site of the crawl in the same directory.
    Site {
        /// The site: a host, or scheme and host.
        site: String,
    },
    /// Documents behind a search interface.
    Search(Interface),
}

impl Database {
    /// A database at this place, with default settings.
    pub fn of(place: Place) -> Self {
        Self { category: None, place, wording: Wording::default(), sample: SampleRules::default() }
    }

    /// Parses a description. Returns what is wrong with it on failure.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let database: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        database.check().map_err(|error| error.to_string())?;
        Ok(database)
    }

    /// The description as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a description is made of tables, texts and numbers")
    }

    /// Reports the first part of the description that is invalid.
    pub fn check(&self) -> Result<(), TextError> {
        match &self.place {
            Place::Search(interface) => interface.check(),
            Place::Dir { .. } | Place::Warc { .. } | Place::Site { .. } => Ok(()),
        }
    }

    /// The kind of database: its category, or the top-level domain of its site, or `misc`.
    pub fn stratum(&self) -> String {
        if let Some(category) = &self.category {
            return category.clone();
        }
        let host = match &self.place {
            Place::Search(interface) => interface.host().unwrap_or_default(),
            Place::Site { site } => site.rsplit("://").next().unwrap_or_default().to_owned(),
            Place::Dir { .. } | Place::Warc { .. } => String::new(),
        };
        let host = host.split(['/', ':']).next().unwrap_or_default();
        match host.rsplit('.').next().unwrap_or_default() {
            domain @ ("com" | "edu" | "gov" | "org") => domain.to_owned(),
            _ => "misc".to_owned(),
        }
    }

    /// The kind of place, in one word.
    pub fn kind(&self) -> &'static str {
        match self.place {
            Place::Dir { .. } => "files",
            Place::Warc { .. } => "WARC",
            Place::Site { .. } => "site",
            Place::Search(_) => "search",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let database = Database {
            category: Some("health".to_owned()),
            ..Database::of(Place::Site { site: "https://example.org".to_owned() })
        };
        assert_eq!(Database::from_toml(&database.to_toml()), Ok(database));
    }

    #[test]
    fn a_bad_description_says_what_is_wrong() {
        for (text, word) in [
            ("", "place"),
            ("[place]\nkind = \"moon\"", "moon"),
            ("[place]\nkind = \"search\"\nsearch = \"https://e.org/?q=\"\nresults = \"li\"", "{query}"),
            ("[place]\nkind = \"search\"\nsearch = \"https://e.org/?q={query}\"\nresults = \"li[\"", "CSS"),
            ("colour = 1\n[place]\nkind = \"dir\"\npath = \"/\"", "colour"),
        ] {
            let why = Database::from_toml(text).expect_err(text);
            assert!(why.contains(word), "{why}");
        }
    }

    #[test]
    fn the_sort_of_a_database_is_its_category_or_its_domain() {
        let site = |site: &str| Database::of(Place::Site { site: site.to_owned() }).stratum();
        assert_eq!(site("https://www.example.org:8080"), "org");
        assert_eq!(site("mit.edu"), "edu");
        assert_eq!(site("example.jp"), "misc");
    }
}
