//! Rows, their order, and the memory that their edges are copied into.

use hedgerow_core::{KeyColumn, VertexId, VertexKey, VertexKeyRef};

use crate::state::csr_cache::Csr;

/// Returns the row of each vertex id; `None` if every id is its own row.
pub(super) fn rows_of(vertices: &[VertexId], bound: usize) -> Option<Vec<u32>> {
    if vertices.last().is_none_or(|last| last.index() + 1 == vertices.len()) && vertices.is_sorted() {
        return None;
    }
    let mut rows = vec![0; bound];
    for (row, v) in (0u32..).zip(vertices) {
        rows[v.index()] = row;
    }
    Some(rows)
}

/// The share of the rows that one task fills: rows, their ends in `offsets`, and their edges.
pub(super) struct Part<'a> {
    pub(super) vertices: &'a [VertexId],
    pub(super) offsets: &'a mut [i64],
    pub(super) first: i64,
    pub(super) targets: &'a mut [u32],
    pub(super) weights: &'a mut [f64],
}

/// Memory for all rows, which tasks get in shares.
pub(super) struct Room {
    pub(super) vertices: Vec<VertexId>,
    pub(super) offsets: Vec<i64>,
    pub(super) targets: Vec<u32>,
    pub(super) weights: Vec<f64>,
}

impl Room {
    pub(super) fn new(vertices: Vec<VertexId>, edges: usize, weighted: bool) -> Room {
        Room {
            offsets: vec![0; vertices.len() + 1],
            vertices,
            targets: vec![0; edges],
            weights: vec![0.0; if weighted { edges } else { 0 }],
        }
    }

    pub(super) fn parts(&mut self, sizes: impl Iterator<Item = (usize, usize)>) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let (mut vertices, mut first) = (&self.vertices[..], 0);
        let (mut offsets, mut targets) = (&mut self.offsets[1..], &mut self.targets[..]);
        let mut weights = &mut self.weights[..];
        for (rows, edges) in sizes {
            let weighted = edges.min(weights.len());
            parts.push(Part {
                vertices: vertices.split_off(..rows).unwrap_or_default(),
                offsets: offsets.split_off_mut(..rows).unwrap_or_default(),
                first,
                targets: targets.split_off_mut(..edges).unwrap_or_default(),
                weights: weights.split_off_mut(..weighted).unwrap_or_default(),
            });
            first += edges as i64;
        }
        parts
    }

    pub(super) fn finish(self, keys: KeyColumn, weighted: bool) -> Csr {
        let Room { vertices, offsets, targets, weights } = self;
        Csr { vertices, keys, offsets, targets, weights: weighted.then_some(weights) }
    }
}

/// Returns vertices and their keys, ascending by key.
pub(super) fn by_keys(vertices: &[VertexId], keys: &KeyColumn) -> (Vec<VertexId>, KeyColumn) {
    let order = order_of(keys);
    let sorted = keys.take(order.iter().map(|&row| row as usize));
    (order.iter().map(|&row| vertices[row as usize]).collect(), sorted)
}

/// Returns the rows of a column, ascending by key.
fn order_of(keys: &KeyColumn) -> Vec<u32> {
    match keys {
        KeyColumn::U64(numbers) => {
            let mut pairs: Vec<(u64, u32)> = numbers.iter().copied().zip(0..).collect();
            hedgerow_par::sort_unstable(&mut pairs);
            pairs.into_iter().map(|(_, row)| row).collect()
        }
        KeyColumn::Str(texts) => {
            let mut pairs: Vec<(&str, u32)> = texts.iter().zip(0..).collect();
            hedgerow_par::sort_unstable(&mut pairs);
            pairs.into_iter().map(|(_, row)| row).collect()
        }
        KeyColumn::Kinds(keys) => {
            let mut pairs: Vec<(VertexKeyRef<'_>, u32)> =
                keys.iter().map(VertexKey::as_ref).zip(0..).collect();
            hedgerow_par::sort_unstable(&mut pairs);
            pairs.into_iter().map(|(_, row)| row).collect()
        }
    }
}
