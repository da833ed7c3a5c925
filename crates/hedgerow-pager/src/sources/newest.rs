//! The order of sources, and the only loop over sources. If several sources have the whole chain, the newest
//! of them is valid.

use std::cmp::Reverse;

use hedgerow_core::SubgraphId;
use hedgerow_io::FileId;

/// Sorts segments newest first. `file` returns the file id of a segment; a later segment has a greater id.
/// O(segments log segments).
pub fn sort_newest_first<T>(segments: &mut [T], file: impl Fn(&T) -> FileId) {
    segments.sort_by_key(|segment| Reverse(file(segment)));
}

/// A set of subgraphs of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places(u64);

impl Places {
    /// No subgraph.
    pub(crate) const NONE: Places = Places(0);
    /// All subgraphs of the page.
    pub(crate) const ALL: Places = Places(u64::MAX);

    /// Returns the set with these bits: bit `i` stands for the place `i` of the page.
    pub(crate) fn of_bits(bits: u64) -> Places {
        Places(bits)
    }

    /// Returns the set of one subgraph.
    pub(crate) fn of(id: SubgraphId) -> Places {
        Places(1 << (id.0 % 64))
    }

    pub(crate) fn has(self, id: SubgraphId) -> bool {
        self.0 & Places::of(id).0 != 0
    }

    pub(crate) fn insert(&mut self, id: SubgraphId) {
        self.0 |= Places::of(id).0;
    }
}

/// Asks the sources of a page, one after another, until a source with the whole chain is found for each place
/// in `wanted`. The sources must come newest first. `ask` gets a source, and the wanted places for which no
/// newer source has the whole chain. It returns the places for which its source has the whole chain.
///
/// # Errors
/// The first error of `ask`. After it, no older source is asked.
pub(crate) fn newest_first<S, E>(
    sources: impl IntoIterator<Item = S>,
    wanted: Places,
    mut ask: impl FnMut(S, Places) -> Result<Places, E>,
) -> Result<(), E> {
    let mut open = wanted;
    for source in sources {
        if open == Places::NONE {
            break;
        }
        open.0 &= !ask(source, open)?.0;
    }
    Ok(())
}
