//! Corrections of a few neighbours, in two cache lines.

use hedgerow_core::{LocalVertex, Neighbors, VertexId};

/// The largest number of added and removed neighbours together.
pub(super) const FEW: usize = 22;

/// The same, rounded up to whole vectors of keys.
pub(super) const ROOM: usize = FEW.next_multiple_of(4);

/// Up to [`FEW`] corrections, in two cache lines.
#[derive(Clone, Default)]
#[repr(C, align(16))]
pub(in crate::view) struct SmallPatch {
    /// Added neighbours, then removed ones; both in order of source and neighbour.
    to: [VertexId; FEW],
    /// The source of each neighbour in `to`.
    from: [LocalVertex; FEW],
    added: u8,
    all: u8,
}

const _: () = assert!(size_of::<SmallPatch>() + 2 * size_of::<usize>() <= 128);

impl SmallPatch {
    /// Sets the added and the removed neighbours, with the source of each, ascending by source and neighbour.
    /// False if they are more than [`FEW`].
    pub(in crate::view) fn fill(
        &mut self,
        added: (&[LocalVertex], &[VertexId]),
        removed: (&[LocalVertex], &[VertexId]),
    ) -> bool {
        let (few, all) = (added.1.len(), added.1.len() + removed.1.len());
        if all > FEW {
            return false;
        }
        self.from[..few].copy_from_slice(added.0);
        self.from[few..all].copy_from_slice(removed.0);
        self.to[..few].copy_from_slice(added.1);
        self.to[few..all].copy_from_slice(removed.1);
        (self.added, self.all) = (few as u8, all as u8);
        true
    }

    /// Sets the edges at the beginning of `edges`, all different: source times 2^32 plus neighbour. They are
    /// `added` added edges, or `removed` removed ones. All other elements must be the largest number.
    #[inline]
    pub(super) fn sort(&mut self, edges: &[u64; ROOM], (added, removed): (usize, usize)) {
        let all = (added + removed).min(FEW);
        for &edge in &edges[..all] {
            // Counts the smaller edges, without a branch to predict.
            let before = |four: &[u64]| four.iter().map(|&other| usize::from(other < edge)).sum::<usize>();
            let at: usize = edges[..all.next_multiple_of(4)].chunks_exact(4).map(before).sum();
            self.from[at] = LocalVertex((edge >> 32) as u8);
            self.to[at] = VertexId(edge as u32);
        }
        (self.added, self.all) = (added.min(all) as u8, all as u8);
    }

    /// Returns the added neighbours, with the source of each.
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

/// Returns the part of `to` whose source is `local`. O(length).
#[inline]
fn of<'a>((from, to): (&[LocalVertex], &'a [VertexId]), local: LocalVertex) -> &'a [VertexId] {
    let start = from.iter().filter(|&&source| source < local).count();
    let count = from.iter().filter(|&&source| source == local).count();
    to.get(start..start + count).unwrap_or(&[])
}
