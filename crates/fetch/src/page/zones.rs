//! Zones of a page: recognises main content, and navigation, headers, footers and sidebars around it.
//!
//! The rules, in the order in which they are applied (HTML standard, 4.3 "Sections"; WAI-ARIA 1.2, 5.3.4
//! "Landmark roles"):
//! 1. `<main>` and `role=main` contain the main content; so does `<article>`.
//! 2. `<nav>` and `<aside>`, and the roles `navigation`, `complementary`, `banner`, `contentinfo`, `search`
//!    and `alert`, surround it.
//! 3. `<header>` and `<footer>` surround it, unless they are those of an article or of the main part itself.
//! 4. So do elements whose whole class or id is a name such as `footer` (outside of the main part) or
//!    `related` (anywhere), but not those that merely contain the word, such as `with-sidebar`, which is
//!    usually a class of the whole page.
//!
//! # Promises
//! - The outermost surrounding element decides: nothing inside of a navigation is main content again.
//!
//! # Departures
//! Link density does not count, as it does in most boilerplate removers: a list of links is the content of a
//! hub page, and its changes are what a crawler most wants to know.

/// The zone of an element.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Zone {
    /// Inside of `<main>`.
    pub(super) in_main: bool,
    /// Inside of `<article>`.
    pub(super) in_article: bool,
    /// Inside of an element that surrounds the main text.
    pub(super) surrounds: bool,
}

impl Zone {
    /// The zone of a child element.
    pub(super) fn of_child(self, name: &[u8], id: &[u8], class: &[u8], role: &[u8]) -> Self {
        if self.surrounds {
            return self;
        }
        let mut zone = self;
        match role.trim_ascii() {
            b"main" => zone.in_main = true,
            b"article" => zone.in_article = true,
            b"navigation" | b"complementary" | b"banner" | b"contentinfo" | b"search" | b"alert" => {
                zone.surrounds = true;
            }
            _ => {}
        }
        match name {
            b"main" => zone.in_main = true,
            b"article" => zone.in_article = true,
            b"nav" | b"aside" => zone.surrounds = true,
            b"header" | b"footer" => zone.surrounds |= !self.in_main && !self.in_article,
            _ if id.is_empty() && class.is_empty() => {}
            _ => {
                let is_inside = self.in_main || self.in_article;
                let mut names = class.split(u8::is_ascii_whitespace).chain([id]);
                zone.surrounds |= names.any(|name| {
                    let mut buffer = [0; NAME_BYTES_MAX];
                    let name = in_small_letters(name, &mut buffer);
                    is_beside(name) || !is_inside && is_surrounding(name)
                });
            }
        }
        zone
    }
}

/// Maximum length of the names in the lists below, in bytes.
const NAME_BYTES_MAX: usize = 16;

/// A class or an id in lower case; empty if it is longer than the names in the lists below.
fn in_small_letters<'a>(name: &[u8], buffer: &'a mut [u8; NAME_BYTES_MAX]) -> &'a [u8] {
    let Some(letters) = buffer.get_mut(..name.len()) else { return b"" };
    letters.copy_from_slice(name);
    letters.make_ascii_lowercase();
    letters
}

/// Classes and ids of elements that surround the main text.
fn is_surrounding(name: &[u8]) -> bool {
    matches!(
        name,
        b"banner"
            | b"breadcrumb"
            | b"breadcrumbs"
            | b"footer"
            | b"global-footer"
            | b"global-header"
            | b"header"
            | b"masthead"
            | b"menu"
            | b"nav"
            | b"navbar"
            | b"navigation"
            | b"page-footer"
            | b"site-footer"
            | b"site-header"
            | b"site-nav"
            | b"skip-link"
            | b"toolbar"
            | b"topbar"
    )
}

/// Classes and ids of elements that do not belong to the main text even inside of it.
fn is_beside(name: &[u8]) -> bool {
    matches!(
        name,
        b"ad"
            | b"ads"
            | b"advert"
            | b"adverts"
            | b"advertisement"
            | b"advertisements"
            | b"cookie-banner"
            | b"cookie-notice"
            | b"newsletter"
            | b"promo"
            | b"recommended"
            | b"related"
            | b"related-posts"
            | b"share"
            | b"share-buttons"
            | b"sharing"
            | b"sidebar"
            | b"sidebar-left"
            | b"sidebar-right"
            | b"social"
            | b"sponsored"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(outside: Zone, tag: (&str, &str, &str, &str), in_main: bool, surrounds: bool) {
        let (name, id, class, role) = tag;
        let zone = outside.of_child(name.as_bytes(), id.as_bytes(), class.as_bytes(), role.as_bytes());
        assert_eq!((zone.in_main, zone.surrounds), (in_main, surrounds), "{tag:?}");
    }

    #[test]
    fn landmarks_and_names_decide() {
        let page = Zone::default();
        check(page, ("main", "", "", ""), true, false);
        check(page, ("section", "", "", "main"), true, false);
        check(page, ("nav", "", "", ""), false, true);
        check(page, ("div", "", "", "navigation"), false, true);
        check(page, ("header", "", "", ""), false, true);
        check(page, ("div", "footer", "", ""), false, true);
        check(page, ("div", "", "box related", ""), false, true);
        check(page, ("div", "", "with-sidebar", ""), false, false);
    }

    #[test]
    fn the_header_of_an_article_belongs_to_it() {
        let main = Zone { in_main: true, ..Zone::default() };
        check(main, ("header", "", "", ""), true, false);
        check(Zone { in_article: true, ..Zone::default() }, ("footer", "", "", ""), false, false);
        check(main, ("aside", "", "", ""), true, true);
        check(main, ("div", "", "header", ""), true, false);
        check(main, ("div", "related", "", ""), true, true);
    }

    #[test]
    fn nothing_within_a_navigation_is_main() {
        let navigation = Zone { surrounds: true, ..Zone::default() };
        check(navigation, ("main", "", "", ""), false, true);
    }
}
