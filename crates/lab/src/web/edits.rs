//! Edits: which parts of an article each change touches.
//!
//! Most changes rewrite a few paragraphs; some the numbers, the links or the title; some the whole text. So
//! changes have sizes and kinds, as on the Web, and most of a page stays the same.
//!
//! # Promises
//! - Every change touches at least one part.
//! - The revision of a part is the last change that touched it, whichever version is asked about.

use super::atlas::PageNumber;
use super::chance::{Chance, Subject};
use super::living_web::LivingWeb;

/// The parts that an article has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    /// Number of paragraphs, at least one.
    pub(super) paragraphs: u32,
    /// Whether it has a table of numbers.
    pub(super) figures: bool,
}

/// For each part of an article the last change that touched it. Zero is the first text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Revisions {
    pub(super) title: u32,
    pub(super) figures: u32,
    pub(super) links: u32,
    pub(super) paragraphs: Vec<u32>,
}

/// Minimum and maximum number of paragraphs, and the exponent of the power law between.
const PARAGRAPHS: (f64, f64, f64) = (3.0, 36.0, 0.6);

impl LivingWeb {
    /// The parts that an article has.
    pub(super) fn shape(&self, page: PageNumber) -> Shape {
        let mut chance = Chance::of(self.settings.seed, Subject::Shape, page.0.into(), 0);
        let (fewest, most, exponent) = PARAGRAPHS;
        let paragraphs = (fewest * (1.0 - chance.unit()).powf(-exponent)).min(most) as u32;
        Shape { paragraphs, figures: chance.happens(0.4) }
    }

    /// The revisions of the parts of an article after `version` changes.
    pub(super) fn revisions(&self, page: PageNumber, shape: Shape, version: u32) -> Revisions {
        let mut known = Known::new(shape);
        // From the latest change back until each part is found: earlier changes no longer show.
        for change in (1..=version).rev() {
            known.touch(
                change,
                &mut Chance::of(self.settings.seed, Subject::Edit, page.0.into(), change.into()),
            );
            if known.missing == 0 {
                break;
            }
        }
        known.revisions
    }
}

/// The revisions found so far. Zero stands for none.
struct Known {
    revisions: Revisions,
    missing: u32,
}

impl Known {
    fn new(shape: Shape) -> Self {
        let paragraphs = vec![0; shape.paragraphs as usize];
        let missing = shape.paragraphs + 2 + u32::from(shape.figures);
        let figures = if shape.figures { 0 } else { NONE };
        Self { revisions: Revisions { title: 0, figures, links: 0, paragraphs }, missing }
    }

    fn touch(&mut self, change: u32, chance: &mut Chance) {
        let has_figures = self.revisions.figures != NONE;
        let part = match chance.unit() {
            kind if kind < 0.05 => &mut self.revisions.title,
            kind if kind < 0.15 => &mut self.revisions.links,
            kind if kind < 0.3 && has_figures => &mut self.revisions.figures,
            kind if kind > 0.92 => {
                for paragraph in &mut self.revisions.paragraphs {
                    set(paragraph, change, &mut self.missing);
                }
                return;
            }
            _ => {
                for _ in 0..=chance.below(3) {
                    let paragraph = chance.below(self.revisions.paragraphs.len() as u32) as usize;
                    set(&mut self.revisions.paragraphs[paragraph], change, &mut self.missing);
                }
                return;
            }
        };
        set(part, change, &mut self.missing);
    }
}

/// Represents a part that an article does not have.
const NONE: u32 = u32::MAX;

fn set(part: &mut u32, change: u32, missing: &mut u32) {
    if *part == 0 {
        *part = change;
        *missing -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::living_web::tests::small;
    use super::*;

    #[test]
    fn a_version_differs_from_the_one_before_in_what_its_change_touched() {
        let web = small();
        for page in (10..30).map(PageNumber) {
            let shape = web.shape(page);
            let mut before = web.revisions(page, shape, 0);
            for version in 1..60 {
                let after = web.revisions(page, shape, version);
                assert_ne!(after, before, "page {page:?} version {version}");
                let parts = |of: &Revisions| {
                    let mut all = vec![of.title, of.figures, of.links];
                    all.extend(&of.paragraphs);
                    all
                };
                for (old, new) in parts(&before).into_iter().zip(parts(&after)) {
                    assert!(old == new || new == version);
                }
                before = after;
            }
        }
    }
}
