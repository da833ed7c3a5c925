//! The keys of a large transaction: looked up once each, created where absent.

use hedgerow_core::{Direction, KeyKind, Timestamp, VertexId};
use smallvec::SmallVec;

use super::parts::BatchEntry;
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
    /// Places of keys that the commit creates.
    fresh: Vec<u32>,
    latches: SmallVec<[KeyLatch<'e>; 4]>,
    bound: bool,
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
        for (at, op) in ops.iter().enumerate() {
            ends.push((op.src, at as u32 * 2));
            ends.push((op.dst, at as u32 * 2 + 1));
        }
        ends.sort_unstable();
        self.places = vec![[0; 2]; ops.len()];
        for (key, end) in ends {
            if self.names.last().is_none_or(|&(last, _)| last != key) {
                self.names.push((key, None));
            }
            self.places[end as usize / 2][end as usize % 2] = self.names.len() as u32 - 1;
        }
    }

    /// Latches the keys that are absent, so that they stay so until the commit is done, and looks again. Those that an
    /// operation creates get ids.
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
        for (place, creates) in missing {
            let engine = self.engine;
            let (key, id) = &mut self.names[place as usize];
            let key = keys.key(*key);
            *id = engine.ids.lookup(key, NOW);
            if id.is_none() && creates {
                let taken = engine.ids.allocate(key.kind(), || engine.horizon().oldest());
                *id = Some(taken.ok_or_else(|| ArgumentError::TooLarge {
                    what: "the number of vertices".into(),
                    limit: u64::from(u32::MAX),
                })?);
                self.fresh.push(place);
            }
        }
        Ok(())
    }

    /// Adds one entry for each copy of the edge of each operation in the range; none for the removal of an edge without
    /// an endpoint.
    pub(super) fn each_entry(
        &self,
        placement: Placement,
        ops: &[TxnOp],
        range: std::ops::Range<usize>,
        entries: &mut Vec<BatchEntry>,
    ) {
        let second = placement.second_direction();
        for at in range {
            let op = &ops[at];
            let ends = match self.places.get(at) {
                None => (engine_id(op.src), engine_id(op.dst)),
                Some(&[src, dst]) => (self.names[src as usize].1, self.names[dst as usize].1),
            };
            if let (Some(src), Some(dst)) = ends {
                entries.push(BatchEntry::new(src, dst, at, Direction::Out, op.kind));
                if placement.has_second(src, dst) {
                    entries.push(BatchEntry::new(dst, src, at, second, op.kind));
                }
            }
        }
    }

    /// Whether the keys still name what they named, asked with the latches of all subgraphs held: a binding changes
    /// only under the latch of its vertex's subgraph (invariant I4). Those created are under their own latches.
    pub(super) fn still_hold(&self, engine: &Engine, keys: &TxnKeys) -> bool {
        let mut fresh = self.fresh.iter().peekable();
        self.names.iter().enumerate().all(|(place, &(key, id))| {
            if fresh.next_if(|&&f| f as usize == place).is_some() {
                return true;
            }
            id.is_none_or(|id| engine.ids.names(id, keys.key(key)))
        })
    }

    /// The keys that the commit creates, with their vertices.
    pub(super) fn fresh(&self) -> impl Iterator<Item = (TxnKey, VertexId)> {
        self.fresh.iter().filter_map(|&place| {
            let (key, id) = self.names[place as usize];
            Some((key, id?))
        })
    }

    /// Binds the keys that the commit `ts` creates.
    pub(super) fn bind(&mut self, engine: &Engine, keys: &TxnKeys, ts: Timestamp) {
        let oldest = engine.horizon().oldest().unwrap_or(Timestamp::ZERO);
        for (key, id) in self.fresh() {
            engine.ids.bind(keys.key(key), id, ts, oldest);
        }
        self.bound = true;
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
            self.fresh().for_each(|(_, id)| self.engine.ids.give_back(id));
        }
    }
}
