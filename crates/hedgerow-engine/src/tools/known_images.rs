//! Which images salvage knows.

use std::collections::BTreeSet;

use hedgerow_core::SubgraphId;
use hedgerow_tier::ImageId;

/// Which subgraphs are known in which labels.
#[derive(Default)]
pub(super) struct KnownImages {
    in_label: BTreeSet<ImageId>,
    /// Known by an image of format 1 to 4, which is of all labels.
    in_all: BTreeSet<SubgraphId>,
}

impl KnownImages {
    pub(super) fn insert(&mut self, id: ImageId, all_labels: bool) {
        self.in_label.insert(id);
        if all_labels {
            self.in_all.insert(id.subgraph);
        }
    }

    pub(super) fn contains(&self, id: ImageId) -> bool {
        self.in_label.contains(&id) || self.in_all.contains(&id.subgraph)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ImageId> {
        self.in_label.iter().copied()
    }

    /// How many subgraphs are known in some label.
    pub(super) fn subgraphs(&self) -> u64 {
        self.ids().map(|id| id.subgraph).collect::<BTreeSet<SubgraphId>>().len() as u64
    }
}
