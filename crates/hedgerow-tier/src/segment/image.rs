//! The content of a segment for one subgraph: an owned form for reads, a borrowed one for writes.

use std::ops::Range;
use std::sync::Arc;

use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{
    Columns, Direction, GraphConfig, KeyKind, KindId, LabelId, SUBGRAPH_VERTICES, SubgraphId, Timestamp,
    VertexId, VertexKey,
};

use super::degrees::degree_mask;
use crate::id::ImageId;

/// The state of one subgraph in one label at a commit timestamp, as read from a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SubgraphImage {
    /// The subgraph and the label.
    pub id: ImageId,
    /// The timestamp of the image: it includes every commit up to this timestamp and none after it.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live. In an image of another label than the default one: if it
    /// has neighbors.
    pub present: u64,
    /// The external ids of the live vertices, in local order; `Dense` in an image of another label than the
    /// default one.
    pub keys: ImageKeys,
    /// The adjacency, ascending by direction; parts without neighbors are left out.
    pub parts: Vec<AdjacencyPart>,
}

/// The external ids of the live vertices of one subgraph, in local order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageKeys {
    /// A dense graph: the external ids are the internal ones and are not stored.
    Dense,
    /// Numbers, in a graph whose keys are numbers.
    U64(Vec<u64>),
    /// Strings, in a graph whose keys are strings.
    Str(Vec<Arc<str>>),
    /// Keys of vertices of several kinds, or of another kind than the default.
    Kinds(Vec<VertexKey>),
}

/// The neighbors of the 64 vertices of a subgraph in the label of the image, for one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct AdjacencyPart {
    /// The direction: the neighbors are destinations or sources.
    pub direction: Direction,
    /// The neighbors of local vertex `i` are `neighbors[offsets[i]..offsets[i + 1]]`.
    pub offsets: [u32; SUBGRAPH_VERTICES + 1],
    /// All neighbors, strictly ascending within the range of each vertex; with ranks, ascending by neighbor
    /// and rank.
    pub neighbors: Vec<VertexId>,
    /// The weight of each edge, parallel to `neighbors`; never NaN.
    pub weights: Option<Vec<f64>>,
    /// The rank of each edge, parallel to `neighbors`; `None` if all are 0.
    pub ranks: Option<Vec<u64>>,
    /// The properties of the edges.
    pub columns: Columns,
}

/// A [`SubgraphImage`] to be written; it borrows its large fields.
#[derive(Clone, Copy, Debug)]
pub struct ImageRef<'a> {
    /// The subgraph and the label.
    pub id: ImageId,
    /// The timestamp of the image: it includes every commit up to this timestamp and none after it.
    pub as_of: Timestamp,
    /// Bit `i` is set if local vertex `i` is live. In an image of another label than the default one: if it
    /// has neighbors.
    pub present: u64,
    /// The external ids of the live vertices, in local order; [`KeysRef::Dense`] in an image of another label
    /// than the default one.
    pub keys: KeysRef<'a>,
    /// The adjacency, strictly ascending by direction. Parts without neighbors are left out of the file.
    pub parts: &'a [PartRef<'a>],
}

