//! The step of salvage from the findings in a damaged store to a new store.

use std::collections::BTreeMap;

use hedgerow_catalog::error::Result;
use hedgerow_core::{
    Direction, GraphConfig, KeyKind, KindId, LabelId, PropertyId, Row, RowRef, Value, VertexId, VertexKeyRef,
};
use hedgerow_tier::sorter::Sorter;

use super::edge_copy::EdgeCopy;
use super::found_edges::{EdgeTuple, Found, FoundEdges};
use super::new_store::NewStore;
use super::salvaged::SalvagedGraph;
use super::salvaged_names::Unnamed;
use super::vertex_map::VertexCursor;
use crate::graph::Graph;
use crate::options::Options;
use crate::state::edge_key::EdgeKey;
use crate::state::placement::Placement;

/// The numbers of items in a new store, and of items that were lost.
#[derive(Default)]
pub(super) struct Rebuilt {
    /// Vertices and edges in the new store.
    pub(super) vertices: u64,
    pub(super) edges: u64,
    /// Edges with one end that is lost.
    pub(super) dangling: u64,
    /// Edges known only from the end that lacks some of their properties.
    pub(super) halves: u64,
    /// Vertices known only from their edges, in a graph whose vertices have properties.
    pub(super) bare: u64,
    /// Vertices whose properties are not in the log, and whose subgraph has lost the image of its properties.
    pub(super) stripped: u64,
    /// Vertices with the key of another vertex that was written later.
    pub(super) repeated: u64,
    /// Vertices that lost commits must have removed, because later commits contradict them.
    pub(super) replaced: u64,
    /// Vertices and edges that may be stale.
    pub(super) doubtful: (u64, u64),
    /// Names made up for labels and properties whose names are lost.
    pub(super) made_up: Vec<String>,
}

impl SalvagedGraph {
    /// Writes a new store of all vertices, and of all edges that have both ends and are not gone. `copies`
    /// sorts the content of its segment. The keys are sorted after the found edges are dropped.
    pub(super) fn rebuild(mut self, mut copies: Sorter, into: NewStore) -> Result<Rebuilt> {
        let GraphConfig { directed, keys, weighted, reverse } = self.config;
        // This graph has no vertices: it only runs the checks that a transaction makes of its writes.
        let options = Options::new().directed(directed).keys(keys).weighted(weighted).reverse(reverse);
        let graph = options.background_settling(false).in_memory()?;
        let edges = self.edges.finish()?;
        let repeated = self.drop_repeated()?;
        let unnamed = self.kinds_without_name()?;
        self.names.complete_kinds(&unnamed);
        self.look_at_edges(&edges)?;
        self.names.complete();
        let mut rebuilt = Rebuilt {
            repeated,
            replaced: self.replaced,
            made_up: self.names.define_in(&graph)?,
            ..Rebuilt::default()
        };
        self.count_vertices(&mut rebuilt)?;
        self.number_vertices(&graph)?;
        let mut put = CopyWriter { graph: &graph, copies: &mut copies, payload: Vec::new() };
        let newest = std::mem::take(&mut self.newest);
        edges.for_each(
            |id| newest.contains(id),
            |place, found| {
                if self.is_gone(place, &found)? {
                    Ok(())
                } else {
                    self.put_edge(place, &found, &mut put, &mut rebuilt)
                }
            },
        )?;
        drop(edges);
        let copies = copies.finish()?;
        (rebuilt.vertices, rebuilt.edges) = into.write(&graph, &copies, &mut self.vertices)?;
        Ok(rebuilt)
    }

    /// True if the edge was removed, or belonged to an earlier vertex with the same id.
    fn is_gone(&mut self, place: EdgeTuple, found: &Found) -> Result<bool> {
        if !self.has_begun {
            return Ok(false);
        }
        Ok(found.era < self.vertices.begun(place.1)?.max(self.vertices.begun(place.2)?))
    }

