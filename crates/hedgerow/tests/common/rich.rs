//! Labels, ranks and properties: applies the same operations to a store and to a model, and compares the two.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hedgerow::{
    Direction, EdgeKey, EdgeLimit, EdgeOf, EdgePattern, EdgeSelection, Graph, KeyKind, KindId, LabelId,
    LabelOptions, Lent, LentEdge, Properties, Resident, Result, Snapshot, Topology, Value, VertexKey,
    WriteTxn,
};
use hedgerow_testkit::{ItemKey, KINDS, LABELS, Model, ModelConfig, PROPERTIES, Props, RichOp};

type Verdict = std::result::Result<(), String>;

/// Defines the kinds and the labels of rich graphs.
pub(crate) fn define_labels(graph: &Graph) -> Result<()> {
    if graph.config().keys != KeyKind::Dense {
        for (name, keys) in KINDS {
            graph.define_kind(name, keys)?;
        }
    }
    for (name, multi) in LABELS {
        graph.define_label(name, LabelOptions::new().multi(multi))?;
    }
    Ok(())
}

/// Defines every name that transactions on rich graphs use, durably: the transactions define no name.
pub(crate) fn define_all(graph: &Graph) -> Result<()> {
    define_labels(graph)?;
    for (property, kind) in PROPERTIES {
        graph.define_vertex_property(KindId::DEFAULT, property, kind)?;
        for of in graph.schema().kinds() {
            graph.define_vertex_property(of.id(), property, kind)?;
        }
        for (label, _) in LABELS {
            graph.define_edge_property(label, property, kind)?;
        }
    }
    graph.flush()
}

pub(crate) fn edge(item: &ItemKey) -> EdgeKey<'_> {
    EdgeKey::new(item.label, &item.src, &item.dst).rank(item.rank)
}

/// Applies an operation; returns the same result as the model.
pub(crate) fn apply(tx: &mut WriteTxn, op: &RichOp) -> Result<bool> {
    match op {
        RichOp::Put(item, props) => tx.put_edge_with(edge(item), props.iter().cloned()).map(|()| true),
        RichOp::Insert(item, props) => tx.insert_edge_with(edge(item), props.iter().cloned()),
        RichOp::Update(item, props) => tx.update_edge(edge(item), props.iter().cloned()),
        RichOp::Remove(item) => tx.remove_edge(edge(item)),
        RichOp::PutVertex(v, props) => tx.put_vertex_with(v, props.iter().cloned()).map(|()| true),
        RichOp::UpdateVertex(v, props) => tx.update_vertex(v, props.iter().cloned()),
    }
}

/// Applies an operation in its own transaction, if the store has a method for that.
pub(crate) fn apply_alone(graph: &Graph, op: &RichOp) -> Option<Result<bool>> {
    match op {
        // The model returns "true" for every put; the store returns whether the edge was new.
        RichOp::Put(item, props) => {
            Some(graph.put_edge_with(edge(item), props.iter().cloned()).map(|_| true))
        }
        RichOp::Insert(item, props) => Some(graph.insert_edge_with(edge(item), props.iter().cloned())),
        RichOp::Update(item, props) => Some(graph.update_edge(edge(item), props.iter().cloned())),
        RichOp::Remove(item) => Some(graph.remove_edge(edge(item))),
        RichOp::PutVertex(..) | RichOp::UpdateVertex(..) => None,
    }
}

/// Converts properties to the form of the model: by name, without the weight.
pub(crate) fn props(found: Properties) -> Props {
    let others = found.into_iter().filter(|(name, _)| &**name != "weight");
    others.map(|(name, value)| (name.to_string(), value)).collect()
}

