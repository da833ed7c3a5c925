//! A graph beside a model of it, and what a selection takes of the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow::{
    Comparison, Durability, EdgeDirection, EdgeKey, EdgeSelection, Graph, KeyKind, LabelOptions, Options,
    PropertyType, Value,
};
use hedgerow_io::Vfs;
use hedgerow_workload::rng::Rng;

pub(super) const LABELS: [&str; 4] = ["", "plain", "multi", "none"];
/// Some subgraphs, and a hub whose lists have parts.
pub(super) const VERTICES: u64 = 300;

/// Label, source, destination and rank; of an undirected graph the smaller end first.
pub(super) type Key = (usize, u64, u64, u64);

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Edge {
    pub(super) weight: f64,
    pub(super) number: Option<i64>,
    pub(super) share: Option<f64>,
    pub(super) text: Option<String>,
}

pub(super) type Edges = BTreeMap<Key, Edge>;

pub(super) struct World {
    pub(super) graph: Graph,
    pub(super) edges: Edges,
    pub(super) directed: bool,
    pub(super) weighted: bool,
    pub(super) rng: Rng,
}

fn options((directed, reverse, weighted): (bool, bool, bool)) -> Options {
    let options = crate::common::small().keys(KeyKind::Dense).directed(directed).weighted(weighted);
    options.reverse(reverse).background_settling(false)
}

impl World {
    pub(super) fn new(directed: bool, reverse: bool, weighted: bool, seed: u64) -> World {
        let graph = options((directed, reverse, weighted)).in_memory().unwrap();
        World::of(graph, (directed, weighted), seed)
    }

    /// A store of a kind (directed, with incoming edges, weighted) in files.
    pub(super) fn on(disk: Arc<dyn Vfs>, kind: (bool, bool, bool), seed: u64) -> World {
        let graph = options(kind).durability(Durability::Manual).open_on(disk).unwrap();
        World::of(graph, (kind.0, kind.2), seed)
    }

    fn of(graph: Graph, (directed, weighted): (bool, bool), seed: u64) -> World {
        for (label, multi) in [("plain", false), ("multi", true), ("none", false)] {
            let options = LabelOptions::new().multi(multi).property("number", PropertyType::I64);
            let options = options.property("share", PropertyType::F64);
            // One label has not all properties.
            let text = options.clone().property("text", PropertyType::Utf8);
            graph.define_label(label, if multi { text } else { options }).unwrap();
        }
        let mut tx = graph.write().unwrap();
        (0..VERTICES).for_each(|v| _ = tx.insert_vertex(v).unwrap());
        tx.commit().unwrap();
        World { graph, edges: Edges::new(), directed, weighted, rng: Rng::new(seed) }
    }

    pub(super) fn vertex(&mut self) -> u64 {
        // A third of all ends are the hub.
        if self.rng.below(3) == 0 { 70 } else { self.rng.below(VERTICES) }
    }

    pub(super) fn commit(&mut self) {
        let mut tx = self.graph.write().unwrap();
        for _ in 0..1 + self.rng.below(60) {
            let label = self.rng.below(3) as usize;
            let (a, b) = (self.vertex(), self.vertex());
            let (src, dst) = if self.directed { (a, b) } else { (a.min(b), a.max(b)) };
            let rank = if label == 2 { self.rng.below(4) * 10 } else { 0 };
            let key = (label, src, dst, rank);
            let named = EdgeKey::new(LABELS[label], a, b).rank(rank);
            if self.rng.below(4) == 0 {
                assert_eq!(tx.remove_edge_of(named).unwrap(), self.edges.remove(&key).is_some());
                continue;
            }
            let mut edge = Edge { weight: 1.0, ..Edge::default() };
            let mut cells: Vec<(&str, Value)> = Vec::new();
            if label > 0 && self.rng.below(3) > 0 {
                edge.number = Some(self.rng.below(9) as i64 - 4);
                cells.extend(edge.number.map(|n| ("number", Value::I64(n))));
            }
            if label > 0 && self.rng.below(2) > 0 {
                edge.share = Some(if self.rng.below(8) == 0 { f64::NAN } else { self.rng.below(5) as f64 });
                cells.extend(edge.share.map(|x| ("share", Value::F64(x))));
            }
            if label == 2 && self.rng.below(2) > 0 {
                edge.text = Some(["a", "b", "bb"][self.rng.below(3) as usize].to_owned());
                cells.extend(edge.text.iter().map(|text| ("text", Value::from(text.as_str()))));
            }
            if label == 0 && self.weighted {
                edge.weight = self.rng.below(6) as f64;
                cells.push(("weight", Value::F64(edge.weight)));
            }
            tx.put_edge_with(named, cells).unwrap();
            self.edges.insert(key, edge);
        }
        tx.commit().unwrap();
    }
}