/// The borrowed form of [`ImageKeys`].
#[derive(Clone, Copy, Debug)]
pub enum KeysRef<'a> {
    /// A dense graph: nothing is stored.
    Dense,
    /// Numbers.
    U64(&'a [u64]),
    /// Strings.
    Str(&'a [Arc<str>]),
    /// Keys of vertices of several kinds, or of another kind than the default.
    Kinds(&'a [VertexKey]),
}

/// The borrowed form of [`AdjacencyPart`].
#[derive(Clone, Copy, Debug)]
pub struct PartRef<'a> {
    /// The direction: the neighbors are destinations or sources.
    pub direction: Direction,
    /// The neighbors of local vertex `i` are `neighbors[offsets[i]..offsets[i + 1]]`.
    pub offsets: &'a [u32; SUBGRAPH_VERTICES + 1],
    /// All neighbors, strictly ascending within the range of each vertex.
    pub neighbors: &'a [VertexId],
    /// The weight of each edge, parallel to `neighbors`; never NaN.
    pub weights: Option<&'a [f64]>,
    /// The rank of each edge, parallel to `neighbors`; `None` if all are 0.
    pub ranks: Option<&'a [u64]>,
    /// The properties of the edges; `None` if no edge has any.
    pub columns: Option<&'a Columns>,
}

impl SubgraphImage {
    /// Returns the number of live vertices in the image; 0 in an image of another label than the default one.
    pub fn vertex_count(&self) -> u32 {
        if self.id.label == LabelId::DEFAULT { self.present.count_ones() } else { 0 }
    }

    /// Returns the number of outgoing neighbor entries, as [`SegmentInfo::edges`](crate::SegmentInfo::edges)
    /// counts them.
    pub fn edge_count(&self) -> u64 {
        self.parts.iter().map(|part| out_entries(part.direction, part.neighbors.len())).sum()
    }

    /// Calls `f` with the borrowed form of this image.
    pub fn with_ref<R>(&self, f: impl FnOnce(&ImageRef<'_>) -> R) -> R {
        let parts: Vec<PartRef<'_>> = self.parts.iter().map(AdjacencyPart::as_ref).collect();
        f(&ImageRef {
            id: self.id,
            as_of: self.as_of,
            present: self.present,
            keys: self.keys.as_ref(),
            parts: &parts,
        })
    }
}

impl ImageKeys {
    /// Returns the same keys, borrowed.
    pub fn as_ref(&self) -> KeysRef<'_> {
        match self {
            ImageKeys::Dense => KeysRef::Dense,
            ImageKeys::U64(keys) => KeysRef::U64(keys),
            ImageKeys::Str(keys) => KeysRef::Str(keys),
            ImageKeys::Kinds(keys) => KeysRef::Kinds(keys),
        }
    }
}

impl AdjacencyPart {
    /// Returns the same part, borrowed.
    pub fn as_ref(&self) -> PartRef<'_> {
        PartRef {
            direction: self.direction,
            offsets: &self.offsets,
            neighbors: &self.neighbors,
            weights: self.weights.as_deref(),
            ranks: self.ranks.as_deref(),
            columns: Some(&self.columns).filter(|columns| !columns.is_empty()),
        }
    }

    /// Returns the neighbors of the local vertex `local` (0 to 63); empty for other numbers.
    pub fn neighbors_of(&self, local: usize) -> &[VertexId] {
        self.neighbors.get(self.range_of(local)).unwrap_or(&[])
    }

    /// Returns the range of a vertex's edges in the part; empty for other numbers than 0 to 63.
    pub fn range_of(&self, local: usize) -> Range<usize> {
        range_of(&self.offsets, local).unwrap_or(0..0)
    }
}

impl ImageRef<'_> {
    /// Returns the number of outgoing neighbor entries.
    pub(crate) fn edge_count(&self) -> u64 {
        self.parts.iter().map(|part| out_entries(part.direction, part.neighbors.len())).sum()
    }

    /// Returns the first rule of an image that this one breaks. An image without a fault can be written and
    /// read again.
    pub(crate) fn fault(&self, config: &GraphConfig) -> Option<&'static str> {
        let ImageId { label, subgraph } = self.id;
        let keys = if label == LabelId::DEFAULT { config.keys } else { KeyKind::Dense };
        check_vertices(subgraph, self.present)
            .or_else(|| check_keys(self.keys, self.present, keys))
            .or_else(|| check_order(self.parts.iter().map(|part| part.direction)))
            .or_else(|| self.parts.iter().find_map(|part| check_part(part, self.present, config)))
            .or_else(|| check_label(self))
    }
}

/// Checks that only an image of the default label has vertices without neighbors.
fn check_label(image: &ImageRef<'_>) -> Option<&'static str> {
    let with_neighbors = image.parts.iter().fold(0, |mask, part| mask | degree_mask(part.offsets));
    let fits = image.id.label == LabelId::DEFAULT || image.present == with_neighbors;
    (!fits).then_some("vertices without neighbors in the image of a label")
}

pub(super) fn out_entries(direction: Direction, entries: usize) -> u64 {
    match direction {
        Direction::Out => entries as u64,
        Direction::In => 0,
    }
}

pub(super) fn range_of(offsets: &[u32; SUBGRAPH_VERTICES + 1], local: usize) -> Option<Range<usize>> {
    Some(*offsets.get(local)? as usize..*offsets.get(local + 1)? as usize)
}

/// Checks that the id names a subgraph that can exist, and that no live vertex is above the largest vertex
/// id.
pub(super) fn check_vertices(id: SubgraphId, present: u64) -> Option<&'static str> {
    let last = VertexId::MAX.subgraph();
    if id > last {
        return Some("subgraph id out of range");
    }
    let beyond = !0u64 << VertexId::MAX.local().0 << 1;
    (id == last && present & beyond != 0).then_some("live vertex beyond the largest id")
}

/// True if the keys of an image's vertices are stored in a record.
pub(super) fn needs_keys(label: LabelId, present: u64, config: &GraphConfig) -> bool {
    label == LabelId::DEFAULT && config.keys != KeyKind::Dense && present != 0
}

/// Returns the keys of an image without a record of keys.
pub(super) fn no_keys(label: LabelId, config: &GraphConfig) -> ImageKeys {
    match config.keys {
        KeyKind::U64 if label == LabelId::DEFAULT => ImageKeys::U64(Vec::new()),
        KeyKind::Str if label == LabelId::DEFAULT => ImageKeys::Str(Vec::new()),
        _ => ImageKeys::Dense,
    }
}

