//! Risk sets: one pass over everyone at risk computes the partial likelihood of Cox's
//! model and its derivatives.
//!
//! For each time at which subjects end, with r = exp(β·x) the relative risk of a subject (**summary**,
//! section 4.2), it computes
//!
//! > Σ r,  Σ r x
//!
//! separately for those who end then and for the others at risk, because the two ways of handling ties weigh
//! them differently. Of d subjects that end together, Efron's method removes the k-th with k/d of the others'
//! weight already gone; Breslow's keeps all until the last:
//!
//! > ln L = Σ over ends ( Σ β·x − Σ over k of ln(others + g ended) ),
//! > g = (d − k)/d (Efron) or 1 (Breslow), k = 0 … d − 1
//!
//! The second derivatives need Σ r x xᵀ over every risk set, but only their sum weighted by 1/(others + g
//! ended). Each subject's part of it is its r times the weights of all risk sets that it was in. So one
//! weighted sum of x xᵀ over the subjects is enough, and a pass costs O(n p²), whatever the ties.
//!
//! # Promises
//! - No overflow and no logarithm of zero, however large β·x: all risks are relative to
//!   the largest in the risk set.
//!
//! # Departures
//! None. The text leaves ties to Cox's paper.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::subjects::{Block, Stratum, Subjects, sum};

/// How ends at the same time are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// As if they had come one after the other, averaged over the orders.
    Efron,
    /// As if each had come while all the others were still at risk.
    Breslow,
}

/// The logarithm of the partial likelihood with its first two derivatives, in scaled coefficients.
#[derive(Clone, Debug)]
pub(super) struct Likelihood {
    pub(super) logarithm: f64,
    /// The gradient.
    pub(super) score: DVector<f64>,
    /// Minus the matrix of second derivatives: the observed information.
    pub(super) information: DMatrix<f64>,
}

/// The sums over one risk set, at a time at which some of it end.
pub(super) struct RiskSet<'a> {
    pub(super) stratum: &'a Stratum,
    pub(super) block: &'a Block,
    /// ln of the unit of the risks in this set.
    pub(super) reference: f64,
    /// Over those at risk who do not end now: Σ r, then Σ r x.
    pub(super) others: &'a [f64],
    /// The same over those who end now.
    pub(super) ended: &'a [f64],
}

impl RiskSet<'_> {
    /// Number of subjects that end now.
    pub(super) fn ends(&self) -> usize {
        self.block.ending.len()
    }

    /// The weight g of the ended in the total risk, for each of them.
    #[inline]
    pub(super) fn weights(&self, ties: Ties) -> impl Iterator<Item = f64> + use<> {
        let ends = self.ends();
        let d = ends as f64;
        (0..ends).map(move |k| match ties {
            Ties::Efron => (d - k as f64) / d,
            Ties::Breslow => 1.0,
        })
    }
}

/// The likelihood at these scaled coefficients.
pub(super) fn likelihood(subjects: &Subjects, coefficients: &[f64], ties: Ties) -> Likelihood {
    let p = coefficients.len();
    let mut risks = Risks::at(subjects, coefficients);
    let mut score = DVector::from_iterator(p, subjects.columns.iter().map(|column| column.sum_of_ended));
    let mut logarithm = score.iter().zip(coefficients).map(|(sum, beta)| sum * beta).sum::<f64>();
    let mut information = DMatrix::zeros(p, p);
    let mut weights = Vec::with_capacity(subjects.blocks.len());
    walk(subjects, &risks, |set| {
        let sums = TieSums::of(set, ties);
        logarithm += sums.logarithm;
        for i in 0..p {
            let (others, ended) = (set.others[1 + i], set.ended[1 + i]);
            score[i] -= sums.inverse * others + sums.weighted * ended;
            let with_others = sums.square * others + sums.weighted_square * ended;
            let with_ended = sums.weighted_square * others + sums.twice_weighted_square * ended;
            for j in 0..=i {
                information[(i, j)] -= with_others * set.others[1 + j] + with_ended * set.ended[1 + j];
            }
        }
        weights.push((sums.inverse, sums.weighted));
    });
    risks.weigh(subjects, &weights);
    add_squares(subjects, &risks.of_subjects, &mut information);
    information.fill_upper_triangle_with_lower_triangle();
    Likelihood { logarithm, score, information }
}

/// The risk of every subject, relative to the largest in the risk set that it joins.
pub(super) struct Risks {
    of_subjects: Vec<f64>,
    /// For each block, ln of the largest risk in its risk set.
    references: Vec<f64>,
}

