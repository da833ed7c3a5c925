//! The one rule by which a change of an edge becomes an operation on the chains that list it, for commits and
//! for replay.

use hedgerow_mem::EdgeOp;

/// Returns the operation on a chain between two states of existence of an edge; `None` if neither has the
/// edge.
#[inline]
pub(crate) fn edge_op(existed: bool, exists: bool) -> Option<EdgeOp> {
    match (existed, exists) {
        (false, true) => Some(EdgeOp::Insert),
        (true, true) => Some(EdgeOp::Update),
        (true, false) => Some(EdgeOp::Remove),
        (false, false) => None,
    }
}

/// Returns the effective operation between two states of an edge: `None` if they are the same, or neither has
/// the edge.
#[inline]
pub(crate) fn effective<S>(
    before: Option<&S>,
    after: Option<&S>,
    same: impl FnOnce(&S, &S) -> bool,
) -> Option<EdgeOp> {
    if let (Some(before), Some(after)) = (before, after)
        && same(before, after)
    {
        return None;
    }
    edge_op(before.is_some(), after.is_some())
}

/// True if two weights are the same for the graph: bit by bit if it has weights, else always.
#[inline]
pub(crate) fn same_weight(weighted: bool, before: f64, after: f64) -> bool {
    !weighted || before.to_bits() == after.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_an_operation() {
        let same = |a: &f64, b: &f64| same_weight(true, *a, *b);
        assert_eq!(effective(None, Some(&1.0), same), Some(EdgeOp::Insert));
        assert_eq!(effective(Some(&1.0), None, same), Some(EdgeOp::Remove));
        assert_eq!(effective(Some(&1.0), Some(&2.0), same), Some(EdgeOp::Update));
        assert_eq!(effective(Some(&0.0), Some(&-0.0), same), Some(EdgeOp::Update), "the bits differ");
        assert_eq!(effective(Some(&1.0), Some(&1.0), same), None);
        assert_eq!(effective(None::<&f64>, None, same), None);
        assert_eq!(effective(Some(&1.0), Some(&2.0), |a, b| same_weight(false, *a, *b)), None);
    }
}