/// What is chosen, for the model.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) labels: Option<Vec<usize>>,
    pub(super) ranks: Option<(u64, u64)>,
    pub(super) direction: EdgeDirection,
    pub(super) filter: Option<(&'static str, Comparison, Value)>,
    pub(super) weight: Option<(&'static str, f64)>,
}

impl Chosen {
    pub(super) fn draw(rng: &mut Rng, weighted: bool) -> Chosen {
        let mut any = |n: u64| rng.below(n) as usize;
        let sets: [&[usize]; 6] = [&[0], &[2], &[0, 1], &[2, 1], &[3, 2, 0, 2], &[0, 1, 2]];
        let labels = if any(4) == 0 { None } else { Some(sets[any(6)].to_vec()) };
        let mut filter = match any(5) {
            0 => Some(("number", Value::I64(any(9) as i64 - 4))),
            1 => Some(("share", Value::F64([0.0, -0.0, 2.0, f64::NAN][any(4)]))),
            2 => Some(("text", Value::from(["a", "b"][any(2)]))),
            3 if weighted => Some(("weight", Value::F64(any(6) as f64))),
            _ => None,
        };
        // Of labels of which one has the property.
        let has = |label: usize, name: &str| match name {
            "text" => label == 2,
            "weight" => label == 0,
            _ => label > 0,
        };
        filter =
            filter.filter(|(name, _)| labels.iter().flatten().any(|&l| has(l, name)) || labels.is_none());
        let comparison = Comparison::ALL[any(6)];
        Chosen {
            labels,
            ranks: [None, Some((0, 10)), Some((10, 10)), Some((25, u64::MAX))][any(4)],
            direction: [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both][any(3)],
            filter: filter.map(|(name, value)| (name, comparison, value)),
            weight: [None, Some(("share", 7.0)), Some(("number", -1.0))][any(3)],
        }
    }

    pub(super) fn selection(&self) -> EdgeSelection<'static> {
        let mut selection = match &self.labels {
            None => EdgeSelection::all(),
            Some(labels) => EdgeSelection::of_labels(labels.iter().map(|&label| LABELS[label])),
        };
        if let Some((first, last)) = self.ranks {
            selection = selection.ranks(first..=last);
        }
        if let Some((name, comparison, value)) = &self.filter {
            selection = selection.filter(name, *comparison, value.clone());
        }
        if let Some((name, missing)) = self.weight {
            selection = selection.weighted_by(name, Some(missing));
        }
        selection.direction(self.direction)
    }

    pub(super) fn takes(&self, key: &Key, edge: &Edge) -> bool {
        let label = self.labels.as_ref().is_none_or(|labels| labels.contains(&key.0));
        let rank = self.ranks.is_none_or(|(first, last)| first <= key.3 && key.3 <= last);
        label && rank && self.filter.as_ref().is_none_or(|filter| passes(filter, key.0, edge))
    }

    pub(super) fn weight(&self, edge: &Edge) -> f64 {
        match self.weight {
            Some(("share", missing)) => edge.share.unwrap_or(missing),
            Some((_, missing)) => edge.number.map_or(missing, |n| n as f64),
            None => edge.weight,
        }
    }
}

/// By the operators of Rust.
pub(super) fn passes(
    (name, comparison, value): &(&str, Comparison, Value),
    label: usize,
    edge: &Edge,
) -> bool {
    pub(super) fn holds<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> bool {
        match comparison {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
        }
    }
    match (*name, value) {
        ("number", Value::I64(n)) => edge.number.is_some_and(|found| holds(*comparison, found, *n)),
        ("share", Value::F64(x)) => edge.share.is_some_and(|found| holds(*comparison, found, *x)),
        ("text", Value::Utf8(text)) => {
            edge.text.as_deref().is_some_and(|found| holds(*comparison, found, &**text))
        }
        ("weight", Value::F64(x)) => label == 0 && holds(*comparison, edge.weight, *x),
        other => panic!("{other:?}"),
    }
}

/// The entries of every vertex's list: other end, label, rank, weight.
pub(super) type Lists = BTreeMap<u64, Vec<(u64, usize, u64, f64)>>;

pub(super) fn lists(edges: &Edges, chosen: &Chosen, directed: bool) -> Lists {
    let mut lists = Lists::new();
    for (key, edge) in edges.iter().filter(|(key, edge)| chosen.takes(key, edge)) {
        let &(label, src, dst, rank) = key;
        let (along, against) = match chosen.direction {
            _ if !directed => (true, src != dst),
            EdgeDirection::Out => (true, false),
            EdgeDirection::In => (false, true),
            EdgeDirection::Both => (true, src != dst),
        };
        let weight = chosen.weight(edge);
        if along {
            lists.entry(src).or_default().push((dst, label, rank, weight));
        }
        if against {
            lists.entry(dst).or_default().push((src, label, rank, weight));
        }
    }
    lists.values_mut().for_each(|list| list.sort_by_key(|entry| (entry.0, entry.1, entry.2)));
    lists
}
