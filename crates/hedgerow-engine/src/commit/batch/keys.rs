//! The keys of a large transaction: looked up once each, created where absent.

use std::ops::Range;

use hedgerow_core::{Direction, KeyKind, LabelId, Timestamp, VertexId, simd};
use smallvec::SmallVec;

use super::labels::follows_its_vertex;
use super::parts::BatchEntry;
use crate::commit::attributes::AttributesTable;
use crate::commit::names::{TxnKey, TxnKeys};
use crate::commit::op::{OpKind, TxnOp};
use crate::error::{ArgumentError, Result};
use crate::state::ids::KeyLatch;
use crate::state::placement::Placement;
use crate::state::store::Engine;

/// What the keys of a transaction name, and the latches of those that it creates.
pub(super) struct Resolved<'e> {
    engine: &'e Engine,
    /// The distinct keys, with their vertices; none where no operation creates the key. Empty in a dense graph.
    names: Vec<(TxnKey, Option<VertexId>)>,
    /// Per operation the places of both keys in `names`. Empty in a dense graph.
    places: Vec<[u32; 2]>,
    /// The keys that the commit creates, in the order in which they got ids.
    fresh: Vec<Fresh>,
    latches: SmallVec<[KeyLatch<'e>; 4]>,
    bound: bool,
}

/// A key that the commit creates.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    /// Its place among the names.
    place: u32,
    pub(super) key: TxnKey,
    pub(super) id: VertexId,
}

/// Keys that are looked up together, so that their cache misses overlap: about as many as a processor has under way.
const TOGETHER: usize = 16;

const NOW: Timestamp = Timestamp(u64::MAX - 1);

