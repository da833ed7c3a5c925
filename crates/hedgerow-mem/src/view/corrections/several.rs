//! Corrections of several delta entries, or of a patch.

use hedgerow_core::InterpolationHint;

use super::logged::first_edge;
use super::small_patch::{self, SmallPatch};
use super::sorted::Scratch;
use super::{Corrected, Corrections, Masks, Pending};
use crate::change::Change;
use crate::op::EdgeOp;
use crate::version::Version;

impl Corrected {
    /// Makes corrections of patch and the first `n` entries of the delta. O(n log n).
    pub(in crate::view) fn several(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
        if version.is_ranked() || version.patch.is_some() {
            return looked_up(version, n, scratch);
        }
        Corrected::entries(&Pending::of(version, n), scratch)
    }

    /// Makes corrections of entries of a delta, for edges without ranks. O(n log n).
    ///
    /// Only effective operations are logged. So the first entry about an edge shows whether the lists have
    /// it. Only the index of an edge with a new weight is looked up in the lists.
    pub(in crate::view) fn entries(pending: &Pending<'_>, scratch: &mut Scratch) -> Corrected {
        if (1..=small_patch::FEW).contains(&pending.entries.len())
            && !pending.weighted
            && let Some(corrected) = alike(pending, &mut scratch.few)
        {
            return corrected;
        }
        let present = scratch.sort(pending);
        let Scratch { sorted, build, few, .. } = scratch;
        build.clear();
        let mut rest = &sorted[..];
        while let Some((edge, others)) = first_edge(rest) {
            rest = others;
            build.add(pending, &edge);
        }
        build.finish(pending.weighted, present, few)
    }
}

/// Like [`Corrected::entries`], but for a few entries of edges without weights that all insert, or all
/// remove. So no two are about one edge.
#[inline]
fn alike(pending: &Pending<'_>, few: &mut SmallPatch) -> Option<Corrected> {
    let (delta, n) = (pending.version.delta(), pending.entries.len());
    let (_, op) = delta.source(pending.entries.start);
    let (mut edges, mut touched, mut differ) = ([u64::MAX; small_patch::ROOM], 0, false);
    for (i, edge) in pending.entries.clone().zip(&mut edges) {
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
    let (masks, present) = (Masks { touched, reduced }, pending.present);
    Some(Corrected { corrections: Corrections::None, few: true, masks, present, counts })
}

/// Like [`Corrected::several`], but looks edges up, because the first entry about an edge does not show
/// whether the main part has it. This is the case with a patch, and for edges with ranks, because several may
/// lead to one neighbour.
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
