//! Prefetches of the data that composing a chunk reads. The way to a column is a chain of cache misses:
//! header, version, extras, columns, column. Each function starts one link of the chain for one subgraph,
//! while others are composed.

use std::sync::Arc;

use hedgerow_core::column::Data;
use hedgerow_core::{Direction, EdgeTest, Timestamp, simd};

use super::super::{CHUNK_SUBGRAPHS, Chunk};
use super::take::{ComposeError, Source};
use crate::table::SubgraphPage;
use crate::version::{Read, Version};

/// The distance in subgraphs between two links. Zero under the model checker, where prefetches would only add
/// walks.
const APART: usize = if cfg!(feature = "loom") { 0 } else { 8 };
/// The distance in versions between the later links of the chain.
const VERSIONS_APART: usize = if cfg!(feature = "loom") { 0 } else { 2 };
/// The number of cache lines of a column or list to prefetch; the processor prefetches the rest.
const LINES: usize = 8;

/// A version to read, after the index of its subgraph in the chunk and the index of its source.
pub(super) type Chosen = (usize, usize, Arc<Version>);

/// Finds the versions of the subgraphs of a chunk that may have edges, by subgraph and source. Sets which
/// vertices exist.
pub(super) fn find_versions(
    chunk: &mut Chunk,
    sources: &[Source<'_>],
    existence: Option<&SubgraphPage>,
    t: Timestamp,
    found: &mut Vec<Chosen>,
) -> Result<(), ComposeError> {
    found.clear();
    let ahead = !cfg!(feature = "loom");
    let present = |i: usize| existence.and_then(|page| page.get(i));
    for step in 0..CHUNK_SUBGRAPHS + 2 * APART {
        if ahead {
            sources.iter().flat_map(|source| source.lists.get(step)).for_each(|s| s.prefetch_header());
            present(step).into_iter().for_each(|s| s.prefetch_header());
            if let Some(i) = step.checked_sub(APART) {
                for source in sources {
                    source.lists.get(i).into_iter().for_each(|s| s.prefetch_counted(source.direction));
                }
                present(i).into_iter().for_each(|s| s.prefetch_version(Direction::Out, false));
            }
        }
        let Some(i) = step.checked_sub(2 * APART) else { continue };
        for (at, source) in sources.iter().enumerate() {
            let Some(subgraph) = source.lists.get(i) else { continue };
            let version = subgraph.version(source.direction, t)?;
            found.extend(version.filter(|version| has_edges(version.at(t))).map(|version| (i, at, version)));
        }
        if let Some(subgraph) = present(i) {
            let present = subgraph.read(Direction::Out, t, |read| read.present())?;
            chunk.set_present(i, present.unwrap_or(0));
        }
    }
    Ok(())
}

/// True if there may be an edge. It is certain if there is only a main part, or if the main part cannot have
/// lost all of its edges.
fn has_edges(read: Read<'_>) -> bool {
    let (version, n) = (read.version(), read.delta_len());
    let lost = if version.patch.is_none() { n } else { usize::MAX };
    version.main().edges().len() > lost || read.edge_entries() > 0
}

/// Prefetches the data of the versions behind index `at`, one link of the chain for each version.
#[inline]
pub(super) fn prefetch(found: &[Chosen], at: usize, sources: &[Source<'_>]) {
    if cfg!(feature = "loom") {
        return;
    }
    let behind = |links: usize| found.get(at + links * VERSIONS_APART);
    if let Some((_, _, version)) = behind(3) {
        version.prefetch_extras();
    }
    if let Some((_, _, version)) = behind(2) {
        version.prefetch_columns();
    }
    if let Some((_, of, version)) = behind(1) {
        let take = &sources[*of].take;
        let mut reads_delta = false;
        for test in take.tests {
            let EdgeTest::Property(test) = test else { continue };
            let columns = version.main().columns();
            if let Some(Data::Words(words)) = columns.and_then(|c| c.column(test.property)).map(|c| c.data())
            {
                simd::prefetch_slice(words, LINES);
            }
            reads_delta = true;
        }
        if reads_delta {
            version.delta().prefetch_properties(version.delta().len());
        }
        if !take.is_all() {
            simd::prefetch_slice(version.main().edges(), LINES);
        }
    }
}

impl Version {
    /// Prefetches the addresses of columns, and of the properties of the delta.
    #[inline]
    fn prefetch_extras(&self) {
        self.main.neighbors.prefetch();
        self.main.extra.iter().for_each(|extra| simd::prefetch(Arc::as_ptr(extra)));
        self.delta.prefetch(true);
        self.delta.prefetch_dsts();
    }

    /// Prefetches the headers of the columns, but not their values.
    #[inline]
    fn prefetch_columns(&self) {
        self.main.extra.iter().for_each(|extra| {
            extra.columns.iter().take(2).for_each(|(_, column)| simd::prefetch(column));
        });
    }
}