/// Adds the labels and properties of the snapshot to the model.
pub(crate) fn add_content(snapshot: &Snapshot, model: &mut Model) {
    let keys: Vec<VertexKey> = model.vertices().cloned().collect();
    for key in &keys {
        let found = snapshot.vertex_properties(key).unwrap().expect("a vertex of the snapshot");
        model.set_vertex_props(key.clone(), props(found));
    }
    for (label, _) in LABELS {
        for src in &keys {
            let edges = match snapshot.edges(src, (label, Direction::Out)) {
                // A crash may have removed the definition, and all edges with it.
                Err(hedgerow::Error::Argument(hedgerow::ArgumentError::NoSuchLabel { .. })) => continue,
                edges => edges.expect("edges"),
            };
            for edge in edges.expect("a vertex of the snapshot") {
                let item = ItemKey { label, src: src.clone(), dst: edge.key, rank: edge.rank };
                let found = props(edge.properties);
                if !label.is_empty() || !found.is_empty() {
                    model.set_item(item, found);
                }
            }
        }
    }
}

/// Returns the id of a label that [`define_labels`] defines.
pub(crate) fn label_id(label: &str) -> LabelId {
    LabelId(LABELS.iter().position(|(name, _)| *name == label).expect("a label of rich graphs") as u16)
}

/// Returns the other endpoint, the label and the rank of every edge of the model at a vertex, ascending;
/// `None` if there is no such vertex.
pub(crate) fn edges_of_all(
    model: &Model,
    config: ModelConfig,
    key: &VertexKey,
    incoming: bool,
) -> Option<Vec<(VertexKey, LabelId, u64)>> {
    let [out, into] = model.neighbors(key)?;
    let plain = if incoming { into } else { out };
    let mut found: Vec<_> = plain.into_iter().map(|(other, _)| (other, LabelId::DEFAULT, 0)).collect();
    for (label, _) in LABELS.into_iter().skip(1) {
        let edges = model.neighbors_of(label, key, incoming && config.directed);
        found.extend(edges.into_iter().map(|(other, rank)| (other, label_id(label), rank)));
    }
    found.sort();
    Some(found)
}

/// Returns [`edges_of_all`] for each vertex.
fn all_edges_of_all(
    model: &Model,
    config: ModelConfig,
    incoming: bool,
) -> BTreeMap<&VertexKey, Vec<(VertexKey, LabelId, u64)>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (key, [out, into]) in model.all_neighbors() {
        let plain = if incoming { into } else { out };
        all.insert(key, plain.into_iter().map(|(other, _)| (other, LabelId::DEFAULT, 0)).collect());
    }
    for (label, _) in LABELS.into_iter().skip(1) {
        for (key, edges) in model.all_neighbors_of(label, incoming && config.directed) {
            let labelled = edges.into_iter().map(|(other, rank)| (other, label_id(label), rank));
            all.entry(key).or_default().extend(labelled);
        }
    }
    all.values_mut().for_each(|found| found.sort());
    all
}

/// Compares the reads over the edges of all labels.
fn same_over_all_labels(snapshot: &Snapshot, config: ModelConfig, expected: &Model) -> Verdict {
    let error = |e: hedgerow::Error| e.to_string();
    let mut used = BTreeSet::new();
    for (direction, incoming) in [(Direction::Out, false), (Direction::In, true)] {
        for (key, wanted) in all_edges_of_all(expected, config, incoming) {
            let wanted = Some(wanted);
            let found = snapshot.edge_list(key, direction).unwrap();
            let named = snapshot.edges(key, direction).unwrap();
            let named =
                named.map(|all| all.into_iter().map(|e| (e.key, e.label, e.rank)).collect::<Vec<_>>());
            let degree = snapshot.degree(key, direction).unwrap();
            if found != wanted || named != wanted || degree != wanted.as_ref().map(Vec::len) {
                return Err(format!(
                    "all {direction:?} of {key}: {found:?}, {named:?} instead of {wanted:?}"
                ));
            }
            for (other, label, rank) in wanted.into_iter().flatten() {
                let (src, dst) = if incoming { (&other, key) } else { (key, &other) };
                let edges = EdgePattern::between(src, dst);
                let mut all = [edges, edges.rank(rank), edges.label(label), edges.label(label).rank(rank)];
                for edges in &mut all {
                    if !snapshot.contains_edge(*edges).map_err(error)? {
                        return Err(format!("no {edges:?}"));
                    }
                }
                used.insert(label);
            }
        }
    }
    if !EdgeSelection::all().labels_with_edges(snapshot).unwrap().iter().eq(&used) {
        return Err(format!(
            "{:?} instead of {used:?}",
            EdgeSelection::all().labels_with_edges(snapshot).unwrap()
        ));
    }
    match (EdgeSelection::all().only_label(snapshot), used.len()) {
        (Ok(LabelId::DEFAULT), 0) => Ok(()),
        (Ok(label), 1) if used.contains(&label) => Ok(()),
        (Err(hedgerow::Error::Argument(hedgerow::ArgumentError::SeveralLabels { labels })), n)
            if n > 1 && labels.len() == n =>
        {
            Ok(())
        }
        (found, _) => Err(format!("the only label: {found:?} of {used:?}")),
    }
}

