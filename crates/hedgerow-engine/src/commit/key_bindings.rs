//! The keys of a transaction and the vertices that they name ([`KeyBindings`]): looked up, latched, looked up
//! again, and bound to new ids where operations create vertices. [`effect`](super::effect) then computes the
//! changes of the operations.

use hedgerow_catalog::error::{ArgumentError, CommitError, Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, KeyKind, LabelId, Timestamp, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{ReadItem, SubgraphTable};
use smallvec::SmallVec;

use super::incident::for_each_incident;
use super::names::{NOW, TxnKey, TxnKeys};
use super::op::{OpKind, TxnOp};
use super::validate::{LatchKey, Latches};
use crate::state::store::Engine;

/// A key of the transaction, with the vertex that it names.
pub(crate) struct KeyBinding {
    pub(crate) key: TxnKey,
    /// The vertex that the key names before this commit. In a dense graph it need not exist.
    pub(super) initial: Option<VertexId>,
    /// An id that the key gets if the transaction inserts it.
    pub(super) fresh: Option<VertexId>,
    /// The vertex that the key names at this point of the program.
    pub(super) live: Option<VertexId>,
    /// The index of the last operation that removed it, if any.
    pub(super) removed_at: Option<usize>,
    /// True if an operation inserts or removes the vertex itself.
    vertex_op: bool,
    /// True if it is an endpoint of an edge that is to be removed or updated.
    unlinks: bool,
    /// True if some operation removes it.
    pub(super) removes: bool,
    /// True if some operation creates it if absent.
    creates: bool,
}

/// The keys of a transaction, ascending.
pub(crate) struct KeyBindings {
    pub(super) bindings: SmallVec<[KeyBinding; 2]>,
}

impl KeyBindings {
    /// Collects the distinct keys of `ops`, and how the operations use each. `create`: edges create their
    /// endpoints.
    pub(crate) fn of(ops: &[TxnOp], create: bool) -> KeyBindings {
        let mut bindings: SmallVec<[KeyBinding; 2]> = SmallVec::with_capacity(ops.len().min(1 << 16) * 2);
        let binding = |key, kind| KeyBinding {
            key,
            initial: None,
            fresh: None,
            live: None,
            removed_at: None,
            vertex_op: matches!(kind, OpKind::InsertVertex | OpKind::RemoveVertex),
            unlinks: matches!(kind, OpKind::Remove | OpKind::Update | OpKind::Merge),
            removes: kind == OpKind::RemoveVertex,
            creates: kind == OpKind::InsertVertex || (create && matches!(kind, OpKind::Put | OpKind::Insert)),
        };
        for op in ops {
            bindings.push(binding(op.src, op.kind));
            if op.is_edge() && op.dst != op.src {
                bindings.push(binding(op.dst, op.kind));
            }
        }
        bindings.sort_unstable_by_key(|s| s.key);
        bindings.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                kept.vertex_op |= later.vertex_op;
                kept.unlinks |= later.unlinks;
                kept.removes |= later.removes;
                kept.creates |= later.creates;
            }
            same
        });
        KeyBindings { bindings }
    }

    pub(super) fn place(&self, key: TxnKey) -> usize {
        self.bindings.partition_point(|s| s.key < key)
    }

    /// Looks up the vertex that every key names now. Afterwards memory knows the bindings that the commit may
    /// end. If memory does not know a binding, the segments have it (rules K2 and K5).
    pub(crate) fn resolve(&mut self, engine: &Engine, keys: &TxnKeys) -> Result<()> {
        for binding in &mut self.bindings {
            let key = keys.key(binding.key);
            binding.initial = if binding.removes {
                engine.keys.vertex_of(&engine.pager, key, NOW)
            } else {
                engine.keys.vertex_to_read(&engine.pager, key, NOW)
            }?;
        }
        Ok(())
    }

    /// Returns the key latches that the commit needs, ascending: for keys that it may bind or unbind, and for
    /// absent keys, which must stay absent.
    pub(crate) fn key_latches(&self, engine: &Engine, keys: &TxnKeys) -> SmallVec<[usize; 2]> {
        if engine.catalog.config.keys == KeyKind::Dense {
            return SmallVec::new();
        }
        let needed = self.bindings.iter().filter(|s| s.vertex_op || s.initial.is_none());
        let mut latches: SmallVec<[usize; 2]> =
            needed.map(|s| engine.keys.ids.latch_of(keys.key(s.key))).collect();
        latches.sort_unstable();
        latches.dedup();
        latches
    }

    /// Looks the keys up again, with the key latches held, and gives an id to every key that may be inserted.
    /// Returns these ids; the caller gives unused ones back.
    pub(crate) fn allocate(
        &mut self,
        engine: &Engine,
        keys: &TxnKeys,
        latches: &[usize],
    ) -> Result<SmallVec<[VertexId; 2]>> {
        let mut taken = SmallVec::new();
        if engine.catalog.config.keys == KeyKind::Dense {
            return Ok(taken);
        }
        for binding in &mut self.bindings {
            let key = keys.key(binding.key);
            if latches.is_empty() || latches.binary_search(&engine.keys.ids.latch_of(key)).is_err() {
                continue;
            }
            binding.initial = engine.keys.ids.latched_lookup(key, binding.initial);
            if binding.creates && (binding.initial.is_none() || binding.removes) {
                let id = engine.keys.ids.allocate(key.kind(), || engine.order.horizon().oldest()).ok_or_else(
                    || {
                        Error::Argument(ArgumentError::TooLarge {
                            what: "the number of vertices".into(),
                            limit: u64::from(u32::MAX),
                        })
                    },
                );
                match id {
                    Ok(id) => taken.push(id),
                    Err(error) => {
                        taken.into_iter().rev().for_each(|id| engine.keys.ids.give_back(id));
                        return Err(error);
                    }
                }
                binding.fresh = taken.last().copied();
            }
        }
        Ok(taken)
    }

    /// Returns the subgraphs that the commit writes, and the `extra` ones, ascending. They are the subgraphs
    /// of all vertices in the default label, which have their existence, and of the endpoints of labelled
    /// edges in the label.
    pub(crate) fn latch_keys(&self, ops: &[TxnOp], extra: &[LatchKey]) -> SmallVec<[LatchKey; 4]> {
        let of = |label: LabelId, binding: &KeyBinding| {
            let ids = [binding.initial, binding.fresh];
            ids.into_iter()
                .flatten()
                .map(move |id| (label, id.subgraph()))
                .collect::<SmallVec<[LatchKey; 2]>>()
        };
        let mut latch_keys: SmallVec<[LatchKey; 4]> =
            self.bindings.iter().flat_map(|binding| of(LabelId::DEFAULT, binding)).collect();
        for op in ops.iter().filter(|op| op.label != LabelId::DEFAULT) {
            latch_keys.extend(of(op.label, &self.bindings[self.place(op.src)]));
            if op.dst != op.src {
                latch_keys.extend(of(op.label, &self.bindings[self.place(op.dst)]));
            }
        }
        latch_keys.extend_from_slice(extra);
        latch_keys.sort_unstable();
        latch_keys.dedup();
        latch_keys
    }

    /// Returns the unlatched subgraphs that the removal of vertices needs: the vertices' subgraphs of all
    /// labels, and the subgraphs of their neighbours.
    pub(crate) fn unlatched_neighbors(
        &self,
        engine: &Engine,
        latches: &Latches<'_>,
    ) -> Result<Vec<LatchKey>> {
        let mut missing = Vec::new();
        if faults::is_on(PlantedFault::FarEdgesLeft) {
            return Ok(missing);
        }
        // Without a memory limit all are latched, regardless of their number.
        let most =
            if engine.pager.memory_limit.is_some() { engine.catalog.most_operations } else { usize::MAX };
        let mut edges = 0;
        for id in self.bindings.iter().filter(|s| s.removes).filter_map(|s| s.initial) {
            for_each_incident(engine, latches, id, |label, src, dst, _| {
                edges += 1;
                if edges > most {
                    return;
                }
                for at in [src, dst] {
                    missing.extend([(LabelId::DEFAULT, at.subgraph()), (label, at.subgraph())]);
                }
            })?;
        }
        // Checked before, but commits may have added edges since, and some edges are found only here. So far
        // only the vertices themselves are latched.
        if edges > most {
            engine.catalog.check_operations(edges)?;
        }
        // A subgraph without a page, in memory or in files, has no edges.
        missing.retain(|&(label, subgraph)| {
            let exists = |table: &SubgraphTable| !table.is_absent(subgraph.index() / PAGE);
            engine.pager.table(label).is_some_and(exists) && latches.get_of(label, subgraph).is_none()
        });
        missing.sort_unstable();
        missing.dedup();
        Ok(missing)
    }

    /// Checks, with all latches held, that the look-ups are still valid. `false`: the caller looks up again.
    pub(crate) fn settle_initial(&mut self, engine: &Engine, keys: &TxnKeys, latches: &Latches<'_>) -> bool {
        let dense = engine.catalog.config.keys == KeyKind::Dense;
        for binding in &mut self.bindings {
            if dense {
                let id = binding.initial;
                binding.fresh = id;
                binding.live = id.filter(|&id| latches.contains_vertex(id));
                binding.initial = binding.live;
                continue;
            }
            if let Some(id) = binding.initial
                && !faults::is_on(PlantedFault::VerticesNotLookedAtAgain)
                && !(latches.contains_vertex(id) && engine.keys.ids.still_carries(id, keys.key(binding.key)))
            {
                return false;
            }
            binding.live = binding.initial;
        }
        true
    }

    /// Checks, under snapshot isolation, that no vertex that the transaction inserts, removes, or takes an
    /// edge from was created or removed since `start`. The caller holds the latches of the keys that change,
    /// or of their subgraphs in a dense graph. A change of another key after the look-up orders after this
    /// commit.
    pub(crate) fn check_keys_written(
        &self,
        engine: &Engine,
        keys: &TxnKeys,
        start: Timestamp,
        latches: &Latches<'_>,
    ) -> Result<()> {
        if faults::is_on(PlantedFault::KeysNotChecked) {
            return Ok(());
        }
        for binding in self.bindings.iter().filter(|s| s.vertex_op || s.unlinks || s.initial != s.live) {
            let key = keys.key(binding.key);
            let changed = engine.keys.ids.last_change(key);
            let existence = |id: VertexId| {
                let latched = latches.get(id.subgraph());
                latched.is_some_and(|l| l.changed_since(Direction::Out, start, ReadItem::Vertex(id.local())))
            };
            let dense_changed =
                engine.catalog.config.keys == KeyKind::Dense && binding.fresh.is_some_and(existence);
            if changed > start || dense_changed {
                return Err(CommitError::Conflict { with: changed.max(start.next()) }.into());
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self, key: TxnKey, create: bool, keys: &TxnKeys) -> Result<Option<VertexId>> {
        let at = self.place(key);
        let binding = &mut self.bindings[at];
        if binding.live.is_none() && create {
            binding.live = binding.fresh;
            if binding.live.is_none() {
                return Err(ArgumentError::Invalid(format!("no id for vertex {}", keys.key(key))).into());
            }
        }
        Ok(binding.live)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TxnKey = TxnKey(1);
    const B: TxnKey = TxnKey(2);
    const C: TxnKey = TxnKey(3);

    fn bindings(create: bool, ops: &[(OpKind, TxnKey, TxnKey)]) -> KeyBindings {
        let ops: Vec<TxnOp> = ops.iter().map(|&(kind, src, dst)| TxnOp::plain(kind, src, dst, 1.0)).collect();
        KeyBindings::of(&ops, create)
    }

    /// Each key occurs once, in ascending order, with the requirements of all operations that name it.
    #[test]
    fn a_key_is_bound_once_with_all_that_is_asked_of_it() {
        use OpKind::{Insert, InsertVertex, Put, Remove, RemoveVertex};
        let asked = |ops: &[(OpKind, TxnKey, TxnKey)], create| -> Vec<(TxnKey, [bool; 4])> {
            let of = |b: &KeyBinding| (b.key, [b.creates, b.removes, b.unlinks, b.vertex_op]);
            bindings(create, ops).bindings.iter().map(of).collect()
        };
        let (yes, no) = (true, false);
        assert_eq!(asked(&[(Put, B, A)], true), [(A, [yes, no, no, no]), (B, [yes, no, no, no])]);
        assert_eq!(asked(&[(Put, B, A)], false), [(A, [no; 4]), (B, [no; 4])], "edges create no ends");
        assert_eq!(asked(&[(Insert, A, A)], true), [(A, [yes, no, no, no])], "a loop has one end");
        assert_eq!(asked(&[(Remove, A, B)], true), [(A, [no, no, yes, no]), (B, [no, no, yes, no])]);
        let all = [(RemoveVertex, C, C), (Remove, A, C), (InsertVertex, A, A), (Put, B, C)];
        let expected = [(A, [yes, no, yes, yes]), (B, [yes, no, no, no]), (C, [yes, yes, yes, yes])];
        assert_eq!(asked(&all, true), expected);
    }

    /// A removed vertex does not exist for later operations. An end that must be created gets the id that was
    /// reserved for it.
    #[test]
    fn an_end_is_what_its_key_names_at_that_point_of_the_program() {
        let keys = TxnKeys::new();
        let mut found = bindings(true, &[(OpKind::Put, A, B)]);
        let (old, fresh) = (VertexId(7), VertexId(9));
        found.bindings[0].live = Some(old);
        found.bindings[1].fresh = Some(fresh);
        assert_eq!(found.end(A, true, &keys).unwrap(), Some(old));
        assert_eq!(found.end(B, false, &keys).unwrap(), None, "it is not there, and not to be created");
        assert_eq!(found.end(B, true, &keys).unwrap(), Some(fresh));
        assert_eq!(found.end(B, false, &keys).unwrap(), Some(fresh), "from then on it is there");
        found.bindings[0].live = None;
        assert_eq!(found.end(A, false, &keys).unwrap(), None);
        assert!(found.end(A, true, &keys).is_err(), "no id was set aside");
    }
}
