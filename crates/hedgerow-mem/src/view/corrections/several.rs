//! Corrections of several delta entries, or of a patch.

use hedgerow_core::InterpolationHint;

use super::logged::first_edge;
use super::small_patch::{self, SmallPatch};
use super::sorted::Scratch;
use super::{Corrected, Corrections, Masks, is_simple};
use crate::change;
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
        if version.is_ranked() {
            return ranked(version, n, scratch);
        }
        if version.patch.is_some() {
            return patched(version, n, scratch);
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

/// As [`Corrected::several`] where an edge is told from others by its rank too: a neighbour comes once for each edge.
fn ranked(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    let (changes, vertices) = change::reduce_items(version.delta().items(n));
    let Scratch { build, few, .. } = scratch;
    build.clear();
    for change in &changes {
        let found = version.main().find_item(change.local, change.dst, change.rank).is_some();
        match (found, &change.state) {
            // Ranked edges have no weights.
            (false, Some(_)) => build.add_neighbor(change.local, change.dst, None),
            (true, None) => build.remove_neighbor(change.local, change.dst),
            _ => {}
        }
    }
    let present = vertices.iter().fold(version.main().present(), |mask, &(local, inserted)| {
        if inserted { mask | local.bit() } else { mask & !local.bit() }
    });
    build.finish(false, present, few)
}

/// As [`Corrected::several`] where the main part has a patch, which comes under the delta.
fn patched(version: &Version, n: usize, scratch: &mut Scratch) -> Corrected {
    let weighted = version.main().weights().is_some();
    let Scratch { build, few, .. } = scratch;
    build.clear();
    for change in &version.changes(n, None) {
        match (version.main().find(change.local, change.dst, InterpolationHint::UNKNOWN), change.weight) {
            (None, Some(weight)) => build.add_neighbor(change.local, change.dst, weighted.then_some(weight)),
            (Some(_), None) => build.remove_neighbor(change.local, change.dst),
            (Some(at), Some(weight)) if weighted => build.reweight(change.local, at, weight),
            _ => {}
        }
    }
    build.finish(weighted, version.at_delta(n).present(), few)
}
