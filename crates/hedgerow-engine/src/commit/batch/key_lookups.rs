//! The keys of a large transaction: each is looked up once, and created if absent.

use std::ops::Range;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_core::{Direction, KeyKind, KindId, LabelId, RowRef, Timestamp, VertexId};
use hedgerow_pager::ids::KeyLatch;
use hedgerow_txn::CommitThreads;
use smallvec::SmallVec;

use super::distinct::Distinct;
use super::labels::follows_its_vertex;
use super::parts::BatchEntry;
use crate::commit::attributes::AttributesTable;
use crate::commit::names::{NOW, TxnKey, TxnKeys};
use crate::commit::op::{OpKind, TxnOp};
use crate::commit::request::Request;
use crate::state::placement::Placement;
use crate::state::store::Engine;

/// The vertices that the keys of a transaction name, and the latches of the keys that it creates.
pub(super) struct Resolved<'e> {
    engine: &'e Engine,
    /// The distinct keys, with their vertices; `None` if no operation creates the absent key. Empty in a
    /// dense graph.
    names: Vec<(TxnKey, Option<VertexId>)>,
    /// The places in `names` of both keys of each operation. Empty in a dense graph.
    places: Vec<[u32; 2]>,
    /// The keys that the commit creates, in the order in which they got ids.
    fresh: Vec<Fresh>,
    latches: SmallVec<[KeyLatch<'e>; 4]>,
    bound: bool,
}

/// A key that the commit creates.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    /// The place of the key among the names.
    place: u32,
    pub(super) key: TxnKey,
    pub(super) id: VertexId,
}

/// The need of an operation for a vertex that a key names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// Removals apply to it if it exists, and do not create it.
    IfThere,
    /// An edge creates it as its end, if it is absent.
    End,
    /// An operation on vertices creates it, if it is absent.
    Vertex,
}

/// The number of keys that a thread looks up, or binds, at a time.
const KEYS_AT_A_TIME: usize = 1 << 11;
/// The number of new keys from which on room for all is made before they are bound; else small tables would
/// grow again and again.
const RESERVED: usize = if cfg!(feature = "shuttle") { 2 } else { 1 << 12 };
/// The number of keys that are looked up together, so that their cache misses overlap: about as many misses
/// as a processor can have in progress.
const TOGETHER: usize = 16;

