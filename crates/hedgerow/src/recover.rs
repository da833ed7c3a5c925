//! Rebuilding the state of a store: images of the last checkpoint, then the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::{
    Direction, KeyKind, LabelId, Op, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId, VertexKey,
    VertexKeyRef,
};
use hedgerow_io::{Corruption, CorruptionKind, Vfs};
use hedgerow_log::Ops;
use hedgerow_mem::delta::EdgeOp;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Horizon, Main, Pin, SubgraphTable};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{AdjacencyPart, ImageKeys, Manifest, SegmentReader, SubgraphImage, TierError};
use hedgerow_txn::Counts;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::idmap::IdMap;
use crate::options::GraphConfig;

/// Images are loaded in parallel, this many subgraphs at a time.
const LOAD_CHUNK: usize = 512;

/// The largest timestamp that a store can hold: a writer would need centuries to reach it.
pub(crate) const LAST_TIMESTAMP: Timestamp = Timestamp(1 << 63);

/// The state being rebuilt.
pub(crate) struct Loaded {
    pub(crate) config: GraphConfig,
    pub(crate) subgraphs: SubgraphTable,
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
pub(crate) fn load_segments(fs: &Arc<dyn Vfs>, manifest: &Manifest, config: GraphConfig) -> Result<Loaded> {
    let ids = IdMap::new(config.keys);
    if let Some(last) = manifest.next_vertex.checked_sub(1) {
        ids.include(VertexId(last));
    }
    let mut state = Loaded {
        config,
        subgraphs: SubgraphTable::default(),
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
                balance.fetch_add(balance_of(&image, self.config.directed), Ordering::Relaxed);
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
            if part.label != LabelId(0) {
                return Err(invalid(file, "an edge label that this version does not know"));
            }
            if part.neighbors.iter().any(|v| v.0 >= bound) {
                return Err(invalid(file, "a neighbor beyond the bound of the manifest"));
            }
            let direction = part.direction as usize;
            parts[direction] = Some(part);
        }
        let entry = self.subgraphs.get_or_create(image.id);
        let mut latched = entry.latch();
        let arena = self.subgraphs.arena();
        for (direction, part) in [Direction::Out, Direction::In].into_iter().zip(parts) {
            if direction == Direction::In && !self.config.directed {
                continue;
            }
            let main = match part {
                Some(p) => {
                    Main::from_parts(image.present, &p.offsets, &p.neighbors, p.weights.as_deref(), arena)
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
                edges = self.count_edges(image.id, &main);
            }
            latched.install(direction, main, self.checkpoint, self.config.weighted);
        }
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
        let Some(entry) = self.subgraphs.get(id.subgraph()) else { return false };
        let latched = entry.latch();
        [Direction::Out, Direction::In].iter().any(|&d| !latched.neighbors(d, id.local()).is_empty())
    }

    fn apply(
        &self,
        at: VertexId,
        direction: Direction,
        op: EdgeOp,
        other: VertexId,
        weight: f64,
        ts: Timestamp,
    ) {
        let op = LocalOp { local: at.local(), op, dst: other, weight };
        let entry = self.subgraphs.get_or_create(at.subgraph());
        entry.latch().apply(direction, &[op], ts, self.config.weighted, &NoReaders(ts), |_| ());
    }

    fn apply_edge(&self, src: VertexId, dst: VertexId, op: EdgeOp, weight: f64, ts: Timestamp) {
        self.apply(src, Direction::Out, op, dst, weight, ts);
        if self.config.directed {
            self.apply(dst, Direction::In, op, src, weight, ts);
        } else if src != dst {
            self.apply(dst, Direction::Out, op, src, weight, ts);
        }
    }

    fn edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.subgraphs.get(src.subgraph())?.latch().edge(Direction::Out, src.local(), dst)
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
                self.apply(id, Direction::Out, EdgeOp::Vertex, VertexId(1), 0.0, ts);
                self.counts.vertices += 1;
            }
            Op::RemoveVertex { id } => {
                if !self.contains(id) || self.has_edges(id) {
                    return wrong("vertex removed that is not there, or that still has edges");
                }
                if self.config.keys != KeyKind::Dense {
                    self.ids.unbind(self.ids.key_of(id).as_ref(), id, ts);
                }
                self.apply(id, Direction::Out, EdgeOp::Vertex, VertexId(0), 0.0, ts);
                self.counts.vertices -= 1;
            }
            Op::PutEdge { label, src, dst, weight } => {
                let sound = label == LabelId(0)
                    && weight.is_some() == self.config.weighted
                    && !weight.is_some_and(f64::is_nan)
                    && (self.config.directed || src <= dst);
                if !sound || !self.contains(src) || !self.contains(dst) {
                    return wrong("edge without a vertex, or with a weight that does not fit");
                }
                let existed = self.edge(src, dst).is_some();
                let op = if existed { EdgeOp::Update } else { EdgeOp::Insert };
                self.apply_edge(src, dst, op, weight.unwrap_or(0.0), ts);
                self.counts.edges += u64::from(!existed);
            }
            Op::RemoveEdge { label, src, dst } => {
                let in_order = self.config.directed || src <= dst;
                if label != LabelId(0) || !in_order || self.edge(src, dst).is_none() {
                    return wrong("edge removed that is not there");
                }
                self.apply_edge(src, dst, EdgeOp::Remove, 0.0, ts);
                self.counts.edges -= 1;
            }
        }
        Ok(())
    }
}

/// A sum over the edges of an image in which the two sides of an edge cancel each other: over a whole graph it is zero,
/// and with two sides that disagree about an edge or its weight it is not (but for one case in 2^64).
fn balance_of(image: &SubgraphImage, directed: bool) -> u64 {
    let mix = |src: u32, dst: u32, weight: f64| {
        let x = ((u64::from(src) << 32) | u64::from(dst)) ^ weight.to_bits().rotate_left(17);
        let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let mut sum = 0u64;
    for part in &image.parts {
        for local in 0..SUBGRAPH_VERTICES {
            let v = (image.id.0 << 6) | local as u32;
            for at in part.offsets[local] as usize..part.offsets[local + 1] as usize {
                let Some(&VertexId(u)) = part.neighbors.get(at) else { break };
                let weight = part.weights.as_ref().and_then(|w| w.get(at).copied()).unwrap_or(1.0);
                sum = match (directed, part.direction) {
                    (true, Direction::Out) => sum.wrapping_add(mix(v, u, weight)),
                    (true, Direction::In) => sum.wrapping_sub(mix(u, v, weight)),
                    (false, _) if v < u => sum.wrapping_add(mix(v, u, weight)),
                    (false, _) if v > u => sum.wrapping_sub(mix(u, v, weight)),
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
