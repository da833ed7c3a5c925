//! Tests of reads by label, over all labels and of rows, against a map of edges. The readers are new
//! snapshots, old snapshots, and transactions that see their own writes.

use crate::{EdgeLimit, EdgeOf};
use std::collections::BTreeMap;

use hedgerow_core::{Comparison, Direction, KeyKind, LabelId, Value, ValueRef, VertexKey};
use hedgerow_testkit::sim_fs::SplitMix64;

use crate::LabelOptions;
use crate::commit::WriteTxn;
use crate::graph::Graph;
use crate::options::{Options, Thresholds};
use crate::read::all_labels::EdgePattern;
use crate::read::many::MissingVertex;
use crate::read::selection::EdgeSelection;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::EdgeDirection;
use crate::state::edge_key::EdgeKey;

/// The names of the labels by their numbers. Edges of the last one have ranks.
const LABELS: [&str; 3] = ["", "knows", "calls"];
const RANKS: u64 = 3;
/// The keys of vertices at the borders of three subgraphs.
const KEYS: [u64; 6] = [0, 1, 63, 64, 127, 130];

/// The label, the ends in stored order, and the rank of an edge.
type Edge = (usize, u64, u64, u64);

#[derive(Clone)]
struct Model {
    directed: bool,
    /// The edges, each with the value of its property `w`.
    edges: BTreeMap<Edge, i64>,
}

impl Model {
    fn stored(&self, (label, src, dst, rank): Edge) -> Edge {
        if self.directed || src <= dst { (label, src, dst, rank) } else { (label, dst, src, rank) }
    }

    /// Returns the edges of a label at a vertex: other ends and ranks, sorted.
    fn at(&self, label: usize, key: u64, direction: Direction) -> Vec<(VertexKey, u64)> {
        let end = |&(of, src, dst, rank): &Edge| {
            let other = match direction {
                _ if of != label => return None,
                Direction::Out if src == key => dst,
                Direction::In if dst == key => src,
                _ if self.directed => return None,
                _ if src == key => dst,
                _ if dst == key => src,
                _ => return None,
            };
            Some((VertexKey::U64(other), rank))
        };
        let mut found: Vec<_> = self.edges.keys().filter_map(end).collect();
        found.sort_unstable();
        found
    }
}

/// A selection: labels, none for all; a range of ranks; the least value of `w`; and a direction.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    labels: &'static [usize],
    ranks: (u64, u64),
    least: Option<i64>,
    direction: EdgeDirection,
}

impl Wanted {
    /// Returns every seventh of the selections: of one label, of several and of all, with and without
    /// conditions, in each direction. The number of edges decides where to begin, so that each is met.
    fn some(model: &Model) -> impl Iterator<Item = Wanted> {
        let labels: [&[usize]; 5] = [&[], &[0], &[2], &[1, 2], &[2, 0, 0]];
        let directions = [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both];
        let of = move |(ranks, least)| {
            labels.into_iter().flat_map(move |labels| {
                directions.map(|direction| Wanted { labels, ranks, least, direction })
            })
        };
        [((0, u64::MAX), None), ((1, 2), None), ((0, u64::MAX), Some(1 << 19)), ((0, 1), Some(1 << 18))]
            .into_iter()
            .flat_map(of)
            .skip(model.edges.len() % 7)
            .step_by(7)
    }

    fn selection(self) -> EdgeSelection<'static> {
        let selection = match self.labels {
            [] => EdgeSelection::all(),
            labels => EdgeSelection::of_labels(labels.iter().map(|&label| LABELS[label])),
        };
        let selection = selection.direction(self.direction);
        let selection = match self.ranks {
            (0, u64::MAX) => selection,
            (first, last) => selection.ranks(first..=last),
        };
        match self.least {
            Some(least) => selection.filter("w", Comparison::GreaterOrEqual, least),
            None => selection,
        }
    }

    fn takes(self, (label, _, _, rank): Edge, w: i64) -> bool {
        (self.labels.is_empty() || self.labels.contains(&label))
            && (self.ranks.0..=self.ranks.1).contains(&rank)
            && self.least.is_none_or(|least| w >= least)
    }

    /// Returns the chosen edges at a vertex: other ends, labels and ranks, sorted.
    fn at(self, model: &Model, key: u64) -> Vec<(VertexKey, LabelId, u64)> {
        let end = |(&edge, &w): (&Edge, &i64)| {
            let (label, src, dst, rank) = edge;
            let both = !model.directed || self.direction == EdgeDirection::Both;
            let out = both || self.direction == EdgeDirection::Out;
            let other = match () {
                () if !self.takes(edge, w) => return None,
                () if out && src == key => dst,
                () if (both || !out) && dst == key => src,
                () => return None,
            };
            Some((VertexKey::U64(other), LabelId(label as u16), rank))
        };
        let mut found: Vec<_> = model.edges.iter().filter_map(end).collect();
        found.sort_unstable();
        found
    }
}

