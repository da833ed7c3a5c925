//! What was found of a damaged store: vertices and edges under their old ids, whatever is missing around them, and which of
//! them may be stale.
//!
//! Time is counted in *eras*: each loss of commits begins one. What was last written in an era before the last
//! loss may have been changed by what is lost (`docs/design/salvage.md`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hedgerow_core::{GraphConfig, KeyKind, LabelId, Op, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey};
use hedgerow_tier::{ImageId, ImageKeys, SubgraphImage};

use super::found_edges::{EdgeSorter, SOUND, STALE};
use super::known_images::KnownImages;
use super::names::Names;
use super::sorter::Sorter;
use crate::state::schema::Schema;

#[derive(Clone, Debug)]
pub(super) struct FoundVertex {
    pub(super) key: VertexKey,
    pub(super) era: u32,
    /// When its properties were last written, if it has any. Known once the edges were gone through.
    pub(super) properties: Option<u32>,
    /// Whether only edges prove it.
    pub(super) bare: bool,
    /// Its id in the new store.
    pub(super) id: VertexId,
}

impl FoundVertex {
    pub(super) fn new(key: VertexKey, era: u32) -> FoundVertex {
        FoundVertex { key, era, properties: None, bare: false, id: VertexId(0) }
    }
}

/// Vertices and edges.
pub(super) struct SalvagedGraph {
    pub(super) config: GraphConfig,
    pub(super) names: Names,
    pub(super) vertices: BTreeMap<u32, FoundVertex>,
    pub(super) edges: EdgeSorter,
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
    pub(super) begun: BTreeMap<u32, u32>,
    /// Vertices that lost commits removed, as later ones show.
    pub(super) replaced: u64,
    /// The subgraphs whose newest image of the properties of vertices is lost.
    pub(super) without_properties: BTreeSet<SubgraphId>,
    /// Of which subgraphs the newest image in a label was read.
    pub(super) newest: KnownImages,
}

impl SalvagedGraph {
    pub(super) fn new(config: GraphConfig, schema: &Schema, edges: Sorter) -> SalvagedGraph {
        SalvagedGraph {
            config,
            names: Names::new(schema),
            vertices: BTreeMap::new(),
            edges: EdgeSorter::new(edges, &config),
            era: SOUND,
            certain_from: SOUND,
            rebound: false,
            lost_commits: 0,
            keys: None,
            begun: BTreeMap::new(),
            replaced: 0,
            without_properties: BTreeSet::new(),
            newest: KnownImages::default(),
        }
    }

    /// Adds what an image holds. Vertices of a `stale` one may be so; edges are judged once all images are known.
    pub(super) fn add_image(&mut self, image: &SubgraphImage, stale: bool) {
        let era = if stale { STALE } else { SOUND };
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
            self.vertices.extend(key.map(|key| (id, FoundVertex::new(key, era))));
        }
        for part in &image.parts {
            for local in 0..SUBGRAPH_VERTICES {
                let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
                range.for_each(|at| self.edges.add_entry(first | local as u32, part, at));
            }
        }
    }

    /// Takes over which images are the newest, and which of those that were added were not the newest when they were read.
    pub(super) fn know_newest(&mut self, newest: KnownImages, added_stale: &[ImageId]) {
        let stale = added_stale.iter().any(|&id| !newest.contains(id));
        self.rebound |= stale && self.config.keys != KeyKind::Dense;
        self.newest = newest;
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
        let edges = &mut self.edges;
        match op {
            Op::InsertVertex { id, key } => self.insert_vertex(id.0, key.to_owned()),
            Op::RemoveVertex { id } => self.remove_vertex(id.0),
            Op::PutEdge { label, src, dst, weight } => {
                edges.put_edge((label.0, src.0, dst.0, 0), era, weight, &[]);
            }
            Op::PutItem { label, src, dst, rank, weight, row } => {
                edges.put_edge((label.0, src.0, dst.0, rank), era, weight, row);
            }
            Op::RemoveEdge { label, src, dst } => edges.remove_edge((label.0, src.0, dst.0, 0)),
            Op::RemoveItem { label, src, dst, rank } => edges.remove_edge((label.0, src.0, dst.0, rank)),
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
        self.vertices.insert(id, FoundVertex::new(key, self.era));
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
}
