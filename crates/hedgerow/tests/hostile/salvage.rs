//! Salvage of stores with one damaged byte saves all elements outside of damaged records and blocks. It
//! counts the elements that may be stale, and adds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow::{Graph, KeyKind, Options, SalvageReport, Snapshot, VertexKey, salvage_on};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{
    Effort, Generator, ItemKey, LABELS, Model, ModelConfig, ModelOp, Props, RichOp, SegmentLayout, SimFs,
    explored, vertex_key,
};

use crate::common::records::{Record, records};
use crate::{common, stores::Files};

/// The number of keys. For most keys, the vertex id equals the number of the key; 64 ids form a subgraph.
const KEYS: u64 = 300;

/// A vertex or an edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    Vertex(VertexKey),
    Edge(ItemKey),
}

impl Element {
    fn ends(&self) -> [&VertexKey; 2] {
        match self {
            Element::Vertex(key) => [key, key],
            Element::Edge(item) => [&item.src, &item.dst],
        }
    }
}

/// The elements, with the bits of their weights and their properties.
pub(crate) type Content = BTreeMap<Element, (u64, Props)>;

/// The id of an image: a label and a subgraph.
type ImageId = (u16, u32);

/// The label number of vertex properties.
const OF_VERTICES: u16 = u16::MAX;

struct Store {
    config: ModelConfig,
    files: Files,
    /// The state after each commit, by timestamp. A definition does not change the state.
    states: Vec<Content>,
    checkpoint: u64,
    records: Vec<Record>,
    segments: BTreeMap<String, SegmentLayout>,
    /// The ids of the labels, by name.
    labels: BTreeMap<&'static str, u16>,
    /// The vertex ids in the last state.
    ids: BTreeMap<VertexKey, u32>,
}

pub(crate) fn content(snapshot: &Snapshot, config: ModelConfig) -> Content {
    let model = common::content(snapshot, config);
    flat(&model)
}

fn flat(model: &Model) -> Content {
    let mut all = Content::new();
    for key in model.vertices() {
        all.insert(Element::Vertex(key.clone()), (0, model.vertex_props(key).unwrap_or_default()));
    }
    for (src, dst, weight) in model.edges() {
        let item = ItemKey { label: "", src: src.clone(), dst: dst.clone(), rank: 0 };
        all.insert(Element::Edge(item), (weight.to_bits(), Props::new()));
    }
    for (item, props) in model.items() {
        all.entry(Element::Edge(item.clone())).or_default().1.clone_from(props);
    }
    all
}

/// Returns the keys that an operation names.
fn named(op: &ModelOp) -> Vec<&VertexKey> {
    match op {
        ModelOp::InsertVertex(v) | ModelOp::RemoveVertex(v) => vec![v],
        ModelOp::PutEdge(src, dst, _) | ModelOp::InsertEdge(src, dst, _) | ModelOp::RemoveEdge(src, dst) => {
            vec![src, dst]
        }
        ModelOp::Rich(
            RichOp::Put(item, _) | RichOp::Insert(item, _) | RichOp::Update(item, _) | RichOp::Remove(item),
        ) => vec![&item.src, &item.dst],
        ModelOp::Rich(RichOp::PutVertex(v, _) | RichOp::UpdateVertex(v, _)) => vec![v],
        ModelOp::Bulk(_) => vec![],
    }
}