impl Risks {
    /// The risks under these scaled coefficients.
    pub(super) fn at(subjects: &Subjects, coefficients: &[f64]) -> Self {
        let count = subjects.blocks.last().map_or(0, |block| block.ending.end);
        let mut of_subjects = vec![0.0; count];
        for (column, beta) in subjects.columns.iter().zip(coefficients) {
            of_subjects.iter_mut().zip(&column.values).for_each(|(eta, x)| *eta += beta * x);
        }
        let mut references = Vec::with_capacity(subjects.blocks.len());
        for stratum in &subjects.strata {
            let mut reference = f64::NEG_INFINITY;
            for block in &subjects.blocks[stratum.blocks.clone()] {
                let of_block = &mut of_subjects[block.joining.start..block.ending.end];
                reference = of_block.iter().fold(reference, |largest, eta| largest.max(*eta));
                of_block.iter_mut().for_each(|eta| *eta = (*eta - reference).exp());
                references.push(reference);
            }
        }
        Self { of_subjects, references }
    }

    /// Multiplies each risk by the weights of all risk sets that the subject was in. They are given per
    /// block, for the others and for the ended.
    fn weigh(&mut self, subjects: &Subjects, weights: &[(f64, f64)]) {
        for stratum in &subjects.strata {
            let (mut earlier, mut reference) = (0.0, f64::INFINITY);
            for index in stratum.blocks.clone().rev() {
                let (block, (for_others, for_ended)) = (&subjects.blocks[index], weights[index]);
                // Later ends have a reference that is no larger.
                earlier *= (self.references[index] - reference).exp();
                reference = self.references[index];
                self.of_subjects[block.ending.clone()]
                    .iter_mut()
                    .for_each(|risk| *risk *= for_ended + earlier);
                earlier += for_others;
                self.of_subjects[block.joining.clone()].iter_mut().for_each(|risk| *risk *= earlier);
            }
        }
    }
}

