//! The findings in a damaged store: vertices and edges under their old ids, and which of them may be stale.
//! Other data around them may be missing.
//!
//! Time is counted in *eras*: each loss of commits begins one. If data was last written in an era before the
//! last loss, lost commits may have changed it (`docs/design/salvage.md`).

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{GraphConfig, KeyKind, LabelId, Op, SUBGRAPH_VERTICES, VertexKey, VertexKeyRef};
use hedgerow_tier::sorter::Sorter;
use hedgerow_tier::temporary::TemporaryDirectory;
use hedgerow_tier::{ImageId, ImageKeys, SubgraphDelta, SubgraphImage};

use super::found_edges::{EdgeSorter, SOUND, STALE};
use super::ids_by_key::IdsByKey;
use super::known_images::{KnownImages, Subgraphs};
use super::salvaged_names::Names;
use super::vertex_map::{VertexCursor, VertexMap};

/// The vertices and edges that were found.
pub(super) struct SalvagedGraph {
    pub(super) config: GraphConfig,
    pub(super) names: Names,
    pub(super) vertices: VertexMap,
    pub(super) edges: EdgeSorter,
    era: u32,
    /// The first era with certain data. Data last written in an earlier era may be stale.
    pub(super) certain_from: u32,
    /// True if the key known for an id may be outdated: lost commits may have removed the vertex and given
    /// its id to another one.
    pub(super) rebound: bool,
    lost_commits: u64,
    /// The vertex that each key was bound to last; kept from the first loss on. A vertex that contradicts it
    /// is gone.
    keys: Option<IdsByKey>,
    /// True if an id has [begun](VertexMap::begun) to belong to another vertex.
    pub(super) has_begun: bool,
    directory: Arc<TemporaryDirectory>,
    /// The memory of a table of keys. The table takes twice as much while it grows.
    table_memory: usize,
    /// The first error about vertices. It is kept because the readers of segments and of the log cannot
    /// return it at once.
    failed: Option<Error>,
    /// Vertices that lost commits must have removed, because later commits contradict them.
    pub(super) replaced: u64,
    /// The subgraphs that have lost the newest image of their vertices' properties.
    pub(super) without_properties: Subgraphs,
    /// The images that are known to be the newest of their subgraph and label.
    pub(super) newest: KnownImages,
}

impl SalvagedGraph {
    /// Returns an empty graph. `edges` sorts edges. Vertices and their keys take `memory` bytes of memory; if
    /// they need more, the rest is in files in `directory`.
    pub(super) fn new(
        (config, schema): (GraphConfig, &Schema),
        edges: Sorter,
        directory: &Arc<TemporaryDirectory>,
        memory: usize,
    ) -> SalvagedGraph {
        SalvagedGraph {
            config,
            names: Names::new(schema),
            vertices: VertexMap::new(directory, memory / 2),
            edges: EdgeSorter::new(edges, &config),
            era: SOUND,
            certain_from: SOUND,
            rebound: false,
            lost_commits: 0,
            keys: None,
            has_begun: false,
            directory: directory.clone(),
            table_memory: memory / 4,
            failed: None,
            replaced: 0,
            without_properties: Subgraphs::default(),
            newest: KnownImages::default(),
        }
    }

    /// Adds the content of an image. Vertices of a `stale` image may be stale. Edges are judged later, when
    /// all images are known.
    pub(super) fn add_image(&mut self, image: &SubgraphImage, stale: bool) {
        self.attempt(|graph| graph.add_vertices(image, if stale { STALE } else { SOUND }));
        let ImageId { label, subgraph } = image.id;
        let first = subgraph.0.wrapping_mul(SUBGRAPH_VERTICES as u32);
        for part in &image.parts {
            for local in 0..SUBGRAPH_VERTICES {
                part.range_of(local)
                    .for_each(|at| self.edges.add_entry(label, first | local as u32, part, at));
            }
        }
    }

    /// Adds the operations of a delta, which is newer than all records of its subgraph so far. Edges that a
    /// `stale` delta puts may be stale.
    pub(super) fn add_delta(&mut self, delta: &SubgraphDelta, stale: bool) {
        let first = delta.id.subgraph.0.wrapping_mul(SUBGRAPH_VERTICES as u32);
        for (parts, is_removed) in [(&delta.put, false), (&delta.removed, true)] {
            for part in parts {
                for local in 0..SUBGRAPH_VERTICES {
                    part.range_of(local).for_each(|at| {
                        self.edges.add_operation(first | local as u32, (part, at), is_removed, stale)
                    });
                }
            }
        }
    }

