//! The offsets of the lists of a main part.

use std::ops::Range;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, simd};

/// The index at which each of 64 lists begins, and the end of the last list.
pub type Offsets = [u32; SUBGRAPH_VERTICES + 1];

/// [`Offsets`] in 16 bits each, if they fit: a sparse graph has as many offsets as edges. Offsets that need
/// more bits are in a separate allocation, so that other subgraphs need no room for them.
#[derive(Clone, Debug)]
pub(crate) enum Packed {
    Short([u16; SUBGRAPH_VERTICES + 1]),
    Long(Box<Offsets>),
}

impl Default for Packed {
    /// Returns the offsets of empty lists.
    fn default() -> Self {
        Packed::Short([0; SUBGRAPH_VERTICES + 1])
    }
}

impl Packed {
    /// Packs ascending offsets.
    #[inline]
    pub(super) fn new(offsets: &Offsets) -> Packed {
        if offsets[SUBGRAPH_VERTICES] > u32::from(u16::MAX) {
            return Packed::Long(Box::new(*offsets));
        }
        let mut short = [0; SUBGRAPH_VERTICES + 1];
        // The last offset is the greatest and fits, so all do.
        short.iter_mut().zip(offsets).for_each(|(short, &offset)| *short = offset as u16);
        Packed::Short(short)
    }

    /// Returns the offsets as views read them.
    #[inline]
    pub(super) fn unpacked(&self) -> Offsets {
        match self {
            Packed::Short(short) => {
                let mut offsets = [0; SUBGRAPH_VERTICES + 1];
                offsets.iter_mut().zip(short).for_each(|(offset, &short)| *offset = u32::from(short));
                offsets
            }
            Packed::Long(offsets) => **offsets,
        }
    }

    /// Returns the range of one list.
    #[inline]
    pub(super) fn range(&self, local: LocalVertex) -> Range<usize> {
        let i = local.index();
        match self {
            Packed::Short(short) => usize::from(short[i])..usize::from(short[i + 1]),
            Packed::Long(offsets) => offsets[i] as usize..offsets[i + 1] as usize,
        }
    }

    /// Prefetches the offsets that are in this struct.
    #[inline]
    pub(super) fn prefetch(&self) {
        let here = (&raw const *self).cast::<u8>();
        (0..size_of::<Packed>()).step_by(64).for_each(|at| simd::prefetch(here.wrapping_add(at)));
        simd::prefetch(here.wrapping_add(size_of::<Packed>() - 1));
    }

    /// Prefetches the offsets of one list, if they are in this struct.
    #[inline]
    pub(super) fn prefetch_of(&self, local: LocalVertex) {
        simd::prefetch((&raw const *self).cast::<u16>().wrapping_add(local.index() + 1));
    }

    /// Returns the bytes of the separate allocation.
    pub(super) fn outside_bytes(&self) -> usize {
        if matches!(self, Packed::Long(_)) { size_of::<Offsets>() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_offsets_are_the_offsets_on_either_side_of_16_bits() {
        for last in [0, 1, 63, 65_535, 65_536, 65_537, u32::MAX] {
            let offsets: Offsets =
                std::array::from_fn(|i| (u64::from(last) * i as u64 / SUBGRAPH_VERTICES as u64) as u32);
            let packed = Packed::new(&offsets);
            assert_eq!(packed.unpacked(), offsets);
            assert_eq!(packed.outside_bytes() > 0, last > 65_535);
            for (local, pair) in offsets.windows(2).enumerate() {
                assert_eq!(packed.range(LocalVertex(local as u8)), pair[0] as usize..pair[1] as usize);
            }
            packed.prefetch();
            packed.prefetch_of(LocalVertex(63));
        }
        assert_eq!(Packed::default().unpacked(), [0; SUBGRAPH_VERTICES + 1]);
        assert!(size_of::<Packed>() <= 136);
    }
}
