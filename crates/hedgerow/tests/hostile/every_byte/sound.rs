//! The sound stores: small stores that together have every kind of file and record of format 5.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hedgerow::{Direction, EdgeKey, Graph, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions, Options, VertexKey};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Generator, ItemKey, LABELS, Model, ModelConfig, ModelOp, RichOp, SimFs};

use super::places::{ImageId, Places};
use super::reads::Read;
use crate::common;
use crate::stores::Files;

/// The number of vertices in a page.
const PAGE: u64 = 4096;
/// A vertex with many edges. Its neighbors with weights and its parallel edges with ranks are cut into
/// pieces.
const HUB: u64 = 7;
const HUB_EDGES: u64 = 7_600;
const HUB_RANKS: u64 = 8_400;
/// The pages of the graph with the hub that have little other content, with a vertex in each.
const OTHER_PAGES: [u64; 2] = [3, 9];
/// The label number of vertex properties.
const OF_VERTICES: u16 = u16::MAX;
/// The approximate number of vertices in each store whose lists are read one by one.
const READ_ALONE: usize = 12;
/// The maximum number of lists near the damage that are read, other lists each time.
const READ_NEAR: usize = 24;

/// A store, its reads and their answers.
pub(super) struct Sound {
    pub(super) name: &'static str,
    config: ModelConfig,
    pub(super) files: Files,
    pub(super) places: Places,
    /// The reads for every damaged store, then the reads of each list of every vertex.
    pub(super) reads: Vec<Read>,
    pub(super) answers: Vec<u64>,
    pub(super) always: usize,
    /// The numbers of the reads that need an image.
    of_image: BTreeMap<ImageId, Vec<usize>>,
}

/// Makes every store. Numbers, texts and keys of several kinds have different types of records.
pub(super) fn all(seed: u64) -> [Sound; 4] {
    let config = |directed, weighted, keys, rich| ModelConfig { directed, weighted, keys, rich };
    [
        random("kinds", config(true, true, KeyKind::U64, true), seed),
        random("texts", config(false, false, KeyKind::Str, false), seed),
        random("numbers", config(true, false, KeyKind::U64, false), seed),
        hub(config(true, true, KeyKind::Dense, true)),
    ]
}

fn options(config: ModelConfig) -> Options {
    common::options(config).log_segment_bytes(4096).checkpoint_log_bytes(0)
}

impl Sound {
    /// Makes the data of a closed store. Its content must equal the model.
    fn new(name: &'static str, config: ModelConfig, disk: &SimFs, model: &Model) -> Sound {
        let files = disk.files();
        let (places, of_image) = (Places::of(&files), BTreeMap::new());
        let (reads, answers) = (Vec::new(), Vec::new());
        let mut sound = Sound { name, config, places, files, reads, answers, always: 0, of_image };
        let graph = sound.options().open_on(SimFs::from_files(&sound.files).handle()).unwrap();
        common::same(&graph.snapshot().unwrap(), config, model).unwrap_or_else(|e| panic!("{name}: {e}"));
        let vertices: Vec<VertexKey> = model.vertices().cloned().collect();
        let step = vertices.len().div_ceil(READ_ALONE);
        let chosen: BTreeSet<_> = vertices.iter().step_by(step).chain(hubs(config)).cloned().collect();
        sound.reads = Read::all(&Vec::from_iter(chosen), config.rich, graph.config().reverse);
        sound.always = sound.reads.len();
        sound.add_lists(&graph);
        let ask = |graph: &Graph| -> Vec<u64> {
            let snapshot = graph.snapshot().unwrap();
            sound.reads.iter().map(|read| read.ask(&snapshot).unwrap()).collect()
        };
        sound.answers = ask(&graph);
        let limited = sound.options().memory_limit(LEAST_MEMORY_LIMIT);
        let limited = limited.open_on(SimFs::from_files(&sound.files).handle()).unwrap();
        assert!(ask(&limited) == sound.answers, "{name}: in memory and in files");
        sound
    }

    /// Adds reads of each list of every vertex.
    fn add_lists(&mut self, graph: &Graph) {
        let snapshot = graph.snapshot().unwrap();
        let schema = snapshot.schema();
        for (id, vertex) in snapshot.vertices().unwrap().map(Result::unwrap) {
            let mut add = |label: u16, read: Read| {
                self.of_image.entry((label, id.subgraph().0)).or_default().push(self.reads.len());
                self.reads.push(read);
            };
            let both = [Direction::Out, Direction::In];
            let directions = if graph.config().reverse { &both[..] } else { &both[..1] };
            add(OF_VERTICES, Read::OfVertex(vertex.clone()));
            for &direction in directions {
                add(0, Read::Run(id, direction));
                for (name, _) in LABELS {
                    let Some(label) = schema.label(name) else { continue };
                    add(label.id().0, Read::Edges(name, vertex.clone(), direction));
                }
            }
        }
    }

    /// Returns the numbers of the reads to make for a damaged byte. First come reads of some lists of its
    /// image, drawn by `rng`, then the reads that every case makes.
    pub(super) fn reads_beside(&self, file: &str, at: usize, rng: &mut SplitMix64) -> Vec<usize> {
        let near = self.places.image_of(file, at).and_then(|image| self.of_image.get(&image));
        let near = near.map_or(&[][..], |near| near);
        let first = rng.below(near.len().max(1) as u64) as usize;
        let drawn = near.iter().cycle().skip(first).take(near.len().min(READ_NEAR));
        drawn.copied().chain(0..self.always).collect()
    }

