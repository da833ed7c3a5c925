//! The writer of a salvaged graph into a new store, image by image.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{
    Columns, Direction, GraphConfig, LabelId, Row, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
    VertexKey,
};
use hedgerow_io::{Dir, StoreId, Vfs};
use hedgerow_tier::sorter::Sorted;
use hedgerow_tier::{ImageId, ImageRef, KeysRef, Manifest, PartRef, SegmentWriter};
use hedgerow_txn::Counts;

use super::backup::{StoreContent, finish_store};
use super::edge_copy::EdgeCopy;
use super::vertex_map::{FoundVertex, VertexCursor, VertexMap};
use crate::durable::checkpoint::write::with_form;
use crate::graph::Graph;
use crate::state::placement::Placement;

/// The vertices of the new store, in the order of their ids.
struct Vertices<'a> {
    map: &'a mut VertexMap,
    cursor: VertexCursor,
    next: Option<FoundVertex>,
    /// One more than the last id that was returned.
    bound: u32,
}

impl<'a> Vertices<'a> {
    fn of(map: &'a mut VertexMap) -> Result<Vertices<'a>> {
        let mut vertices = Vertices { map, cursor: VertexCursor::default(), next: None, bound: 0 };
        vertices.step()?;
        Ok(vertices)
    }

    fn step(&mut self) -> Result<()> {
        self.next = self.cursor.next(self.map)?.map(|(_, vertex)| vertex);
        Ok(())
    }

    /// Returns the subgraph of the next vertex.
    fn subgraph(&self) -> Option<SubgraphId> {
        self.next.map(|vertex| vertex.id.subgraph())
    }

    /// Returns the id and the key of the next vertex, and moves on, if it is in `subgraph`.
    fn take_of(&mut self, subgraph: SubgraphId) -> Result<Option<(VertexId, VertexKey)>> {
        let Some(vertex) = self.next.filter(|vertex| vertex.id.subgraph() == subgraph) else {
            return Ok(None);
        };
        let key = self.map.key(&vertex)?;
        self.bound = vertex.id.0.saturating_add(1);
        self.step()?;
        Ok(Some((vertex.id, key)))
    }
}

/// A directory that becomes a store.
pub(super) struct NewStore {
    fs: Arc<dyn Vfs>,
    config: GraphConfig,
    /// The number of bytes of memory for sorting keys.
    memory: usize,
}

impl NewStore {
    pub(super) fn new(fs: Arc<dyn Vfs>, config: GraphConfig, memory: usize) -> NewStore {
        NewStore { fs, config, memory }
    }

    /// Writes vertices, the edges at them, and the schema of `graph`, and verifies what it wrote. Returns the
    /// numbers of vertices and edges. Takes memory for one image, and for a [`SegmentWriter`].
    ///
    /// # Errors
    /// The errors of temporary files and of writing the store.
    pub(super) fn write(
        self,
        graph: &Graph,
        copies: &Sorted,
        vertices: &mut VertexMap,
    ) -> Result<(u64, u64)> {
        let as_of = graph.snapshot()?.timestamp().max(Timestamp(1));
        let counted = vertices.len();
        let manifest = Manifest::new(StoreId::generate(), self.config);
        let mut writer =
            SegmentWriter::create(self.fs.clone(), manifest.next_file_id, manifest.store, self.config)?;
        writer.gather_within(self.memory);
        let vertices = Vertices::of(vertices)?;
        let mut images = ImageWriter { writer, as_of, config: self.config, vertices, edges: 0 };
        images.write_all(copies)?;
        let (edges, next_vertex) = (images.edges, images.vertices.bound);
        let info = images.writer.finish()?;
        Dir::new(self.fs.clone()).sync()?;
        let schema = graph.engine.catalog.schema.load().as_of(as_of);
        let counts = Counts { vertices: counted, edges };
        finish_store(&self.fs, manifest, info, StoreContent { as_of, next_vertex, schema, counts })?;
        Ok((counted, edges))
    }
}

/// A writer that gathers copies of edges into images.
struct ImageWriter<'a> {
    writer: SegmentWriter,
    as_of: Timestamp,
    config: GraphConfig,
    vertices: Vertices<'a>,
    edges: u64,
}

/// The lists of a subgraph in one direction.
struct Lists {
    direction: Direction,
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    neighbors: Vec<VertexId>,
    weights: Option<Vec<f64>>,
    ranks: Vec<u64>,
    rows: Vec<Option<Row>>,
    columns: Columns,
}

