//! Repeated reads of a snapshot. Between them other transactions define labels, kinds and properties, and
//! write and remove first and last edges.

use hedgerow::{
    Comparison, CsrOptions, Direction, Durability, EdgeDirection, EdgeKey, EdgePattern, EdgeRow,
    EdgeSelection, Graph, KHopOptions, KeyKind, KindId, LabelOptions, MissingVertex, PropertyType, Snapshot,
    TieredView, VertexId, VertexKey, WeightedTopology,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::effort::{Effort, explored};
use hedgerow_testkit::sim_fs::SplitMix64;

use super::{NONE, of_kind};

const LABELS: [&str; 6] = ["", "a", "b", "c", "d", "e"];
const KINDS: [&str; 2] = ["user", "page"];
const VERTICES: u64 = 12;

/// A store, and the random source of its later changes.
struct World {
    graph: Graph,
    rng: SplitMix64,
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = SplitMix64::new(seed);
        let (directed, weighted) = (rng.below(3) > 0, rng.below(2) == 0);
        let options = crate::common::small().directed(directed).weighted(weighted);
        let options = options.durability(Durability::Manual).background_settling(false);
        let graph = options.open_on(SimFs::new().handle()).unwrap();
        World { graph, rng }
    }

    fn key(&mut self) -> VertexKey {
        let (n, schema) = (self.rng.below(VERTICES), self.graph.schema());
        match self.rng.below(2 + schema.kinds().len() as u64) {
            0 | 1 => n.into(),
            kind => of_kind(schema.kinds()[kind as usize - 2].id(), n),
        }
    }

    fn label(&mut self) -> &'static str {
        LABELS[self.rng.below(LABELS.len() as u64) as usize]
    }

    /// Defines a name or commits a change. A refused step changes nothing.
    fn step(&mut self) {
        let (label, n) = (self.label(), self.rng.below(1 << 20));
        match self.rng.below(12) {
            0 => _ = self.graph.define_kind(KINDS[n as usize % 2], KeyKind::U64).unwrap(),
            1 => {
                let mut options = LabelOptions::new().multi(n % 3 == 0);
                let kinds: Vec<KindId> = self.graph.schema().kinds().iter().map(|kind| kind.id()).collect();
                if let [first, .., last] | [first @ last] = kinds[..]
                    && n % 2 == 0
                {
                    options = options.ends(first, last);
                }
                _ = self.graph.define_label(label, options);
            }
            2 => {
                let (name, of) =
                    [("x", PropertyType::I64), ("weight", PropertyType::F64), ("weight", PropertyType::Utf8)]
                        [n as usize % 3];
                _ = self.graph.define_edge_property(label, name, of);
            }
            3 => _ = self.graph.define_vertex_property(KindId::DEFAULT, "name", PropertyType::Utf8),
            4 | 5 => {
                let key = self.key();
                let mut tx = self.graph.write().unwrap();
                let done = if n % 2 == 0 { tx.insert_vertex(&key) } else { tx.remove_vertex(&key) };
                done.unwrap();
                tx.commit().unwrap();
            }
            6 => {
                // Removes all edges of a label, also the last one.
                let Ok(snapshot) = self.graph.snapshot() else { return };
                let mut all = Vec::new();
                let row = |row: hedgerow::EdgeRow<'_>| all.push((row.src(), row.dst(), row.rank()));
                if snapshot.for_each_edge(label, row).is_ok() {
                    for (src, dst, rank) in all {
                        let [src, dst] = [src, dst].map(|v| snapshot.vertex_key(v).unwrap().unwrap());
                        self.graph.remove_edge(EdgeKey::new(label, &src, &dst).rank(rank)).unwrap();
                    }
                }
            }
            7 => _ = self.graph.checkpoint().unwrap(),
            8 => _ = self.graph.internals().evict().unwrap(),
            _ => {
                let (src, dst, rank) = (self.key(), self.key(), n % 2);
                let edge = EdgeKey::new(label, &src, &dst).rank(rank);
                let mut tx = self.graph.write().unwrap();
                let put = match n % 3 {
                    0 => tx.put_edge_with(edge, [("x", n as i64 % 5)]),
                    1 => tx.put_edge_with(edge, [("weight", (n % 7) as f64)]),
                    _ => tx.put_edge_with(edge, NONE),
                };
                if put.is_ok() {
                    _ = tx.commit();
                }
            }
        }
    }

    /// Makes a random question: the kind of read, the edges, and the vertices.
    fn question(&mut self) -> Question {
        let some = |rng: &mut SplitMix64| -> Option<Vec<&'static str>> {
            let count = rng.below(4);
            let label = |rng: &mut SplitMix64| LABELS[rng.below(LABELS.len() as u64) as usize];
            (count > 0).then(|| (0..count).map(|_| label(rng)).collect())
        };
        Question {
            read: self.rng.below(READS),
            labels: some(&mut self.rng),
            direction: [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both]
                [self.rng.below(3) as usize],
            filter: self.rng.below(4) == 0,
            ranks: self.rng.below(4) == 0,
            weight: self.rng.below(4),
            keys: [self.key(), self.key()],
        }
    }
}

const READS: u64 = 28;

#[derive(Debug)]
struct Question {
    read: u64,
    labels: Option<Vec<&'static str>>,
    direction: EdgeDirection,
    filter: bool,
    ranks: bool,
    weight: u64,
    keys: [VertexKey; 2],
}

