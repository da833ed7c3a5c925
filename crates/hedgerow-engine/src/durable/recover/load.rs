//! Opening the segments of the last checkpoint. A page is loaded when it is first used, by the replay or
//! later. If the manifest has no counts of vertices and edges, all images are read at once.
//!
//! Memory learns the keys of vertices when they are looked up. If a segment has no key index, an opening
//! reads all keys, but no edges. Programs before the first release wrote such manifests and segments.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{GraphConfig, KeyKind, LabelId, LocalVertex, VertexId};
use hedgerow_io::Vfs;
use hedgerow_mem::{Hold, Memory, SubgraphTable};
use hedgerow_pager::ids::IdMap;
use hedgerow_pager::limits::fits_limit;
use hedgerow_pager::pager::pages::{Installer, Pages, invalid};
use hedgerow_pager::tables::LabelTables;
use hedgerow_pager::{Inboxes, Sources};
use hedgerow_tier::{AdjacencyPart, ImageId, Manifest, SubgraphImage};
use hedgerow_txn::Counts;
use rayon::prelude::*;

use super::Loaded;
use super::balance::{balance_of, secret};
use crate::durable::sections;
use crate::files::image_table::Runs;

/// Opens the segments that the manifest in `manifest_file` names. Loaded data goes into `memory`. Reads
/// footers, top indexes, and directories: of the last pages if ids are dense, else of all pages with
/// vertices. O(edges) if the manifest has no counts, O(vertices) if a segment has no key index.
pub(crate) fn load_segments(
    fs: &Arc<dyn Vfs>,
    (manifest, manifest_file): (&Manifest, &str),
    schema: Schema,
    config: GraphConfig,
    memory: Memory,
) -> Result<Loaded> {
    let inboxes = Inboxes::new(memory.account());
    let ids = IdMap::new(config.keys, memory.account().clone());
    for kind in schema.kinds() {
        ids.add_kind(kind.id(), kind.keys() == KeyKind::Str);
    }
    let sources = Sources::open(fs, manifest)?;
    let counts = sections::counts(manifest).map_err(|what| invalid(manifest_file, what))?;
    let stored = if counts.is_some() { sources.pages() } else { Vec::new() };
    let of_label = |label: LabelId| {
        stored.iter().filter(|page| page.label == label).map(|page| page.page).collect::<Vec<u32>>()
    };
    let subgraphs = SubgraphTable::with_stored(memory, (of_label(LabelId::DEFAULT), manifest.checkpoint))
        .with_weights(manifest.config.weighted);
    let labels = LabelTables::new(subgraphs.memory());
    for pages in stored.chunk_by(|a, b| a.label == b.label) {
        let label = pages[0].label;
        if schema.label_by_id(label).is_none() {
            return Err(invalid(manifest_file, "an edge label that is not defined"));
        }
        if label != LabelId::DEFAULT {
            labels.put_stored(label, (of_label(label), manifest.checkpoint));
        }
    }
    let pages =
        Pages::new(config, schema.clone(), manifest.checkpoint, manifest.next_vertex, sources.clone());
    let mut state = Loaded {
        config,
        labels,
        subgraphs,
        schema,
        ids,
        counts: counts.unwrap_or_default(),
        runs: Runs::default(),
        pages,
        inboxes,
        living: Vec::new(),
        evicted: 0,
        checkpoint: manifest.checkpoint,
    };
    match counts {
        Some(_) => state.load_at_touch(&sources, manifest.next_vertex, manifest_file)?,
        None => state.load_whole(&sources)?,
    }
    Ok(state)
}

/// Counts over the images that are loaded.
struct LoadedSums {
    vertices: AtomicU64,
    edges: AtomicU64,
    /// The sum of [`balance_of`].
    balance: AtomicU64,
    secret: [u64; 2],
}

impl Loaded {
    /// Finds the bound of the vertex ids, and reads keys.
    fn load_at_touch(&mut self, sources: &Sources, bound: u32, manifest_file: &str) -> Result<()> {
        if self.config.keys != KeyKind::Dense {
            return self.load_keys(sources, bound, manifest_file);
        }
        if let Some(last) = last_vertex(sources)? {
            if last.0 >= bound {
                return Err(invalid(manifest_file, "a vertex beyond the bound of the manifest"));
            }
            self.ids.include(last);
        }
        Ok(())
    }

