//! The forms of lists, and the encoding of their first neighbor.

use hedgerow_core::VertexId;

/// The number of gaps with a common width; the last mini-block of a list may have fewer.
pub const MINI_BLOCK: usize = 64;

/// The widest gap, in bits.
pub(super) const WIDEST: u8 = 32;

/// The form of a list. The bytes of the list do not contain it, so a writer stores it separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// True if the first neighbor is written as its distance from the source, which is shorter if neighbors
    /// are near.
    pub relative: bool,
    /// True if a neighbor may occur several times, as in a label with ranks. If not, one is subtracted from
    /// each gap, so that any bytes decode to a strictly ascending list.
    pub repeats: bool,
}

impl Form {
    /// Returns the number that is subtracted from a gap before it is written.
    pub(super) fn step(self) -> u32 {
        u32::from(!self.repeats)
    }

    /// Returns the number that encodes `first`.
    pub(super) fn number_of(self, first: VertexId, source: VertexId) -> u64 {
        if !self.relative {
            return u64::from(first.0);
        }
        let distance = i64::from(first.0) - i64::from(source.0);
        (distance << 1 ^ distance >> 63) as u64
    }

    /// Returns the id that `number` encodes; `None` if no vertex can have it.
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
