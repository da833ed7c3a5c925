//! Every read of a transaction, with the answer of the transaction and the answer of the model.

use std::collections::BTreeMap;

use hedgerow::{Direction, EdgePattern, LabelId, Properties, Value, VertexKey, WriteTxn};
use hedgerow_testkit::{Generator, ItemKey, LABELS, Model, ModelConfig, PROPERTIES, WEIGHT};

use crate::common::rich::{self, edge};
use crate::common::weights::Weights;

/// A kind of read of [`WriteTxn`].
#[derive(Clone, Debug)]
pub(crate) enum Read {
    Vertex(VertexKey),
    Edge(VertexKey, VertexKey),
    Weight(VertexKey, VertexKey),
    Degree(VertexKey, Direction),
    Neighbors(VertexKey, Direction),
    WeightedNeighbors(VertexKey, Direction),
    NeighborsOfAll(VertexKey, Direction),
    DegreeOfAll(VertexKey, Direction),
    AnyEdge(Option<&'static str>, VertexKey, VertexKey, Option<u64>),
    Item(ItemKey),
    Properties(ItemKey),
    Property(ItemKey, &'static str),
    VertexProperties(VertexKey),
    VertexProperty(VertexKey, &'static str),
    NeighborsOf(&'static str, VertexKey, Direction),
    DegreeOf(&'static str, VertexKey, Direction),
    Ranks(&'static str, VertexKey, VertexKey),
}

/// Draws a read of vertices and edges from `generator` or, half of the time, of an edge of `model`.
pub(crate) fn draw(generator: &mut Generator, config: ModelConfig, model: &Model) -> Read {
    let (mut a, mut b) = (generator.key(), generator.key());
    let edges = model.plain_edge_count();
    if edges > 0 && generator.rng().eighths(4) {
        let at = generator.rng().below(edges) as usize;
        let (src, dst, _) = model.edges().nth(at).expect("as many as were counted");
        (a, b) = (src.clone(), dst.clone());
    }
    let direction = [Direction::Out, Direction::In][generator.rng().below(2) as usize];
    let kinds = if config.rich { 18 } else { 10 };
    let label = LABELS[generator.rng().below(3) as usize].0;
    let of_label = config.rich && generator.rng().eighths(4);
    let rank = generator.rng().eighths(3).then(|| generator.rng().below(3));
    let property = PROPERTIES[generator.rng().below(6) as usize].0;
    let mut item = || {
        let items = model.items().count() as u64;
        if items > 0 && generator.rng().eighths(4) {
            let at = generator.rng().below(items) as usize;
            return model.items().nth(at).expect("as many as were counted").0.clone();
        }
        match generator.rng().eighths(4) {
            true => generator.item(),
            false => ItemKey { label: "", src: a.clone(), dst: b.clone(), rank: 0 },
        }
    };
    let item = item();
    match generator.rng().below(kinds) {
        0 => Read::Vertex(a),
        1 => Read::Edge(a, b),
        2 => Read::Weight(a, b),
        3 => Read::Degree(a, direction),
        4 => Read::Neighbors(a, direction),
        5 | 6 => Read::WeightedNeighbors(a, direction),
        7 => Read::NeighborsOfAll(a, direction),
        8 => Read::DegreeOfAll(a, direction),
        9 => Read::AnyEdge(of_label.then_some(label), a, b, rank),
        10 => Read::AnyEdge(of_label.then_some(item.label), item.src, item.dst, rank.map(|_| item.rank)),
        11 => Read::Item(item),
        12 => Read::Properties(item),
        13 => Read::Property(item, property),
        // Either the label of the drawn edge, which often exists, or any label.
        16 if of_label => Read::Ranks(item.label, item.src, item.dst),
        16 => Read::Ranks(label, a, b),
        14 => Read::VertexProperties(a),
        15 => match generator.rng().eighths(4) {
            true => Read::VertexProperty(a, property),
            false => Read::DegreeOf(label, a, direction),
        },
        _ => Read::NeighborsOf(label, a, direction),
    }
}

fn named(found: Properties) -> BTreeMap<String, Value> {
    found.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Returns an answer as text: the text shows the sign of a zero, which `==` ignores.
fn text(answer: &impl std::fmt::Debug) -> String {
    format!("{answer:?}")
}

impl Read {
    /// Returns the answer of the transaction.
    pub(crate) fn of_transaction(&self, tx: &mut WriteTxn) -> hedgerow::Result<String> {
        Ok(match self {
            Read::Vertex(v) => text(&tx.contains_vertex(v)?),
            Read::Edge(a, b) => text(&tx.contains_edge(EdgePattern::between(a, b).label(""))?),
            Read::Weight(a, b) => text(&tx.weight(a, b)?),
            Read::Degree(v, direction) => text(&tx.degree(v, ("", *direction))?),
            Read::Neighbors(v, direction) => text(&tx.neighbors(v, ("", *direction))?),
            Read::WeightedNeighbors(v, direction) => text(&tx.weighted_neighbors(v, *direction)?),
            Read::NeighborsOfAll(v, direction) => text(&tx.edge_list(v, *direction)?),
            Read::DegreeOfAll(v, direction) => text(&tx.degree(v, *direction)?),
            Read::AnyEdge(label, a, b, rank) => {
                let mut edges = EdgePattern::between(a, b);
                edges = label.map_or(edges, |label| edges.label(label));
                text(&tx.contains_edge(rank.map_or(edges, |rank| edges.rank(rank)))?)
            }
            Read::Item(item) => text(&tx.contains_edge(edge(item))?),
            Read::Properties(item) => text(&tx.edge_properties(edge(item))?.map(named)),
            Read::Property(item, name) => text(&tx.edge_property(edge(item), name)?),
            Read::VertexProperties(v) => text(&tx.vertex_properties(v)?.map(named)),
            Read::VertexProperty(v, name) => text(&tx.vertex_property(v, name)?),
            Read::NeighborsOf(label, v, direction) => text(&tx.edge_list(v, (*label, *direction))?),
            Read::Ranks(label, a, b) => text(&tx.ranks_between(*label, a, b)?),
            Read::DegreeOf(label, v, direction) => text(&tx.degree(v, (*label, *direction))?),
        })
    }

    /// Returns the answer of the model.
    pub(crate) fn of_model(&self, model: &Model, config: ModelConfig) -> String {
        let list = |v: &VertexKey, direction: &Direction| {
            let lists = model.neighbors(v);
            lists.map(|[out, into]| if *direction == Direction::Out { out } else { into })
        };
        let list_of = |label: &str, v: &VertexKey, direction: &Direction| {
            if label.is_empty() {
                return list(v, direction).map(|list| list.into_iter().map(|(v, _)| (v, 0)).collect());
            }
            let incoming = *direction == Direction::In && config.directed;
            model.contains_vertex(v).then(|| model.neighbors_of(label, v, incoming))
        };
        let list_of_all = |v: &VertexKey, direction: &Direction| {
            rich::edges_of_all(model, config, v, *direction == Direction::In)
        };
        let properties = |item: &ItemKey| {
            let mut props = model.item_props(item)?;
            if config.weighted && item.label.is_empty() {
                props.insert(WEIGHT.to_owned(), Value::F64(model.weight(&item.src, &item.dst)?));
            }
            Some(props)
        };
        match self {
            Read::Vertex(v) => text(&model.contains_vertex(v)),
            Read::Edge(a, b) => text(&model.weight(a, b).is_some()),
            Read::Weight(a, b) => text(&model.weight(a, b)),
            Read::Degree(v, direction) => text(&list(v, direction).map(|list| list.len())),
            Read::Neighbors(v, direction) => {
                let names =
                    |list: Vec<(VertexKey, f64)>| list.into_iter().map(|(v, _)| v).collect::<Vec<_>>();
                text(&list(v, direction).map(names))
            }
            Read::WeightedNeighbors(v, direction) => text(&list(v, direction)),
            Read::NeighborsOfAll(v, direction) => text(&list_of_all(v, direction)),
            Read::DegreeOfAll(v, direction) => text(&list_of_all(v, direction).map(|list| list.len())),
            Read::AnyEdge(label, a, b, rank) => {
                let id = label.map(rich::label_id);
                let wanted = |(other, label, found): &(VertexKey, LabelId, u64)| {
                    other == b && id.is_none_or(|id| id == *label) && rank.is_none_or(|rank| rank == *found)
                };
                text(&list_of_all(a, &Direction::Out).is_some_and(|list| list.iter().any(wanted)))
            }
            Read::Item(item) => text(&properties(item).is_some()),
            Read::Properties(item) => text(&properties(item)),
            Read::Property(item, name) => {
                text(&properties(item).map(|mut props| props.remove(*name).unwrap_or(Value::Null)))
            }
            Read::VertexProperties(v) => text(&model.vertex_props(v)),
            Read::VertexProperty(v, name) => {
                text(&model.vertex_props(v).map(|mut props| props.remove(*name).unwrap_or(Value::Null)))
            }
            Read::NeighborsOf(label, v, direction) => {
                let id = rich::label_id(label);
                let with_label = |list: Vec<(VertexKey, u64)>| {
                    list.into_iter().map(|(v, rank)| (v, id, rank)).collect::<Vec<_>>()
                };
                text(&list_of(label, v, direction).map(with_label))
            }
            Read::DegreeOf(label, v, direction) => text(&list_of(label, v, direction).map(|list| list.len())),
            Read::Ranks(label, a, b) => {
                let list = list_of(label, a, &Direction::Out).unwrap_or_default();
                let between = list.into_iter().filter(|(other, _)| other == b).map(|(_, rank)| rank);
                text(&between.collect::<Vec<u64>>())
            }
        }
    }
}
