//! Tests of the state that a transaction sees: its own writes over the snapshot.

use hedgerow_core::GraphConfig;

use super::*;

const A: TxnKey = TxnKey(1);
const B: TxnKey = TxnKey(2);
const C: TxnKey = TxnKey(3);

fn overlay(directed: bool, ops: &[TxnOp]) -> Overlay {
    let config = GraphConfig { directed, ..GraphConfig::default() };
    let mut overlay = Overlay::new(Placement::of(&config));
    overlay.catch_up(ops, AttributesTable::default(), true);
    overlay
}

fn edge(kind: OpKind, src: TxnKey, dst: TxnKey, weight: f64) -> TxnOp {
    TxnOp::plain(kind, src, dst, weight)
}

/// Returns the weight of the edge from A to B that a transaction sees, if the snapshot has the weight
/// `found`.
fn seen(overlay: &Overlay, found: Option<f64>) -> Option<f64> {
    let found = found.map(|weight| (weight, None));
    let seen = match overlay.item(LabelId::DEFAULT, A, B, 0) {
        Some(state) => state.over(found),
        None => found,
    };
    seen.map(|(weight, _)| weight)
}

#[test]
fn writes_are_seen_over_the_snapshot() {
    use OpKind::{Insert, Merge, Put, Remove, Update};
    // The operations, the result without an edge in the snapshot, and the result with an edge of weight 9.
    let cases: [(&[OpKind], Option<f64>, Option<f64>); 9] = [
        (&[], None, Some(9.0)),
        (&[Put], Some(1.0), Some(1.0)),
        (&[Insert], Some(1.0), Some(9.0)),
        (&[Remove], None, None),
        (&[Remove, Insert], Some(2.0), Some(2.0)),
        (&[Insert, Put], Some(2.0), Some(2.0)),
        (&[Put, Insert], Some(1.0), Some(1.0)),
        (&[Insert, Remove], None, None),
        (&[Insert, Insert], Some(1.0), Some(9.0)),
    ];
    for (kinds, absent, present) in cases {
        let ops: Vec<TxnOp> =
            kinds.iter().zip(1..).map(|(&kind, i)| edge(kind, A, B, f64::from(i))).collect();
        let overlay = overlay(true, &ops);
        assert_eq!((seen(&overlay, None), seen(&overlay, Some(9.0))), (absent, present), "{kinds:?}");
    }
    // An update inserts no edge, but a merge does. Neither changes the weight of an existing edge.
    let update = overlay(true, &[edge(Update, A, B, 1.0)]);
    assert_eq!((seen(&update, None), seen(&update, Some(9.0))), (None, Some(9.0)));
    let merge = overlay(true, &[edge(Merge, A, B, 1.0)]);
    assert!(seen(&merge, None).is_some());
    assert_eq!(seen(&merge, Some(9.0)), Some(9.0));
}

#[test]
fn a_removed_vertex_hides_the_edges_that_it_had() {
    let removed = [edge(OpKind::Put, A, B, 1.0), TxnOp::plain(OpKind::RemoveVertex, A, A, 0.0)];
    let overlay_of = |ops: &[TxnOp]| overlay(true, ops);
    let gone = overlay_of(&removed);
    assert_eq!((gone.vertex(A), gone.vertex(B), gone.vertex(C)), (Some(false), Some(true), None));
    assert_eq!(seen(&gone, Some(9.0)), None);
    assert!(gone.hides(A) && !gone.hides(B));
    assert!(
        gone.item(LabelId::DEFAULT, C, A, 0).is_some_and(|state| state.over(Some((1.0, None))).is_none())
    );
    assert!(matches!(gone.between(LabelId::DEFAULT, A, C), Between::Nothing));
    // An edge that is put after the removal exists. The edges of the snapshot remain hidden.
    let again = overlay_of(&[removed[0], removed[1], edge(OpKind::Put, A, C, 5.0)]);
    assert_eq!(again.vertex(A), Some(true));
    assert!(matches!(again.between(LabelId::DEFAULT, A, C), Between::Exists));
    assert!(matches!(again.between(LabelId::DEFAULT, A, B), Between::Nothing));
}

#[test]
fn lists_name_what_was_written_in_either_direction() {
    let ops = [
        edge(OpKind::Put, B, A, 1.0),
        edge(OpKind::Insert, A, C, 2.0),
        edge(OpKind::Remove, A, A, 0.0),
        // Only the snapshot shows whether this edge exists.
        edge(OpKind::Update, A, B, 3.0),
    ];
    let listed = |overlay: &Overlay, outgoing| {
        let mut found: Vec<(u64, bool)> = overlay
            .written(LabelId::DEFAULT, A, outgoing)
            .into_iter()
            .map(|(other, _, exists)| (other.0, exists))
            .collect();
        found.sort_unstable();
        found
    };
    let directed = overlay(true, &ops);
    assert_eq!(listed(&directed, true), [(1, false), (3, true)]);
    assert_eq!(listed(&directed, false), [(1, false), (2, true)]);
    // In an undirected graph, the first and the last operation refer to one edge, and a self-loop is listed
    // once.
    let undirected = overlay(false, &ops);
    assert_eq!(listed(&undirected, true), [(1, false), (2, true), (3, true)]);
    assert_eq!(listed(&undirected, false), listed(&undirected, true));
}

#[test]
fn operations_are_taken_in_once() {
    let ops = [edge(OpKind::Put, A, B, 1.0), edge(OpKind::Remove, A, B, 0.0)];
    let mut overlay = Overlay::new(Placement::default());
    overlay.catch_up(&ops[..1], AttributesTable::default(), false);
    assert_eq!((seen(&overlay, None), overlay.vertex(A)), (Some(1.0), None), "edges create no ends here");
    overlay.catch_up(&ops, AttributesTable::default(), false);
    overlay.catch_up(&ops, AttributesTable::default(), false);
    assert_eq!(seen(&overlay, None), None);
}