    fn add_vertices(&mut self, image: &SubgraphImage, era: u32) -> Result<()> {
        let first = image.id.subgraph.0.wrapping_mul(SUBGRAPH_VERTICES as u32);
        let present = if image.id.label == LabelId::DEFAULT { image.present } else { 0 };
        let live = (0..SUBGRAPH_VERTICES as u32).filter(|local| present >> local & 1 == 1);
        for (i, id) in live.map(|local| first | local).enumerate() {
            let key = match &image.keys {
                ImageKeys::Dense => Some(VertexKeyRef::U64(u64::from(id))),
                ImageKeys::U64(keys) => keys.get(i).map(|&n| VertexKeyRef::U64(n)),
                ImageKeys::Str(keys) => keys.get(i).map(|s| VertexKeyRef::Str(s)),
                ImageKeys::Kinds(keys) => keys.get(i).map(VertexKey::as_ref),
            };
            if let Some(key) = key {
                self.vertices.insert(id, key, era, false)?;
            }
        }
        Ok(())
    }

    /// Does `work` unless something failed before; keeps its error for [`end_log`](Self::end_log).
    fn attempt(&mut self, work: impl FnOnce(&mut SalvagedGraph) -> Result<()>) {
        if self.failed.is_none() {
            self.failed = work(self).err();
        }
    }

    /// Ends the log after its last operation: keys are not looked up any more.
    ///
    /// # Errors
    /// The first error of the temporary files of vertices.
    pub(super) fn end_log(&mut self) -> Result<()> {
        self.keys = None;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Takes the set of newest images. `added_stale` is true if older images were added too.
    pub(super) fn know_newest(&mut self, newest: KnownImages, added_stale: bool) {
        self.rebound |= added_stale && self.config.keys != KeyKind::Dense;
        self.newest = newest;
    }

    /// Begins an era because something is lost: later operations may contradict the known data.
    pub(super) fn distrust(&mut self) {
        if self.keys.is_none() && self.config.keys != KeyKind::Dense {
            self.attempt(SalvagedGraph::bind_keys);
        }
        self.era = self.era.saturating_add(1);
    }

    fn bind_keys(&mut self) -> Result<()> {
        let (mut keys, mut cursor) = (self.ids_by_key(), VertexCursor::default());
        while let Some((id, vertex)) = cursor.next(&mut self.vertices)? {
            let key = self.vertices.key(&vertex)?;
            keys.insert(key.as_ref(), id, &mut self.vertices)?;
        }
        self.keys = Some(keys);
        Ok(())
    }

    /// Returns an empty table with places for the keys of all vertices.
    pub(super) fn ids_by_key(&self) -> IdsByKey {
        IdsByKey::new(&self.directory, self.table_memory, self.vertices.len())
    }

    /// Notes that up to `count` commits are lost at this point: all data written before may be stale.
    pub(super) fn lose_commits(&mut self, count: u64) {
        self.distrust();
        self.certain_from = self.era;
        self.lost_commits = self.lost_commits.saturating_add(count);
        // A single commit does not reuse an id that it has freed.
        self.rebound |= self.lost_commits > 1 && self.config.keys != KeyKind::Dense;
    }

    fn is_sound(&self) -> bool {
        self.era == SOUND
    }

    /// Applies an operation of the log as far as possible.
    pub(super) fn apply(&mut self, op: Op<'_>) {
        let era = self.era;
        let edges = &mut self.edges;
        match op {
            Op::InsertVertex { id, key } => self.attempt(|graph| graph.insert_vertex(id.0, key)),
            Op::RemoveVertex { id } => self.attempt(|graph| graph.remove_vertex(id.0)),
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

    fn insert_vertex(&mut self, id: u32, key: VertexKeyRef<'_>) -> Result<()> {
        if !self.is_sound() {
            // A vertex that still has the id was removed in a lost commit, together with its edges, whether
            // its key is the same or not.
            self.replaced += u64::from(self.vertices.get(id)?.is_some());
            let elsewhere = match &mut self.keys {
                Some(keys) => keys.insert(key, id, &mut self.vertices)?,
                None => None,
            };
            if let Some(old) = elsewhere.filter(|&old| old != id) {
                self.replaced += u64::from(self.vertices.remove(old)?);
                self.begin(old)?;
            }
            self.begin(id)?;
        }
        self.vertices.insert(id, key, self.era, false)
    }

    fn remove_vertex(&mut self, id: u32) -> Result<()> {
        self.vertices.remove(id)?;
        if self.is_sound() { Ok(()) } else { self.begin(id) }
    }

    /// Begins an era in which `id` belongs to another vertex: earlier edges of `id` are gone.
    fn begin(&mut self, id: u32) -> Result<()> {
        self.era = self.era.saturating_add(1);
        self.has_begun = true;
        self.vertices.set_begun(id, self.era)
    }
}