fn told<T: std::fmt::Debug>(answer: hedgerow::Result<T>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

fn graph_of(view: &impl WeightedTopology) -> String {
    let ids = (0..view.vertex_bound() as u32).map(VertexId);
    let all: Vec<VertexId> = ids.filter(|&v| view.contains(v)).collect();
    let mut lists = Vec::new();
    let visited = view.visit_weighted(all.iter().copied(), Direction::Out, |v, run, weights| {
        let each = run.iter().enumerate().map(|(at, u)| (v, *u, weights.get(at).map(|w| w.to_bits())));
        lists.extend(each);
    });
    assert!(visited.is_ok());
    lists.sort();
    format!("{} {} {} {all:?} {lists:?}", view.has_weights(), view.edge_count(), view.is_directed())
}

impl Question {
    fn answer(&self, snapshot: &Snapshot) -> String {
        let mut selection = match &self.labels {
            None => EdgeSelection::all(),
            Some(labels) => EdgeSelection::of_labels(labels.iter().copied()),
        };
        selection = selection.direction(self.direction);
        if self.filter {
            selection = selection.filter("x", Comparison::Greater, 1);
        }
        if self.ranks {
            selection = selection.ranks(1..);
        }
        selection = match self.weight {
            0 => selection.weighted(),
            1 => selection.weighted_by("weight", None),
            2 => selection.weighted_by("weight", Some(3.0)),
            _ => selection,
        };
        let (selection, [v, w]) = (&selection, &self.keys);
        let label = self.labels.as_ref().map_or("", |labels| labels[0]);
        let along = if self.direction == EdgeDirection::In { Direction::In } else { Direction::Out };
        let keys = [v, w];
        match self.read {
            0 => told(snapshot.edge_list(v, selection)),
            1 => told(snapshot.degree(v, selection)),
            2 => told(snapshot.edges(v, selection)),
            3 => told(snapshot.k_hop(&keys, selection, KHopOptions::new(2))),
            4 => told(snapshot.edge_count_of(selection)),
            5 => {
                let mut all = Vec::new();
                let each = |edge: EdgeRow<'_>| {
                    all.push((edge.label(), edge.src(), edge.dst(), edge.rank(), edge.weight().to_bits()));
                };
                told(snapshot.for_each_edge(selection, each).map(|()| all))
            }
            6 => told(snapshot.view(selection).map(|view| graph_of(&*view))),
            7 => told(TieredView::new(snapshot, selection).map(|view| graph_of(&view))),
            8 => told(EdgeSelection::all().labels_with_edges(snapshot)),
            9 => told(EdgeSelection::all().only_label(snapshot)),
            10 => told(EdgeSelection::of(label).labels_with_edges(snapshot)),
            11 => {
                let schema = snapshot.schema();
                format!("{:?} {:?} {:?}", schema.labels(), schema.kinds(), schema.vertex_properties())
            }
            12 => told(snapshot.scan_vertices().unwrap().keys()),
            13 => told(snapshot.edge_list(v, (label, along))),
            14 => told(snapshot.degree(v, (label, along))),
            15 => told(snapshot.edges(v, (label, along))),
            16 => told(snapshot.edge_list(v, along)),
            17 => told(snapshot.degree(v, along)),
            18 => told(snapshot.edges(v, along)),
            19 => told(snapshot.degrees(&keys, (label, along), MissingVertex::Empty)),
            20 => told(snapshot.neighbor_lists(&keys, (label, along), MissingVertex::Refuse)),
            21 => told(snapshot.degrees(&keys, along, MissingVertex::Empty)),
            22 => told(snapshot.contains_edge(EdgePattern::between(v, w))),
            23 => told(snapshot.contains_edge(EdgeKey::new(label, v, w))),
            24 => told(snapshot.csr(label, CsrOptions::new())),
            25 => told(snapshot.edge_count_of(label)),
            26 => told(snapshot.vertex_property(v, "name")),
            _ => told(snapshot.csr(label, CsrOptions::new().weight("weight"))),
        }
    }
}

#[test]
fn answers_depend_on_the_call_and_the_snapshot_alone() {
    let (effort, mut snapshots, mut reads, mut refused) = (Effort::rounds(100), 0, 0, 0);
    while let Some(seed) = effort.next_seed() {
        let mut world = World::new(seed);
        for _ in 0..world.rng.below(60) {
            world.step();
        }
        let snapshot = world.graph.snapshot().unwrap();
        let questions: Vec<Question> = (0..20).map(|_| world.question()).collect();
        let before: Vec<String> = questions.iter().map(|question| question.answer(&snapshot)).collect();
        for _ in 0..3 {
            for _ in 0..world.rng.below(12) {
                world.step();
            }
            for (question, before) in questions.iter().zip(&before) {
                assert_eq!(&question.answer(&snapshot), before, "round {seed}: {question:?}");
            }
        }
        snapshots += 1;
        reads += questions.len() as u64;
        refused += before.iter().filter(|answer| answer.starts_with("refused")).count() as u64;
    }
    explored("snapshots asked again after commits elsewhere", snapshots, 100);
    explored("reads asked again after commits elsewhere", reads, 2_000);
    explored("of these refused, in the same words again", refused, 100);
}