impl ImageWriter<'_> {
    fn write_all(&mut self, copies: &Sorted) -> Result<()> {
        let mut merge = copies.merge()?;
        let mut image: Option<(ImageId, Vec<Lists>)> = None;
        while let Some(record) = merge.next_record()? {
            let Some(copy) = EdgeCopy::read(record) else { continue };
            let id = copy.image();
            if image.as_ref().is_some_and(|(open, _)| *open != id)
                && let Some((id, lists)) = image.take()
            {
                self.write(id, lists)?;
            }
            let (_, lists) = image.get_or_insert_with(|| (id, Vec::new()));
            if lists.last().is_none_or(|last| last.direction != copy.direction) {
                let weighted = self.config.weighted && copy.label == LabelId::DEFAULT;
                lists.push(Lists::new(copy.direction, weighted));
            }
            let placement = Placement::of(&self.config);
            let counts =
                copy.label != LabelId::VERTICES && placement.counts_at(copy.direction, copy.at, copy.other);
            if lists.last_mut().is_some_and(|lists| lists.push(copy)) {
                self.edges += u64::from(counts);
            }
        }
        if let Some((id, lists)) = image {
            self.write(id, lists)?;
        }
        self.write_vertices(None)
    }

    /// Writes the vertices without edges whose subgraphs are before `end`.
    fn write_vertices(&mut self, end: Option<SubgraphId>) -> Result<()> {
        while let Some(id) = self.vertices.subgraph()
            && end.is_none_or(|end| id < end)
        {
            self.write_image(ImageId { label: LabelId::DEFAULT, subgraph: id }, &[])?;
        }
        Ok(())
    }

    fn write(&mut self, id: ImageId, mut lists: Vec<Lists>) -> Result<()> {
        // Images of the default label come first, since they have the vertices.
        self.write_vertices(Some(id.subgraph).filter(|_| id.label == LabelId::DEFAULT))?;
        lists.iter_mut().for_each(Lists::finish);
        let parts: Vec<PartRef<'_>> = lists.iter().map(Lists::part).collect();
        self.write_image(id, &parts)
    }

    fn write_image(&mut self, id: ImageId, parts: &[PartRef<'_>]) -> Result<()> {
        let as_of = self.as_of;
        if id.label != LabelId::DEFAULT {
            let present = (0..SUBGRAPH_VERTICES)
                .filter(|&local| {
                    parts.iter().any(|part| part.offsets.get(local) != part.offsets.get(local + 1))
                })
                .fold(0, |mask, local| mask | 1 << local);
            self.writer.write(&ImageRef { id, as_of, present, keys: KeysRef::Dense, parts })?;
            return Ok(());
        }
        let mut present = 0;
        let mut keys: Vec<VertexKey> = Vec::new();
        while let Some((vertex, key)) = self.vertices.take_of(id.subgraph)? {
            present |= vertex.local().bit();
            keys.push(key);
        }
        with_form(self.config.keys, &keys, |keys| {
            self.writer.write(&ImageRef { id, as_of, present, keys, parts })
        })?;
        Ok(())
    }
}

impl Lists {
    fn new(direction: Direction, weighted: bool) -> Lists {
        Lists {
            direction,
            offsets: [0; SUBGRAPH_VERTICES + 1],
            neighbors: Vec::new(),
            weights: weighted.then(Vec::new),
            ranks: Vec::new(),
            rows: Vec::new(),
            columns: Columns::NONE,
        }
    }

    /// Adds a copy; false if the list already has the edge: then the later copy replaces the earlier one.
    fn push(&mut self, copy: EdgeCopy) -> bool {
        let local = usize::from(copy.at.local().0);
        let before = self.neighbors.len();
        let rank_of_last = if self.ranks.is_empty() { Some(0) } else { self.ranks.last().copied() };
        let same = self.neighbors.last() == Some(&copy.other) && rank_of_last == Some(copy.rank);
        let in_list = self.offsets.get(local + 1).is_some_and(|&end| end > 0 && end as usize == before);
        let new = !(same && in_list);
        if !new {
            self.pop();
        }
        let at = self.neighbors.len();
        self.neighbors.push(copy.other);
        self.weights.iter_mut().for_each(|weights| weights.push(copy.weight));
        if copy.rank != 0 && self.ranks.is_empty() {
            self.ranks = vec![0; at];
        }
        if copy.rank != 0 || !self.ranks.is_empty() {
            self.ranks.push(copy.rank);
        }
        if copy.row.is_some() && self.rows.is_empty() {
            self.rows.resize_with(at, || None);
        }
        if copy.row.is_some() || !self.rows.is_empty() {
            self.rows.push(copy.row);
        }
        if let Some(end) = self.offsets.get_mut(local + 1) {
            *end = self.neighbors.len() as u32;
        }
        new
    }

    fn pop(&mut self) {
        self.neighbors.pop();
        self.weights.iter_mut().for_each(|weights| _ = weights.pop());
        self.ranks.pop();
        self.rows.pop();
    }

    /// Sets the ends of the lists of vertices without neighbors, and makes columns of the properties.
    fn finish(&mut self) {
        let mut end = 0;
        for offset in &mut self.offsets {
            end = end.max(*offset);
            *offset = end;
        }
        let rows = std::mem::take(&mut self.rows);
        self.columns = Columns::of_rows(rows.iter().map(|row| row.as_ref().into()));
    }

    fn part(&self) -> PartRef<'_> {
        PartRef {
            direction: self.direction,
            offsets: &self.offsets,
            neighbors: &self.neighbors,
            weights: self.weights.as_deref(),
            ranks: Some(self.ranks.as_slice()).filter(|ranks| !ranks.is_empty()),
            columns: Some(&self.columns).filter(|columns| !columns.is_empty()),
        }
    }
}
