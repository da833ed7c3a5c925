//! Corrections of several delta entries, or of a patch.

use hedgerow_core::InterpolationHint;

use super::logged::first_edge;
use super::small_patch::{self, SmallPatch};
use super::sorted::Scratch;
use super::{Corrected, Corrections, Masks, is_simple};
use crate::change::Change;
use crate::op::EdgeOp;
use crate::version::Version;

impl Corrected {
    /// The first `n` entries of the delta, and what comes with them. O(n log n).
    ///
    /// Only effective operations are logged. So the first word about an edge tells whether the main part has it, and
    /// nothing is looked up there except the place of a new weight.
    pub(in crate::view) fn several(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
        if (1..=small_patch::FEW).contains(&n)
            && is_simple(version)
            && let Some(corrected) = alike(version, n, &mut scratch.few)
        {
            return corrected;
        }
        if version.is_ranked() || version.patch.is_some() {
            return looked_up(version, n, scratch);
        }
        let present = scratch.sort(version, n);
        let Scratch { sorted, build, few, .. } = scratch;
        let weighted = version.main().weights().is_some();
        build.clear();
        let mut rest = &sorted[..];
        while let Some((edge, others)) = first_edge(rest) {
            rest = others;
            build.add(version, &edge, weighted);
        }
        build.finish(weighted, present, few)
    }
}

/// As [`Corrected::several`] for a few entries, two at least, of a version without weights, ranks and patch, if all insert
/// edges or all remove some: those differ.
#[inline]
fn alike(version: &Version, n: usize, few: &mut SmallPatch) -> Option<Corrected> {
    let delta = version.delta();
    let (_, op) = delta.source(0);
    let (mut edges, mut touched, mut differ) = ([u64::MAX; small_patch::ROOM], 0, false);
    for (i, edge) in edges.iter_mut().enumerate().take(n) {
        let (local, other) = delta.source(i);
        differ |= other != op;
        touched |= local.bit();
        *edge = (local.index() as u64) << 32 | u64::from(delta.destination(i).0);
    }
    let (reduced, counts) = match op {
        EdgeOp::Insert => (0, (n, 0)),
        EdgeOp::Remove => (touched, (0, n)),
        EdgeOp::Update | EdgeOp::Vertex => return None,
    };
    if differ {
        return None;
    }
    few.sort(&edges, counts);
    let (masks, present) = (Masks { touched, reduced }, version.main().present());
    Some(Corrected { corrections: Corrections::None, few: true, masks, present, counts })
}

/// As [`Corrected::several`] where the first word about an edge does not tell whether the main part has it: under a patch, or
/// of edges with ranks, of which a neighbour comes once for each.
fn looked_up(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    let weighted = version.main().weights().is_some();
    let Scratch { build, few, .. } = scratch;
    build.clear();
    for Change { local, dst, rank, state } in version.changes(n, None, |_| true) {
        match (version.main().find_item(local, dst, rank, InterpolationHint::UNKNOWN), state) {
            (None, Some((weight, _))) => build.add_neighbor(local, dst, weighted.then_some(weight)),
            (Some(_), None) => build.remove_neighbor(local, dst),
            (Some(at), Some((weight, _))) if weighted => build.reweight(local, at, weight),
            _ => {}
        }
    }
    build.finish(weighted, version.at_delta(n).present(), few)
}
