//! One pass over everyone at risk: the sums on which the partial likelihood rests.
//!
//! For each time at which subjects end, with r = exp(β·x) the relative risk of a subject (**summary**, section 4.2):
//!
//! > Σ r,  Σ r x,  Σ r x xᵀ
//!
//! kept apart for those who end then and for the others at risk, because the two ways of handling ties weigh them
//! differently. Of d subjects that end together, Efron's way removes the k-th with k/d of the others' weight already
//! gone; Breslow's leaves all in until the last:
//!
//! > ln L = Σ over ends ( Σ β·x − Σ over k of ln(others + g ended) ),  g = (d − k)/d (Efron) or 1 (Breslow), k = 0 … d − 1
//!
//! The sums over k of 1/(others + g ended) and its like are taken first, so that a tie costs O(d + p²) and the pass
//! O(n p²).
//!
//! # Promises
//! - No overflow and no logarithm of zero, however large β·x: all risks are relative to a reference that follows the
//!   largest one met.
//!
//! # Departures
//! None. The text leaves ties to Cox's paper.

use nalgebra::{DMatrix, DVector};

use super::subjects::{Block, Stratum, Subjects};

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

/// The sums over one risk set, at the moment at which some of it end.
pub(super) struct RiskSet<'a> {
    pub(super) stratum: &'a Stratum,
    pub(super) block: &'a Block,
    /// ln of the unit in which risks are counted here.
    pub(super) reference: f64,
    /// Over those at risk who do not end now: Σ r, then Σ r x, then the lower triangle of Σ r x xᵀ by rows.
    pub(super) others: &'a [f64],
    /// The same over those who end now.
    pub(super) ended: &'a [f64],
}

impl RiskSet<'_> {
    /// How many end now.
    pub(super) fn ends(&self) -> usize {
        self.block.ending.len()
    }

    /// The weights g of the ended within the risk set, for each of them.
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
    let mut logarithm = 0.0;
    let mut score = vec![0.0; p];
    let mut lower = vec![0.0; p * (p + 1) / 2];
    // A literal width lets the compiler unroll the inner loops for it; the code is the same for all.
    macro_rules! pass {
        ($width:expr) => {
            walk($width, subjects, coefficients, |set: &RiskSet<'_>| {
                logarithm += add_block($width, subjects, coefficients, ties, set, &mut score, &mut lower);
            })
        };
    }
    match p {
        0 => pass!(0),
        1 => pass!(1),
        2 => pass!(2),
        3 => pass!(3),
        4 => pass!(4),
        5 => pass!(5),
        6 => pass!(6),
        7 => pass!(7),
        8 => pass!(8),
        _ => pass!(p),
    }
    let element = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    Likelihood { logarithm, score: DVector::from_vec(score), information: DMatrix::from_fn(p, p, element) }
}

/// Calls `visit` for every risk set at which subjects end.
#[inline(always)]
pub(super) fn walk(
    width: usize,
    subjects: &Subjects,
    coefficients: &[f64],
    mut visit: impl FnMut(&RiskSet<'_>),
) {
    let coefficients = &coefficients[..width];
    let sums = 1 + width + width * (width + 1) / 2;
    let (mut others, mut ended) = (vec![0.0; sums], vec![0.0; sums]);
    for stratum in &subjects.strata {
        others.fill(0.0);
        let mut reference = f64::NEG_INFINITY;
        for block in &subjects.blocks[stratum.blocks.clone()] {
            ended.fill(0.0);
            for (range, joining) in [(&block.joining, true), (&block.ending, false)] {
                for row in subjects.rows[range.start * width..range.end * width].chunks_exact(width.max(1)) {
                    let eta: f64 = row.iter().zip(coefficients).map(|(x, beta)| x * beta).sum();
                    if eta > reference + REFERENCE_LAG {
                        let shrink = (reference - eta).exp();
                        others.iter_mut().chain(&mut ended).for_each(|sum| *sum *= shrink);
                        reference = eta;
                    }
                    let sums = if joining { &mut others } else { &mut ended };
                    add_subject(width, row, (eta - reference).exp(), sums);
                }
                if width == 0 {
                    // A subject without covariates has no row; its risk is one.
                    reference = 0.0;
                    let sums = if joining { &mut others } else { &mut ended };
                    sums[0] += range.len() as f64;
                }
            }
            visit(&RiskSet { stratum, block, reference, others: &others, ended: &ended });
            others.iter_mut().zip(&ended).for_each(|(other, ended)| *other += ended);
        }
    }
}

/// How far, as a logarithm, a risk may exceed the reference before the reference follows. Below it no sum can overflow;
/// above it what was summed before keeps all its digits that matter.
const REFERENCE_LAG: f64 = 30.0;

/// Adds one subject of relative risk `risk` to the sums.
#[inline(always)]
fn add_subject(width: usize, row: &[f64], risk: f64, sums: &mut [f64]) {
    let row = &row[..width];
    sums[0] += risk;
    let (first, mut second) = sums[1..].split_at_mut(width);
    for i in 0..width {
        let weighted = risk * row[i];
        first[i] += weighted;
        let (line, rest) = second.split_at_mut(i + 1);
        for j in 0..=i {
            line[j] += weighted * row[j];
        }
        second = rest;
    }
}

/// Adds one risk set to the derivatives and returns its part of the log-likelihood.
#[inline(always)]
fn add_block(
    width: usize,
    subjects: &Subjects,
    coefficients: &[f64],
    ties: Ties,
    set: &RiskSet<'_>,
    score: &mut [f64],
    lower: &mut [f64],
) -> f64 {
    let mut logarithm = 0.0;
    let (mut a0, mut a1, mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for g in set.weights(ties) {
        let total = set.others[0] + g * set.ended[0];
        let inverse = 1.0 / total;
        logarithm -= total.ln() + set.reference;
        a0 += inverse;
        a1 += g * inverse;
        b0 += inverse * inverse;
        b1 += g * inverse * inverse;
        b2 += g * g * inverse * inverse;
    }
    let (others, others_second) = set.others[1..].split_at(width);
    let (ended, ended_second) = set.ended[1..].split_at(width);
    let mut at = 0;
    for i in 0..width {
        score[i] -= a0 * others[i] + a1 * ended[i];
        let (with_others, with_ended) = (b0 * others[i] + b1 * ended[i], b1 * others[i] + b2 * ended[i]);
        for j in 0..=i {
            let second = a0 * others_second[at] + a1 * ended_second[at];
            lower[at] += second - with_others * others[j] - with_ended * ended[j];
            at += 1;
        }
    }
    let ending = &subjects.rows[set.block.ending.start * width..set.block.ending.end * width];
    for row in ending.chunks_exact(width.max(1)) {
        for i in 0..width {
            score[i] += row[i];
            logarithm += coefficients[i] * row[i];
        }
    }
    logarithm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::lifetime::Lifetime;
    use proptest::prelude::*;

    /// The likelihood from its definition: every risk set summed anew, Efron's ties one after the other.
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
