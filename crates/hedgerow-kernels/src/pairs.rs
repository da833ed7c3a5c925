//! Pairs of vertices with a number each, as kernels give them.

use hedgerow_core::VertexId;

/// Pairs of vertices, each with a number: edges with their weights, or vertices that are compared with their
/// scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    from: Vec<VertexId>,
    to: Vec<VertexId>,
    values: Vec<f64>,
}

impl Pairs {
    /// Returns no pairs.
    pub fn new() -> Pairs {
        Pairs::default()
    }

    /// Returns no pairs, with room for `count`.
    pub(crate) fn with_capacity(count: usize) -> Pairs {
        let (from, to) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Pairs { from, to, values: Vec::with_capacity(count) }
    }

    /// Adds a pair.
    pub fn push(&mut self, from: VertexId, to: VertexId, value: f64) {
        self.from.push(from);
        self.to.push(to);
        self.values.push(value);
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the first vertex of each pair.
    pub fn from(&self) -> &[VertexId] {
        &self.from
    }

    /// Returns the second vertex of each pair.
    pub fn to(&self) -> &[VertexId] {
        &self.to
    }

    /// Returns the number of each pair.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the pairs with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (VertexId, VertexId, f64)> {
        let ends = self.from.iter().zip(&self.to);
        ends.zip(&self.values).map(|((&from, &to), &value)| (from, to, value))
    }

    /// Returns the sum of all numbers, added up in the order of the pairs.
    pub fn total(&self) -> f64 {
        self.values.iter().sum()
    }

    /// True if both are the same pairs in the same order, with numbers that are equal within a relative
    /// error.
    pub fn agrees_with(&self, other: &Pairs, relative: f64) -> bool {
        self.from == other.from && self.to == other.to && are_close(&self.values, &other.values, relative)
    }
}

/// True if both lists have the same length, and numbers that are equal within a relative error.
pub(crate) fn are_close(a: &[f64], b: &[f64], relative: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= relative * b.abs())
}
