//! Rebuilding the state of a store: images of the last checkpoint, then the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::{
    Direction, KeyKind, LabelId, Op, Row, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId, VertexKey,
    VertexKeyRef,
};
use hedgerow_io::{Corruption, CorruptionKind, Vfs};
use hedgerow_log::Ops;
use hedgerow_mem::delta::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Extra, Horizon, ItemOp, Main, Pin, SubgraphTable};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{AdjacencyPart, ImageKeys, Manifest, SegmentReader, SubgraphImage, TierError};
use hedgerow_txn::Counts;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::idmap::IdMap;
use crate::options::GraphConfig;
use crate::schema::Schema;
use crate::tables::LabelTables;

/// Images are loaded in parallel, this many subgraphs at a time.
const LOAD_CHUNK: usize = 512;

/// The largest timestamp that a store can hold: a writer would need centuries to reach it.
pub(crate) const LAST_TIMESTAMP: Timestamp = Timestamp(1 << 63);

/// The state being rebuilt.
pub(crate) struct Loaded {
    pub(crate) config: GraphConfig,
    pub(crate) subgraphs: SubgraphTable,
    pub(crate) labels: LabelTables,
    pub(crate) schema: Schema,
    pub(crate) ids: IdMap,
    pub(crate) counts: Counts,
    checkpoint: Timestamp,
}

/// While a store is opened there are no readers, and everything is as good as published.
struct NoReaders(Timestamp);

impl Horizon for NoReaders {
    fn published(&self) -> Timestamp {
        self.0
    }

    fn pin_in(&self, _: Timestamp, _: Timestamp) -> Option<Pin> {
        None
    }
}

/// Reads the segments that the manifest names, in parallel. O(edges).
pub(crate) fn load_segments(
    fs: &Arc<dyn Vfs>,
    manifest: &Manifest,
    schema: Schema,
    config: GraphConfig,
) -> Result<Loaded> {
    let ids = IdMap::new(config.keys);
    let subgraphs = SubgraphTable::default();
    if let Some(last) = manifest.next_vertex.checked_sub(1) {
        ids.include(VertexId(last));
    }
    let mut state = Loaded {
        config,
        labels: LabelTables::new(subgraphs.arena()),
        subgraphs,
        schema,
        ids,
        counts: Counts::default(),
        checkpoint: manifest.checkpoint,
    };
    for segment in &manifest.segments {
        let reader = SegmentReader::open(fs.clone(), &segment.info, manifest.store)?;
        if reader.config() != manifest.config || segment.info.max_as_of > manifest.checkpoint {
            return Err(invalid(
                &segment_name(segment.info.file_id),
                "the segment does not fit the manifest",
            ));
        }
        let name = segment_name(segment.info.file_id);
        state.load(&reader, &name, manifest.next_vertex)?;
    }
    Ok(state)
}

fn invalid(file: &str, what: &'static str) -> Error {
    Corruption::new(file, 0, CorruptionKind::Invalid(what)).into()
}

impl Loaded {
    fn load(&mut self, reader: &SegmentReader, file: &str, bound: u32) -> Result<()> {
        let (vertices, edges) = (AtomicU64::new(0), AtomicU64::new(0));
        let balance = AtomicU64::new(0);
        let chunks: Vec<usize> = (0..reader.len()).step_by(LOAD_CHUNK).collect();
        chunks.into_par_iter().try_for_each(|from| {
            let range = from..(from + LOAD_CHUNK).min(reader.len());
            reader.read_range(range, |image| -> std::result::Result<(), LoadError> {
                vertices.fetch_add(u64::from(image.present.count_ones()), Ordering::Relaxed);
                // Without a second side there is nothing to compare.
                let sum = if self.config.is_one_way() { 0 } else { balance_of(&image, self.config.directed) };
                balance.fetch_add(sum, Ordering::Relaxed);
                edges.fetch_add(self.install(image, file, bound)?, Ordering::Relaxed);
                Ok(())
            })
        })?;
        if balance.into_inner() != 0 {
            return Err(invalid(file, "the two sides of an edge disagree"));
        }
        self.counts.vertices += vertices.into_inner();
        self.counts.edges += edges.into_inner();
        if self.ids.bound_keys().is_some_and(|keys| keys as u64 != self.counts.vertices) {
            return Err(invalid(file, "two vertices have the same key"));
        }
        Ok(())
    }

