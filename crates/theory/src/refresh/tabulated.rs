//! Tables of smooth functions as polynomials on pieces of equal width, for the loops that
//! run over millions of pages.
//!
//! On each piece the function is interpolated by a polynomial of degree 7 at Chebyshev nodes. For an analytic
//! function whose nearest singularity is `d` away from the piece, a piece of width `h` is off by about
//! `(4d/h)^-8` of the function's size there: with `d` = 2.5 and `h` = 1/8 by the last digit.
//!
//! # Promises
//! - Within 1e-14 of the function, relative, for the functions that [`super::inverse`]
//!   keeps; a test compares them.

/// Coefficients of one piece, from the constant up, in a variable that runs from −1/2 to 1/2.
/// They fill one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Piece([f64; COEFFICIENTS]);

const COEFFICIENTS: usize = 8;

/// A function from 0 on, piece by piece. The pieces are centred at the whole numbers.
#[derive(Clone, Debug)]
pub(super) struct Tabulated {
    pieces_per_unit: f64,
    pieces: Vec<Piece>,
}

impl Tabulated {
    /// Tabulates `function` from 0 to `end`. It must also be defined half a piece below zero.
    pub(super) fn new(end: f64, pieces_per_unit: f64, function: impl Fn(f64) -> f64) -> Self {
        let last = (end * pieces_per_unit).ceil() as u32;
        let piece = |piece: u32| interpolate(|t| function((f64::from(piece) + t) / pieces_per_unit));
        Self { pieces_per_unit, pieces: (0..=last).map(piece).collect() }
    }

    /// The function at `x`, from 0 to the end. Beyond it the result is meaningless.
    #[inline(always)]
    pub(super) fn at(&self, x: f64) -> f64 {
        // Adding 2^52 rounds to a whole number, which is then in the last bits.
        const ROUND: f64 = 4_503_599_627_370_496.0;
        let position = x * self.pieces_per_unit;
        let rounded = position + ROUND;
        let t = position - (rounded - ROUND);
        let piece = (rounded.to_bits() as u32 as usize).min(self.pieces.len() - 1);
        let [c0, c1, c2, c3, c4, c5, c6, c7] = self.pieces[piece].0;
        // Pairs first: the chain of dependent operations is half as long as with Horner's rule.
        let t2 = t * t;
        ((c0 + c1 * t) + (c2 + c3 * t) * t2) + ((c4 + c5 * t) + (c6 + c7 * t) * t2) * (t2 * t2)
    }
}

/// The polynomial through `function` at the Chebyshev nodes of [−1/2, 1/2].
fn interpolate(function: impl Fn(f64) -> f64) -> Piece {
    const N: usize = COEFFICIENTS;
    let nodes: [f64; N] =
        std::array::from_fn(|k| 0.5 * ((2 * k + 1) as f64 * std::f64::consts::PI / (2 * N) as f64).cos());
    // Newton's divided differences, then the nested form is expanded.
    let mut differences: [f64; N] = nodes.map(function);
    for order in 1..N {
        for k in (order..N).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order]);
        }
    }
    let mut coefficients = [0.0; N];
    for k in (0..N).rev() {
        for degree in (1..N).rev() {
            coefficients[degree] = coefficients[degree - 1] - nodes[k] * coefficients[degree];
        }
        coefficients[0] = differences[k] - nodes[k] * coefficients[0];
    }
    Piece(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_function_is_kept_to_fourteen_digits() {
        let table = Tabulated::new(3.0, 8.0, f64::exp);
        for step in 0..3000 {
            let x = f64::from(step) / 1000.0;
            assert!((table.at(x) / x.exp() - 1.0).abs() < 1e-14, "{x}");
        }
    }
}
