//! The entries of images and the operations of the log for each edge, sorted in files, and the resulting
//! state of each edge.
//!
//! A record is one entry of an image or one operation. Its key is the edge and the order in which it was
//! found: entries of images first, then the log. The last record with all properties decides. An entry of the
//! end that lacks some properties counts only if there is no other record.

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::{GraphConfig, LabelId, Row, RowRef, VertexId};
use hedgerow_io::codec::{PutLe, Reader};
use hedgerow_tier::sorter::{Merge, Record, Sorted, Sorter, put_ordered, take_ordered};
use hedgerow_tier::{AdjacencyPart, ImageId};

use crate::state::placement::Placement;

/// Label, source, destination, rank. The ends of an undirected edge are in ascending order.
pub(super) type EdgeTuple = (u16, u32, u32, u64);

/// The era of older images that are used instead of lost ones; other images have the era [`SOUND`]. Losses
/// begin later eras.
pub(super) const STALE: u32 = 0;
pub(super) const SOUND: u32 = 1;

/// The state of an edge, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) weight: Option<f64>,
    pub(super) row: Option<Row>,
    /// True if it was read at the end that has all its properties.
    pub(super) whole: bool,
    /// The era in which it was last written.
    pub(super) era: u32,
}

/// Flag: the edge is removed.
const REMOVED: u8 = 1;
/// Flag: a weight precedes the properties.
const WEIGHT: u8 = 2;
const WHOLE: u8 = 4;
/// Flag: the record is an entry of an image. Its era depends on which images are the newest.
const IMAGE: u8 = 8;
/// Flag: the image or the delta belongs to the destination.
const AT_DST: u8 = 16;
/// Flag: the record is an operation of a stale delta.
const STALE_DELTA: u8 = 32;

/// The collector of entries and operations while they are found.
pub(super) struct EdgeSorter {
    sorter: Sorter,
    placement: Placement,
    found: u64,
    key: Vec<u8>,
    payload: Vec<u8>,
    /// The first error, stored because the callers that find entries cannot return it at once.
    failed: Option<Error>,
}

impl EdgeSorter {
    pub(super) fn new(sorter: Sorter, config: &GraphConfig) -> EdgeSorter {
        EdgeSorter {
            sorter,
            placement: Placement::of(config),
            found: 0,
            key: Vec::new(),
            payload: Vec::new(),
            failed: None,
        }
    }

    /// Adds entry number `at` of `part`, which belongs to the vertex `v` in `label`.
    pub(super) fn add_entry(&mut self, label: LabelId, v: u32, part: &AdjacencyPart, at: usize) {
        let Some(&VertexId(u)) = part.neighbors.get(at) else { return };
        let (src, dst) = self.placement.ends_of_copy(v, u, part.direction);
        let whole = self.placement.counts_at(part.direction, v, u);
        let rank = part.ranks.as_ref().and_then(|ranks| ranks.get(at).copied()).unwrap_or(0);
        let weight = part.weights.as_ref().and_then(|weights| weights.get(at).copied());
        let flags = IMAGE | (u8::from(whole) * WHOLE) | (u8::from(src != v) * AT_DST);
        self.put((label.0, src, dst, rank), flags, 0, weight, |out| {
            hedgerow_log::encode_row(RowRef::Columns(&part.columns, at), out);
        });
    }

    /// Adds operation number `at` of a part of a delta, which belongs to the vertex `v` in the default label.
    pub(super) fn add_operation(
        &mut self,
        v: u32,
        (part, at): (&AdjacencyPart, usize),
        is_removed: bool,
        is_stale: bool,
    ) {
        let Some(&VertexId(u)) = part.neighbors.get(at) else { return };
        let (src, dst) = self.placement.ends_of_copy(v, u, part.direction);
        let place = (LabelId::DEFAULT.0, src, dst, 0);
        let stale = if is_stale { STALE_DELTA | (u8::from(src != v) * AT_DST) } else { 0 };
        if is_removed {
            self.put(place, REMOVED | stale, 0, None, |_| {});
        } else {
            let weight = part.weights.as_ref().and_then(|weights| weights.get(at).copied());
            self.put(place, WHOLE | stale, if is_stale { STALE } else { SOUND }, weight, |_| {});
        }
    }