pub(super) fn check_keys(keys: KeysRef<'_>, present: u64, kind: KeyKind) -> Option<&'static str> {
    let (fits, count) = match keys {
        KeysRef::Dense => (kind == KeyKind::Dense, present.count_ones() as usize),
        KeysRef::U64(keys) => (kind == KeyKind::U64, keys.len()),
        KeysRef::Str(keys) => (kind == KeyKind::Str, keys.len()),
        KeysRef::Kinds(keys) => (fit(keys, kind), keys.len()),
    };
    if !fits {
        return Some("keys of another type than the graph's");
    }
    if count != present.count_ones() as usize {
        return Some("key count differs from live vertex count");
    }
    let too_long = match keys {
        KeysRef::Str(keys) => keys.iter().any(|key| key.len() > MAX_KEY_BYTES),
        KeysRef::Kinds(keys) => keys.iter().any(|key| text_of(key).is_some_and(|s| s.len() > MAX_KEY_BYTES)),
        KeysRef::Dense | KeysRef::U64(_) => false,
    };
    too_long.then_some("key too long")
}

/// True if keys of several kinds are valid. Keys of the default kind must have the graph's type, which must
/// not be dense. Keys in the forms with a kind must have a kind from 1 to [`KindId::MAX`]. So each key has
/// one form.
fn fit(keys: &[VertexKey], kind: KeyKind) -> bool {
    let fits = |key: &VertexKey| match key {
        VertexKey::U64(_) => kind == KeyKind::U64,
        VertexKey::Str(_) => kind == KeyKind::Str,
        VertexKey::KindU64(of, _) | VertexKey::KindStr(of, _) => {
            (KindId::DEFAULT < *of) && (*of <= KindId::MAX)
        }
    };
    kind != KeyKind::Dense && keys.iter().all(fits)
}

/// Returns the text of the key, if it is a string.
pub(super) fn text_of(key: &VertexKey) -> Option<&Arc<str>> {
    match key {
        VertexKey::Str(s) | VertexKey::KindStr(_, s) => Some(s),
        VertexKey::U64(_) | VertexKey::KindU64(..) => None,
    }
}

/// Checks that parts are strictly ascending, so that each direction has at most one.
pub(super) fn check_order(parts: impl Iterator<Item = Direction> + Clone) -> Option<&'static str> {
    let mut pairs = parts.clone().zip(parts.skip(1));
    pairs.any(|(a, b)| a as u8 >= b as u8).then_some("parts out of order")
}

pub(super) fn check_part(part: &PartRef<'_>, present: u64, config: &GraphConfig) -> Option<&'static str> {
    let total = part.neighbors.len();
    if part.offsets[0] != 0 || part.offsets[SUBGRAPH_VERTICES] as usize != total {
        return Some("offsets do not span the neighbors");
    }
    for local in 0..SUBGRAPH_VERTICES {
        let range = range_of(part.offsets, local);
        let list = range.clone().and_then(|range| part.neighbors.get(range));
        let Some(list) = list else {
            return Some("offsets not ascending");
        };
        let ranks = part.ranks.map(|ranks| range.and_then(|range| ranks.get(range)).unwrap_or(&[]));
        if let Some(fault) = check_list(list, ranks, present >> local & 1 == 1) {
            return Some(fault);
        }
    }
    if part.ranks.is_some_and(|ranks| ranks.len() != total) {
        return Some("rank count differs from neighbor count");
    }
    if part.columns.is_some_and(|columns| columns.iter().any(|(_, column)| column.len() != total)) {
        return Some("value count differs from neighbor count");
    }
    match part.weights {
        None => None,
        Some(_) if !config.weighted => Some("weights in a graph without weights"),
        Some(weights) if weights.len() != total => Some("weight count differs from neighbor count"),
        Some(weights) => weights.iter().any(|w| w.is_nan()).then_some("weight is NaN"),
    }
}

fn check_list(list: &[VertexId], ranks: Option<&[u64]>, live: bool) -> Option<&'static str> {
    let last = list.last()?;
    if !live {
        return Some("neighbors of a vertex that is not live");
    }
    // Without an early exit the compiler compares several elements at a time.
    let ascending = match ranks {
        None => list.iter().zip(list.iter().skip(1)).fold(true, |ok, (a, b)| ok & (a < b)),
        Some(ranks) => {
            let keys = || list.iter().zip(ranks);
            ranks.len() == list.len() && keys().zip(keys().skip(1)).all(|(a, b)| a < b)
        }
    };
    if !ascending {
        return Some("neighbors not strictly ascending");
    }
    (*last > VertexId::MAX).then_some("neighbor id out of range")
}
