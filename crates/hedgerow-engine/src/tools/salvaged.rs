//! What was found of a damaged store: vertices and edges under their old ids, whatever is missing around them, and which of
//! them may be stale.
//!
//! Time is counted in *eras*: each loss of commits begins one. What was last written in an era before the last
//! loss may have been changed by what is lost (`docs/design/salvage.md`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hedgerow_core::{
    GraphConfig, KeyKind, LabelId, Op, Row, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey,
};
use hedgerow_tier::{AdjacencyPart, ImageId, ImageKeys, SubgraphImage};

use super::names::Names;
use crate::state::placement::Placement;
use crate::state::schema::Schema;

/// Label, source, destination, rank. The ends of an undirected edge ascend.
pub(super) type EdgeTuple = (u16, u32, u32, u64);

#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) weight: Option<f64>,
    pub(super) row: Option<Row>,
    /// Whether it was read where it is kept with all its properties, and not from its other end.
    pub(super) whole: bool,
    /// When it was last written.
    pub(super) era: u32,
}

#[derive(Clone, Debug)]
pub(super) struct FoundVertex {
    pub(super) key: VertexKey,
    pub(super) era: u32,
}

/// The era of images that older ones stand for, and of the others. Losses begin later ones.
const STALE: u32 = 0;
const SOUND: u32 = 1;

/// Vertices and edges.
pub(super) struct SalvagedGraph {
    pub(super) config: GraphConfig,
    pub(super) names: Names,
    pub(super) vertices: BTreeMap<u32, FoundVertex>,
    pub(super) edges: BTreeMap<EdgeTuple, Found>,
    era: u32,
    /// What was last written before this era may be stale.
    pub(super) certain_from: u32,
    /// Whether an id may stand for another key than the one known: somebody may have removed the vertex, and somebody
    /// else may have got its id, both in commits that are lost.
    pub(super) rebound: bool,
    lost_commits: u64,
    /// Once something is lost: where each key was bound last. What contradicts it is gone.
    keys: Option<HashMap<VertexKey, u32>>,
    /// Edges of these vertices that were last written before these eras are gone with the vertex that had the id then.
    begun: BTreeMap<u32, u32>,
    /// Vertices that lost commits removed, as later ones show.
    pub(super) replaced: u64,
    /// The subgraphs whose newest image of the properties of vertices is lost.
    pub(super) without_properties: BTreeSet<SubgraphId>,
}

impl SalvagedGraph {
    pub(super) fn new(config: GraphConfig, schema: &Schema) -> SalvagedGraph {
        SalvagedGraph {
            config,
            names: Names::new(schema),
            vertices: BTreeMap::new(),
            edges: BTreeMap::new(),
            era: SOUND,
            certain_from: SOUND,
            rebound: false,
            lost_commits: 0,
            keys: None,
            begun: BTreeMap::new(),
            replaced: 0,
            without_properties: BTreeSet::new(),
        }
    }

    /// Adds what an image holds. `newest` says of which subgraphs the newest image in a label was read: of an edge between one of
    /// those and this subgraph it knows better than an older image of this one.
    pub(super) fn add_image(&mut self, image: &SubgraphImage, newest: impl Fn(ImageId) -> bool) {
        let stale = !newest(image.image_id());
        let era = if stale { STALE } else { SOUND };
        self.rebound |= stale && self.config.keys != KeyKind::Dense;
        let first = image.id.0.wrapping_mul(SUBGRAPH_VERTICES as u32);
        let present = if image.image_id().label == LabelId::DEFAULT { image.present } else { 0 };
        let live = (0..SUBGRAPH_VERTICES as u32).filter(|local| present >> local & 1 == 1);
        for (i, id) in live.map(|local| first | local).enumerate() {
            let key = match &image.keys {
                ImageKeys::Dense => Some(VertexKey::U64(u64::from(id))),
                ImageKeys::U64(keys) => keys.get(i).map(|&n| VertexKey::U64(n)),
                ImageKeys::Str(keys) => keys.get(i).map(|s| VertexKey::Str(s.clone())),
                ImageKeys::Kinds(keys) => keys.get(i).cloned(),
            };
            self.vertices.extend(key.map(|key| (id, FoundVertex { key, era })));
        }
        for part in &image.parts {
            for local in 0..SUBGRAPH_VERTICES {
                let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
                for at in range {
                    let other = part.neighbors.get(at).map(|v| v.subgraph());
                    let other = other.map(|subgraph| ImageId { label: part.label, subgraph });
                    if !(stale && other.is_some_and(&newest)) {
                        self.add_entry(first | local as u32, part, at, era);
                    }
                }
            }
        }
    }