    /// Installs one image and returns its number of edges, each counted at its source (undirected: at the lesser end).
    fn install(&self, image: SubgraphImage, file: &str, bound: u32) -> Result<u64> {
        let first =
            image.id.0.checked_mul(SUBGRAPH_VERTICES as u32).ok_or_else(|| invalid(file, "subgraph id"))?;
        let allowed = match bound.saturating_sub(first) {
            0 => 0,
            n if n >= 64 => u64::MAX,
            n => (1u64 << n) - 1,
        };
        if image.present & !allowed != 0 {
            return Err(invalid(file, "a vertex beyond the bound of the manifest"));
        }
        self.bind_keys(&image, file)?;
        let mut edges = 0;
        let mut parts: [Option<AdjacencyPart>; 2] = [None, None];
        for part in image.parts {
            if part.neighbors.iter().any(|v| v.0 >= bound) {
                return Err(invalid(file, "a neighbor beyond the bound of the manifest"));
            }
            check_schema(&self.schema, self.config, image.id, &part).map_err(|what| invalid(file, what))?;
            if part.label == LabelId::DEFAULT {
                let direction = part.direction as usize;
                parts[direction] = Some(part);
            } else {
                edges += self.install_labelled(image.id, part, file)?;
            }
        }
        let entry = self.subgraphs.get_or_create(image.id);
        let mut latched = entry.latch();
        let arena = self.subgraphs.arena();
        for (direction, part) in [Direction::Out, Direction::In].into_iter().zip(parts) {
            if direction == Direction::In && (!self.config.directed || self.config.is_one_way()) {
                continue;
            }
            let main = match part {
                Some(p) => {
                    let extra = Extra { ranks: None, columns: p.columns };
                    let weights = p.weights.as_deref();
                    Main::with_extra(image.present, &p.offsets, &p.neighbors, weights, extra, arena)
                }
                None => Main::from_parts(
                    image.present,
                    &[0; SUBGRAPH_VERTICES + 1],
                    &[],
                    self.config.weighted.then_some(&[]),
                    arena,
                ),
            };
            let main = main.ok_or_else(|| invalid(file, "neighbor lists out of order"))?;
            if main.weights().is_some() != self.config.weighted {
                return Err(invalid(file, "weights do not fit the graph"));
            }
            if direction == Direction::Out {
                edges += self.count_edges(image.id, &main);
            }
            latched.install(direction, main, self.checkpoint, self.config.weighted);
        }
        Ok(edges)
    }

    /// Installs the edges of a label other than the default one, or properties of vertices; returns how many edges.
    fn install_labelled(&self, id: SubgraphId, part: AdjacencyPart, file: &str) -> Result<u64> {
        let AdjacencyPart { label, direction, offsets, neighbors, ranks, columns, .. } = part;
        let extra = Extra { ranks: ranks.map(Vec::into_boxed_slice), columns };
        let arena = self.subgraphs.arena();
        let main = Main::with_extra(0, &offsets, &neighbors, None, extra, arena);
        let main = main.ok_or_else(|| invalid(file, "neighbor lists out of order"))?;
        let counted = direction == Direction::Out && label != LabelId::VERTICES;
        let edges = if counted { self.count_edges(id, &main) } else { 0 };
        let entry = self.labels.get_or_create(label).get_or_create(id);
        entry.latch().install(direction, main, self.checkpoint, false);
        Ok(edges)
    }

    fn count_edges(&self, subgraph: SubgraphId, main: &Main) -> u64 {
        if self.config.directed {
            return main.edges().len() as u64;
        }
        let locals = (0..SUBGRAPH_VERTICES as u8).map(hedgerow_core::LocalVertex);
        let at_or_above = |local| {
            let (list, v) = (main.neighbors(local), subgraph.vertex(local));
            (list.len() - list.partition_point(|&u| u < v)) as u64
        };
        locals.map(at_or_above).sum()
    }