    /// Reads all images, in parallel.
    fn load_whole(&mut self, sources: &Sources) -> Result<()> {
        self.runs.read(sources)?;
        // The data of images takes at least as much in memory as in a file, where it is packed.
        fits_limit(self.subgraphs.memory().account(), self.runs.live_bytes())?;
        let zero = || AtomicU64::new(0);
        let sums = LoadedSums { vertices: zero(), edges: zero(), balance: zero(), secret: secret() };
        let (state, installer) = (&*self, self.pages.installer(&self.subgraphs));
        // Vertices first: a label may have edges only of existing vertices.
        let (vertices, labels): (Vec<_>, Vec<_>) =
            sources.pages().into_iter().partition(|page| page.label == LabelId::DEFAULT);
        for pages in [vertices, labels] {
            hedgerow_par::try_for_each(pages.into_par_iter(), |page| {
                sources.read_page(page, |image, file| state.load_image(image, file, &installer, &sums))
            })?;
        }
        let newest = sources.segments().next().map_or("", |run| run.name.as_str());
        if sums.balance.into_inner() != 0 {
            return Err(invalid(newest, "the two sides of an edge disagree"));
        }
        let counts = Counts { vertices: sums.vertices.into_inner(), edges: sums.edges.into_inner() };
        if self.ids.bound_keys().is_some_and(|keys| keys as u64 != counts.vertices) {
            return Err(invalid(newest, "two vertices have the same key"));
        }
        self.counts = counts;
        Ok(())
    }

    fn load_image(
        &self,
        image: SubgraphImage,
        file: &str,
        installer: &Installer<'_>,
        sums: &LoadedSums,
    ) -> Result<()> {
        sums.vertices.fetch_add(u64::from(image.vertex_count()), Ordering::Relaxed);
        // In a one-way graph an edge has no second copy to compare with.
        if !self.config.is_one_way() {
            let balance = balance_of(&image, self.config.directed, sums.secret);
            sums.balance.fetch_add(balance, Ordering::Relaxed);
        }
        let edges = if image.id.label == LabelId::DEFAULT {
            self.install(image, file, installer)?
        } else {
            self.install_label(image, file, installer)?
        };
        sums.edges.fetch_add(edges, Ordering::Relaxed);
        Ok(())
    }

    /// Installs an image of a label other than the default one, whose vertices are loaded; returns the number
    /// of edges.
    fn install_label(&self, image: SubgraphImage, file: &str, installer: &Installer<'_>) -> Result<u64> {
        let ImageId { label, subgraph } = image.id;
        let live = self.subgraphs.get(subgraph, Hold::none()).map_or(0, |entry| entry.latch().present());
        if image.present & !live != 0 {
            return Err(invalid(file, "edges of a vertex that does not exist"));
        }
        if self.schema.label_by_id(label).is_none() {
            return Err(invalid(file, "an edge label that is not defined"));
        }
        if image.present == 0 {
            // This image replaces that of an older segment, and the next checkpoint must consider its
            // subgraph.
            let table = self.labels.get_or_create(label);
            table.get_or_create(subgraph, &table.hold())?;
        }
        let mut edges = 0;
        for part in image.parts {
            let part = installer.checked(image.id, part, file)?;
            let table = self.labels.get_or_create(label);
            let hold = table.hold();
            let to = table.get_or_create(subgraph, &hold)?;
            edges += installer.labelled(image.id, part, to, file)?;
        }
        Ok(edges)
    }

    /// Installs one image and returns its number of edges, each counted at its source (undirected: at the
    /// lesser end).
    fn install(&self, image: SubgraphImage, file: &str, installer: &Installer<'_>) -> Result<u64> {
        let (id, present) = (image.id.subgraph, image.present);
        installer.check_vertices((id, present), file)?;
        if present == 0 {
            // This image replaces that of an older segment, and the next checkpoint must consider its
            // subgraph.
            self.subgraphs.get_or_create(id, Hold::none())?;
            return Ok(0);
        }
        self.bind_keys((id, present), &image.keys, file)?;
        let mut parts: [Option<AdjacencyPart>; 2] = [None, None];
        for part in image.parts {
            let part = installer.checked(image.id, part, file)?;
            let direction = part.direction as usize;
            parts[direction] = Some(part);
        }
        installer.vertices((id, present), parts, self.subgraphs.get_or_create(id, Hold::none())?, file)
    }
}

/// Returns the vertex with the largest id. Reads directories of pages of the default label, the last one
/// first, down to one with a vertex.
fn last_vertex(sources: &Sources) -> Result<Option<VertexId>> {
    let pages = sources.pages();
    for page in pages.iter().rev().filter(|page| page.label == LabelId::DEFAULT) {
        let living = |image: &hedgerow_tier::ImageSummary| {
            let last = image.present.checked_ilog2()?;
            Some(image.id.subgraph.vertex(LocalVertex(last as u8)))
        };
        if let Some(last) = sources.summaries(*page)?.iter().rev().find_map(living) {
            return Ok(Some(last));
        }
    }
    Ok(None)
}
