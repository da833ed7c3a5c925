//! The parameters of the paper.

use crate::GraphForm;

/// The parameters of the paper, and the switches of its ablations. The defaults are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AspenOptions {
    /// The average number of ids between two heads (b), a power of two from 2 to 32,768. Other numbers are
    /// rounded up.
    pub chunk: usize,
    /// Whether a chunk stores the differences of its ids in byte codes; if not, each id takes 4 bytes.
    pub difference: bool,
    /// Whether a snapshot copies the roots of lists with many reads into an array (flat snapshots).
    pub flat: bool,
}

impl Default for AspenOptions {
    fn default() -> Self {
        AspenOptions { chunk: 256, difference: true, flat: true }
    }
}

/// The coding of the ids and weights of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coding {
    pub(super) difference: bool,
    pub(super) weighted: bool,
}

/// The options in the form that the structures use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) coding: Coding,
    pub(super) flat: bool,
    /// The smallest number of changes of one list that become a C-tree first, which is then united with the
    /// list.
    pub(super) united: usize,
    /// The bits of a hash that are 0 for a head.
    mask: u32,
}

impl Shape {
    pub(super) fn new(form: GraphForm, options: AspenOptions) -> Shape {
        let chunk = options.chunk.clamp(2, 1 << 15).next_power_of_two();
        Shape {
            coding: Coding { difference: options.difference, weighted: form.weighted },
            flat: options.flat,
            united: 2 * chunk,
            mask: chunk as u32 - 1,
        }
    }

    /// True if an id is a head. The hash of the id decides, so the id is a head in every list or in none.
    #[inline]
    pub(super) fn is_head(&self, id: u32) -> bool {
        let mut hash = id ^ (id >> 16);
        hash = hash.wrapping_mul(0x85eb_ca6b);
        hash ^= hash >> 13;
        hash = hash.wrapping_mul(0xc2b2_ae35);
        (hash ^ (hash >> 16)) & self.mask == 0
    }
}
