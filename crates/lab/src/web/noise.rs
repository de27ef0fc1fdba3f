//! Noise: what differs at every request and never lasts, such as clocks, tokens, counters, advertisements and
//! related pages.
//!
//! Noise is not a change of the page. Counters are in the middle of the main text, where no rule about
//! headers and sidebars removes them.
//!
//! # Promises
//! - Two requests of a noisy page differ, if only in the second that a clock shows. Without noise they do
//!   not.
//! - Noise is only added: the lasting text of a page is the same with and without it.

use std::fmt::Write as _;

use freshet_protocol::time::Timestamp;

use super::atlas::{Form, PageNumber, Place};
use super::chance::{Chance, Subject};
use super::character::NoiseKind;
use super::dates;
use super::living_web::LivingWeb;
use super::words;

/// The noise of one answer.
pub(super) struct Noise<'a> {
    kinds: &'a [NoiseKind],
    now: Timestamp,
    chance: Chance,
}

impl LivingWeb {
    /// Whether a page carries noise.
    pub fn is_noisy(&self, page: PageNumber) -> bool {
        let html =
            !matches!(self.atlas.place(page), Place::Article { .. }) || self.atlas.form(page) == Form::Html;
        html && Chance::of(self.settings.seed, Subject::Noisy, page.0.into(), 0).happens(self.settings.noise)
    }

    /// The noise of the `request`-th answer, if the page carries any.
    pub(super) fn noise(&self, page: PageNumber, now: Timestamp, request: u64) -> Option<Noise<'_>> {
        let site = &self.atlas.sites[self.atlas.site_of(page) as usize];
        self.is_noisy(page).then(|| Noise {
            kinds: &site.character.noise,
            now,
            chance: Chance::of(self.settings.seed, Subject::Noise, page.0.into(), request),
        })
    }
}

impl Noise<'_> {
    /// Appends the noise in the header of the page.
    pub(super) fn push_header(&mut self, html: &mut String) {
        if self.kinds.contains(&NoiseKind::Clock) {
            let _ = writeln!(html, "<span class=\"clock\">It is {}</span>", dates::spoken(self.now));
        }
        if self.kinds.contains(&NoiseKind::Token) {
            let (token, request) = (self.chance.bits(), self.chance.below(1_000_000_000));
            let _ = writeln!(
                html,
                "<form action=\"/search\"><input type=\"hidden\" name=\"token\" \
                 value=\"{token:016x}\"><input name=\"q\"></form>\n<small class=\"request\">Request \
                 {request}</small>"
            );
        }
    }

    /// Appends the noise in the middle of the main text.
    pub(super) fn push_within(&mut self, html: &mut String) {
        if self.kinds.contains(&NoiseKind::Counter) {
            let views = 1_000 + self.chance.below(10_000_000);
            let _ = writeln!(html, "<p class=\"meta\">Viewed {views} times.</p>");
        }
    }

    /// Appends the noise next to the main text.
    pub(super) fn push_aside(&mut self, html: &mut String, web: &LivingWeb, site: u32) {
        if self.kinds.contains(&NoiseKind::Advertisements) {
            html.push_str("<aside class=\"ads\"><p>");
            words::push_prose(html, 12, &mut self.chance);
            html.push_str("</p><p>");
            words::push_prose(html, 9, &mut self.chance);
            html.push_str("</p></aside>\n");
        }
        if self.kinds.contains(&NoiseKind::Related) {
            html.push_str("<section class=\"related\"><h2>You may like</h2><ul>\n");
            for _ in 0..4 {
                let page = web.popular_page(site, &mut self.chance);
                if web.life(page).is_live_at(self.now) {
                    let path = web.atlas.path(page, web.has_moved(page, self.now));
                    let _ = writeln!(html, "<li><a href=\"{path}\">{}</a></li>", web.title(page, 0));
                }
            }
            let _ = writeln!(html, "</ul><p>Chosen for you, {}</p></section>", self.chance.below(1_000_000));
        }
    }
}
