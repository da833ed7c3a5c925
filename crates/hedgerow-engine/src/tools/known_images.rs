//! The images that salvage has read.

use std::collections::BTreeMap;

use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_tier::ImageId;

/// The known subgraphs of each label.
#[derive(Default)]
pub(super) struct KnownImages {
    in_label: BTreeMap<LabelId, Subgraphs>,
}

impl KnownImages {
    pub(super) fn insert(&mut self, id: ImageId) {
        self.in_label.entry(id.label).or_default().insert(id.subgraph);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_label.is_empty()
    }

    pub(super) fn contains(&self, id: ImageId) -> bool {
        self.in_label.get(&id.label).is_some_and(|known| known.contains(id.subgraph))
    }

    /// Returns the known images, ascending.
    pub(super) fn ids(&self) -> impl Iterator<Item = ImageId> {
        let labels = self.in_label.iter();
        labels.flat_map(|(&label, known)| known.ids().map(move |subgraph| ImageId { label, subgraph }))
    }

    /// Removes and returns the subgraphs that are known in `label`.
    pub(super) fn take(&mut self, label: LabelId) -> Subgraphs {
        self.in_label.remove(&label).unwrap_or_default()
    }

    /// Returns the number of subgraphs that are known in at least one label.
    pub(super) fn subgraphs(&self) -> u64 {
        let mut all = Subgraphs::default();
        for known in self.in_label.values() {
            known.masks.iter().for_each(|(&group, mask)| *all.masks.entry(group).or_default() |= mask);
        }
        all.masks.values().map(|mask| u64::from(mask.count_ones())).sum()
    }
}

/// A set of subgraphs. It takes about 30 bytes for 64 neighboring ones.
#[derive(Default)]
pub(super) struct Subgraphs {
    masks: BTreeMap<u32, u64>,
}

impl Subgraphs {
    fn insert(&mut self, id: SubgraphId) {
        *self.masks.entry(id.0 / u64::BITS).or_default() |= bit(id);
    }

    pub(super) fn contains(&self, id: SubgraphId) -> bool {
        self.masks.get(&(id.0 / u64::BITS)).is_some_and(|mask| mask & bit(id) != 0)
    }

    fn ids(&self) -> impl Iterator<Item = SubgraphId> {
        let of_group = |(&group, &mask): (&u32, &u64)| {
            (0..u64::BITS)
                .map(move |i| SubgraphId(group * u64::BITS + i))
                .filter(move |&id| mask & bit(id) != 0)
        };
        self.masks.iter().flat_map(of_group)
    }
}

fn bit(id: SubgraphId) -> u64 {
    1 << (id.0 % u64::BITS)
}