    fn bind_keys(&self, image: &SubgraphImage, file: &str) -> Result<()> {
        let locals = (0..SUBGRAPH_VERTICES as u8).map(hedgerow_core::LocalVertex);
        let mut live = locals.filter(|l| image.present & l.bit() != 0).map(|l| image.id.vertex(l));
        let wrong = || invalid(file, "the keys do not fit the graph");
        let mut bind = |key: VertexKey| {
            live.next()
                .map(|id| self.ids.bind(&key, id, self.checkpoint, Timestamp::INFINITY))
                .ok_or_else(wrong)
        };
        match (&image.keys, self.config.keys) {
            (ImageKeys::Dense, KeyKind::Dense) => Ok(()),
            (ImageKeys::U64(keys), KeyKind::U64) => keys.iter().try_for_each(|&n| bind(VertexKey::U64(n))),
            (ImageKeys::Str(keys), KeyKind::Str) => {
                keys.iter().try_for_each(|s| bind(VertexKey::Str(Arc::from(s.as_ref() as &str))))
            }
            _ => Err(wrong()),
        }
    }

    /// After everything is replayed: ids without a vertex can be given out.
    pub(crate) fn free_unused_ids(&mut self) {
        if self.config.keys == KeyKind::Dense {
            return;
        }
        for id in (0..self.ids.bound()).rev().map(VertexId) {
            let live =
                self.subgraphs.get(id.subgraph()).is_some_and(|s| s.latch().contains_vertex(id.local()));
            if !live {
                self.ids.add_unused(id);
            }
        }
        self.ids.forget_removed();
    }

    fn contains(&self, id: VertexId) -> bool {
        self.subgraphs.get(id.subgraph()).is_some_and(|s| s.latch().contains_vertex(id.local()))
    }

    fn has_edges(&self, id: VertexId) -> bool {
        let tables = std::iter::once(&self.subgraphs).chain(self.labels.iter().map(|(_, table)| table));
        tables.filter_map(|table| table.get(id.subgraph())).any(|entry| {
            let latched = entry.latch();
            [Direction::Out, Direction::In].iter().any(|&d| latched.degree(d, id.local()) > 0)
        })
    }

    fn table(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    fn apply_vertex(&self, id: VertexId, exists: bool, ts: Timestamp) {
        let dst = VertexId(u32::from(exists));
        let op = LocalOp { local: id.local(), op: EdgeOp::Vertex, dst, weight: 0.0 };
        let entry = self.subgraphs.get_or_create(id.subgraph());
        entry.latch().apply(Direction::Out, &[op], ts, self.config.weighted, &NoReaders(ts), |_| ());
    }

    fn apply_edge(&self, edge: &Replayed, op: EdgeOp, ts: Timestamp) {
        let weighted = self.config.weighted && edge.label == LabelId::DEFAULT;
        let side = |at: VertexId, dst: VertexId, direction, row: Option<Row>| {
            let op = LocalOp { local: at.local(), op, dst, weight: edge.weight.unwrap_or(0.0) };
            let entry = self.table(edge.label).get_or_create(at.subgraph());
            if edge.rank == 0 && row.is_none() {
                entry.latch().apply(direction, &[op], ts, weighted, &NoReaders(ts), |_| ());
            } else {
                let op = ItemOp { op, rank: edge.rank, row };
                entry.latch().apply_items(direction, &[op], ts, weighted, &NoReaders(ts), |_| ());
            }
        };
        let (src, dst) = (edge.src, edge.dst);
        side(src, dst, Direction::Out, edge.row.clone());
        if edge.label == LabelId::VERTICES {
            return;
        }
        if self.config.directed && self.config.reverse {
            side(dst, src, Direction::In, None);
        } else if !self.config.directed && src != dst {
            side(dst, src, Direction::Out, edge.row.as_ref().and_then(Row::fixed_only));
        }
    }

    fn exists(&self, edge: &Replayed) -> bool {
        let entry = self.table(edge.label).get(edge.src.subgraph());
        entry.is_some_and(|entry| {
            entry.latch().item(Direction::Out, edge.src.local(), edge.dst, edge.rank).is_some()
        })
    }

    /// What does not fit about an edge operation, whatever it does.
    fn check_edge(&self, edge: &Replayed) -> std::result::Result<(), &'static str> {
        let label = self.schema.label_by_id(edge.label).ok_or("an edge of a label that is not defined")?;
        if edge.rank != 0 && !label.is_multi() {
            return Err("a rank in a label that has none");
        }
        let in_order = self.config.directed || edge.src <= edge.dst;
        if !in_order || (edge.label == LabelId::VERTICES && edge.src != edge.dst) {
            return Err("an edge with its ends the wrong way round");
        }
        Ok(())
    }

