//! The words of a delta in a segment.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LocalVertex, RowRef, SUBGRAPH_VERTICES};
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{AdjacencyPart, ReadMemory, SubgraphDelta, TierError};

use crate::sources::source::{Extent, HasMemory};
use crate::sources::word::{EdgeAt, Identity, Word, WordKind, compose};

/// Asks for the memory of `count` words.
pub(crate) fn ask_for_words(count: usize, has_memory: HasMemory<'_>) -> Result<(), TierError> {
    let needed = (count * size_of::<Word<'_>>()) as u64;
    // Not copied later, unlike lists of images.
    if count == 0 || has_memory(ReadMemory::Values(needed)) {
        Ok(())
    } else {
        Err(TierError::NoRoom { needed })
    }
}

/// Returns the word of a delta about one edge. O(log words).
pub(crate) fn word_at(delta: &SubgraphDelta, edge: &EdgeAt) -> Option<Word<'static>> {
    if faults::is_on(PlantedFault::DeltaNotRead) {
        return None;
    }
    let &(_, local, dst) = edge;
    let put = weight_of(&delta.put, edge).map(|weight| (WordKind::Put, weight));
    let found = put.or_else(|| weight_of(&delta.removed, edge).map(|weight| (WordKind::Remove, weight)));
    found.map(|(kind, weight)| Word {
        local,
        kind,
        item: ItemRef { dst, rank: 0, weight, row: RowRef::Empty },
    })
}

/// Returns the weight of an edge in the parts of an image or of a delta; `None` if it is not there. O(log
/// edges of the vertex).
pub(crate) fn weight_of(parts: &[AdjacencyPart], &(direction, local, other): &EdgeAt) -> Option<f64> {
    let part = parts.iter().find(|part| part.direction == direction)?;
    let found = part.neighbors_of(local.index()).binary_search(&other).ok()?;
    let at = part.range_of(local.index()).start + found;
    Some(part.weights.as_ref().and_then(|weights| weights.get(at)).map_or(1.0, |weight| *weight))
}

/// Returns the words of a delta about edges within the extent, ascending by identity. O(words log words) for
/// a chain, and O(log words) for one edge.
pub(crate) fn words_of<'a>(
    delta: &SubgraphDelta,
    direction: Direction,
    extent: Extent,
    has_memory: HasMemory<'_>,
) -> Result<Vec<Word<'a>>, TierError> {
    let mut words = Vec::new();
    if let Extent::Near(local, other) | Extent::Edge(Identity { local, other, .. }) = extent {
        let word = word_at(delta, &(direction, local, other));
        words.extend(word.filter(|word| extent.has(word.identity())));
        return Ok(words);
    }
    if faults::is_on(PlantedFault::DeltaNotRead) {
        return Ok(words);
    }
    for (parts, kind) in [(&delta.put, WordKind::Put), (&delta.removed, WordKind::Remove)] {
        let Some(part) = parts.iter().find(|part| part.direction == direction) else { continue };
        let locals = match extent {
            Extent::Vertex(_) => 0..0,
            Extent::Chain => 0..SUBGRAPH_VERTICES,
            Extent::Degree(local) | Extent::List(local) => one(local),
            Extent::Near(..) | Extent::Edge(_) => 0..0,
        };
        let count = locals.clone().map(|local| part.range_of(local).len()).sum();
        ask_for_words(count, has_memory)?;
        for local in locals.map(|local| LocalVertex(local as u8)) {
            let of_list = part.range_of(local.index()).filter_map(|at| {
                let dst = *part.neighbors.get(at)?;
                let weight = part.weights.as_ref().and_then(|all| all.get(at)).map_or(1.0, |&weight| weight);
                Some(Word { local, kind, item: ItemRef { dst, rank: 0, weight, row: RowRef::Empty } })
            });
            words.extend(of_list.filter(|word| extent.has(word.identity())));
        }
    }
    compose(&mut words);
    Ok(words)
}

fn one(local: LocalVertex) -> std::ops::Range<usize> {
    local.index()..local.index() + 1
}