    /// Adds an edge that the log puts, with `row` as the log has it.
    pub(super) fn put_edge(&mut self, place: EdgeTuple, era: u32, weight: Option<f64>, row: &[u8]) {
        self.put(place, WHOLE, era, weight, |out| out.put_bytes(row));
    }

    pub(super) fn remove_edge(&mut self, place: EdgeTuple) {
        self.put(place, REMOVED, 0, None, |_| {});
    }

    fn put(
        &mut self,
        (label, src, dst, rank): EdgeTuple,
        flags: u8,
        era: u32,
        weight: Option<f64>,
        row: impl FnOnce(&mut Vec<u8>),
    ) {
        if self.failed.is_some() {
            return;
        }
        self.key.clear();
        self.key.put_bytes(&label.to_be_bytes());
        self.key.put_bytes(&src.to_be_bytes());
        self.key.put_bytes(&dst.to_be_bytes());
        put_ordered(&mut self.key, rank);
        put_ordered(&mut self.key, self.found);
        self.found += 1;
        self.payload.clear();
        self.payload.put_u8(flags | (u8::from(weight.is_some()) * WEIGHT));
        if flags & (IMAGE | REMOVED) == 0 {
            self.payload.put_u32(era);
        }
        weight.into_iter().for_each(|weight| self.payload.put_f64(weight));
        row(&mut self.payload);
        self.failed = self.sorter.push(&self.key, &self.payload).err().map(Into::into);
    }

    /// Sorts the records.
    ///
    /// # Errors
    /// The errors of writing sorted files, now or earlier.
    pub(super) fn finish(&mut self) -> Result<FoundEdges> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(FoundEdges { sorted: self.sorter.finish()? }),
        }
    }
}

/// All records of edges, in their order.
pub(super) struct FoundEdges {
    sorted: Sorted,
}

impl FoundEdges {
    /// Calls `take` with each edge that exists. `newest` is true for an image if the newest image of its
    /// subgraph and label was read. An edge between two subgraphs is taken from such an image rather than
    /// from an older image of the other subgraph.
    ///
    /// # Errors
    /// The errors of reading sorted files, and of `take`.
    pub(super) fn for_each(
        &self,
        newest: impl Fn(ImageId) -> bool,
        mut take: impl FnMut(EdgeTuple, Found) -> Result<()>,
    ) -> Result<()> {
        let mut merge: Merge<'_> = self.sorted.merge()?;
        let mut edge: Option<(EdgeTuple, Option<Found>)> = None;
        while let Some(record) = merge.next_record()? {
            let Some((place, entry)) = decode(record) else { continue };
            if edge.as_ref().is_none_or(|(before, _)| *before != place)
                && let Some((before, Some(found))) = edge.replace((place, None))
            {
                take(before, found)?;
            }
            if let Some((_, found)) = &mut edge {
                entry.fold(place, &newest, found);
            }
        }
        match edge {
            Some((place, Some(found))) => take(place, found),
            _ => Ok(()),
        }
    }
}

/// One record without its key.
struct Entry<'a> {
    flags: u8,
    era: u32,
    weight: Option<f64>,
    row: &'a [u8],
}

