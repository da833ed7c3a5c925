//! Kinds whose definition happens during a round. After a crash, a kind is in the log, in the manifest, or in
//! both.

use hedgerow::{Graph, KeyKind, KindId, VertexKey};
use hedgerow_testkit::{ModelConfig, ModelOp, vertex_key};
use parking_lot::Mutex;

use crate::plan::Plan;
use crate::verify::{History, Verdict, commit_ops};

/// The number of vertices of each kind. Kinds with the same key type have the same keys.
const VERTICES: u64 = 4;
/// The vertex of each kind that is removed after the next kind is defined. Its id can then go to another
/// kind.
const REMOVED: u64 = 1;

/// An attempted definition of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    ts: u64,
    name: String,
    keys: KeyKind,
}

/// Returns the key type of the `n`-th kind.
fn keys_of(n: usize) -> KeyKind {
    [KeyKind::U64, KeyKind::Str][n % 2]
}

/// Returns a vertex of the `n`-th kind. Number 0 is the default kind; the defined kinds follow it.
fn vertex(plan: &Plan, n: usize, number: u64) -> VertexKey {
    let keys = n.checked_sub(1).map_or(plan.config.keys, keys_of);
    vertex_key(ModelConfig { keys, ..plan.config }, number).with_kind(KindId(n as u8))
}

/// Defines one more kind and commits vertices of it. The commit also has edges between them and vertices of
/// the previous kind.
pub(crate) fn define_next(plan: &Plan, graph: &Graph, shared: &Mutex<History>) -> Verdict<()> {
    let (n, name) = {
        let mut history = shared.lock();
        let n = history.kinds.len() + 1;
        // A definition is a commit that changes no vertex and no edge.
        let unchanged = history.states.last().cloned().ok_or("no state")?;
        history.states.push(unchanged);
        let definition = Definition { ts: history.last(), name: format!("kind {n}"), keys: keys_of(n - 1) };
        history.kinds.push(definition.clone());
        (n, definition.name)
    };
    let kind = graph.define_kind(&name, keys_of(n - 1)).map_err(|e| format!("definition: {e}"))?;
    if usize::from(kind.0) != n {
        return Err(format!("{name} has the number {}", kind.0));
    }
    let mut ops: Vec<ModelOp> =
        (0..VERTICES).map(|number| ModelOp::InsertVertex(vertex(plan, n, number))).collect();
    let edge = |number| ModelOp::PutEdge(vertex(plan, n, number), vertex(plan, n - 1, number), 1.0);
    ops.extend([0, 2].map(edge));
    if n > 1 {
        ops.push(ModelOp::RemoveVertex(vertex(plan, n - 1, REMOVED)));
    }
    commit_ops(plan, graph, shared, &ops).map(|_| ())
}

/// Returns the definitions at or before `ts`.
pub(crate) fn defined_by(definitions: &[Definition], ts: u64) -> Vec<Definition> {
    definitions.iter().filter(|definition| definition.ts <= ts).cloned().collect()
}

/// Checks that the store has exactly the kinds that were defined at or before `ts`.
pub(crate) fn same_kinds(graph: &Graph, definitions: &[Definition], ts: u64) -> Verdict<()> {
    let expected = defined_by(definitions, ts);
    let schema = graph.schema();
    let found = schema.kinds().iter().map(|kind| (&**kind.name(), kind.keys()));
    if found.eq(expected.iter().map(|definition| (&*definition.name, definition.keys))) {
        return Ok(());
    }
    Err(format!("at commit {ts}: kinds {:?} instead of {expected:?}", schema.kinds()))
}