impl Store {
    /// Makes a store with several log segments and segments. The later segments have single subgraphs.
    fn make(config: ModelConfig, seed: u64, close: bool) -> Store {
        let disk = SimFs::new();
        let graph = common::options(config).log_segment_bytes(4096).open_on(disk.handle()).unwrap();
        if config.rich {
            common::rich::define_all(&graph).unwrap();
        }
        let mut model = Model::new(config);
        let mut states = vec![flat(&model)];
        let mut all = Generator::new(config, seed, 0, KEYS);
        let mut checkpoint = 0;
        for round in 0..20u64 {
            // Before each later checkpoint only one subgraph changes, and only that one is written.
            let mut near = Generator::new(config, seed ^ round << 32, 64 * (round % 2), 60);
            let ops = match round {
                0 => (0..KEYS).map(|n| ModelOp::InsertVertex(vertex_key(config, n))).collect(),
                1 => (0..120).map(|_| all.op(Some(&model))).collect(),
                2..5 => near.transaction(None, 16).into_iter().filter(stays_near).collect(),
                _ => all.transaction(Some(&model), if config.rich { 12 } else { 80 }),
            };
            let ts = commit(&graph, &mut model, ops);
            let before = states.last().cloned().unwrap_or_default();
            states.resize(ts as usize, before);
            states.push(flat(&model));
            if (1..4).contains(&round) {
                graph.checkpoint().unwrap();
                checkpoint = ts;
            }
        }
        let snapshot = graph.snapshot().unwrap();
        let ids = snapshot.vertices().unwrap().map(Result::unwrap).map(|(id, key)| (key, id.0)).collect();
        let schema = snapshot.schema();
        let ids_of = LABELS.iter().filter_map(|&(name, _)| Some((name, schema.label(name)?.id().0)));
        let labels = ids_of.chain([("", 0)]).collect();
        drop(snapshot);
        if close {
            graph.close().unwrap();
        }
        let files = disk.files();
        let (records, segments) = (records(&files), segments(&files));
        Store { config, files, states, checkpoint, records, segments, labels, ids }
    }

    fn last(&self) -> &Content {
        &self.states[self.states.len() - 1]
    }

    /// True if a commit after `ts` changed `element`.
    fn changed_after(&self, element: &Element, ts: u64) -> bool {
        let states = self.states.get(ts as usize..).unwrap_or_default();
        states.windows(2).any(|pair| pair[0].get(element) != pair[1].get(element))
    }

    /// True if the vertex of the last state was inserted after `ts`.
    fn inserted_after(&self, key: &VertexKey, ts: u64) -> bool {
        let vertex = Element::Vertex(key.clone());
        let states = self.states.get(ts as usize..).unwrap_or_default();
        states.iter().any(|state| !state.contains_key(&vertex))
    }
}

/// True if an operation changes no vertex except the named ones.
fn stays_near(op: &ModelOp) -> bool {
    !matches!(op, ModelOp::RemoveVertex(_))
}

/// Commits operations, without those on vertices that the same transaction removed: these get new ids.
fn commit(graph: &Graph, model: &mut Model, ops: Vec<ModelOp>) -> u64 {
    let mut tx = graph.write().unwrap();
    let (mut removed, mut some) = (BTreeSet::new(), false);
    for op in ops {
        if named(&op).into_iter().any(|key| removed.contains(key)) {
            continue;
        }
        if let ModelOp::RemoveVertex(key) = &op {
            removed.insert(key.clone());
        }
        let before = model.clone();
        model.apply(&op);
        some |= before != *model;
        common::apply(&mut tx, graph.config().weighted, &op).unwrap();
    }
    if !some {
        // A commit without effect is not a commit.
        let op = ModelOp::PutEdge(key_of(graph, 0), key_of(graph, 1), 77.5 + model.edge_count() as f64);
        model.apply(&op);
        common::apply(&mut tx, graph.config().weighted, &op).unwrap();
    }
    tx.commit().unwrap().0
}

fn key_of(graph: &Graph, n: u64) -> VertexKey {
    let hedgerow::GraphConfig { directed, weighted, keys, .. } = graph.config();
    vertex_key(ModelConfig { directed, weighted, keys, rich: !graph.schema().kinds().is_empty() }, n)
}

/// Returns the layouts of all segments.
fn segments(files: &Files) -> BTreeMap<String, SegmentLayout> {
    let segments = files.iter().filter(|(name, _)| name.ends_with(".csr"));
    segments.map(|(name, bytes)| (name.clone(), SegmentLayout::of(bytes).expect("a sound segment"))).collect()
}

/// The cost of a damaged byte.
#[derive(Clone, Debug, Default)]
struct Damage {
    /// The commit whose record contains the byte, if no checkpoint contains that commit.
    commit: Option<u64>,
    /// The newest images that contain the byte.
    images: BTreeSet<ImageId>,
}

impl Damage {
    fn subgraphs(&self) -> BTreeSet<u32> {
        self.images.iter().map(|(_, subgraph)| *subgraph).collect()
    }
}