/// Compares every read of one edge or one vertex, and the lists of all labels in both directions.
pub(crate) fn same_in_all_reads(snapshot: &Snapshot, config: ModelConfig, expected: &Model) -> Verdict {
    same_in_reads(snapshot, config, expected)?;
    same_in_views(snapshot, config, expected)
}

/// Does the checks of [`same_in_all_reads`], without the views of labels.
pub(crate) fn same_in_reads(snapshot: &Snapshot, config: ModelConfig, expected: &Model) -> Verdict {
    let error = |e: hedgerow::Error| e.to_string();
    same_over_all_labels(snapshot, config, expected)?;
    for (item, wanted) in expected.items() {
        let found = snapshot.edge_properties(edge(item)).map_err(error)?.map(props);
        if found.as_ref() != Some(wanted) {
            return Err(format!("properties of {item:?}: {found:?} instead of {wanted:?}"));
        }
        for (name, value) in wanted {
            if snapshot.edge_property(edge(item), name).map_err(error)?.as_ref() != Some(value) {
                return Err(format!("property {name} of {item:?}"));
            }
        }
    }
    same_in_properties_of_vertices(snapshot, expected)?;
    for (label, _) in LABELS.into_iter().skip(1) {
        for (direction, incoming) in [(Direction::Out, false), (Direction::In, true)] {
            for (key, wanted) in expected.all_neighbors_of(label, incoming && config.directed) {
                let found = snapshot.edge_list(key, (label, direction)).map_err(error)?;
                let found: Option<Vec<_>> =
                    found.map(|all| all.into_iter().map(|(key, _, rank)| (key, rank)).collect());
                let degree = snapshot.degree(key, (label, direction)).map_err(error)?;
                if found.as_ref() != Some(&wanted) || degree != Some(wanted.len()) {
                    return Err(format!("{label} {direction:?} of {key}: {found:?} instead of {wanted:?}"));
                }
                same_newest(snapshot, label, key, direction)?;
            }
        }
    }
    Ok(())
}

/// Compares one property of each vertex, as a copy and as a lent value. The name changes from one vertex to
/// the next, and every seventh name is not defined.
fn same_in_properties_of_vertices(snapshot: &Snapshot, expected: &Model) -> Verdict {
    let error = |e: hedgerow::Error| e.to_string();
    let names = PROPERTIES.iter().map(|(name, _)| *name).chain(["no such property"]);
    for (key, name) in expected.vertices().zip(names.cycle()) {
        let wanted = expected.vertex_props(key).and_then(|props| props.get(name).cloned());
        let wanted = Some(wanted.unwrap_or(Value::Null));
        let found = snapshot.vertex_property(key, name).map_err(error)?;
        let lent = Lent::new(snapshot).vertex_property(key, name, |value| value.to_owned()).map_err(error)?;
        if found != wanted || lent != wanted {
            return Err(format!("{name} of {key}: {found:?}, lent {lent:?}, instead of {wanted:?}"));
        }
    }
    Ok(())
}