    fn check_put(&self, edge: &Replayed) -> std::result::Result<(), &'static str> {
        self.check_edge(edge)?;
        let weighted = self.config.weighted && edge.label == LabelId::DEFAULT;
        if edge.weight.is_some() != weighted || edge.weight.is_some_and(f64::is_nan) {
            return Err("an edge with a weight that does not fit");
        }
        let label = self.schema.label_by_id(edge.label);
        let fits = |(id, value): &(hedgerow_core::PropertyId, hedgerow_core::Value)| {
            let property = label.and_then(|label| label.property_by_id(*id));
            property.map(|p| p.property_type()) == value.property_type()
        };
        if !edge.row.as_ref().map_or(&[][..], Row::cells).iter().all(fits) {
            return Err("a property that is not defined, or of another type");
        }
        if edge.label == LabelId::VERTICES && edge.row.is_none() {
            return Err("properties of a vertex without a value");
        }
        if !self.contains(edge.src) || !self.contains(edge.dst) {
            return Err("edge without a vertex");
        }
        Ok(())
    }

    fn put_edge(&mut self, ts: Timestamp, edge: &Replayed) -> std::result::Result<(), Unfit> {
        self.check_put(edge).map_err(Unfit)?;
        let existed = self.exists(edge);
        self.apply_edge(edge, if existed { EdgeOp::Update } else { EdgeOp::Insert }, ts);
        if edge.label != LabelId::VERTICES {
            self.counts.edges += u64::from(!existed);
        }
        Ok(())
    }

    fn remove_edge(&mut self, ts: Timestamp, edge: &Replayed) -> std::result::Result<(), Unfit> {
        self.check_edge(edge).map_err(Unfit)?;
        if !self.exists(edge) {
            return Err(Unfit("edge removed that is not there"));
        }
        self.apply_edge(edge, EdgeOp::Remove, ts);
        if edge.label != LabelId::VERTICES {
            self.counts.edges -= 1;
        }
        Ok(())
    }

    fn replay_op(&mut self, ts: Timestamp, op: Op<'_>) -> std::result::Result<(), Unfit> {
        let wrong = |what| Err(Unfit(what));
        match op {
            Op::InsertVertex { id, key } => {
                let fits = match (self.config.keys, key) {
                    (KeyKind::Dense, VertexKeyRef::U64(n)) => n == u64::from(id.0),
                    (KeyKind::U64, VertexKeyRef::U64(_)) | (KeyKind::Str, VertexKeyRef::Str(_)) => {
                        self.ids.lookup(key, ts).is_none()
                    }
                    _ => false,
                };
                if !fits || id > VertexId::MAX || self.contains(id) {
                    return wrong("vertex inserted twice, or with a key that does not fit");
                }
                if self.config.keys == KeyKind::Dense {
                    self.ids.include(id);
                } else {
                    self.ids.forget(id);
                    self.ids.bind(&key.to_owned(), id, ts, Timestamp::INFINITY);
                }
                self.apply_vertex(id, true, ts);
                self.counts.vertices += 1;
            }
            Op::RemoveVertex { id } => {
                if !self.contains(id) || self.has_edges(id) {
                    return wrong("vertex removed that is not there, or that still has edges");
                }
                if self.config.keys != KeyKind::Dense {
                    self.ids.unbind(self.ids.key_of(id).as_ref(), id, ts);
                }
                self.apply_vertex(id, false, ts);
                self.counts.vertices -= 1;
            }
            Op::PutEdge { label, src, dst, weight } => {
                self.put_edge(ts, &Replayed { weight, ..Replayed::new(label, src, dst, 0) })?;
            }
            Op::PutItem { label, src, dst, rank, weight, row } => {
                let row = hedgerow_log::decode_row(row).map_err(Unfit)?;
                self.put_edge(ts, &Replayed { weight, row, ..Replayed::new(label, src, dst, rank) })?;
            }
            Op::RemoveEdge { label, src, dst } => {
                self.remove_edge(ts, &Replayed::new(label, src, dst, 0))?;
            }
            Op::RemoveItem { label, src, dst, rank } => {
                self.remove_edge(ts, &Replayed::new(label, src, dst, rank))?;
            }
            Op::DefineLabel { .. } | Op::DefineProperty { .. } => self.schema.add(ts, op).map_err(Unfit)?,
        }
        Ok(())
    }
}