/// Calls `visit` for every risk set at which subjects end: stratum by stratum, latest first.
pub(super) fn walk(subjects: &Subjects, risks: &Risks, mut visit: impl FnMut(&RiskSet<'_>)) {
    let sums = 1 + subjects.columns.len();
    let (mut others, mut ended) = (vec![0.0; sums], vec![0.0; sums]);
    for stratum in &subjects.strata {
        others.fill(0.0);
        let mut reference = f64::NEG_INFINITY;
        for index in stratum.blocks.clone() {
            let block = &subjects.blocks[index];
            if risks.references[index] != reference {
                let shrink = (reference - risks.references[index]).exp();
                others.iter_mut().for_each(|sum| *sum *= shrink);
                reference = risks.references[index];
            }
            ended.fill(0.0);
            add_subjects(subjects, risks, &block.joining, &mut others);
            add_subjects(subjects, risks, &block.ending, &mut ended);
            visit(&RiskSet { stratum, block, reference, others: &others, ended: &ended });
            others.iter_mut().zip(&ended).for_each(|(other, ended)| *other += ended);
        }
    }
}

/// Adds these subjects to Σ r and Σ r x.
fn add_subjects(subjects: &Subjects, risks: &Risks, range: &Range<usize>, sums: &mut [f64]) {
    if range.is_empty() {
        return;
    }
    let of_range = &risks.of_subjects[range.clone()];
    sums[0] += sum(of_range, |risk| risk);
    for (sum, column) in sums[1..].iter_mut().zip(&subjects.columns) {
        *sum += dot(of_range, &column.values[range.clone()]);
    }
}

/// Contribution of a risk set, summed over the subjects that end in it, with g the weight of the ended and t
/// the total risk at each of them.
struct TieSums {
    /// −Σ ln t
    logarithm: f64,
    /// Σ 1/t
    inverse: f64,
    /// Σ g/t
    weighted: f64,
    /// Σ 1/t²
    square: f64,
    /// Σ g/t²
    weighted_square: f64,
    /// Σ g²/t²
    twice_weighted_square: f64,
}

impl TieSums {
    #[inline]
    fn of(set: &RiskSet<'_>, ties: Ties) -> Self {
        let mut sums = Self {
            logarithm: -set.reference * set.ends() as f64,
            inverse: 0.0,
            weighted: 0.0,
            square: 0.0,
            weighted_square: 0.0,
            twice_weighted_square: 0.0,
        };
        // One logarithm of a product is cheaper than many logarithms. Totals lie between 1/d and n, so a few
        // factors do not overflow.
        let mut product = 1.0;
        for (k, g) in set.weights(ties).enumerate() {
            let total = set.others[0] + g * set.ended[0];
            let inverse = 1.0 / total;
            product *= total;
            if k % FACTORS_MAX == FACTORS_MAX - 1 {
                sums.logarithm -= f64::ln(product);
                product = 1.0;
            }
            sums.inverse += inverse;
            sums.weighted += g * inverse;
            sums.square += inverse * inverse;
            sums.weighted_square += g * inverse * inverse;
            sums.twice_weighted_square += g * g * inverse * inverse;
        }
        sums.logarithm -= product.ln();
        sums
    }
}

/// Number of factors that are multiplied before the logarithm is taken: 16 numbers of
/// up to 2^32 are below 2^512.
const FACTORS_MAX: usize = 16;

/// Number of subjects whose products are summed together, few enough to stay in the first-level cache.
const TILE: usize = 256;

/// Adds Σ w x xᵀ over all subjects to the lower triangle of a matrix.
fn add_squares(subjects: &Subjects, weights: &[f64], lower: &mut DMatrix<f64>) {
    let mut weighted = [0.0; TILE];
    for start in (0..weights.len()).step_by(TILE) {
        let tile = start..weights.len().min(start + TILE);
        let weighted = &mut weighted[..tile.len()];
        for (i, column) in subjects.columns.iter().enumerate() {
            let factors = weights[tile.clone()].iter().zip(&column.values[tile.clone()]);
            weighted.iter_mut().zip(factors).for_each(|(product, (weight, x))| *product = weight * x);
            for (j, other) in subjects.columns[..=i].iter().enumerate() {
                lower[(i, j)] += dot(weighted, &other.values[tile.clone()]);
            }
        }
    }
}

/// Dot product in four interleaved partial sums, which the processor can add in parallel.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut parts = [0.0; 4];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for k in 0..4 {
            parts[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (parts[0] + parts[2]) + (parts[1] + parts[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::lifetime::Lifetime;
    use proptest::prelude::*;

    /// The likelihood from its definition: every risk set summed from scratch, Efron's
    /// ties one after the other.
    fn plainly(lifetimes: &[Lifetime], x: &[f64], strata: &[u32], beta: f64, ties: Ties) -> f64 {
        let mut times: Vec<(u32, f64)> = lifetimes.iter().zip(strata).map(|(l, s)| (*s, l.time())).collect();
        times.sort_by(|a, b| a.partial_cmp(b).expect("no time is NaN"));
        times.dedup();
        let mut sum = 0.0;
        for (stratum, time) in times {
            let among = |i: &usize| strata[*i] == stratum && lifetimes[*i].time() >= time;
            let at_risk: Vec<usize> = (0..x.len()).filter(among).collect();
            let ends = |i: &&usize| lifetimes[**i].ended() && lifetimes[**i].time() == time;
            let ended: Vec<usize> = at_risk.iter().filter(ends).copied().collect();
            let total = |of: &[usize]| of.iter().map(|&i| (beta * x[i]).exp()).sum::<f64>();
            for (k, &i) in ended.iter().enumerate() {
                let gone = if ties == Ties::Efron { k as f64 / ended.len() as f64 } else { 0.0 };
                sum += beta * x[i] - (total(&at_risk) - gone * total(&ended)).ln();
            }
        }
        sum
    }

    fn lifetime(time: u8, ended: bool) -> Lifetime {
        let time = f64::from(time);
        if ended { Lifetime::ended_at(time) } else { Lifetime::censored_at(time) }
    }

    proptest! {
        #[test]
        fn the_pass_gives_the_likelihood_of_the_definition(
            people in prop::collection::vec((0u8..6, any::<bool>(), 0u32..3, -2.0..2.0f64), 1..30),
            beta in -2.0..2.0f64,
            efron in any::<bool>(),
        ) {
            let ties = if efron { Ties::Efron } else { Ties::Breslow };
            let mut lifetimes: Vec<_> = people.iter().map(|p| lifetime(p.0, p.1)).collect();
            lifetimes[0] = Lifetime::ended_at(lifetimes[0].time());
            let x: Vec<_> = people.iter().map(|p| p.3).collect();
            let strata: Vec<_> = people.iter().map(|p| p.2).collect();
            let subjects = Subjects::stratified(&lifetimes, &[&x], &strata);
            let scaled = |beta: f64| [beta * 2.0 * subjects.columns[0].half_deviation];
            let at = |beta: f64| likelihood(&subjects, &scaled(beta), ties);
            let expected = plainly(&lifetimes, &x, &strata, beta, ties);
            prop_assert!((at(beta).logarithm - expected).abs() < 1e-10 * (1.0 + expected.abs()));

            // The derivatives are those of the logarithm.
            let step = 1e-5;
            let (low, high) = (at(beta - step), at(beta + step));
            let moved = scaled(2.0 * step)[0];
            let slope = (high.logarithm - low.logarithm) / moved;
            let curve = (low.score[0] - high.score[0]) / moved;
            if moved > 1e-6 {
                prop_assert!((at(beta).score[0] - slope).abs() < 1e-3 * (1.0 + slope.abs()));
                prop_assert!((at(beta).information[(0, 0)] - curve).abs() < 1e-3 * (1.0 + curve.abs()));
            }
        }
    }

    #[test]
    fn risks_beyond_the_range_of_a_double_stay_finite() {
        let lifetimes: Vec<_> = (0..6).map(|t| Lifetime::ended_at(f64::from(t / 2))).collect();
        let subjects = Subjects::new(&lifetimes, &[[1.0, -1.0, 2.0, -2.0, 0.5, 0.0]]);
        for beta in [-1e6, -800.0, 800.0, 1e6] {
            for ties in [Ties::Efron, Ties::Breslow] {
                let at = likelihood(&subjects, &[beta], ties);
                assert!(
                    at.logarithm.is_finite() && at.score[0].is_finite() && at.information[(0, 0)].is_finite(),
                    "{at:?}"
                );
            }
        }
    }
}
