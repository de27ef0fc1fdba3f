//! Sparse vectors of length one, compared by their direction.
//!
//! These are the vectors that **neighbours**, section 4.3, clusters: of words, of URL words, of features.
//! Their similarity is the cosine of the angle between them, as in the clustering program that the text uses.
//!
//! # Promises
//! - Every vector has length one, or length zero if it was empty.
//! - Only entries that are not zero are stored, in twelve bytes each.
//!
//! # Departures
//! None.

/// Sparse vectors of length one.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitVectors {
    /// One more than the highest dimension of an entry.
    dimensions: usize,
    /// Start of the entries of each vector, and the end of the last one.
    starts: Vec<usize>,
    entry_dimensions: Vec<u32>,
    entry_values: Vec<f64>,
}

impl UnitVectors {
    /// Scales each vector, given as its entries `(dimension, value)`, to length one.
    ///
    /// Panics if a value is not finite. A dimension named twice in a vector counts as two entries, which
    /// makes its length wrong.
    pub fn new<V: AsRef<[(u32, f64)]>>(vectors: impl IntoIterator<Item = V>) -> Self {
        let mut unit =
            Self { dimensions: 0, starts: vec![0], entry_dimensions: Vec::new(), entry_values: Vec::new() };
        for vector in vectors {
            unit.push(vector.as_ref());
        }
        unit
    }

    fn push(&mut self, vector: &[(u32, f64)]) {
        assert!(vector.iter().all(|(_, value)| value.is_finite()));
        // The largest entry is factored out first, so that no square overflows.
        let largest = vector.iter().fold(0.0f64, |largest, (_, value)| largest.max(value.abs()));
        let scaled = vector.iter().filter(|(_, value)| *value != 0.0);
        let scaled = scaled.map(|&(dimension, value)| (dimension, value / largest));
        let length = scaled.clone().map(|(_, value)| value * value).sum::<f64>().sqrt();
        for (dimension, value) in scaled {
            self.dimensions = self.dimensions.max(dimension as usize + 1);
            self.entry_dimensions.push(dimension);
            self.entry_values.push(value / length);
        }
        self.starts.push(self.entry_values.len());
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more than the highest dimension of an entry.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The entries of one vector.
    ///
    /// Panics if there is no such vector.
    #[inline]
    pub fn entries(&self, vector: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[vector]..self.starts[vector + 1];
        let dimensions = self.entry_dimensions[range.clone()].iter().map(|&dimension| dimension as usize);
        dimensions.zip(self.entry_values[range].iter().copied())
    }

    /// Whether the vector is empty, and so has no direction.
    pub fn is_zero(&self, vector: usize) -> bool {
        self.starts[vector] == self.starts[vector + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(vector: &[(u32, f64)], expected: &[(usize, f64)]) {
        let unit = UnitVectors::new([vector]);
        let entries: Vec<_> = unit.entries(0).collect();
        assert_eq!(entries.len(), expected.len());
        for (found, expected) in entries.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-15, "{entries:?}");
        }
    }

    #[test]
    fn every_vector_has_length_one_or_none() {
        check(&[(2, 3.0), (5, -4.0)], &[(2, 0.6), (5, -0.8)]);
        check(&[(0, 3e300), (1, 4e300)], &[(0, 0.6), (1, 0.8)]);
        check(&[(0, 3e-300), (1, 4e-300), (2, 0.0)], &[(0, 0.6), (1, 0.8)]);
        check(&[(7, 0.0)], &[]);
        check(&[], &[]);
        assert!(UnitVectors::new([[(7, 0.0)]]).is_zero(0));
    }
}