    /// Returns the kinds of vertices without a name; true for a kind whose keys are texts.
    fn kinds_without_name(&mut self) -> Result<BTreeMap<KindId, bool>> {
        let (mut unnamed, mut cursor) = (BTreeMap::new(), VertexCursor::default());
        while let Some((_, vertex)) = cursor.next(&mut self.vertices)? {
            if self.names.lacks(vertex.kind) {
                unnamed.insert(vertex.kind, vertex.has_text_key());
            }
        }
        Ok(unnamed)
    }

    /// Learns from all edges which vertices and names exist, and which vertices have properties.
    fn look_at_edges(&mut self, edges: &FoundEdges) -> Result<()> {
        let newest = std::mem::take(&mut self.newest);
        let seen = edges.for_each(
            |id| newest.contains(id),
            |place, found| {
                if !self.is_gone(place, &found)? {
                    self.look_at(place, &found)?;
                }
                Ok(())
            },
        );
        self.newest = newest;
        seen
    }

    /// Learns from one edge, or from the properties of one vertex.
    fn look_at(&mut self, place: EdgeTuple, found: &Found) -> Result<()> {
        let ends = [self.look_at_end(place.1, found.era)?, self.look_at_end(place.2, found.era)?];
        if place.0 == LabelId::VERTICES.0
            && let Some(mut vertex) = self.vertices.get(place.1)?
        {
            vertex.properties = Some(found.era);
            self.vertices.update(place.1, &vertex)?;
        }
        let (label, rank) = (place.0, place.3);
        self.names.see(Unnamed { label, rank, row: found.row.as_ref(), ends });
        Ok(())
    }

    /// Learns about one end of an edge that was last written in `era`, and returns the kind of that end. If
    /// keys are the ids, an edge proves that its ends exist. It also proves their keys, unless the ids may
    /// have been given to other vertices since.
    fn look_at_end(&mut self, id: u32, era: u32) -> Result<Option<KindId>> {
        let dense = self.config.keys == KeyKind::Dense;
        let proves = !self.rebound && (dense || self.certain_from > 1);
        if let Some(mut vertex) = self.vertices.get(id)? {
            if proves && vertex.era < era {
                vertex.era = era;
                self.vertices.update(id, &vertex)?;
            }
            return Ok(Some(vertex.kind));
        }
        if !(proves && dense) {
            return Ok(None);
        }
        self.vertices.insert(id, VertexKeyRef::U64(u64::from(id)), era, true)?;
        Ok(Some(KindId::DEFAULT))
    }

    fn count_vertices(&mut self, rebuilt: &mut Rebuilt) -> Result<()> {
        let (named, mut cursor) = (self.names.has_properties(LabelId::VERTICES), VertexCursor::default());
        while let Some((id, vertex)) = cursor.next(&mut self.vertices)? {
            let eras = [Some(vertex.era), vertex.properties];
            let doubtful = eras.into_iter().flatten().any(|era| era < self.certain_from);
            let lost = self.without_properties.contains(VertexId(id).subgraph());
            rebuilt.doubtful.0 += u64::from(doubtful);
            rebuilt.stripped += u64::from(lost && vertex.properties.is_none());
            rebuilt.bare += u64::from(named && vertex.bare && vertex.properties.is_none());
        }
        Ok(())
    }

    /// Gives vertices their ids in the new store: ascending without gaps, in the order of the old ids, unless
    /// keys are the ids.
    fn number_vertices(&mut self, graph: &Graph) -> Result<()> {
        let dense = self.config.keys == KeyKind::Dense;
        let (mut next, mut cursor) = (0, VertexCursor::default());
        while let Some((id, mut vertex)) = cursor.next(&mut self.vertices)? {
            graph.engine.check_key(self.vertices.key(&vertex)?.as_ref())?;
            vertex.id = VertexId(if dense { id } else { next });
            self.vertices.update(id, &vertex)?;
            next += 1;
        }
        Ok(())
    }

