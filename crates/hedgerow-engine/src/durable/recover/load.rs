//! Loading the images of the last checkpoint, in parallel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, GraphConfig, KeyKind, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp,
    VertexKey, VertexKeyRef,
};
use hedgerow_io::Vfs;
use hedgerow_mem::{Extra, Main, Memory, SubgraphTable};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{AdjacencyPart, ImageKeys, Manifest, SegmentReader, SubgraphImage, TierError};
use hedgerow_txn::Counts;
use rayon::prelude::*;

use super::fits::{balance_of, check_schema, fits_kind, secret};
use super::{Loaded, invalid};
use crate::error::{Error, Result};
use crate::files::runs::Runs;
use crate::state::ids::IdMap;
use crate::state::limits::fits_limit;
use crate::state::schema::Schema;
use crate::state::tables::LabelTables;

/// Images are loaded in parallel, this many subgraphs at a time.
const LOAD_CHUNK: usize = 512;

/// A segment, and the subgraphs of which it holds the valid image.
struct SegmentImages {
    reader: SegmentReader,
    name: String,
    /// By place in the segment.
    valid: Vec<bool>,
}

/// Reads the segments that the manifest names, in parallel. Of the images of one subgraph the one in the newest segment
/// is valid. What is loaded lies in `memory`. O(edges).
pub(crate) fn load_segments(
    fs: &Arc<dyn Vfs>,
    manifest: &Manifest,
    schema: Schema,
    config: GraphConfig,
    memory: Memory,
) -> Result<Loaded> {
    let ids = IdMap::new(config.keys, memory.account().clone());
    for kind in schema.kinds() {
        ids.add_kind(kind.id(), kind.keys() == KeyKind::Str);
    }
    let subgraphs = SubgraphTable::new(memory);
    let mut state = Loaded {
        config,
        labels: LabelTables::new(subgraphs.memory()),
        subgraphs,
        schema,
        ids,
        counts: Counts::default(),
        runs: Runs::default(),
        checkpoint: manifest.checkpoint,
    };
    let runs = open_runs(fs, manifest, &mut state.runs)?;
    // What images hold takes at least as much in memory as in a file.
    fits_limit(state.subgraphs.memory().account(), state.runs.live_bytes())?;
    state.load(&runs, manifest.next_vertex)?;
    Ok(state)
}

/// Opens the segments and finds the newest image of each subgraph.
fn open_runs(fs: &Arc<dyn Vfs>, manifest: &Manifest, runs: &mut Runs) -> Result<Vec<SegmentImages>> {
    let mut segments = manifest.segments.clone();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.info.file_id));
    let mut newest: HashMap<SubgraphId, Timestamp> = HashMap::new();
    let mut opened = Vec::new();
    for segment in &segments {
        let reader = SegmentReader::open(fs.clone(), &segment.info, manifest.store)?;
        let name = segment_name(segment.info.file_id);
        if reader.config() != manifest.config || segment.info.max_as_of > manifest.checkpoint {
            return Err(invalid(&name, "the segment does not fit the manifest"));
        }
        let mut valid = Vec::with_capacity(reader.len());
        for image in (0..reader.len()).filter_map(|i| reader.summary(i)) {
            match newest.entry(image.id) {
                Entry::Occupied(later) if *later.get() < image.as_of => {
                    return Err(invalid(&name, "an image later than the one in a newer segment"));
                }
                Entry::Occupied(_) => valid.push(false),
                Entry::Vacant(entry) => {
                    entry.insert(image.as_of);
                    runs.put(image.id, segment.info.file_id, image.bytes);
                    valid.push(true);
                }
            }
        }
        opened.push(SegmentImages { reader, name, valid });
    }
    Ok(opened)
}

impl Loaded {
    fn load(&mut self, runs: &[SegmentImages], bound: u32) -> Result<()> {
        let (vertices, edges) = (AtomicU64::new(0), AtomicU64::new(0));
        let (balance, secret) = (AtomicU64::new(0), secret());
        let chunks = runs.iter().flat_map(|run| {
            let valid = run.valid.chunks(LOAD_CHUNK).enumerate();
            valid
                .filter(|(_, valid)| valid.contains(&true))
                .map(move |(i, valid)| (run, i * LOAD_CHUNK, valid.len()))
        });
        let chunks: Vec<(&SegmentImages, usize, usize)> = chunks.collect();
        hedgerow_par::try_for_each(chunks.into_par_iter(), |(run, from, len)| {
            let is_valid = |id| run.reader.position(id).is_some_and(|at| run.valid.get(at) == Some(&true));
            run.reader.read_where(from..from + len, is_valid, |image| -> std::result::Result<(), LoadError> {
                vertices.fetch_add(u64::from(image.present.count_ones()), Ordering::Relaxed);
                // Without a second side there is nothing to compare.
                let sum = if self.config.is_one_way() {
                    0
                } else {
                    balance_of(&image, self.config.directed, secret)
                };
                balance.fetch_add(sum, Ordering::Relaxed);
                edges.fetch_add(self.install(image, &run.name, bound)?, Ordering::Relaxed);
                Ok(())
            })
        })?;
        let newest = runs.first().map_or("", |run| run.name.as_str());
        if balance.into_inner() != 0 && !faults::is_on(PlantedFault::SidesNotCompared) {
            return Err(invalid(newest, "the two sides of an edge disagree"));
        }
        self.counts.vertices += vertices.into_inner();
        self.counts.edges += edges.into_inner();
        if self.ids.bound_keys().is_some_and(|keys| keys as u64 != self.counts.vertices) {
            return Err(invalid(newest, "two vertices have the same key"));
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
        if image.present == 0 {
            // It says that an older segment is no longer right, and must be among those that the next checkpoint looks at.
            self.ids.include(image.id.vertex(LocalVertex(0)));
            return Ok(0);
        }
        // Validate against the bound; allocate nothing by it: only the vertices that exist get room.
        if let Some(last) = image.present.checked_ilog2() {
            self.ids.include(image.id.vertex(LocalVertex(last as u8)));
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
        let mut bind = |key: VertexKeyRef<'_>| {
            live.next()
                .map(|id| self.ids.bind(key, id, self.checkpoint, Timestamp::INFINITY))
                .ok_or_else(wrong)
        };
        match (&image.keys, self.config.keys) {
            (ImageKeys::Dense, KeyKind::Dense) => Ok(()),
            (ImageKeys::U64(keys), KeyKind::U64) => keys.iter().try_for_each(|&n| bind(VertexKeyRef::U64(n))),
            (ImageKeys::Str(keys), KeyKind::Str) => keys.iter().try_for_each(|s| bind(VertexKeyRef::Str(s))),
            (ImageKeys::Kinds(keys), _) => keys.iter().map(VertexKey::as_ref).try_for_each(|key| {
                if fits_kind(&self.schema, self.config.keys, key) { bind(key) } else { Err(wrong()) }
            }),
            _ => Err(wrong()),
        }
    }
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
