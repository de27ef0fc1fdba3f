//! A smooth function kept as polynomials on equally wide pieces, for the loops that run over millions of pages.
//!
//! On each piece the function is interpolated by a polynomial of degree 7 at Chebyshev nodes. For an analytic function whose
//! nearest singularity is `d` away from the piece, a piece of width `h` is off by about `(4d/h)^-8` of the function's size
//! there: with `d` = 2.5 and `h` = 1/8 by the last digit.
//!
//! # Promises
//! - Within 1e-14 of the function, relative, for the functions that [`super::inverse`] keeps; a test compares them.

/// Coefficients of one piece, from the constant up, in a variable that runs from −1 to 1. They fill one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Piece([f64; COEFFICIENTS]);

const COEFFICIENTS: usize = 8;

/// A function on `[0, end)`, piece by piece.
#[derive(Clone, Debug)]
pub(super) struct Tabulated {
    pieces_per_unit: f64,
    end: f64,
    pieces: Vec<Piece>,
}

impl Tabulated {
    /// Tabulates `function` from 0 to `units`, `pieces_per_unit` pieces to the unit.
    pub(super) fn new(units: u32, pieces_per_unit: u32, function: impl Fn(f64) -> f64) -> Self {
        let width = 1.0 / f64::from(pieces_per_unit);
        let piece = |piece: u32| {
            let middle = (f64::from(piece) + 0.5) * width;
            interpolate(|t| function(middle + 0.5 * width * t))
        };
        Self {
            pieces_per_unit: f64::from(pieces_per_unit),
            end: f64::from(units),
            pieces: (0..units * pieces_per_unit).map(piece).collect(),
        }
    }

    /// The first argument that is beyond the table.
    #[inline]
    pub(super) fn end(&self) -> f64 {
        self.end
    }

    /// The function at `x`, which lies in `[0, end)`.
    #[inline]
    pub(super) fn at(&self, x: f64) -> f64 {
        let position = x * self.pieces_per_unit;
        let piece = position as usize;
        let t = 2.0 * (position - piece as f64) - 1.0;
        let [c0, c1, c2, c3, c4, c5, c6, c7] = self.pieces[piece].0;
        // Pairs first: half as long a chain of dependent operations as Horner's rule.
        let t2 = t * t;
        let t4 = t2 * t2;
        ((c0 + c1 * t) + (c2 + c3 * t) * t2) + ((c4 + c5 * t) + (c6 + c7 * t) * t2) * t4
    }
}

/// The polynomial through `function` at the Chebyshev nodes of [−1, 1].
fn interpolate(function: impl Fn(f64) -> f64) -> Piece {
    const N: usize = COEFFICIENTS;
    let nodes: [f64; N] =
        std::array::from_fn(|k| ((2 * k + 1) as f64 * std::f64::consts::PI / (2 * N) as f64).cos());
    // Newton's divided differences, then the nested form is multiplied out.
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
        let table = Tabulated::new(3, 8, f64::exp);
        for step in 0..3000 {
            let x = f64::from(step) / 1000.0;
            assert!((table.at(x) / x.exp() - 1.0).abs() < 1e-14, "{x}");
        }
    }
}