fn name((label, src, dst, rank): Edge) -> EdgeKey<'static> {
    EdgeKey::new(LABELS[label], src, dst).rank(rank)
}

/// Returns a random edge. Its ends may be in another order than the stored one.
fn any_edge(rng: &mut SplitMix64) -> Edge {
    let label = rng.below(LABELS.len() as u64) as usize;
    let [src, dst] = [(); 2].map(|()| KEYS[rng.below(KEYS.len() as u64) as usize]);
    (label, src, dst, if label == 2 { rng.below(RANKS) } else { 0 })
}

/// Compares with the model the reads that snapshots and transactions share.
macro_rules! point_reads_agree {
    ($reader:expr, $model:expr) => {{
        let (reader, model): (_, &Model) = ($reader, $model);
        for (src, dst) in KEYS.iter().flat_map(|&src| KEYS.map(|dst| (src, dst))) {
            let mut ranks = Vec::new();
            for label in 0..LABELS.len() {
                let mut of_label = 0;
                for rank in 0..if label == 2 { RANKS } else { 1 } {
                    let edge = (label, src, dst, rank);
                    let value = model.edges.get(&model.stored(edge)).copied();
                    assert_eq!(reader.contains_edge(name(edge)).unwrap(), value.is_some(), "{edge:?}");
                    let found = reader.edge_property(name(edge), "w").unwrap();
                    assert_eq!(found, value.map(Value::I64), "{edge:?}");
                    of_label += usize::from(value.is_some());
                    ranks.extend(value.map(|_| rank));
                }
                let pattern = EdgePattern::between(src, dst).label(LABELS[label]);
                let found = reader.contains_edge(pattern).unwrap();
                assert_eq!(found, of_label > 0, "label {label} from {src} to {dst}");
            }
            let pattern = EdgePattern::between(src, dst);
            assert_eq!(reader.contains_edge(pattern).unwrap(), !ranks.is_empty(), "{src} to {dst}");
            for rank in 0..RANKS {
                let found = reader.contains_edge(pattern.rank(rank)).unwrap();
                assert_eq!(found, ranks.contains(&rank), "{src} to {dst}, rank {rank}");
            }
        }
        for (key, direction) in KEYS.iter().flat_map(|&key| [(key, Direction::Out), (key, Direction::In)]) {
            let mut all = Vec::new();
            for (label, of) in LABELS.into_iter().enumerate() {
                let expected = model.at(label, key, direction);
                let id = LabelId(label as u16);
                let expected: Vec<_> = expected.into_iter().map(|(other, rank)| (other, id, rank)).collect();
                assert_eq!(reader.degree(key, (of, direction)).unwrap(), Some(expected.len()));
                assert_eq!(reader.edge_list(key, (of, direction)).unwrap(), Some(expected.clone()));
                let others = expected.iter().map(|(other, ..)| other.clone()).collect();
                assert_eq!(reader.neighbors(key, (of, direction)).unwrap(), Some(others));
                all.extend(expected);
            }
            all.sort_unstable();
            assert_eq!(reader.degree(key, direction).unwrap(), Some(all.len()));
            assert_eq!(reader.edge_list(key, direction).unwrap(), Some(all));
        }
        for (wanted, &key) in Wanted::some(model).flat_map(|wanted| KEYS.iter().map(move |key| (wanted, key)))
        {
            let (selection, expected) = (wanted.selection(), wanted.at(model, key));
            assert_eq!(reader.degree(key, &selection).unwrap(), Some(expected.len()), "{key} {wanted:?}");
            let others = expected.iter().map(|(other, ..)| other.clone()).collect();
            assert_eq!(reader.neighbors(key, &selection).unwrap(), Some(others), "{key} {wanted:?}");
            assert_eq!(reader.edge_list(key, &selection).unwrap(), Some(expected), "{key} {wanted:?}");
        }
    }};
}