/// Compares the newer half of a list, and the ranks of its first neighbor, with all edges of the list.
fn same_newest(snapshot: &Snapshot, label: &str, key: &VertexKey, direction: Direction) -> Verdict {
    let error = |e: hedgerow::Error| e.to_string();
    let mut all = snapshot.edges(key, (label, direction)).map_err(error)?.unwrap_or_default();
    if let Some(first) = all.first() {
        let (src, dst) = if direction == Direction::Out { (key, &first.key) } else { (&first.key, key) };
        let ranks = snapshot.ranks_between(label, src, dst).map_err(error)?;
        if !all
            .iter()
            .take_while(|edge| edge.key == first.key)
            .map(|edge| edge.rank)
            .eq(ranks.iter().copied())
        {
            return Err(format!("{label} from {src} to {dst}: ranks {ranks:?} instead of those in {all:?}"));
        }
    }
    if !snapshot.schema().label(label).is_some_and(hedgerow::Label::is_multi) {
        let refused = snapshot.first_edges(key, (label, direction), EdgeLimit::newest(all.len())).is_err();
        return if refused { Ok(()) } else { Err(format!("newest edges of {label}, which has no ranks")) };
    }
    all.sort_by_key(|edge| Reverse((edge.rank, snapshot.vertex_id(&edge.key).ok().flatten())));
    all.truncate(1 + all.len() / 2);
    let newest =
        snapshot.first_edges(key, (label, direction), EdgeLimit::newest(all.len())).map_err(error)?;
    if newest.map(|newest| newest.found).unwrap_or_default() != all {
        return Err(format!("the newest edges of {label} at {key}, {direction:?}: not {all:?}"));
    }
    let (mut expected, mut same) = (all.iter(), true);
    let visit = |edge: LentEdge<'_>| same &= expected.next().is_some_and(|e| is_lent(snapshot, &edge, e));
    Lent::new(snapshot).newest_edges(key, (label, direction), all.len(), visit).map_err(error)?;
    match same && expected.next().is_none() {
        true => Ok(()),
        false => Err(format!("the newest edges of {label} at {key}, {direction:?}, lent: not {all:?}")),
    }
}

/// True if a lent edge is this edge, with all its properties and no other property of the label.
fn is_lent(snapshot: &Snapshot, lent: &LentEdge<'_>, edge: &EdgeOf) -> bool {
    let names = PROPERTIES.iter().map(|(name, _)| *name).chain(["weight", "no such property"]);
    let of_edge = |name: &str| edge.properties.iter().find(|(known, _)| &**known == name);
    snapshot.vertex_id(&edge.key).ok().flatten() == Some(lent.other())
        && lent.rank() == edge.rank
        && names.into_iter().all(|name| {
            lent.property(name).to_owned() == of_edge(name).map_or(Value::Null, |(_, value)| value.clone())
        })
}

/// Compares the lists of all labels in both directions with the views.
fn same_in_views(snapshot: &Snapshot, config: ModelConfig, expected: &Model) -> Verdict {
    let error = |e: hedgerow::Error| e.to_string();
    for (label, _) in LABELS.into_iter().skip(1) {
        let view = snapshot.view(label).map_err(error)?;
        if view.edge_count() != snapshot.edge_count_of(label).map_err(error)? {
            return Err(format!("{} edges in the view of {label}", view.edge_count()));
        }
        for (direction, incoming) in [(Direction::Out, false), (Direction::In, true)] {
            for (key, wanted) in expected.all_neighbors_of(label, incoming && config.directed) {
                let id = snapshot.vertex_id(key).unwrap().ok_or_else(|| format!("vertex {key} is gone"))?;
                let mut in_view: Vec<_> = view.neighbors(id, direction).iter().collect();
                let mut ids: Vec<_> = wanted.iter().map(|(v, _)| snapshot.vertex_id(v).unwrap()).collect();
                ids.sort();
                in_view.sort();
                if !in_view.iter().copied().map(Some).eq(ids) {
                    return Err(format!("{label} {direction:?} of {key} in the view: {in_view:?}"));
                }
            }
        }
    }
    Ok(())
}