impl<'e> Resolved<'e> {
    /// Looks up the keys of the request; absent ones that operations create get ids, under their latches.
    pub(super) fn of<'j>(
        engine: &'e Engine,
        request: &'j Request<'_>,
        threads: &CommitThreads<'j>,
    ) -> Result<Resolved<'e>>
    where
        'e: 'j,
    {
        let mut resolved = Resolved {
            engine,
            names: Vec::new(),
            places: Vec::new(),
            fresh: Vec::new(),
            latches: SmallVec::new(),
            bound: false,
        };
        if engine.catalog.config.keys == KeyKind::Dense {
            return Ok(resolved);
        }
        let wanted = resolved.gather(request.ops);
        // Most vertices that operations insert are new: they are looked up only under the latches, when
        // memory knows all keys.
        let all = !engine.keys.ids.stored.all_known();
        let ends = (0u32..).zip(&wanted).filter(|&(_, wanted)| all || *wanted != Wanted::Vertex);
        resolved.look_up(ends.map(|(place, _)| place).collect(), request, threads);
        if all {
            resolved.look_up_stored(request)?;
        }
        resolved.create(&wanted, request, threads)?;
        Ok(resolved)
    }

    /// Collects the distinct keys, in the order of the program, and the places of each operation's keys.
    /// Returns the need for each key.
    fn gather(&mut self, ops: &[TxnOp]) -> Vec<Wanted> {
        let mut names = Distinct::new(ops.len());
        let mut wanted = Vec::with_capacity(ops.len());
        self.places.reserve_exact(ops.len());
        for (at, op) in ops.iter().enumerate() {
            if follows_its_vertex(ops, at) {
                self.places.push(self.places[at - 1]);
                continue;
            }
            let of = match op.kind {
                OpKind::InsertVertex => Wanted::Vertex,
                OpKind::Remove => Wanted::IfThere,
                _ => Wanted::End,
            };
            let mut place = |key| {
                let place = names.place(key);
                match wanted.get_mut(place as usize) {
                    None => wanted.push(of),
                    Some(known) => *known = of.max(*known),
                }
                place
            };
            let src = place(op.src);
            self.places.push([src, if op.dst == op.src { src } else { place(op.dst) }]);
        }
        self.names = names.keys.into_iter().map(|key| (key, None)).collect();
        wanted
    }

    /// Looks up the keys at these places, on all threads.
    fn look_up<'j>(&mut self, places: Vec<u32>, request: &'j Request<'_>, threads: &CommitThreads<'j>)
    where
        'e: 'j,
    {
        if places.is_empty() {
            return;
        }
        let engine = self.engine;
        let names: Vec<TxnKey> = places.iter().map(|&place| self.names[place as usize].0).collect();
        let count = names.len();
        let ranges = (0..count)
            .step_by(KEYS_AT_A_TIME)
            .map(|from| (from..count.min(from + KEYS_AT_A_TIME), Vec::new()))
            .collect();
        let (_, found) = threads.each(names, ranges, move |names, (range, found)| {
            let (groups, rest) = names[range.clone()].as_chunks::<TOGETHER>();
            found.reserve_exact(range.len());
            for group in groups {
                let keys = group.map(|key| request.keys.key(key));
                found.extend(engine.keys.ids.lookup_all(keys, NOW, |_, _, _| ()));
            }
            found.extend(rest.iter().map(|&key| engine.keys.ids.lookup(request.keys.key(key), NOW)));
        });
        let found = found.iter().flat_map(|(_, found)| found);
        places.iter().zip(found).for_each(|(&place, &id)| self.names[place as usize].1 = id);
    }

    /// Looks up in segments the keys that memory did not find. A batch ends no binding, so memory need not
    /// learn the results.
    #[cold]
    fn look_up_stored(&mut self, request: &Request<'_>) -> Result<()> {
        for (key, id) in self.names.iter_mut().filter(|(_, id)| id.is_none()) {
            *id = self.engine.keys.vertex_to_read(&self.engine.pager, request.keys.key(*key), NOW)?;
        }
        Ok(())
    }

    /// Latches the absent keys, so that they stay absent until the commit is done, and looks them up again.
    /// Keys that an operation creates get ids. Inserted vertices get ids in the order of the program:
    /// neighbours in the program share subgraphs, and properties are read in the order in which they are
    /// stored. Ends of edges get ids in the order of keys.
    fn create<'j>(
        &mut self,
        wanted: &[Wanted],
        request: &'j Request<'_>,
        threads: &CommitThreads<'j>,
    ) -> Result<()>
    where
        'e: 'j,
    {
        let keys = request.keys;
        let places = 0..self.names.len() as u32;
        let missing: Vec<u32> = places.filter(|&place| self.names[place as usize].1.is_none()).collect();
        let mut latched = Vec::new();
        for &place in &missing {
            let index = self.engine.keys.ids.latch_of(keys.key(self.names[place as usize].0));
            if latched.len() <= index {
                latched.resize(index + 1, false);
            }
            latched[index] = true;
        }
        let indices = latched.iter().enumerate().filter(|(_, latched)| **latched);
        self.latches.extend(indices.map(|(index, _)| self.engine.keys.ids.latch(index)));
        self.look_up(missing.clone(), request, threads);
        // Names are in the order of the program.
        let of_kind = |kind| missing.iter().copied().filter(move |&place| wanted[place as usize] == kind);
        let vertices = of_kind(Wanted::Vertex);
        let mut ends: Vec<(TxnKey, u32)> =
            of_kind(Wanted::End).map(|place| (self.names[place as usize].0, place)).collect();
        ends.sort_unstable();
        let ends = ends.into_iter().map(|(_, place)| place);
        vertices.chain(ends).try_for_each(|place| self.give_id(place, keys))
    }

    /// Gives an id to a key that names nothing.
    fn give_id(&mut self, place: u32, keys: &TxnKeys) -> Result<()> {
        let engine = self.engine;
        let (key, id) = &mut self.names[place as usize];
        if id.is_none() {
            let kind = keys.key(*key).kind();
            let taken = engine.keys.ids.allocate(kind, || engine.order.horizon().oldest());
            let taken = taken.ok_or_else(|| ArgumentError::TooLarge {
                what: "the number of vertices".into(),
                limit: u64::from(u32::MAX),
            })?;
            *id = Some(taken);
            self.fresh.push(Fresh { place, key: *key, id: taken });
        }
        Ok(())
    }

    /// Returns the ends of operation `at`, if both exist or are created.
    #[inline]
    fn ends(&self, op: &TxnOp, at: usize) -> Option<(VertexId, VertexId)> {
        match self.places.get(at) {
            None => Some((op.src.dense_id()?, op.dst.dense_id()?)),
            Some(&[src, dst]) => Some((self.names[src as usize].1?, self.names[dst as usize].1?)),
        }
    }

    /// Adds the entries of the operation at `at` for the chains of `label`: one for each copy of its edge,
    /// but none for a removal if an endpoint does not exist. An operation without an edge of the default
    /// label adds entries to that label for the vertices that it names.
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
            let empty = matches!(attributes.row(op.attributes), RowRef::Empty);
            let kind = if empty { OpKind::Remove } else { op.kind };
            entries.push(BatchEntry::new(src, dst, at, Direction::Out, kind));
        } else {
            entries.push(BatchEntry::new(src, dst, at, Direction::Out, op.kind));
            if placement.has_second(src, dst) {
                entries.push(BatchEntry::new(dst, src, at, placement.second_direction(), op.kind));
            }
        }
    }

    /// True if the keys still name the same vertices. The caller holds the latches of all subgraphs: a
    /// binding changes only under the latch of its vertex's subgraph (invariant I4). Created keys have their
    /// own latches.
    pub(super) fn still_hold(&self, engine: &Engine, keys: &TxnKeys) -> bool {
        let mut fresh = vec![0u64; self.names.len().div_ceil(64)];
        self.fresh.iter().for_each(|of| fresh[of.place as usize / 64] |= 1 << (of.place % 64));
        self.names.iter().enumerate().all(|(place, &(key, id))| {
            fresh[place / 64] >> (place % 64) & 1 == 1
                || id.is_none_or(|id| engine.keys.ids.still_names(id, keys.key(key)))
        })
    }

    /// Returns the keys that the commit creates.
    pub(super) fn fresh(&self) -> &[Fresh] {
        &self.fresh
    }

    /// Marks the ids as used by the commit, so that the drop does not give them back.
    pub(super) fn keep_ids(&mut self) {
        self.bound = true;
    }

    /// Counts the keys that the commit creates, by kind.
    fn fresh_by_kind(&self, keys: &TxnKeys) -> SmallVec<[(KindId, usize); 1]> {
        let mut counts: SmallVec<[(KindId, usize); 1]> = SmallVec::new();
        for fresh in &self.fresh {
            let kind = keys.key(fresh.key).kind();
            match counts.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((kind, 1)),
            }
        }
        counts
    }

    /// Binds the keys that the commit `ts` creates, on all threads.
    pub(super) fn bind_all<'j>(
        self,
        keys: &'j TxnKeys,
        ts: Timestamp,
        threads: &CommitThreads<'j>,
    ) -> Resolved<'e>
    where
        'e: 'j,
    {
        let engine = self.engine;
        let oldest = engine.order.horizon().oldest().unwrap_or(Timestamp::ZERO);
        let count = self.fresh.len();
        if count >= RESERVED {
            let kinds = self.fresh_by_kind(keys);
            let parts = (0..hedgerow_mem::keys::PARTS).collect();
            threads.each(kinds, parts, |kinds, &mut part| {
                kinds.iter().for_each(|&(kind, count)| engine.keys.ids.reserve(kind, part, count));
            });
        }
        let ranges =
            (0..count).step_by(KEYS_AT_A_TIME).map(|from| from..count.min(from + KEYS_AT_A_TIME)).collect();
        let bind = move |resolved: &Resolved<'e>, range: &mut Range<usize>| {
            let fresh = resolved.fresh.get(range.clone()).unwrap_or(&[]).iter();
            engine.keys.ids.bind_all(fresh.map(|&Fresh { key, id, .. }| (keys.key(key), id)), ts, oldest);
        };
        threads.each(self, ranges, bind).0
    }

    /// Releases the latches of the keys.
    pub(super) fn unlatch(&mut self) {
        self.latches.clear();
    }
}

impl Drop for Resolved<'_> {
    /// Gives back the ids of vertices that the commit did not create.
    fn drop(&mut self) {
        if !self.bound {
            // In reverse order: a commit that starts over gets them in the same order.
            self.fresh.iter().rev().for_each(|fresh| self.engine.keys.ids.give_back(fresh.id));
        }
    }
}