    /// Adds an edge, or the properties of a vertex, to the content of the new store.
    fn put_edge(
        &mut self,
        place: EdgeTuple,
        found: &Found,
        put: &mut CopyWriter<'_>,
        rebuilt: &mut Rebuilt,
    ) -> Result<()> {
        let label = LabelId(place.0);
        let (Some(src), Some(dst)) = (self.vertices.get(place.1)?, self.vertices.get(place.2)?) else {
            rebuilt.dangling += u64::from(label != LabelId::VERTICES);
            return Ok(());
        };
        let values = self.values(label, found.row.as_ref());
        let engine = &put.graph.engine;
        if label == LabelId::VERTICES {
            return match Row::new(engine.cells(src.kind, values)?) {
                None => Ok(()),
                row => put.copy(Direction::Out, (label, src.id, src.id, 0), 1.0, row.as_ref().into()),
            };
        }
        let era = if self.rebound { found.era.min(src.era).min(dst.era) } else { found.era };
        rebuilt.doubtful.1 += u64::from(era < self.certain_from);
        rebuilt.halves += u64::from(!found.whole && self.names.has_properties(label));
        let name = self.names.label(label).unwrap_or_default();
        // The keys were checked when vertices were numbered. This checks the kinds of the ends, the label and
        // the rank.
        let ends = [src, dst].map(|end| end.key_like_its_own());
        let key = EdgeKey::new(name, &ends[0], &ends[1]).rank(place.3);
        let (label, ..) = engine.edge_for_writing(&key)?;
        let row = Row::new(engine.cells(label, values)?);
        let placement = Placement::of(&self.config);
        let weight = found.weight.unwrap_or(1.0);
        let mut copy = |direction, at, other| {
            let row = placement.row_at(direction, at, other, row.as_ref().into());
            put.copy(direction, (label, at, other, place.3), weight, row)
        };
        copy(Direction::Out, src.id, dst.id)?;
        if placement.has_second(src.id, dst.id) {
            copy(placement.second_direction(), dst.id, src.id)?;
        }
        Ok(())
    }

    /// Removes all but the last written of several vertices with the same key. Returns the number of removed
    /// vertices.
    fn drop_repeated(&mut self) -> Result<u64> {
        if self.config.keys == KeyKind::Dense {
            return Ok(0);
        }
        let (mut keys, mut cursor, mut dropped) = (self.ids_by_key(), VertexCursor::default(), 0);
        while let Some((id, vertex)) = cursor.next(&mut self.vertices)? {
            let key = self.vertices.key(&vertex)?;
            let Some(other) = keys.insert(key.as_ref(), id, &mut self.vertices)? else { continue };
            dropped += 1;
            let stays = self.vertices.get(other)?.filter(|before| before.era > vertex.era).is_some();
            if stays {
                keys.insert(key.as_ref(), other, &mut self.vertices)?;
            }
            self.vertices.remove(if stays { id } else { other })?;
        }
        Ok(dropped)
    }

    fn values(&self, label: LabelId, row: Option<&Row>) -> Vec<(String, Value)> {
        let name = |id: PropertyId| self.names.property(label, id).unwrap_or_default().to_owned();
        let cells = row.map_or(&[][..], Row::cells);
        cells.iter().map(|(id, value)| (name(*id), value.clone())).collect()
    }
}

/// A writer that puts the copies of edges into a sorter.
struct CopyWriter<'a> {
    graph: &'a Graph,
    copies: &'a mut Sorter,
    payload: Vec<u8>,
}

impl CopyWriter<'_> {
    fn copy(
        &mut self,
        direction: Direction,
        (label, at, other, rank): (LabelId, VertexId, VertexId, u64),
        weight: f64,
        row: RowRef<'_>,
    ) -> Result<()> {
        let copy = EdgeCopy { label, direction, at, other, rank, weight, row: None };
        copy.put(row, &mut self.payload, self.copies)
    }
}
