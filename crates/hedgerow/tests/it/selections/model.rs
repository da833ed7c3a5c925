//! A graph with a model of it, and the edges of the model that a selection takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow::{
    Comparison, Condition, Durability, EdgeDirection, EdgeKey, EdgeSelection, Graph, KeyKind, LabelOptions,
    Options, Predicate, PropertyType, Value,
};
use hedgerow_io::Vfs;
use hedgerow_workload::rng::Rng;

pub(super) const LABELS: [&str; 4] = ["", "plain", "multi", "none"];
/// The number of vertices: several subgraphs, and a hub whose lists are in parts.
pub(super) const VERTICES: u64 = 300;

/// The label, the source, the destination and the rank; in an undirected graph the smaller end comes first.
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

    /// Makes a store of a kind (directed, with incoming edges, weighted) in files.
    pub(super) fn on(disk: Arc<dyn Vfs>, kind: (bool, bool, bool), seed: u64) -> World {
        let graph = options(kind).durability(Durability::Manual).open_on(disk).unwrap();
        World::of(graph, (kind.0, kind.2), seed)
    }

    fn of(graph: Graph, (directed, weighted): (bool, bool), seed: u64) -> World {
        for (label, multi) in [("plain", false), ("multi", true), ("none", false)] {
            let options = LabelOptions::new().multi(multi).property("number", PropertyType::I64);
            let options = options.property("share", PropertyType::F64);
            // Only the label `multi` has the property `text`.
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
                assert_eq!(tx.remove_edge(named).unwrap(), self.edges.remove(&key).is_some());
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

/// Conditions joined by and, or and not.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Is(&'static str, Condition),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn draw(rng: &mut Rng, names: &[&'static str], depth: u64) -> Tree {
        match rng.below(4) {
            0 if depth > 0 => Tree::Not(Box::new(Tree::draw(rng, names, depth - 1))),
            form @ (1 | 2) if depth > 0 => {
                let mut part = || Box::new(Tree::draw(rng, names, depth - 1));
                let (one, other) = (part(), part());
                if form == 1 { Tree::And(one, other) } else { Tree::Or(one, other) }
            }
            _ => {
                let (name, condition) = condition(&mut |n| rng.below(n) as usize, names);
                Tree::Is(name, condition)
            }
        }
    }

    fn predicate(&self) -> Predicate {
        match self {
            Tree::Is(name, condition) => Predicate::new(*name, condition.clone()),
            Tree::Not(part) => !part.predicate(),
            Tree::And(one, other) => one.predicate() & other.predicate(),
            Tree::Or(one, other) => one.predicate() | other.predicate(),
        }
    }

    /// Returns the truth for an edge, in the three values of SQL.
    fn truth(&self, label: usize, edge: &Edge) -> Option<bool> {
        match self {
            Tree::Is(name, condition) => {
                let known = passes(&(name, Condition::NotNull), label, edge);
                let is_about_null = matches!(condition, Condition::Null | Condition::NotNull);
                (known || is_about_null).then(|| passes(&(name, condition.clone()), label, edge))
            }
            Tree::Not(part) => part.truth(label, edge).map(|truth| !truth),
            Tree::And(one, other) => match (one.truth(label, edge), other.truth(label, edge)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Tree::Or(one, other) => match (one.truth(label, edge), other.truth(label, edge)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
}

/// Draws a condition on one of these properties.
fn condition(any: &mut impl FnMut(u64) -> usize, names: &[&'static str]) -> (&'static str, Condition) {
    let name = names[any(names.len() as u64)];
    let mut value = || match name {
        "number" => Value::I64(any(9) as i64 - 4),
        "share" => Value::F64([0.0, -0.0, 2.0][any(3)]),
        "text" => Value::from(["a", "b", ""][any(3)]),
        _ => Value::F64(any(6) as f64),
    };
    let (value, other, third) = (value(), value(), value());
    let condition = match any(8) {
        0 | 1 => Condition::one_of([value, other, third]),
        2 => Condition::Null,
        3 => Condition::NotNull,
        4 if name == "text" => Condition::prefix(value),
        _ => Condition::Compares(Comparison::ALL[any(6)], value),
    };
    (name, condition)
}

/// The chosen edges, in the form of the model.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) labels: Option<Vec<usize>>,
    pub(super) ranks: Option<(u64, u64)>,
    pub(super) direction: EdgeDirection,
    pub(super) conditions: Vec<(&'static str, Condition)>,
    pub(super) tree: Option<Tree>,
    pub(super) weight: Option<(&'static str, f64)>,
}

impl Chosen {
    pub(super) fn draw(rng: &mut Rng, weighted: bool) -> Chosen {
        let mut any = |n: u64| rng.below(n) as usize;
        let sets: [&[usize]; 6] = [&[0], &[2], &[0, 1], &[2, 1], &[3, 2, 0, 2], &[0, 1, 2]];
        let labels = if any(4) == 0 { None } else { Some(sets[any(6)].to_vec()) };
        // Conditions use only properties that at least one of the chosen labels has.
        let has = |label: usize, name: &str| match name {
            "text" => label == 2,
            "weight" => weighted && label == 0,
            _ => label > 0,
        };
        let of_one = |name: &str| {
            (0..LABELS.len()).any(|l| has(l, name) && labels.as_ref().is_none_or(|of| of.contains(&l)))
        };
        let names: Vec<&str> =
            ["number", "share", "text", "weight"].into_iter().filter(|name| of_one(name)).collect();
        let count = if names.is_empty() { 0 } else { [0, 1, 1, 2, 3][any(5)] };
        let conditions = (0..count).map(|_| condition(&mut any, &names)).collect();
        let (ranks, direction) = (any(4), any(3));
        let weight = any(3);
        let tree = (!names.is_empty() && any(2) == 0).then(|| Tree::draw(rng, &names, 3));
        Chosen {
            labels,
            ranks: [None, Some((0, 10)), Some((10, 10)), Some((25, u64::MAX))][ranks],
            direction: [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both][direction],
            conditions,
            tree,
            weight: [None, Some(("share", 7.0)), Some(("number", -1.0))][weight],
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
        for (name, condition) in &self.conditions {
            selection = match condition {
                Condition::Compares(comparison, value) => selection.filter(name, *comparison, value.clone()),
                condition => selection.filter_by(name, condition.clone()),
            };
        }
        if let Some(tree) = &self.tree {
            selection = selection.matching(tree.predicate());
        }
        if let Some((name, missing)) = self.weight {
            selection = selection.weighted_by(name, Some(missing));
        }
        selection.direction(self.direction)
    }

    pub(super) fn takes(&self, key: &Key, edge: &Edge) -> bool {
        let label = self.labels.as_ref().is_none_or(|labels| labels.contains(&key.0));
        let rank = self.ranks.is_none_or(|(first, last)| first <= key.3 && key.3 <= last);
        let tree = self.tree.as_ref().is_none_or(|tree| tree.truth(key.0, edge) == Some(true));
        label && rank && tree && self.conditions.iter().all(|condition| passes(condition, key.0, edge))
    }

    pub(super) fn weight(&self, edge: &Edge) -> f64 {
        match self.weight {
            Some(("share", missing)) => edge.share.unwrap_or(missing),
            Some((_, missing)) => edge.number.map_or(missing, |n| n as f64),
            None => edge.weight,
        }
    }
}

/// Returns the result of a condition by the operators of Rust.
pub(super) fn passes((name, condition): &(&str, Condition), label: usize, edge: &Edge) -> bool {
    let texts = |value: &Value| if let Value::Utf8(text) = value { text.to_string() } else { String::new() };
    let starts = |found: &String, start: &Value| found.starts_with(&texts(start));
    match *name {
        "number" => {
            meets(condition, edge.number, |v| if let Value::I64(n) = v { *n } else { 0 }, |_, _| false)
        }
        "share" => meets(condition, edge.share, number, |_, _| false),
        "text" => meets(condition, edge.text.clone(), texts, starts),
        "weight" => meets(condition, (label == 0).then_some(edge.weight), number, |_, _| false),
        other => panic!("{other}"),
    }
}

fn number(value: &Value) -> f64 {
    if let Value::F64(number) = value { *number } else { 0.0 }
}

fn meets<T: PartialOrd>(
    condition: &Condition,
    found: Option<T>,
    read: impl Fn(&Value) -> T,
    starts: impl Fn(&T, &Value) -> bool,
) -> bool {
    let Some(found) = found else { return *condition == Condition::Null };
    match condition {
        Condition::Compares(comparison, value) => {
            let given = read(value);
            match comparison {
                Comparison::Equal => found == given,
                Comparison::NotEqual => found != given,
                Comparison::Less => found < given,
                Comparison::LessOrEqual => found <= given,
                Comparison::Greater => found > given,
                Comparison::GreaterOrEqual => found >= given,
            }
        }
        Condition::OneOf(_) => condition.values().iter().any(|value| found == read(value)),
        Condition::Prefix(start) => starts(&found, start),
        Condition::NotNull => true,
        _ => false,
    }
}

/// The entries of the list of every vertex: the other end, the label, the rank and the weight.
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
