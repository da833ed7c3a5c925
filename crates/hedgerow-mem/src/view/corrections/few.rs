//! Corrections of a few neighbours, in two cache lines.

use hedgerow_core::{LocalVertex, Neighbors, VertexId};

/// So many added and removed neighbours together are few.
pub(super) const FEW: usize = 22;

/// Up to [`FEW`] corrections: with the counts of references of an `Arc` two cache lines, so that a refresh writes no more
/// than that for each subgraph in which a little changed.
pub(in crate::view) struct Few {
    added: u8,
    all: u8,
    /// The source of each of `to`.
    from: [LocalVertex; FEW],
    /// First what is added, then what is removed, by source, then ascending.
    to: [VertexId; FEW],
}

const _: () = assert!(size_of::<Few>() + 2 * size_of::<usize>() == 128);

impl Few {
    /// What is added and what is removed, with the source of each, ascending by source and neighbour. `None` if that is
    /// too much.
    pub(super) fn new(
        added: (&[LocalVertex], &[VertexId]),
        removed: (&[LocalVertex], &[VertexId]),
    ) -> Option<Few> {
        let (few, all) = (added.1.len(), added.1.len() + removed.1.len());
        if all > FEW {
            return None;
        }
        let (mut from, mut to) = ([LocalVertex(0); FEW], [VertexId(0); FEW]);
        from[..few].copy_from_slice(added.0);
        from[few..all].copy_from_slice(removed.0);
        to[..few].copy_from_slice(added.1);
        to[few..all].copy_from_slice(removed.1);
        Some(Few { added: few as u8, all: all as u8, from, to })
    }

    /// How many neighbours are added, and removed.
    #[inline]
    pub(super) fn counts(&self) -> (usize, usize) {
        (usize::from(self.added), usize::from(self.all - self.added))
    }

    /// What is added, with the source of each.
    #[inline]
    pub(super) fn added(&self) -> (&[LocalVertex], &[VertexId]) {
        let added = usize::from(self.added).min(FEW);
        (&self.from[..added], &self.to[..added])
    }

    #[inline]
    fn removed(&self) -> (&[LocalVertex], &[VertexId]) {
        let (added, all) = (usize::from(self.added), usize::from(self.all));
        (self.from.get(added..all).unwrap_or(&[]), self.to.get(added..all).unwrap_or(&[]))
    }

    #[inline]
    pub(super) fn correct<'a>(&'a self, main: &'a [VertexId], local: LocalVertex) -> Neighbors<'a> {
        Neighbors { main, added: of(self.added(), local), removed: of(self.removed(), local) }
    }
}

/// Those of `to` whose source is `local`. O(a few).
#[inline]
fn of<'a>((from, to): (&[LocalVertex], &'a [VertexId]), local: LocalVertex) -> &'a [VertexId] {
    let start = from.iter().filter(|&&source| source < local).count();
    let count = from.iter().filter(|&&source| source == local).count();
    to.get(start..start + count).unwrap_or(&[])
}
