//! The merge of the lists of several sources.

use hedgerow_core::{SUBGRAPH_VERTICES, VertexId};

use super::take::{ComposeError, Part};

/// A merger of lists, with reusable buffers.
pub(super) struct Merger {
    weighted: bool,
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    lists: Vec<VertexId>,
    weights: Vec<f64>,
    pairs: Vec<(VertexId, f64)>,
}

impl Merger {
    pub(super) fn new(weighted: bool) -> Merger {
        let offsets = [0; SUBGRAPH_VERTICES + 1];
        Merger { weighted, offsets, lists: Vec::new(), weights: Vec::new(), pairs: Vec::new() }
    }

    /// Merges the lists of all sources into one, ascending; a single part is returned unchanged. O(entries),
    /// and O(entries log parts) for more than two.
    pub(super) fn merge<'a>(&'a mut self, parts: &[Part<'a>]) -> Result<Part<'a>, ComposeError> {
        if let [part] = parts {
            return Ok(*part);
        }
        let total: u64 = parts.iter().map(|part| u64::from(part.len())).sum();
        let total = u32::try_from(total).map_err(|_| ComposeError::TooManyEdges)? as usize;
        self.weights.clear();
        if self.weighted {
            self.lists.clear();
        } else if self.lists.len() < total {
            self.lists.resize(total, VertexId(0));
        }
        let mut len = 0;
        for local in 0..SUBGRAPH_VERTICES {
            if self.weighted {
                self.merge_weighted(parts, local);
                len = self.lists.len();
            } else {
                len += merge_plain(parts, local, &mut self.lists[len..]);
            }
            self.offsets[local + 1] = len as u32;
        }
        Ok(Part { offsets: &self.offsets, lists: &self.lists[..len], weights: &self.weights })
    }

    fn merge_weighted(&mut self, parts: &[Part<'_>], local: usize) {
        self.pairs.clear();
        for part in parts {
            let (list, weights) = part.of(local);
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            self.pairs.extend(list.iter().copied().zip(weights));
        }
        // A stable sort, which is fast on ascending runs: here the lists of the sources.
        if parts.len() > 1 {
            self.pairs.sort_by_key(|pair| pair.0);
        }
        self.lists.extend(self.pairs.iter().map(|pair| pair.0));
        self.weights.extend(self.pairs.iter().map(|pair| pair.1));
    }
}

/// Writes the neighbours of a vertex in all parts, ascending, to the beginning of `lists`. Returns their
/// number.
#[inline]
fn merge_plain(parts: &[Part<'_>], local: usize, lists: &mut [VertexId]) -> usize {
    match parts {
        [one, other] => merge_two(*one, *other, local, lists),
        _ => {
            let mut len = 0;
            for part in parts {
                let (list, _) = part.of(local);
                lists[len..len + list.len()].copy_from_slice(list);
                len += list.len();
            }
            if parts.len() > 1 {
                lists[..len].sort();
            }
            len
        }
    }
}

/// Like [`merge_plain`], but for two parts. No branch depends on the part with the smaller neighbour, because
/// such a branch cannot be predicted.
#[inline]
fn merge_two(one: Part<'_>, other: Part<'_>, local: usize, lists: &mut [VertexId]) -> usize {
    let (a, b) = (one.of(local).0, other.of(local).0);
    let (mut i, mut j) = (0, 0);
    for place in &mut lists[..a.len() + b.len()] {
        let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) else { break };
        let first = x <= y;
        *place = if first { x } else { y };
        i += usize::from(first);
        j += usize::from(!first);
    }
    let rest = &mut lists[i + j..];
    if i < a.len() {
        copy_list(one.lists, one.offsets[local] as usize + i, a.len() - i, rest);
    } else {
        copy_list(other.lists, other.offsets[local] as usize + j, b.len() - j, rest);
    }
    a.len() + b.len()
}

/// Copies `len` entries from `at` on. Because most lists are short, it copies whole vectors without a call.
/// If there is room, it writes more than `len` entries.
#[inline]
fn copy_list(lists: &[VertexId], at: usize, len: usize, to: &mut [VertexId]) {
    const AT_ONCE: usize = 8;
    const LONG: usize = 128;
    let (from, mut done) = (&lists[at..], 0);
    if len > LONG {
        return to[..len].copy_from_slice(&from[..len]);
    }
    while done < len {
        let vectors = (from[done..].first_chunk::<AT_ONCE>(), to[done..].first_chunk_mut::<AT_ONCE>());
        let (Some(from), Some(to)) = vectors else {
            return to[done..len].copy_from_slice(&from[done..len]);
        };
        *to = *from;
        done += AT_ONCE;
    }
}