impl Store {
    /// Returns the cost of a byte; 0 in directories, top index, header and footer: images are found anyway.
    fn damage(&self, file: &str, at: usize) -> Damage {
        let record = self.records.iter().find(|record| record.file == file && record.bytes.contains(&at));
        let commit = record.map(|record| record.ts).filter(|&ts| ts > self.checkpoint);
        let images = |layout: &SegmentLayout, keep: &dyn Fn(&hedgerow_testkit::layout::Image) -> bool| {
            let images = layout.pages.iter().flat_map(|page| &page.images).filter(|image| keep(image));
            images.map(|image| (image.label, image.subgraph)).collect::<BTreeSet<ImageId>>()
        };
        let damaged = self.segments.get(file);
        let mut damaged = damaged
            .map(|layout| images(layout, &|image| layout.is_in_blocks_of(image, at)))
            .unwrap_or_default();
        let newer = self.segments.iter().filter(|(name, _)| name.as_str() > file);
        newer.for_each(|(_, layout)| {
            images(layout, &|_| true).iter().for_each(|id| _ = damaged.remove(id));
        });
        Damage { commit, images: damaged }
    }

    /// True if the damage may have changed or removed `element`.
    fn touched(&self, damage: &Damage, element: &Element) -> bool {
        let dense = self.config.keys == KeyKind::Dense;
        let last = self.last();
        // The log contains a vertex that was inserted later, with all its content.
        let in_log = |key: &VertexKey| {
            last.contains_key(&Element::Vertex(key.clone())) && self.inserted_after(key, self.checkpoint)
        };
        let lost = |label: u16, key: &VertexKey| {
            let lost = self.ids.get(key).is_none_or(|id| damage.images.contains(&(label, id / 64)));
            lost && !in_log(key)
        };
        let unknown = |key: &VertexKey| match damage.commit {
            Some(ts) => {
                let vertex = Element::Vertex(key.clone());
                let (before, at) = (&self.states[ts as usize - 1], &self.states[ts as usize]);
                !before.contains_key(&vertex) && at.contains_key(&vertex) && !self.inserted_after(key, ts)
            }
            None => lost(0, key),
        };
        let ends = element.ends().map(unknown);
        if let Some(ts) = damage.commit {
            let changed = self.states[ts as usize - 1].get(element) != self.states[ts as usize].get(element);
            return changed && !self.changed_after(element, ts) || !dense && ends.contains(&true);
        }
        if damage.images.is_empty() || (dense && self.changed_after(element, self.checkpoint)) {
            return false;
        }
        match element {
            Element::Vertex(key) => ends[0] || lost(OF_VERTICES, key),
            Element::Edge(item) => {
                let sides = element.ends().map(|key| lost(self.labels[item.label], key));
                // One end suffices for an edge without properties; with keys, also the keys of both ends.
                let side = if self.config.rich { sides.contains(&true) } else { sides == [true; 2] };
                side || !dense && ends.contains(&true)
            }
        }
    }

    /// Salvages the store with `bit` of a byte flipped, and compares the result.
    fn judge(&self, file: &str, at: usize, bit: u64) -> Seen {
        let what = || format!("{:?}, {file} byte {at} bit {bit}", self.config);
        let mut files = self.files.clone();
        files.get_mut(file).unwrap()[at] ^= 1 << bit;
        let (disk, into) = (SimFs::from_files(&files), SimFs::new());
        let report = salvage_on(disk.handle(), into.handle()).unwrap_or_else(|e| panic!("{}: {e}", what()));
        assert_eq!(disk.files(), files, "{}: the old store was changed", what());
        crate::salvage_runs::compare(&files, &report, &into, self.config, &what);
        let graph = Options::new().create(false).read_only(true).open_on(into.handle()).unwrap();
        let found = content(&graph.snapshot().unwrap(), self.config);
        let damage = self.damage(file, at);
        let last = self.last();
        let mut stale = [0, 0];
        for element in found.keys().chain(last.keys()) {
            let (is, was) = (found.get(element), last.get(element));
            if is == was {
                continue;
            }
            assert!(
                self.touched(&damage, element),
                "{}: {element:?} is {is:?} instead of {was:?}\n{damage:?}\n{report}",
                what()
            );
            stale[usize::from(matches!(element, Element::Edge(_)))] += u64::from(is.is_some());
        }
        self.judge_report(&damage, &report, stale, &what);
        Seen {
            commits: u64::from(damage.commit.is_some()),
            subgraphs: u64::from(!damage.images.is_empty()),
            stale: u64::from(stale != [0, 0]),
        }
    }