impl Entry<'_> {
    /// Updates the state of the edge with this entry.
    fn fold(self, place: EdgeTuple, newest: impl Fn(ImageId) -> bool, found: &mut Option<Found>) {
        let has = |flag| self.flags & flag != 0;
        let image = |v| ImageId { label: LabelId(place.0), subgraph: VertexId(v).subgraph() };
        let (own, other) = if has(AT_DST) { (place.2, place.1) } else { (place.1, place.2) };
        if has(STALE_DELTA) && newest(image(other)) {
            return;
        }
        if has(REMOVED) {
            *found = None;
            return;
        }
        let mut era = self.era;
        if has(IMAGE) {
            let stale = !newest(image(own));
            if (stale && newest(image(other))) || !(has(WHOLE) || found.is_none()) {
                return;
            }
            era = if stale { STALE } else { SOUND };
        }
        let row = hedgerow_log::decode_row(self.row).ok().flatten();
        *found = Some(Found { weight: self.weight, row, whole: has(WHOLE), era });
    }
}

/// Decodes a record; `None` for an invalid one, which the checksums rule out.
fn decode(record: Record<'_>) -> Option<(EdgeTuple, Entry<'_>)> {
    let (label, key) = record.key.split_first_chunk()?;
    let (src, key) = key.split_first_chunk()?;
    let (dst, mut key) = key.split_first_chunk()?;
    let rank = take_ordered(&mut key)?;
    let place = (u16::from_be_bytes(*label), u32::from_be_bytes(*src), u32::from_be_bytes(*dst), rank);
    let mut r = Reader::new(record.payload);
    let flags = r.u8().ok()?;
    let era = if flags & (IMAGE | REMOVED) == 0 { r.u32().ok()? } else { STALE };
    let weight = if flags & WEIGHT == 0 { None } else { Some(r.f64().ok()?) };
    Some((place, Entry { flags, era, weight, row: r.rest() }))
}

#[cfg(test)]
mod tests {
    use hedgerow_core::{Columns, Direction, KeyKind, SUBGRAPH_VERTICES, SubgraphId};
    use hedgerow_testkit::SimFs;
    use hedgerow_tier::temporary::TemporaryDirectory;

    use super::*;

    const A: u32 = 3;
    const B: u32 = 64 * 5;

    /// A list of one neighbor; the tests name its vertex separately.
    fn part_to(direction: Direction, neighbor: u32) -> AdjacencyPart {
        AdjacencyPart {
            direction,
            offsets: [0; SUBGRAPH_VERTICES + 1],
            neighbors: vec![VertexId(neighbor)],
            weights: None,
            ranks: None,
            columns: Columns::default(),
        }
    }

    /// The image of `A` has the edge from `A` to `B` or not, and the delta of `B` puts or removes it. Returns
    /// true if the edge is saved.
    fn is_saved(in_image: bool, removed: bool, (stale, newest_a): (bool, bool)) -> bool {
        let config = GraphConfig { directed: true, keys: KeyKind::Dense, weighted: false, reverse: true };
        let disk = SimFs::new();
        let temporary = TemporaryDirectory::new(disk.handle(), "edges");
        let mut edges = EdgeSorter::new(Sorter::new(&temporary, 1 << 20), &config);
        if in_image {
            edges.add_entry(LabelId::DEFAULT, A, &part_to(Direction::Out, B), 0);
        }
        edges.add_operation(B, (&part_to(Direction::In, A), 0), removed, stale);
        let newest = |id: ImageId| newest_a && id.subgraph == SubgraphId(0);
        let mut saved = 0;
        let take = |place: EdgeTuple, _: Found| {
            assert_eq!(place, (0, A, B, 0));
            saved += 1;
            Ok(())
        };
        edges.finish().unwrap().for_each(newest, take).unwrap();
        saved == 1
    }

    #[test]
    fn an_operation_of_a_stale_delta_does_not_contradict_the_newest_image_of_the_other_end() {
        for removed in [true, false] {
            assert_eq!(is_saved(removed, removed, (false, true)), !removed, "a sound delta is newer");
            assert_eq!(is_saved(removed, removed, (true, true)), removed, "the image is the newest");
            assert_eq!(is_saved(removed, removed, (true, false)), !removed, "nothing is newer");
        }
    }
}
