//! The input of corrections: lists, and the delta entries that they lack.

use std::ops::Range;

use hedgerow_core::{InterpolationHint, LocalVertex, VertexId};

use crate::main_part::{Main, Offsets};
use crate::version::{Read, Version};

/// The lists of a subgraph, and the later entries of its delta. The lists are the main part's, or a copy that
/// a view made of main part and earlier entries.
#[derive(Clone)]
pub(in crate::view) struct Pending<'a> {
    pub(super) version: &'a Version,
    /// The indices of the delta entries that the lists lack.
    pub(super) entries: Range<usize>,
    lists: ListsUnder<'a>,
    pub(super) weighted: bool,
    /// The vertices that exist in the state of the lists.
    pub(super) present: u64,
}

/// The lists to which entries are applied.
#[derive(Clone, Copy)]
pub(in crate::view) enum ListsUnder<'a> {
    Main(&'a Main),
    /// The lists of a copy in a view: their offsets, and the lists one after another.
    Copy(&'a Offsets, &'a [VertexId]),
}

impl<'a> Pending<'a> {
    /// Makes the input from the main part and the first `n` entries of the delta, without patch, ranks and
    /// properties.
    #[inline]
    pub(in crate::view) fn of(version: &'a Version, n: usize) -> Pending<'a> {
        let main = version.main();
        Pending::since(version, 0..n, ListsUnder::Main(main), main.present())
    }

    /// Makes the input from some entries of the delta of `version`, and lists that hold main part and earlier
    /// entries.
    #[inline]
    pub(in crate::view) fn since(
        version: &'a Version,
        entries: Range<usize>,
        lists: ListsUnder<'a>,
        present: u64,
    ) -> Pending<'a> {
        let weighted = version.main().weights().is_some();
        Pending { version, entries, lists, weighted, present }
    }

    /// Returns all lists, one after another.
    #[inline]
    pub(super) fn neighbors(&self) -> &'a [VertexId] {
        match self.lists {
            ListsUnder::Main(main) => main.edges(),
            ListsUnder::Copy(_, neighbors) => neighbors,
        }
    }

    /// Returns the index of an edge in the lists. O(log degree).
    pub(super) fn find(&self, local: LocalVertex, dst: VertexId) -> Option<usize> {
        let range = match self.lists {
            ListsUnder::Main(main) => main.range(local),
            ListsUnder::Copy(offsets, _) => {
                offsets[local.index()] as usize..offsets[local.index() + 1] as usize
            }
        };
        Some(range.start + InterpolationHint::UNKNOWN.find(self.neighbors().get(range)?, dst)?)
    }
}

/// The kind of differences between a state and the lists.
pub(in crate::view) enum Kind {
    /// No difference.
    None,
    /// One delta entry, in a version without weights, ranks and patch.
    One,
    /// Any differences.
    More,
}

impl Kind {
    /// Returns the kind of differences between a state and the main part.
    #[inline]
    pub(in crate::view) fn of(read: Read<'_>) -> Kind {
        let version = read.version();
        match read.delta_len() {
            0 if version.patch.is_none() => Kind::None,
            1 if version.is_simple() => Kind::One,
            _ => Kind::More,
        }
    }

    /// Returns the kind of differences for `count` entries, over lists without ranks and patch.
    #[inline]
    pub(in crate::view) fn of_entries(count: usize, weighted: bool) -> Kind {
        match count {
            0 => Kind::None,
            1 if !weighted => Kind::One,
            _ => Kind::More,
        }
    }
}
