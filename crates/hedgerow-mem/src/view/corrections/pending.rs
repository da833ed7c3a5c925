//! What a view corrects: lists, and the entries of a delta that they lack.

use std::ops::Range;

use hedgerow_core::{InterpolationHint, LocalVertex, VertexId};

use crate::main_part::{Main, Offsets};
use crate::version::{Read, Version};

/// Lists of a subgraph, and the entries of its delta that came after them. The lists are those of the main part, or a copy that a
/// view made of main part and earlier entries.
#[derive(Clone)]
pub(in crate::view) struct Pending<'a> {
    pub(super) version: &'a Version,
    /// Which entries of the delta the lists lack.
    pub(super) entries: Range<usize>,
    lists: ListsUnder<'a>,
    pub(super) weighted: bool,
    /// The vertices that exist as of the lists.
    pub(super) present: u64,
}

/// The lists that entries correct.
#[derive(Clone, Copy)]
pub(in crate::view) enum ListsUnder<'a> {
    Main(&'a Main),
    /// Of a copy that a view has: where they begin, and all of them.
    Copy(&'a Offsets, &'a [VertexId]),
}

impl<'a> Pending<'a> {
    /// All that is read of the delta, over the main part. Patches, ranks and properties are not in it.
    #[inline]
    pub(in crate::view) fn of(version: &'a Version, n: usize) -> Pending<'a> {
        let main = version.main();
        Pending::since(version, 0..n, ListsUnder::Main(main), main.present())
    }

    /// Some entries of the delta of `version`, over lists that hold main part and earlier entries.
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

    /// All lists, one after another.
    #[inline]
    pub(super) fn neighbors(&self) -> &'a [VertexId] {
        match self.lists {
            ListsUnder::Main(main) => main.edges(),
            ListsUnder::Copy(_, neighbors) => neighbors,
        }
    }

    /// Where an edge stands in the lists. O(log degree).
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

/// How what is read differs from the lists.
pub(in crate::view) enum Kind {
    /// Not at all.
    None,
    /// By one entry of the delta of a version without weights, ranks and patch.
    One,
    /// By anything.
    More,
}

impl Kind {
    /// How what is read differs from the main part.
    #[inline]
    pub(in crate::view) fn of(read: Read<'_>) -> Kind {
        let version = read.version();
        match read.delta_len() {
            0 if version.patch.is_none() => Kind::None,
            1 if version.is_simple() => Kind::One,
            _ => Kind::More,
        }
    }

    /// How so many entries differ from lists without ranks and patch.
    #[inline]
    pub(in crate::view) fn of_entries(count: usize, weighted: bool) -> Kind {
        match count {
            0 => Kind::None,
            1 if !weighted => Kind::One,
            _ => Kind::More,
        }
    }
}
