//! Scaled units in which no number of a plan is extreme, so that nothing overflows or
//! underflows in the price search.
//!
//! The numbers stay as they are when all rates are within 1e40 of the budget, either way, all importances
//! within 1e40 of the largest, and budget and largest importance within 1e40 of one. Otherwise they are
//! converted to units in which the budget and the largest importance are near one. The units are powers of
//! two, so the conversion loses no digit. Numbers further than 1e100 away from the budget, or from the
//! largest importance, are clamped to that distance: this changes no digit of any other page.
//!
//! # Promises
//! - Any rates, importances and budgets give a plan that spends the budget.

use rayon::prelude::*;

use super::pages::Pages;
use super::response::{Block, block_of};

/// The smallest positive number and the largest number of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    /// The spread of a column that is left out.
    pub(super) const ONE: Self = Self { min: 1.0, max: 1.0 };
    const NONE: Self = Self { min: f64::INFINITY, max: 0.0 };

    /// The spread of these numbers, none of which is negative.
    pub(super) fn of(numbers: impl ParallelIterator<Item = f64>) -> Self {
        let one = |number: f64| Self { min: if number > 0.0 { number } else { f64::INFINITY }, max: number };
        let both = |a: Self, b: Self| Self { min: a.min.min(b.min), max: a.max.max(b.max) };
        numbers.map(one).reduce(|| Self::NONE, both)
    }
}

/// The units of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Factor of rates and frequencies.
    pub(super) rate: f64,
    /// Factor of importances.
    pub(super) importance: f64,
    is_ordinary: bool,
}

/// Numbers within this factor of each other need no scaling.
const ORDINARY: f64 = 1e40;
/// Numbers are clamped to this factor from the budget, or from the largest importance.
const EXTREME: f64 = 1e100;

impl Units {
    /// Units for a budget and the spread of rates and importances.
    pub(super) fn new(budget: f64, rates: Spread, importances: Spread) -> Self {
        let near_one = |number: f64| 1.0 / ORDINARY < number && number < ORDINARY;
        let is_ordinary = near_one(budget)
            && near_one(importances.max)
            && rates.max < budget * ORDINARY
            && budget < rates.min * ORDINARY
            && importances.max < importances.min * ORDINARY;
        if is_ordinary {
            return Self { rate: 1.0, importance: 1.0, is_ordinary };
        }
        Self { rate: to_one(budget), importance: to_one(importances.max), is_ordinary }
    }

    /// Converts a rate to these units.
    #[inline(always)]
    pub(super) fn rate(&self, rate: f64) -> f64 {
        if self.is_ordinary || rate == 0.0 { rate } else { (rate * self.rate).clamp(1.0 / EXTREME, EXTREME) }
    }

    /// Converts an importance to these units.
    #[inline(always)]
    pub(super) fn importance(&self, importance: f64) -> f64 {
        if self.is_ordinary || importance == 0.0 {
            importance
        } else {
            (importance * self.importance).max(1.0 / EXTREME)
        }
    }

    /// Converts a frequency to these units.
    pub(super) fn frequency(&self, frequency: f64) -> f64 {
        (frequency * self.rate).min(f64::MAX)
    }

    /// Whether the numbers are not scaled.
    pub(super) fn are_ordinary(&self) -> bool {
        self.is_ordinary
    }
}

/// The power of two that brings `number` near one; one for zero.
fn to_one(number: f64) -> f64 {
    if number == 0.0 { 1.0 } else { (-number.log2().floor().clamp(-1000.0, 1000.0)).exp2() }
}

/// Pages in the units of a plan.
#[derive(Clone, Copy)]
pub(super) struct Scaled<'a> {
    pub(super) pages: &'a Pages<'a>,
    pub(super) units: Units,
}

impl Scaled<'_> {
    #[inline(always)]
    pub(super) fn rate(&self, page: usize) -> f64 {
        self.units.rate(self.pages.change_rate(page))
    }

    #[inline(always)]
    pub(super) fn importance(&self, page: usize) -> f64 {
        self.units.importance(self.pages.importance(page))
    }

    /// Rates and importances of a block of pages, whose numbers `page_at` returns.
    #[inline(always)]
    pub(super) fn block(&self, page_at: impl Fn(usize) -> usize) -> (Block, Block) {
        if self.units.are_ordinary() {
            let rates = block_of(|offset| self.pages.change_rate(page_at(offset)));
            return (rates, block_of(|offset| self.pages.importance(page_at(offset))));
        }
        (block_of(|offset| self.rate(page_at(offset))), block_of(|offset| self.importance(page_at(offset))))
    }
}