    fn add_entry(&mut self, v: u32, part: &AdjacencyPart, at: usize, era: u32) {
        let Some(&VertexId(u)) = part.neighbors.get(at) else { return };
        let placement = Placement::of(&self.config);
        let (src, dst) = placement.ends_of_copy(v, u, part.direction);
        let whole = placement.counts_at(part.direction, v, u);
        let found = Found {
            weight: part.weights.as_ref().and_then(|weights| weights.get(at).copied()),
            row: part.columns.row(at),
            whole,
            era,
        };
        let rank = part.ranks.as_ref().and_then(|ranks| ranks.get(at).copied()).unwrap_or(0);
        let place = (part.label.0, src, dst, rank);
        if whole || !self.edges.contains_key(&place) {
            self.edges.insert(place, found);
        }
    }

    /// From here on what is applied may contradict what is known: something before it is lost.
    pub(super) fn distrust(&mut self) {
        if self.keys.is_none() && self.config.keys != KeyKind::Dense {
            let bound = self.vertices.iter().map(|(&id, vertex)| (vertex.key.clone(), id));
            self.keys = Some(bound.collect());
        }
        self.era = self.era.saturating_add(1);
    }

    /// Up to `count` commits are lost here: all that was written before may be stale.
    pub(super) fn lose_commits(&mut self, count: u64) {
        self.distrust();
        self.certain_from = self.era;
        self.lost_commits = self.lost_commits.saturating_add(count);
        // One commit does not give an id out again that it has freed.
        self.rebound |= self.lost_commits > 1 && self.config.keys != KeyKind::Dense;
    }

    fn is_sound(&self) -> bool {
        self.era == SOUND
    }

    /// Does what an operation of the log says, as far as that is possible.
    pub(super) fn apply(&mut self, op: Op<'_>) {
        let era = self.era;
        let mut put = |place: EdgeTuple, weight, row| {
            self.edges.insert(place, Found { weight, row, whole: true, era });
        };
        match op {
            Op::InsertVertex { id, key } => self.insert_vertex(id.0, key.to_owned()),
            Op::RemoveVertex { id } => self.remove_vertex(id.0),
            Op::PutEdge { label, src, dst, weight } => put((label.0, src.0, dst.0, 0), weight, None),
            Op::PutItem { label, src, dst, rank, weight, row } => {
                let row = hedgerow_log::decode_row(row).ok().flatten();
                put((label.0, src.0, dst.0, rank), weight, row);
            }
            Op::RemoveEdge { label, src, dst } => _ = self.edges.remove(&(label.0, src.0, dst.0, 0)),
            Op::RemoveItem { label, src, dst, rank } => {
                _ = self.edges.remove(&(label.0, src.0, dst.0, rank));
            }
            Op::DefineKind { .. } | Op::DefineLabel { .. } | Op::DefineProperty { .. } => {
                self.names.define(op)
            }
        }
    }

    fn insert_vertex(&mut self, id: u32, key: VertexKey) {
        if !self.is_sound() {
            let elsewhere = self.keys.as_mut().and_then(|keys| keys.insert(key.clone(), id));
            if let Some(old) = elsewhere.filter(|&old| old != id) {
                self.replaced += u64::from(self.vertices.remove(&old).is_some());
                self.begin(old);
            }
            // A vertex that has the id still, with another key or the same one, was removed meanwhile, and its edges were.
            self.unbind(id, &key);
            self.begin(id);
        }
        self.vertices.insert(id, FoundVertex { key, era: self.era });
    }

    fn remove_vertex(&mut self, id: u32) {
        if let Some(vertex) = self.vertices.remove(&id)
            && let Some(keys) = &mut self.keys
            && keys.get(&vertex.key) == Some(&id)
        {
            keys.remove(&vertex.key);
        }
        if !self.is_sound() {
            self.begin(id);
        }
    }

    /// Forgets the key that `id` had, where that is another one than `key`.
    fn unbind(&mut self, id: u32, key: &VertexKey) {
        let Some(before) = self.vertices.get(&id) else { return };
        self.replaced += 1;
        if before.key != *key
            && let Some(keys) = &mut self.keys
            && keys.get(&before.key) == Some(&id)
        {
            keys.remove(&before.key);
        }
    }

    /// Edges of `id` that were written before now are gone.
    fn begin(&mut self, id: u32) {
        self.era = self.era.saturating_add(1);
        self.begun.insert(id, self.era);
    }

    /// Drops the edges of vertices that had their id before another one, or were removed.
    pub(super) fn drop_gone_edges(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        if !begun.is_empty() {
            let begun = |id: u32| begun.get(&id).copied().unwrap_or(STALE);
            self.edges.retain(|place, found| found.era >= begun(place.1).max(begun(place.2)));
        }
    }
}