/// Compares with the model the reads of a snapshot that take a selection.
fn selections_agree(snapshot: &Snapshot, model: &Model) {
    let pairs: Vec<_> = KEYS.iter().flat_map(|&src| KEYS.map(|dst| (src, dst))).collect();
    for wanted in Wanted::some(model) {
        let selection = wanted.selection();
        let lists = KEYS.map(|key| wanted.at(model, key));
        let degrees: Vec<_> = lists.iter().map(|list| list.len() as u64).collect();
        let refuse = MissingVertex::Refuse;
        assert_eq!(snapshot.degrees(&KEYS, &selection, refuse).unwrap(), degrees, "{wanted:?}");
        let found = snapshot.neighbor_lists(&KEYS, &selection, refuse).unwrap();
        let others = lists.iter().flatten().map(|(other, ..)| other.clone());
        assert!(found.neighbors.to_vec().into_iter().eq(others), "{wanted:?}");
        let count = model.edges.iter().filter(|&(&edge, &w)| wanted.takes(edge, w)).count();
        assert_eq!(snapshot.edge_count_of(&selection).unwrap(), count as u64, "{wanted:?}");
        let mut scanned = 0;
        snapshot
            .for_each_edge(&selection, |edge| {
                let stored = (edge.label().0.into(), edge.src().0.into(), edge.dst().0.into(), edge.rank());
                assert!(wanted.takes(stored, model.edges[&stored]), "{stored:?} {wanted:?}");
                scanned += 1;
            })
            .unwrap();
        assert_eq!(scanned, count, "{wanted:?}");
        let joined: Vec<_> = KEYS
            .iter()
            .zip(&lists)
            .flat_map(|(_, list)| KEYS.map(|to| list.iter().any(|(other, ..)| *other == VertexKey::U64(to))))
            .collect();
        assert_eq!(snapshot.contains_edges(&pairs, &selection).unwrap(), joined, "{wanted:?}");
        let mut expansion = snapshot.expand(&KEYS, &selection, refuse).unwrap();
        for (key, list) in KEYS.into_iter().zip(&lists) {
            let mut found = Vec::new();
            let more = expansion.next_vertex(|edge| {
                let (src, dst) = (u64::from(edge.src().0), u64::from(edge.dst().0));
                let stored = model.stored((edge.label().0.into(), src, dst, edge.rank()));
                let label = snapshot.schema().label_by_id(edge.label()).unwrap().property("w").unwrap().id();
                assert_eq!(edge.get(label), ValueRef::I64(model.edges[&stored]), "{stored:?}");
                let other = if src == key { dst } else { src };
                found.push((VertexKey::U64(other), edge.label(), edge.rank()));
            });
            assert!(more.unwrap(), "a vertex without edges is no end");
            found.sort_unstable();
            assert_eq!(&found, list, "expand {key} {wanted:?}");
            let edges = snapshot.edges(key, &selection).unwrap().unwrap();
            let shown = edges.iter().map(|edge| (edge.key.clone(), edge.label, edge.rank));
            assert!(shown.eq(list.iter().cloned()), "{key} {wanted:?}");
            let first = snapshot.first_edges(key, &selection, EdgeLimit::first(2)).unwrap().unwrap();
            assert_eq!((&first.found[..], first.more), (&edges[..edges.len().min(2)], edges.len() > 2));
            let first = EdgeLimit::first(2).without_properties();
            let first = snapshot.first_edges(key, &selection, first).unwrap().unwrap();
            let bare = |edge: &EdgeOf| EdgeOf { properties: Vec::new(), ..edge.clone() };
            assert!(first.found.iter().cloned().eq(edges.iter().take(2).map(bare)), "{key} {wanted:?}");
            assert_eq!(first.more, list.len() > 2);
            let newest = snapshot.first_edges(key, &selection, EdgeLimit::newest(3));
            if wanted.labels == [2] {
                let mut ranks: Vec<_> = list.iter().map(|(_, _, rank)| *rank).collect();
                ranks.sort_unstable_by(|a, b| b.cmp(a));
                let newest = newest.unwrap().unwrap();
                assert_eq!(newest.more, ranks.len() > 3, "{key} {wanted:?}");
                assert!(newest.found.iter().all(|edge| edges.contains(edge)), "{key} {wanted:?}");
                let newest: Vec<_> = newest.found.iter().map(|edge| edge.rank).collect();
                assert_eq!(newest, ranks[..ranks.len().min(3)], "{key} {wanted:?}");
            } else {
                assert!(newest.is_err(), "labels without ranks");
            }
        }
    }
}