impl<'e> Resolved<'e> {
    /// Looks up the keys of `ops`; those that are absent and to be created get ids, under their latches.
    pub(super) fn of(engine: &'e Engine, ops: &[TxnOp], keys: &TxnKeys) -> Result<Resolved<'e>> {
        let mut resolved = Resolved {
            engine,
            names: Vec::new(),
            places: Vec::new(),
            fresh: Vec::new(),
            latches: SmallVec::new(),
            bound: false,
        };
        if engine.config.keys == KeyKind::Dense {
            return Ok(resolved);
        }
        resolved.gather(ops);
        let (groups, rest) = resolved.names.as_chunks_mut::<TOGETHER>();
        for group in groups {
            let found = engine.ids.lookup_all(group.map(|(key, _)| keys.key(key)), NOW, |_, _| ());
            group.iter_mut().zip(found).for_each(|((_, id), found)| *id = found);
        }
        rest.iter_mut().for_each(|(key, id)| *id = engine.ids.lookup(keys.key(*key), NOW));
        resolved.create(ops, keys)?;
        Ok(resolved)
    }

    /// The distinct keys, ascending, and where each operation's are.
    fn gather(&mut self, ops: &[TxnOp]) {
        let mut ends: Vec<(TxnKey, u32)> = Vec::with_capacity(ops.len() * 2);
        for (at, op) in ops.iter().enumerate().filter(|&(at, _)| !follows_its_vertex(ops, at)) {
            ends.push((op.src, at as u32 * 2));
            if op.dst != op.src {
                ends.push((op.dst, at as u32 * 2 + 1));
            }
        }
        ends.sort_unstable();
        self.places = vec![[0; 2]; ops.len()];
        for (key, end) in ends {
            if self.names.last().is_none_or(|&(last, _)| last != key) {
                self.names.push((key, None));
            }
            self.places[end as usize / 2][end as usize % 2] = self.names.len() as u32 - 1;
        }
        for at in (0..ops.len()).filter(|&at| ops[at].dst == ops[at].src) {
            let vertex = if follows_its_vertex(ops, at) { at - 1 } else { at };
            self.places[at] = [self.places[vertex][0]; 2];
        }
    }

    /// Latches the keys that are absent, so that they stay so until the commit is done, and looks again. Those that an
    /// operation creates get ids: in the order of the program where the operation is on the vertex itself, so that neighbours in
    /// the program share subgraphs, and properties are read in the order in which they lie; ends of edges in the order of keys.
    fn create(&mut self, ops: &[TxnOp], keys: &TxnKeys) -> Result<()> {
        let mut missing: Vec<(u32, bool)> = Vec::new();
        for (op, places) in ops.iter().zip(&self.places) {
            let absent = places.iter().filter(|&&place| self.names[place as usize].1.is_none());
            missing.extend(absent.map(|&place| (place, op.kind != OpKind::Remove)));
        }
        missing.sort_unstable();
        missing.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 |= same && later.1;
            same
        });
        let index =
            |&(place, _): &(u32, bool)| self.engine.ids.latch_of(keys.key(self.names[place as usize].0));
        let mut indices: Vec<usize> = missing.iter().map(index).collect();
        indices.sort_unstable();
        indices.dedup();
        self.latches.extend(indices.into_iter().map(|index| self.engine.ids.latch(index)));
        let (groups, rest) = missing.as_chunks::<TOGETHER>();
        for group in groups {
            let name = |place: u32| keys.key(self.names[place as usize].0);
            let found = self.engine.ids.lookup_all(group.map(|(place, _)| name(place)), NOW, |_, _| ());
            group.iter().zip(found).for_each(|(&(place, _), id)| self.names[place as usize].1 = id);
        }
        for &(place, _) in rest {
            let (key, id) = &mut self.names[place as usize];
            *id = self.engine.ids.lookup(keys.key(*key), NOW);
        }
        for (at, op) in ops.iter().enumerate() {
            if let Some(ahead) = self.places.get(at + TOGETHER) {
                simd::prefetch(&raw const self.names[ahead[0] as usize]);
            }
            if op.kind == OpKind::InsertVertex {
                self.give_id(self.places[at][0], keys)?;
            }
        }
        missing.iter().filter(|(_, creates)| *creates).try_for_each(|&(place, _)| self.give_id(place, keys))
    }

    /// Gives an id to a key that names nothing.
    fn give_id(&mut self, place: u32, keys: &TxnKeys) -> Result<()> {
        let engine = self.engine;
        let (key, id) = &mut self.names[place as usize];
        if id.is_none() {
            let kind = keys.key(*key).kind();
            let taken = engine.ids.allocate(kind, || engine.horizon().oldest());
            let taken = taken.ok_or_else(|| ArgumentError::TooLarge {
                what: "the number of vertices".into(),
                limit: u64::from(u32::MAX),
            })?;
            *id = Some(taken);
            self.fresh.push(Fresh { place, key: *key, id: taken });
        }
        Ok(())
    }

    /// The ends of operation `at`, if both exist or are created.
    #[inline]
    fn ends(&self, op: &TxnOp, at: usize) -> Option<(VertexId, VertexId)> {
        match self.places.get(at) {
            None => Some((engine_id(op.src)?, engine_id(op.dst)?)),
            Some(&[src, dst]) => Some((self.names[src as usize].1?, self.names[dst as usize].1?)),
        }
    }

    /// Adds the entries of the operation at `at` for the chains of `label`: one for each copy of its edge; none for the removal of
    /// an edge without an endpoint. An operation without an edge of the default label has entries there for the
    /// vertices that it names.
    pub(super) fn each_entry(
        &self,
        placement: Placement,
        (label, at): (LabelId, usize),
        (ops, attributes): (&[TxnOp], AttributesTable<'_>),
        entries: &mut Vec<BatchEntry>,
    ) {
        let op = &ops[at];
        let Some((src, dst)) = self.ends(op, at) else { return };
        if op.label != label || !op.is_edge() {
            if follows_its_vertex(ops, at) {
                return;
            }
            let kind = if op.kind == OpKind::Remove { OpKind::Remove } else { OpKind::InsertVertex };
            entries.push(BatchEntry::vertex(src, at, kind));
            if dst != src {
                entries.push(BatchEntry::vertex(dst, at, kind));
            }
        } else if label == LabelId::VERTICES {
            // A vertex without properties has no row at all.
            let empty = attributes.row(op.attributes).is_empty();
            let kind = if empty { OpKind::Remove } else { op.kind };
            entries.push(BatchEntry::new(src, dst, at, Direction::Out, kind));
        } else {
            entries.push(BatchEntry::new(src, dst, at, Direction::Out, op.kind));
            if placement.has_second(src, dst) {
                entries.push(BatchEntry::new(dst, src, at, placement.second_direction(), op.kind));
            }
        }
    }

    /// Whether the keys still name what they named, asked with the latches of all subgraphs held: a binding changes
    /// only under the latch of its vertex's subgraph (invariant I4). Those created are under their own latches.
    pub(super) fn still_hold(&self, engine: &Engine, keys: &TxnKeys) -> bool {
        let mut fresh = vec![0u64; self.names.len().div_ceil(64)];
        self.fresh.iter().for_each(|of| fresh[of.place as usize / 64] |= 1 << (of.place % 64));
        self.names.iter().enumerate().all(|(place, &(key, id))| {
            fresh[place / 64] >> (place % 64) & 1 == 1
                || id.is_none_or(|id| engine.ids.names(id, keys.key(key)))
        })
    }

    /// The keys that the commit creates.
    pub(super) fn fresh(&self) -> &[Fresh] {
        &self.fresh
    }

    /// Ids stay with their keys from here on: the commit happens.
    pub(super) fn keep_ids(&mut self) {
        self.bound = true;
    }

    /// Binds some of the keys that the commit `ts` creates. On several threads.
    pub(super) fn bind(&self, keys: &TxnKeys, fresh: Range<usize>, ts: Timestamp, oldest: Timestamp) {
        let fresh = self.fresh.get(fresh).unwrap_or(&[]).iter();
        self.engine.ids.bind_all(fresh.map(|&Fresh { key, id, .. }| (keys.key(key), id)), ts, oldest);
    }

    /// Releases the latches of the keys.
    pub(super) fn unlatch(&mut self) {
        self.latches.clear();
    }
}

fn engine_id(key: TxnKey) -> Option<VertexId> {
    u32::try_from(key.0).ok().map(VertexId)
}

impl Drop for Resolved<'_> {
    /// Ids taken for vertices that did not come into being go back.
    fn drop(&mut self) {
        if !self.bound {
            self.fresh.iter().for_each(|fresh| self.engine.ids.give_back(fresh.id));
        }
    }
}
