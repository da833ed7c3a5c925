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
use hedgerow_io::{FileId, Vfs};
use hedgerow_mem::{Extra, Main, Memory, SubgraphTable};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{
    AdjacencyPart, ImageId, ImageKeys, ImageScope, Manifest, SegmentReader, SubgraphImage, TierError,
};
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

/// A segment that the manifest names.
struct NamedSegment {
    reader: SegmentReader,
    name: String,
}

/// Which segment holds the valid image of each subgraph in each label.
#[derive(Default)]
struct NewestImages(HashMap<ImageId, (Timestamp, FileId)>);

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
    let (runs, newest) = open_runs(fs, manifest, &mut state.runs)?;
    // What images hold takes at least as much in memory as in a file, where it is packed.
    fits_limit(state.subgraphs.memory().account(), state.runs.live_bytes())?;
    state.load(&runs, &newest, manifest.next_vertex)?;
    Ok(state)
}

/// Opens the segments, newest first, and finds the newest image of each subgraph in each label.
fn open_runs(
    fs: &Arc<dyn Vfs>,
    manifest: &Manifest,
    runs: &mut Runs,
) -> Result<(Vec<NamedSegment>, NewestImages)> {
    let mut segments = manifest.segments.clone();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.info.file_id));
    let mut newest = NewestImages::default();
    let mut opened: Vec<NamedSegment> = Vec::new();
    for segment in &segments {
        let reader = SegmentReader::open(fs.clone(), &segment.info, manifest.store)?;
        let name = segment_name(segment.info.file_id);
        if reader.config() != manifest.config || segment.info.max_as_of > manifest.checkpoint {
            return Err(invalid(&name, "the segment does not fit the manifest"));
        }
        let all_labels = reader.has_images_of_all_labels();
        let told = segment.info.pages.is_none();
        if segment.info.subgraphs > 0 && told != all_labels {
            return Err(invalid(&name, "a segment of another kind than the manifest says"));
        }
        if opened.first().is_some_and(|first| first.reader.has_images_of_all_labels() != all_labels) {
            return Err(invalid(&name, "a segment of format 4 or before beside one of a later format"));
        }
        if all_labels {
            runs.set_outdated();
        }
        for image in reader.summaries()? {
            match newest.0.entry(image.id) {
                Entry::Occupied(later) if later.get().0 < image.as_of => {
                    return Err(invalid(&name, "an image later than the one in a newer segment"));
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(entry) => {
                    entry.insert((image.as_of, segment.info.file_id));
                    runs.put(image.id, segment.info.file_id, image.bytes);
                }
            }
        }
        opened.push(NamedSegment { reader, name });
    }
    Ok((opened, newest))
}

impl NewestImages {
    fn is_in(&self, id: ImageId, segment: FileId) -> bool {
        self.0.get(&id).is_some_and(|(_, newest)| *newest == segment)
    }
}

/// What was counted while images were loaded.
struct LoadedSums {
    vertices: AtomicU64,
    edges: AtomicU64,
    /// See [`balance_of`].
    balance: AtomicU64,
    secret: [u64; 2],
}

impl Loaded {
    fn load(&mut self, runs: &[NamedSegment], newest: &NewestImages, bound: u32) -> Result<()> {
        let zero = || AtomicU64::new(0);
        let sums = LoadedSums { vertices: zero(), edges: zero(), balance: zero(), secret: secret() };
        let pages = runs.iter().flat_map(|run| (0..run.reader.page_count()).map(move |page| (run, page)));
        // Vertices first: a label may have edges of those alone that there are.
        let (vertices, labels): (Vec<_>, Vec<_>) =
            pages.partition(|(run, page)| run.reader.label_of_page(*page) == Some(LabelId::DEFAULT));
        for pages in [vertices, labels] {
            hedgerow_par::try_for_each(pages.into_par_iter(), |(run, page)| {
                let wanted = |id| newest.is_in(id, run.reader.info().file_id);
                run.reader.read_page(page, wanted, |image| self.load_image(image, &run.name, bound, &sums))
            })?;
        }
        let newest = runs.first().map_or("", |run| run.name.as_str());
        if sums.balance.into_inner() != 0 && !faults::is_on(PlantedFault::SidesNotCompared) {
            return Err(invalid(newest, "the two sides of an edge disagree"));
        }
        self.counts.vertices += sums.vertices.into_inner();
        self.counts.edges += sums.edges.into_inner();
        if self.ids.bound_keys().is_some_and(|keys| keys as u64 != self.counts.vertices) {
            return Err(invalid(newest, "two vertices have the same key"));
        }
        Ok(())
    }

    fn load_image(
        &self,
        image: SubgraphImage,
        file: &str,
        bound: u32,
        sums: &LoadedSums,
    ) -> std::result::Result<(), LoadError> {
        sums.vertices.fetch_add(u64::from(image.vertex_count()), Ordering::Relaxed);
        // Without a second side there is nothing to compare.
        if !self.config.is_one_way() {
            let balance = balance_of(&image, self.config.directed, sums.secret);
            sums.balance.fetch_add(balance, Ordering::Relaxed);
        }
        let edges = match image.scope {
            ImageScope::Label(label) if label != LabelId::DEFAULT => {
                self.install_label(image, file, bound)?
            }
            _ => self.install(image, file, bound)?,
        };
        sums.edges.fetch_add(edges, Ordering::Relaxed);
        Ok(())
    }

    /// Installs the image of a label other than the default one, whose vertices are loaded; returns how many edges.
    fn install_label(&self, image: SubgraphImage, file: &str, bound: u32) -> Result<u64> {
        let live = self.subgraphs.get(image.id).map_or(0, |entry| entry.latch().present());
        if image.present & !live != 0 {
            return Err(invalid(file, "edges of a vertex that does not exist"));
        }
        let ImageId { label, subgraph } = image.image_id();
        if self.schema.label_by_id(label).is_none() {
            return Err(invalid(file, "an edge label that is not defined"));
        }
        if image.present == 0 {
            // It says that an older segment is no longer right, and must be among those that the next checkpoint looks at.
            self.labels.get_or_create(label).get_or_create(subgraph);
        }
        let mut edges = 0;
        for part in image.parts {
            edges +=
                self.install_labelled(image.id, self.checked_part(image.id, part, file, bound)?, file)?;
        }
        Ok(edges)
    }

    /// The part, if it fits the schema and the graph.
    fn checked_part(
        &self,
        id: SubgraphId,
        part: AdjacencyPart,
        file: &str,
        bound: u32,
    ) -> Result<AdjacencyPart> {
        if part.neighbors.iter().any(|v| v.0 >= bound) {
            return Err(invalid(file, "a neighbor beyond the bound of the manifest"));
        }
        check_schema(&self.schema, self.config, id, &part).map_err(|what| invalid(file, what))?;
        Ok(part)
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
            self.subgraphs.get_or_create(image.id);
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
            let part = self.checked_part(image.id, part, file, bound)?;
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