/// Compares all reads of a snapshot with the model, including reads of rows and of whole labels.
fn agrees(snapshot: &Snapshot, model: &Model) {
    point_reads_agree!(snapshot, model);
    let mut used = Vec::new();
    for (label, of) in LABELS.into_iter().enumerate() {
        let schema = snapshot.schema();
        let w = schema.label(of).and_then(|label| label.property("w")).map(|w| w.id()).expect("defined");
        let mut rows = Vec::new();
        snapshot
            .for_each_edge(of, |row| match row.get(w) {
                ValueRef::I64(w) => {
                    rows.push(((label, row.src().0.into(), row.dst().0.into(), row.rank()), w));
                }
                other => panic!("{other:?}"),
            })
            .unwrap();
        rows.sort_unstable();
        let expected: Vec<(Edge, i64)> =
            model.edges.iter().filter(|(edge, _)| edge.0 == label).map(|(&edge, &w)| (edge, w)).collect();
        assert_eq!(snapshot.edge_count_of(of).unwrap(), expected.len() as u64, "{of}");
        used.extend((!expected.is_empty()).then_some(LabelId(label as u16)));
        assert_eq!(rows, expected, "rows of {of}");
    }
    assert_eq!(EdgeSelection::all().labels_with_edges(snapshot).unwrap(), used);
    selections_agree(snapshot, model);
}

/// Puts and removes some edges in the transaction and in the model.
fn change(tx: &mut WriteTxn, model: &mut Model, rng: &mut SplitMix64) {
    for _ in 0..1 + rng.below(8) {
        let edge = any_edge(rng);
        let stored = model.stored(edge);
        if rng.eighths(5) {
            let value = rng.below(1 << 20) as i64;
            tx.put_edge_with(name(edge), [("w", value)]).unwrap();
            model.edges.insert(stored, value);
        } else {
            assert_eq!(tx.remove_edge(name(edge)).unwrap(), model.edges.remove(&stored).is_some());
        }
    }
}

fn store(directed: bool, reverse: bool) -> Graph {
    let options = Options::new().keys(KeyKind::Dense).thresholds(Thresholds::SMALL);
    let graph = options.directed(directed).reverse(reverse).in_memory().unwrap();
    for (number, name) in LABELS.into_iter().enumerate() {
        let id = graph.define_label(name, LabelOptions::new().multi(number == 2)).unwrap();
        assert_eq!(usize::from(id.0), number);
        graph.define_edge_property(name, "w", hedgerow_core::PropertyType::I64).unwrap();
    }
    let mut tx = graph.write().unwrap();
    KEYS.iter().for_each(|&key| assert!(tx.insert_vertex(key).unwrap()));
    tx.commit().unwrap();
    graph
}

#[test]
fn reads_agree_with_a_map_of_edges() {
    for (seed, (directed, reverse)) in [(true, true), (true, false), (false, true)].into_iter().enumerate() {
        let graph = store(directed, reverse);
        let mut rng = SplitMix64::new(seed as u64);
        let mut model = Model { directed, edges: BTreeMap::new() };
        let (mut held, mut most) = (Vec::new(), 0);
        agrees(&graph.snapshot().unwrap(), &model);
        for round in 0..60 {
            let mut tx = graph.write().unwrap();
            change(&mut tx, &mut model, &mut rng);
            point_reads_agree!(&mut tx, &model);
            // Later writes of the transaction over its own writes, which it has already read.
            change(&mut tx, &mut model, &mut rng);
            point_reads_agree!(&mut tx, &model);
            tx.commit().unwrap();
            let snapshot = graph.snapshot().unwrap();
            agrees(&snapshot, &model);
            if round % 6 == 0 {
                held.push((snapshot, model.clone()));
            }
            most = most.max(model.edges.len());
        }
        assert!(most > 40, "only {most} edges");
        held.iter().for_each(|(snapshot, then)| agrees(snapshot, then));
    }
}
