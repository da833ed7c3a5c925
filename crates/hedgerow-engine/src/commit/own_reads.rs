//! Reads of the default label by a transaction: its snapshot, with its own writes applied.

use std::collections::BTreeMap;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, VertexKey};

use super::names::TxnKey;
use super::overlay::{Listed, State};
use super::txn::WriteTxn;

impl WriteTxn {
    pub(super) fn reads_vertex(&mut self, key: TxnKey) -> Result<bool> {
        if let Some(exists) = self.own().and_then(|own| own.vertex(key)) {
            return Ok(exists);
        }
        Ok(self.base_id(key)?.is_some())
    }

    pub(super) fn reads_edge(&mut self, src: TxnKey, dst: TxnKey) -> Result<Option<f64>> {
        let own = self.own().and_then(|own| own.item(LabelId::DEFAULT, src, dst, 0));
        Ok(match own {
            Some(State::Is(edge)) => edge.map(|(weight, _)| weight),
            // Operations on properties keep the weight.
            Some(State::Based { otherwise, .. }) => {
                self.base_weight(src, dst)?.or(otherwise.map(|(weight, _)| weight))
            }
            None => self.base_weight(src, dst)?,
        })
    }

    /// Returns the weight of the edge in the snapshot, and notes the edge as read.
    fn base_weight(&mut self, src: TxnKey, dst: TxnKey) -> Result<Option<f64>> {
        let Some((src, dst)) = self.base_ends(src, dst)? else { return Ok(None) };
        self.reads.edge(LabelId::DEFAULT, src, dst);
        self.base().weight_by_id(src, dst)
    }

    pub(super) fn reads_adjacency(
        &mut self,
        key: TxnKey,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, f64)>>> {
        if !self.reads_vertex(key)? {
            return Ok(None);
        }
        let mut found = BTreeMap::new();
        let hidden = self.own().is_some_and(|own| own.hides(key));
        if !hidden && let Some(id) = self.base_id(key)? {
            let snapshot = self.base().clone();
            self.note_adjacency(&snapshot, LabelId::DEFAULT, id, direction);
            let engine = self.engine.clone();
            found = engine.keys.telling_keys(&engine.pager, |told| {
                let mut found = BTreeMap::new();
                snapshot.for_each_neighbor(id, direction, |v, w| _ = found.insert(told.of(v), w))?;
                Ok(found)
            })?;
        }
        if self.own().is_some() {
            self.lay_own_edges_over(key, direction, &mut found);
        }
        Ok(Some(found.into_iter().collect()))
    }

    fn lay_own_edges_over(
        &mut self,
        key: TxnKey,
        direction: Direction,
        found: &mut BTreeMap<VertexKey, f64>,
    ) {
        let weighted = self.engine.catalog.config.weighted;
        let mut others = Vec::new();
        for other in found.keys() {
            others.push((self.keys.intern(other.as_ref()), other.clone()));
        }
        let Some(own) = self.overlay.as_ref() else { return };
        for (other, name) in others {
            if own.hides(other) {
                found.remove(&name);
            }
        }
        for (other, _, listed) in own.written(LabelId::DEFAULT, key, direction == Direction::Out) {
            let name = self.keys.key(other).to_owned();
            match listed {
                Listed::Gone => drop(found.remove(&name)),
                Listed::Is(weight) => drop(found.insert(name, if weighted { weight } else { 1.0 })),
                Listed::Otherwise(weight) => drop(found.entry(name).or_insert(weight)),
            }
        }
    }
}
