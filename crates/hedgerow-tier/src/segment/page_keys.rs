//! Reads of the keys of a page without its neighbors, for an opening, which needs all keys and no edges.

use hedgerow_core::{GraphConfig, KeyKind, LabelId, LocalVertex, SubgraphId, VertexKey};

use super::directory::{Directory, PlacedImage};
use super::image::{ImageKeys, check_keys, check_vertices, needs_keys, no_keys};
use super::key_records::KeyRecords;
use super::paged::PagedSegment;
use super::window::Window;
use crate::TierError;
use crate::id::ImageId;

/// The keys of the live vertices of one subgraph, read from the image of the default label without its
/// neighbors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubgraphKeys {
    /// The subgraph.
    pub id: SubgraphId,
    /// Bit `i` is set if local vertex `i` is live.
    pub present: u64,
    /// The external ids of the live vertices, in local order.
    pub keys: ImageKeys,
}

impl SubgraphKeys {
    /// Returns the key of a vertex, if it is live.
    pub fn key_of(&self, local: LocalVertex) -> Option<VertexKey> {
        let before = (self.present & (local.bit() - 1)).count_ones() as usize;
        let at = (self.present & local.bit() != 0).then_some(before)?;
        match &self.keys {
            ImageKeys::Dense => Some(VertexKey::U64(u64::from(self.id.vertex(local).0))),
            ImageKeys::U64(keys) => keys.get(at).map(|&n| VertexKey::U64(n)),
            ImageKeys::Str(keys) => keys.get(at).cloned().map(VertexKey::Str),
            ImageKeys::Kinds(keys) => keys.get(at).cloned(),
        }
    }
}

impl PagedSegment {
    /// Reads in order the keys of the `wanted` images of page number `i`, of the default label, and passes
    /// them to `f`; deltas have none. Stops at the first error of the read or of `f`. Checks all rules of
    /// images except the rules about neighbors.
    pub(super) fn read_keys<E: From<TierError>>(
        &self,
        i: usize,
        wanted: impl Fn(ImageId) -> bool,
        mut f: impl FnMut(SubgraphKeys) -> Result<(), E>,
    ) -> Result<(), E> {
        let directory = self.directory(i)?;
        let images = &directory.images;
        let has_keys = |placed: &PlacedImage| placed.entry.delta.is_none();
        let is_wanted = |placed: &PlacedImage| has_keys(placed) && wanted(placed.id(directory.label));
        let Some(last) = images.iter().rposition(is_wanted) else { return Ok(()) };
        let end = directory.positions.len().saturating_sub(1);
        let columns = images.iter().map(|placed| placed.columns).find(|place| place.len > 0);
        // The keys of the last wanted image end where the keys of the next image begin.
        let behind = images.iter().skip(last + 1).map(|placed| placed.keys).find(|place| place.len > 0);
        let until = behind
            .map(|place| place.block + usize::from(place.offset > 0))
            .or(columns.map(|place| place.block))
            .unwrap_or(end);
        let mut records = KeyRecords::new(Window::new(self.source(), &directory.positions, until));
        for placed in images.iter().filter(|placed| is_wanted(placed)) {
            let keys = records.read(placed)?;
            let found = finish(&directory, placed, keys, self.config());
            let position = directory.positions.get(placed.topology.block).copied().unwrap_or(0);
            f(found.map_err(|what| self.source().invalid(position, what))?)?;
        }
        Ok(())
    }
}

fn finish(
    directory: &Directory,
    placed: &PlacedImage,
    keys: Option<ImageKeys>,
    config: &GraphConfig,
) -> Result<SubgraphKeys, &'static str> {
    let (id, present, label) = (placed.entry.subgraph, placed.entry.present, directory.label);
    if keys.is_some() != needs_keys(label, present, config) {
        return Err("keys that are missing, or belong to no vertex");
    }
    let keys = SubgraphKeys { id, present, keys: keys.unwrap_or_else(|| no_keys(label, config)) };
    match fault_of(&keys, if label == LabelId::DEFAULT { config.keys } else { KeyKind::Dense }) {
        None => Ok(keys),
        Some(what) => Err(what),
    }
}

/// Returns the first rule that the keys break.
pub(super) fn fault_of(keys: &SubgraphKeys, kind: KeyKind) -> Option<&'static str> {
    let SubgraphKeys { id, present, keys } = keys;
    check_vertices(*id, *present).or_else(|| check_keys(keys.as_ref(), *present, kind))
}
