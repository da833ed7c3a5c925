//! The code that the test programs of this crate share: it applies the same operations to a store and to a
//! model, and compares the two.
#![allow(dead_code, reason = "no test program uses all of it")]

/// Makes tests of functions in modules that this crate shares with `tests/faults`. `tests/faults` calls these
/// functions to find planted faults, so they must not run there as tests.
#[allow(unused_macros, reason = "only programs that share modules use it")]
macro_rules! shared_tests {
    ($($module:ident: $($test:ident),+;)+) => {
        mod shared {
            $(mod $module {
                $(#[test]
                fn $test() {
                    crate::$module::$test();
                })+
            })+
        }
    };
}

pub(crate) mod account;
pub(crate) mod contention;
pub(crate) mod gated;
pub(crate) mod records;
pub(crate) mod rich;
pub(crate) mod script;
pub(crate) mod tiered;
pub(crate) mod weights;

use std::collections::BTreeMap;

use hedgerow::{Direction, Graph, Options, Result, Snapshot, Thresholds, WriteTxn};
use hedgerow_testkit::{BulkOp, Model, ModelConfig, ModelOp, SimFs};

/// Returns the default options, with thresholds that the small graphs of tests reach.
pub(crate) fn small() -> Options {
    Options::new().thresholds(Thresholds::SMALL)
}

/// If `always`, makes `close` write a checkpoint even if the checkpoint saves little. The logs of tests are
/// so short that `close` would never write one.
pub(crate) fn checkpoints_at_close(options: Options, always: bool) -> Options {
    options.thresholds(Thresholds { checkpoints_at_close: always, ..Thresholds::SMALL })
}

/// Returns the options for a graph with the configuration of the model.
pub(crate) fn options(config: ModelConfig) -> Options {
    small().directed(config.directed).weighted(config.weighted).keys(config.keys).background_settling(false)
}

/// Returns the files of a store without the reserve, which has no content to damage.
pub(crate) fn files_with_content(disk: &SimFs) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.remove("RESERVE");
    files
}

/// Applies an operation; returns the same result as [`Model::apply`].
pub(crate) fn apply(tx: &mut WriteTxn, weighted: bool, op: &ModelOp) -> Result<bool> {
    match op {
        ModelOp::InsertVertex(v) => tx.insert_vertex(v),
        ModelOp::RemoveVertex(v) => tx.remove_vertex(v),
        ModelOp::PutEdge(src, dst, weight) if weighted => tx.put_edge((src, dst, *weight)).map(|()| true),
        ModelOp::PutEdge(src, dst, _) => tx.put_edge((src, dst)).map(|()| true),
        ModelOp::InsertEdge(src, dst, weight) if weighted => tx.insert_edge((src, dst, *weight)),
        ModelOp::InsertEdge(src, dst, _) => tx.insert_edge((src, dst)),
        ModelOp::RemoveEdge(src, dst) => tx.remove_edge((src, dst)),
        ModelOp::Rich(op) => rich::apply(tx, op),
        ModelOp::Bulk(op) => apply_bulk(tx, op).map(|()| true),
    }
}

fn apply_bulk(tx: &mut WriteTxn, op: &BulkOp) -> Result<()> {
    match op {
        BulkOp::Put(edges) => tx.put_edges(edges.iter().map(|(src, dst)| (src, dst))),
        BulkOp::Insert(edges) => tx.insert_edges(edges.iter().map(|(src, dst)| (src, dst))),
        BulkOp::Remove(edges) => tx.remove_edges(edges.iter().map(|(src, dst)| (src, dst))),
        BulkOp::PutWeighted(edges) => {
            tx.put_edges(edges.iter().map(|(src, dst, weight)| (src, dst, *weight)))
        }
    }
}

/// Applies an operation in its own transaction. Returns the same result as [`Model::apply`], or `None` if the
/// store has no such call.
pub(crate) fn apply_alone(graph: &Graph, weighted: bool, op: &ModelOp) -> Option<Result<bool>> {
    Some(match op {
        ModelOp::InsertVertex(_) | ModelOp::RemoveVertex(_) | ModelOp::Bulk(_) => return None,
        ModelOp::Rich(op) => return rich::apply_alone(graph, op),
        // The model returns "true" for every put; the store returns whether the edge was new.
        ModelOp::PutEdge(src, dst, weight) if weighted => graph.put_edge((src, dst, *weight)).map(|_| true),
        ModelOp::PutEdge(src, dst, _) => graph.put_edge((src, dst)).map(|_| true),
        ModelOp::InsertEdge(src, dst, weight) if weighted => graph.insert_edge((src, dst, *weight)),
        ModelOp::InsertEdge(src, dst, _) => graph.insert_edge((src, dst)),
        ModelOp::RemoveEdge(src, dst) => graph.remove_edge((src, dst)),
    })
}

/// Returns the full content of a snapshot as a model.
pub(crate) fn content(snapshot: &Snapshot, config: ModelConfig) -> Model {
    let mut model = Model::new(config);
    // The ids in a damaged store can be far apart.
    let mut keys = std::collections::HashMap::new();
    for (id, key) in snapshot.vertices().unwrap().map(Result::unwrap) {
        model.apply(&ModelOp::InsertVertex(key.clone()));
        keys.insert(id, key);
    }
    let name = |id: hedgerow::VertexId| keys.get(&id).cloned().expect("an edge without an endpoint");
    snapshot
        .default_label()
        .for_each_edge(|src, dst, weight| {
            let new = model.apply(&ModelOp::InsertEdge(name(src), name(dst), weight));
            assert!(new, "an edge is listed twice");
        })
        .unwrap();
    if config.rich {
        rich::add_content(snapshot, &mut model);
    }
    model
}