    /// Returns the options to open the store again.
    pub(super) fn options(&self) -> Options {
        options(self.config).create(false)
    }

    /// Returns the page of a vertex if the key gives it. Reads of this vertex then use only its lists.
    pub(super) fn page_of(&self, vertex: &VertexKey) -> Option<u32> {
        match vertex {
            VertexKey::U64(id) if self.config.keys == KeyKind::Dense => Some((id / PAGE) as u32),
            _ => None,
        }
    }

    /// Returns two vertices on a page that is not one of `pages`.
    pub(super) fn free_page(&self, pages: Option<&BTreeSet<u32>>) -> Option<(u64, u64)> {
        let pages = pages.filter(|_| self.config.keys == KeyKind::Dense)?;
        let free = OTHER_PAGES.into_iter().find(|page| !pages.contains(&(*page as u32)))?;
        Some((free * PAGE, free * PAGE + 1))
    }
}

/// Returns the vertices with the most content in the graph with a hub.
fn hubs(config: ModelConfig) -> &'static [VertexKey] {
    const HUBS: [VertexKey; 4] = [
        VertexKey::U64(HUB),
        VertexKey::U64(HUB + 1),
        VertexKey::U64(OTHER_PAGES[0] * PAGE),
        VertexKey::U64(OTHER_PAGES[1] * PAGE + 1),
    ];
    if config.keys == KeyKind::Dense { &HUBS } else { &[] }
}

fn commit(graph: &Graph, model: &mut Model, ops: &[ModelOp]) {
    let mut tx = graph.write().unwrap();
    for op in ops {
        model.apply(op);
        common::apply(&mut tx, graph.config().weighted, op).unwrap();
    }
    tx.commit().unwrap();
}

/// Makes a store by random transactions, some of them in each of two segments. An opening reads the pages
/// that transactions in the log change. The log of the other stores therefore contains only a definition.
fn random(name: &'static str, config: ModelConfig, seed: u64) -> Sound {
    let disk = SimFs::new();
    let graph = options(config).open_on(disk.handle()).unwrap();
    if config.rich {
        common::rich::define_all(&graph).unwrap();
    }
    let (mut model, mut generator) = (Model::new(config), Generator::new(config, seed, 0, 150));
    if config.keys == KeyKind::Str {
        // The length does not fit into one byte.
        let long = VertexKey::Str(Arc::from("long".repeat(80)));
        commit(&graph, &mut model, &[ModelOp::InsertVertex(long)]);
    }
    let mut random = |transactions: usize, operations: usize| {
        for _ in 0..transactions {
            let ops: Vec<ModelOp> = (0..operations).map(|_| generator.op(Some(&model))).collect();
            commit(&graph, &mut model, &ops);
        }
    };
    random(6, 120);
    graph.checkpoint().unwrap();
    random(1, 4);
    graph.checkpoint().unwrap();
    if config.keys == KeyKind::U64 && !config.rich {
        random(3, 12);
    } else {
        graph.define_label("later", LabelOptions::new()).unwrap();
    }
    graph.close().unwrap();
    Sound::new(name, config, &disk, &model)
}

/// Makes a store with a vertex whose edges in two labels cut the image of its subgraph. A few other vertices
/// are far from it.
fn hub(config: ModelConfig) -> Sound {
    let disk = SimFs::new();
    let graph = options(config).reverse(false).open_on(disk.handle()).unwrap();
    common::rich::define_all(&graph).unwrap();
    let (mut model, key) = (Model::new(config), VertexKey::U64);
    let edges = |n| ModelOp::PutEdge(key(HUB), key(n), n as f64);
    commit(&graph, &mut model, &(0..HUB_EDGES).map(edges).collect::<Vec<_>>());
    let item = |dst, rank| ItemKey { label: "calls", src: key(HUB), dst: key(dst), rank };
    let calls = |rank| ModelOp::Rich(RichOp::Put(item(HUB + 1 + rank % 2, rank), Vec::new()));
    commit(&graph, &mut model, &(0..HUB_RANKS).map(calls).collect::<Vec<_>>());
    for page in OTHER_PAGES {
        let ring = |n: u64| ModelOp::PutEdge(key(page * PAGE + n), key(page * PAGE + (n + 1) % 70), 0.5);
        commit(&graph, &mut model, &(0..70).map(ring).collect::<Vec<_>>());
    }
    graph.checkpoint().unwrap();
    let known = vec![("count".to_owned(), 5.into()), ("text".to_owned(), "five".into())];
    let knows = |n| ItemKey { label: "knows", src: key(n), dst: key(HUB), rank: 0 };
    let more = (0..6).map(|n| ModelOp::Rich(RichOp::Put(knows(n * 40), known.clone())));
    commit(&graph, &mut model, &more.collect::<Vec<_>>());
    graph.checkpoint().unwrap();
    // The change is on a separate page, because an opening reads the pages that the log changes.
    let far = OTHER_PAGES[1] * PAGE;
    commit(&graph, &mut model, &[ModelOp::RemoveEdge(key(far), key(far + 1))]);
    let edge = EdgeKey::new("calls", HUB, HUB + 2).rank(1);
    assert!(graph.snapshot().unwrap().contains_edge(edge).unwrap());
    graph.close().unwrap();
    Sound::new("hub", config, &disk, &model)
}
