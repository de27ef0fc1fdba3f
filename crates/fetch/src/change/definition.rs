//! Change definitions: which part of a page counts as changed, set for all pages, for those of a site, or for
//! those that match a pattern.
//!
//! | definition | a page has changed when |
//! |---|---|
//! | `raw` | any byte differs |
//! | `text` | its visible text differs |
//! | `main` | its main text ([`crate::page::blocks`]) differs: no navigation, header, footer or sidebars |
//! | `selector` | the text of the elements that are included and not excluded differs |
//! | `significant` | more than a share of the shingles of its main text differs |
//!
//! Except for `raw`, ephemeral parts never count ([`super::ephemeral`]).
//!
//! # Promises
//! - The first rule that matches a page applies. A page that none matches has the default definition.

use super::weights::KindWeights;
use crate::page::PageUrl;
use crate::page::blocks::Block;
use crate::page::scope::Pattern;
use crate::page::scope::names_site;
use crate::page::selector::Selector;

/// Default share of shingles that must differ for a significant change.
pub const SIGNIFICANT: f32 = 0.05;

/// Which part of a page counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Extent {
    /// All bytes.
    Raw,
    /// The visible text.
    Text,
    /// The main text.
    #[default]
    Main,
    /// The elements that the selectors include.
    Selected,
}

/// What counts as a change of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definition {
    /// Which part of the page counts.
    pub extent: Extent,
    /// Elements that count, if the extent is [`Extent::Selected`].
    pub include: Vec<Selector>,
    /// Elements that do not count.
    pub exclude: Vec<Selector>,
    /// The share of the shingles that must differ. At zero any difference counts.
    pub more_than: f32,
}

impl Definition {
    /// Whether a block of a page counts.
    pub fn counts(&self, block: &Block) -> bool {
        let is_within = match self.extent {
            Extent::Raw | Extent::Text => true,
            Extent::Main => block.is_main,
            Extent::Selected => block.is_included,
        };
        is_within && !block.is_excluded
    }

    /// The included and the excluded selectors.
    pub fn selectors(&self) -> [&[Selector]; 2] {
        [&self.include, &self.exclude]
    }
}

impl std::fmt::Display for Definition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list =
            |selectors: &[Selector]| selectors.iter().map(Selector::as_str).collect::<Vec<_>>().join(", ");
        match self.extent {
            Extent::Raw => write!(formatter, "any byte")?,
            Extent::Text => write!(formatter, "the visible text")?,
            Extent::Main => write!(formatter, "the main text")?,
            Extent::Selected => write!(formatter, "the text of {}", list(&self.include))?,
        }
        if !self.exclude.is_empty() {
            write!(formatter, " without {}", list(&self.exclude))?;
        }
        if self.more_than > 0.0 {
            write!(formatter, ", by more than {}%", 100.0 * self.more_than)?;
        }
        Ok(())
    }
}

/// A definition for some pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Pages of this site: a host, scheme and host, or `*.example.org`. None: any site.
    pub site: Option<String>,
    /// Pages with a path that matches. None: any path.
    pub path: Option<Pattern>,
    /// Their definition.
    pub definition: Definition,
}

/// The definitions of a crawl.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// The definition of pages that no rule matches.
    pub usual: Definition,
    /// The first rule that matches a page applies.
    pub rules: Vec<Rule>,
    /// Weights of changes by their kinds.
    pub weights: KindWeights,
}

impl Definitions {
    /// The definition that applies to a page.
    pub fn of(&self, url: &PageUrl) -> &Definition {
        let is_named = |rule: &&Rule| {
            rule.site.as_ref().is_none_or(|site| names_site(site, url))
                && rule.path.as_ref().is_none_or(|path| path.matches(url))
        };
        self.rules.iter().find(is_named).map_or(&self.usual, |rule| &rule.definition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_names_a_page_holds() {
        let text = Definition { extent: Extent::Text, ..Definition::default() };
        let raw = Definition { extent: Extent::Raw, ..Definition::default() };
        let rules = vec![
            Rule { site: None, path: Some(Pattern::new("/news/**").unwrap()), definition: raw.clone() },
            Rule { site: Some("a.example".to_owned()), path: None, definition: text.clone() },
        ];
        let definitions = Definitions { rules, ..Definitions::default() };
        let of = |url: &str| definitions.of(&PageUrl::stored(url).unwrap());
        assert_eq!(*of("http://a.example/news/1"), raw);
        assert_eq!(*of("http://a.example/x"), text);
        assert_eq!(of("http://b.example/x").extent, Extent::Main);
    }

    #[test]
    fn a_definition_is_said_in_words() {
        let exclude = Selector::list(".ads").unwrap();
        let definition = Definition { exclude, more_than: 0.05, ..Definition::default() };
        assert_eq!(definition.to_string(), "the main text without .ads, by more than 5%");
    }
}
