//! What a list may look like, and how its first neighbor is written.

use hedgerow_core::VertexId;

/// Gaps of one width byte; the last mini-block of a list may have fewer.
pub const MINI_BLOCK: usize = 64;

/// The widest gap, in bits.
pub(super) const WIDEST: u8 = 32;

/// The form of a list. Nothing in the bytes of the list says it, so it is written beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The first neighbor is written as its distance from the source: shorter where neighbors are near.
    pub relative: bool,
    /// A neighbor may be there several times, as under a label with ranks. Without it gaps are written less one, so a
    /// list strictly ascends whatever its bytes are.
    pub repeats: bool,
}

impl Form {
    /// What a gap is written less.
    pub(super) fn step(self) -> u32 {
        u32::from(!self.repeats)
    }

    /// The number that stands for `first`.
    pub(super) fn number_of(self, first: VertexId, source: VertexId) -> u64 {
        if !self.relative {
            return u64::from(first.0);
        }
        let distance = i64::from(first.0) - i64::from(source.0);
        (distance << 1 ^ distance >> 63) as u64
    }

    /// The id that `number` stands for; `None` if no vertex can have it.
    pub(super) fn id_of(self, number: u64, source: VertexId) -> Option<u64> {
        let id = if self.relative {
            let distance = (number >> 1) as i64 ^ -((number & 1) as i64);
            i64::from(source.0).checked_add(distance)?.try_into().ok()?
        } else {
            number
        };
        (id <= u64::from(VertexId::MAX.0)).then_some(id)
    }
}
