//! The table of subgraphs: grows without moving, so that readers need no lock.

use std::sync::OnceLock;

use hedgerow_core::SubgraphId;

use crate::subgraph::Subgraph;

/// The first chunk holds this many subgraphs; each further one as many as all before it.
const FIRST_CHUNK: usize = 64;
/// Chunks up to the largest vertex id.
const CHUNKS: usize = 21;

/// All subgraphs of a graph, by id. Chunks of doubling size are allocated at first use and never move.
#[derive(Default)]
pub struct SubgraphTable {
    chunks: [OnceLock<Box<[Subgraph]>>; CHUNKS],
}

/// Chunk and place of a subgraph.
#[inline]
fn locate(id: SubgraphId) -> (usize, usize) {
    let n = id.index() + FIRST_CHUNK;
    let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST_CHUNK.trailing_zeros() as usize;
    (chunk, n - (FIRST_CHUNK << chunk))
}

impl SubgraphTable {
    /// The subgraph, if its chunk exists.
    #[inline]
    pub fn get(&self, id: SubgraphId) -> Option<&Subgraph> {
        let (chunk, place) = locate(id);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    /// The subgraph; its chunk is allocated if need be.
    #[inline]
    pub fn get_or_create(&self, id: SubgraphId) -> &Subgraph {
        let (chunk, place) = locate(id);
        let chunk_size = FIRST_CHUNK << chunk;
        &self.chunks[chunk].get_or_init(|| (0..chunk_size).map(|_| Subgraph::default()).collect())[place]
    }

    /// The bytes of the chunks themselves.
    pub fn bytes(&self) -> usize {
        self.chunks.iter().filter_map(OnceLock::get).map(|c| c.len() * size_of::<Subgraph>()).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for id in 0..10_000u32 {
            assert_eq!(locate(SubgraphId(id)), expected);
            expected.1 += 1;
            if expected.1 == FIRST_CHUNK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        let (chunk, place) = locate(SubgraphId(u32::MAX >> 6));
        assert!(chunk < CHUNKS && place < FIRST_CHUNK << chunk);
    }
}