/// Compares the vertices, edges and counters of the store with the model.
pub(crate) fn same(
    snapshot: &Snapshot,
    config: ModelConfig,
    expected: &Model,
) -> std::result::Result<(), String> {
    let counts = (snapshot.vertex_count(), snapshot.edge_count().unwrap());
    if counts != (expected.vertex_count(), expected.edge_count()) {
        return Err(format!(
            "{counts:?} vertices and edges instead of {} and {}",
            expected.vertex_count(),
            expected.edge_count()
        ));
    }
    let found = content(snapshot, config);
    if found == *expected { Ok(()) } else { Err(expected.difference(&found)) }
}

/// Does the checks of [`same`], and in addition makes every point read of every vertex of the model. It makes
/// them twice: first on the chains of versions, if the snapshot has no view yet, and then on its view.
pub(crate) fn same_in_all_reads(
    snapshot: &Snapshot,
    config: ModelConfig,
    expected: &Model,
) -> std::result::Result<(), String> {
    same_in_point_reads(snapshot, expected)?;
    same(snapshot, config, expected)?;
    if config.rich {
        rich::same_in_all_reads(snapshot, config, expected)?;
    }
    same_in_point_reads(snapshot, expected)
}

/// Does the checks of [`same_in_all_reads`], except the reads of views of labels other than the default
/// label.
pub(crate) fn same_without_views(
    snapshot: &Snapshot,
    config: ModelConfig,
    expected: &Model,
) -> std::result::Result<(), String> {
    same_in_point_reads(snapshot, expected)?;
    same(snapshot, config, expected)?;
    if config.rich { rich::same_in_reads(snapshot, config, expected) } else { Ok(()) }
}

type WeightedKeys = Vec<(hedgerow::VertexKey, f64)>;

fn bits(list: &WeightedKeys) -> Vec<(hedgerow::VertexKey, u64)> {
    list.iter().map(|(v, w)| (v.clone(), w.to_bits())).collect()
}

fn same_in_point_reads(snapshot: &Snapshot, expected: &Model) -> std::result::Result<(), String> {
    let mut cursors =
        [Direction::Out, Direction::In].map(|direction| snapshot.default_label().neighbor_cursor(direction));
    for (key, lists) in expected.all_neighbors() {
        for ((direction, list), cursor) in
            [Direction::Out, Direction::In].into_iter().zip(&lists).zip(&mut cursors)
        {
            let found = snapshot
                .default_label()
                .weighted_neighbors(key, direction)
                .unwrap()
                .ok_or_else(|| format!("vertex {key} is gone"))?;
            if bits(&found) != bits(list)
                || snapshot.degree(key, ("", direction)).unwrap() != Some(list.len())
            {
                return Err(format!("{direction:?} of {key}: {found:?} instead of {list:?}"));
            }
            let names: Vec<_> = list.iter().map(|(v, _)| v.clone()).collect();
            if snapshot.neighbors(key, ("", direction)).unwrap() != Some(names) {
                return Err(format!("neighbors {direction:?} of {key}"));
            }
            same_in_stretches(snapshot, key, direction, cursor, list)?;
        }
        for (other, weight) in &lists[0] {
            if snapshot.default_label().weight_between(key, other).unwrap().map(f64::to_bits)
                != Some(weight.to_bits())
            {
                return Err(format!("weight of {key} to {other}"));
            }
        }
    }
    Ok(())
}

/// Compares the list of a vertex with its stretches, which come in any order: from a single visit and from a
/// cursor.
fn same_in_stretches(
    snapshot: &Snapshot,
    key: &hedgerow::VertexKey,
    direction: Direction,
    cursor: &mut hedgerow::NeighborCursor<'_>,
    list: &WeightedKeys,
) -> std::result::Result<(), String> {
    let id = snapshot.vertex_id(key).unwrap().ok_or_else(|| format!("vertex {key} is gone"))?;
    let (mut alone, mut in_turn) = (WeightedKeys::new(), WeightedKeys::new());
    let add = |found: &mut WeightedKeys, run: &[hedgerow::VertexId], weights: &[f64]| {
        assert!(weights.is_empty() || weights.len() == run.len(), "a weight for each edge, or none");
        for (i, &v) in run.iter().enumerate() {
            let key = snapshot.vertex_key(v).unwrap().expect("an edge without an endpoint");
            found.push((key, weights.get(i).copied().unwrap_or(1.0)));
        }
    };
    snapshot
        .default_label()
        .visit_neighbors(id, direction, |run, weights| add(&mut alone, run, weights))
        .unwrap();
    // The cursor reads a repeated visit of a subgraph in another way than the first visit.
    cursor.visit(id, |run, weights| add(&mut in_turn, run, weights)).unwrap();
    let first = std::mem::take(&mut in_turn);
    cursor.visit(id, |run, weights| add(&mut in_turn, run, weights)).unwrap();
    for mut found in [alone, first, in_turn] {
        found.sort_by(|a, b| a.0.cmp(&b.0));
        if bits(&found) != bits(list) {
            return Err(format!("stretches {direction:?} of {key}: {found:?} instead of {list:?}"));
        }
    }
    Ok(())
}

/// Returns an error unless `check` reports no problem.
pub(crate) fn sound(graph: &Graph) -> std::result::Result<(), String> {
    match graph.check() {
        Ok(report) if report.is_ok() => Ok(()),
        Ok(report) => Err(format!("check: {:?}", report.problems)),
        Err(error) => Err(format!("check: {error}")),
    }
}

/// Puts the lists of all labels into memory, as far as no error prevents it.
pub(crate) fn load_lists(graph: &Graph) -> Result<()> {
    let snapshot = graph.snapshot()?;
    snapshot.schema().labels().iter().try_for_each(|label| snapshot.view(label.id()).map(drop))
}
