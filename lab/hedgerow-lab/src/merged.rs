//! A sorted list after changes, before a container cuts it into immutable arrays.

use std::ops::Range;

use hedgerow_core::VertexId;

use crate::change::{Change, Effect};

/// The neighbours of a new leaf or chunk, ascending, and their weights. `weights` is empty if all weights are
/// 1.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) targets: Vec<VertexId>,
    pub(crate) weights: Vec<f64>,
}

impl Merged {
    pub(crate) fn clear(&mut self) {
        self.targets.clear();
        self.weights.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn extend(&mut self, (targets, weights): (&[VertexId], &[f64])) {
        self.targets.extend_from_slice(targets);
        self.weights.extend_from_slice(weights);
    }

    pub(crate) fn whole(&self) -> (&[VertexId], &[f64]) {
        (&self.targets, &self.weights)
    }

    /// Appends a sorted part with the changes applied; the changes ascend. In graphs without weights,
    /// `weights` is empty.
    pub(crate) fn merge(
        &mut self,
        (targets, weights): (&[VertexId], &[f64]),
        changes: &[Change],
        weighted: bool,
    ) -> Effect {
        let mut effect = Effect::default();
        let part = |range: Range<usize>| (&targets[range.clone()], weights.get(range).unwrap_or(&[]));
        let mut done = 0;
        for change in changes {
            let at = done + targets[done..].partition_point(|&t| t < change.target);
            self.extend(part(done..at));
            let is_there = targets.get(at) == Some(&change.target);
            done = at + usize::from(is_there);
            match change.weight {
                Some(weight) => {
                    self.targets.push(change.target);
                    if weighted {
                        effect.changed |= is_there && weights[at] != weight;
                        self.weights.push(weight);
                    }
                    if !is_there {
                        effect.add(Effect { entries: 1, changed: true });
                    }
                }
                None if is_there => effect.add(Effect { entries: -1, changed: true }),
                None => {}
            }
        }
        self.extend(part(done..targets.len()));
        effect
    }
}