    /// Checks that the report counts all doubtful elements, and not more.
    fn judge_report(
        &self,
        damage: &Damage,
        report: &SalvageReport,
        stale: [u64; 2],
        what: &dyn Fn() -> String,
    ) {
        let says = |what: &str| report.losses.iter().any(|loss| loss.contains(what));
        // Without a close, the last commits look like unacknowledged commits.
        let tail = says("were never acknowledged");
        let halves = says("of which properties may be lost");
        let bare = says("known only by their edges");
        let stripped = report.losses.iter().find_map(|loss| {
            loss.strip_suffix(" vertices of which properties may be lost")?.parse::<u64>().ok()
        });
        let doubtful = report.doubtful_vertices + stripped.unwrap_or(0);
        assert!(tail || bare || stale[0] <= doubtful, "{}: {stale:?}\n{report}", what());
        assert!(tail || halves || stale[1] <= report.doubtful_edges, "{}: {stale:?}\n{report}", what());
        if let Some(ts) = damage.commit {
            assert!(!report.is_whole(), "{}", what());
            let one = says(&format!("commit {ts} is lost"));
            let told =
                one || says(&format!("commits after {} are lost; how many is not known", ts - 1)) || tail;
            assert!(told && report.lost_commits <= 1, "{}: commit {ts}\n{report}", what());
            let constant = |element: &&Element| !self.changed_after(element, ts);
            let certain = self.last().keys().filter(|element| !constant(element)).count() as u64;
            let doubtful = report.doubtful_vertices + report.doubtful_edges;
            assert!(doubtful + certain <= report.vertices + report.edges, "{}: {certain}\n{report}", what());
        } else if damage.images.is_empty() {
            assert_eq!((report.lost_commits, report.lost_subgraphs), (0, 0), "{}: {report}", what());
            assert_eq!((report.doubtful_vertices, report.doubtful_edges), (0, 0), "{}: {report}", what());
        } else {
            assert_eq!(report.lost_subgraphs, damage.subgraphs().len() as u64, "{}: {report}", what());
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    commits: u64,
    subgraphs: u64,
    stale: u64,
}

/// Flips one bit in each of about `count` bytes of logs and segments, on two threads.
fn flip(store: &Store, rng: &mut SplitMix64, count: usize) -> Vec<Seen> {
    let mut places = Vec::new();
    let names = |end: &'static str| store.files.iter().filter(move |(name, _)| name.ends_with(end));
    for (kind, share) in [(".wal", count * 2 / 3), (".csr", count / 3)] {
        // The unused rest of a segment is zeros.
        let used = |bytes: &[u8]| bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        let total: usize = names(kind).map(|(_, bytes)| used(bytes)).sum();
        let step = (total / share.max(1)).max(1);
        for (name, bytes) in names(kind) {
            let first = rng.below(step as u64) as usize;
            places.extend((first..used(bytes)).step_by(step).map(|at| (name.as_str(), at, rng.below(8))));
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut seen = Vec::new();
        while let Some(&(file, at, bit)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            seen.push(store.judge(file, at, bit));
        }
        seen
    };
    std::thread::scope(|scope| {
        let both = [scope.spawn(work), scope.spawn(work)];
        both.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn one_damaged_byte_costs_what_it_touches() {
    let _alone = crate::alone();
    let effort = Effort::rounds(1);
    let (mut several, mut all) = (0, Vec::new());
    while let Some(seed) = effort.next_seed() {
        let mut rng = SplitMix64::new(seed);
        for (i, config) in ModelConfig::all().enumerate() {
            let config = if i % 3 == 1 { config.with_labels() } else { config };
            let store = Store::make(config, seed + i as u64, i % 4 != 3);
            let logs = store.files.keys().filter(|name| name.ends_with(".wal")).count();
            let segments = store.files.keys().filter(|name| name.ends_with(".csr")).count();
            several += u64::from(segments > 1 && logs > 1);
            all.extend(flip(&store, &mut rng, 200));
        }
    }
    let sum = |of: fn(&Seen) -> u64| all.iter().map(of).sum();
    explored("stores of several segments and log segments", several, 8);
    explored("stores with a damaged byte salvaged", all.len() as u64, 2_000);
    explored("of these with a lost commit", sum(|seen| seen.commits), 700);
    explored("of these with a lost image", sum(|seen| seen.subgraphs), 300);
    explored("of these with something stale", sum(|seen| seen.stale), 100);
}