/// An edge of the log.
struct Replayed {
    label: LabelId,
    src: VertexId,
    dst: VertexId,
    rank: u64,
    weight: Option<f64>,
    row: Option<Row>,
}

impl Replayed {
    fn new(label: LabelId, src: VertexId, dst: VertexId, rank: u64) -> Replayed {
        Replayed { label, src, dst, rank, weight: None, row: None }
    }
}

/// What does not fit the schema or the graph in a part of an image.
fn check_schema(
    schema: &Schema,
    config: GraphConfig,
    id: SubgraphId,
    part: &AdjacencyPart,
) -> std::result::Result<(), &'static str> {
    let label = schema.label_by_id(part.label).ok_or("an edge label that is not defined")?;
    if part.ranks.is_some() && !label.is_multi() {
        return Err("ranks in a label that has none");
    }
    if part.weights.is_some() && part.label != LabelId::DEFAULT {
        return Err("weights in a label that has none");
    }
    let fits = |(id, column): (hedgerow_core::PropertyId, &hedgerow_core::Column)| {
        label.property_by_id(id).is_some_and(|p| p.property_type() == column.kind())
    };
    if !part.columns.iter().all(fits) {
        return Err("a property that is not defined, or of another type");
    }
    let keeps_none = !config.directed || config.is_one_way() || part.label == LabelId::VERTICES;
    if part.direction == Direction::In && keeps_none {
        return Err("incoming neighbors in a graph that keeps none");
    }
    let of_vertices = (0..SUBGRAPH_VERTICES as u8).map(hedgerow_core::LocalVertex).all(|local| {
        let list = part.neighbors_of(local.index());
        list.is_empty() || list == [id.vertex(local)]
    });
    if part.label == LabelId::VERTICES && !of_vertices {
        return Err("properties of a vertex in another one's place");
    }
    Ok(())
}

/// A sum over the edges of an image in which the two sides of an edge cancel each other: over a whole graph it is zero,
/// and with two sides that disagree about an edge or its weight it is not (but for one case in 2^64).
fn balance_of(image: &SubgraphImage, directed: bool) -> u64 {
    let mix = |src: u32, dst: u32, label: LabelId, rank: u64, weight: f64| {
        let x = ((u64::from(src) << 32) | u64::from(dst)) ^ weight.to_bits().rotate_left(17);
        let x = x ^ (rank ^ u64::from(label.0) << 48).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let mut sum = 0u64;
    for part in image.parts.iter().filter(|part| part.label != LabelId::VERTICES) {
        for local in 0..SUBGRAPH_VERTICES {
            let v = (image.id.0 << 6) | local as u32;
            for at in part.offsets[local] as usize..part.offsets[local + 1] as usize {
                let Some(&VertexId(u)) = part.neighbors.get(at) else { break };
                let weight = part.weights.as_ref().and_then(|w| w.get(at).copied()).unwrap_or(1.0);
                let rank = part.ranks.as_ref().and_then(|r| r.get(at).copied()).unwrap_or(0);
                let mix = |src, dst| mix(src, dst, part.label, rank, weight);
                sum = match (directed, part.direction) {
                    (true, Direction::Out) => sum.wrapping_add(mix(v, u)),
                    (true, Direction::In) => sum.wrapping_sub(mix(u, v)),
                    (false, _) if v < u => sum.wrapping_add(mix(v, u)),
                    (false, _) if v > u => sum.wrapping_sub(mix(u, v)),
                    (false, _) => sum,
                };
            }
        }
    }
    sum
}

/// Why a commit of the log does not fit the state before it: damage under a right checksum.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unfit(pub(crate) &'static str);

/// Replays one commit, unless the checkpoint holds it already.
pub(crate) fn replay(state: &mut Loaded, ts: Timestamp, ops: Ops<'_>) -> std::result::Result<(), Unfit> {
    if ts <= state.checkpoint {
        return Ok(());
    }
    if ts > LAST_TIMESTAMP {
        return Err(Unfit("a timestamp that no store reaches"));
    }
    for op in ops {
        state.replay_op(ts, op)?;
    }
    Ok(())
}

/// What can go wrong while images are read in parallel.
struct LoadError(Error);

impl From<TierError> for LoadError {
    fn from(error: TierError) -> Self {
        LoadError(error.into())
    }
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        LoadError(error)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        error.0
    }
}
