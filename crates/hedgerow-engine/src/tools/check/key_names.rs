//! The check that the key of each vertex names this vertex.
//!
//! If memory does not have all keys, a look-up of each key would read a block of a key index for each vertex.
//! So the check compares sums instead. Each sum belongs to some consecutive ids.
//!
//! 1. A pass over the vertices takes the keys that memory does not know. It adds the fingerprint of each such
//!    key and its vertex to the sum of the vertex.
//! 2. A pass over the key indexes takes the keys that a look-up would find. It subtracts the fingerprint of
//!    each such key and the vertex that it names.
//! 3. If a sum is not zero, the check looks up the keys of its ids.
//!
//! The keys of all other ids are right, except with a chance of one in 2^128, as with the [copies of
//! edges](super::sides).

use std::hash::{DefaultHasher, Hash, RandomState};

use hedgerow_catalog::error::Result;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{VertexId, VertexKey, VertexKeyRef};
use hedgerow_pager::Sources;
use hedgerow_pager::pager::census::Census;
use hedgerow_tier::IndexedKey;

use super::report::CheckReport;
use super::sides::fingerprint;
use crate::graph::Graph;
use crate::read::snapshot::Snapshot;
use crate::state::store::Core;

/// The number of vertices whose keys are read together. Keys of neighboring ids are in the same blocks.
const TOGETHER: usize = 512;
/// The least number of ids that share a sum.
const IDS_PER_SUM: u32 = 1 << 8;
/// The divisor of the memory limit. The quotient is the greatest memory of the sums; without a limit it is
/// [`BYTES`].
const SHARE: u64 = 64;
const BYTES: u64 = 16 << 20;

impl Graph {
    /// Checks that the key of each vertex names this vertex. Reads each block of a key index once, and again
    /// only for keys that may name another vertex.
    pub(super) fn check_keys(
        &self,
        census: &Census,
        snapshot: &Snapshot,
        report: &mut CheckReport,
    ) -> Result<()> {
        let stored = &self.engine.keys.ids.stored;
        if !stored.are_there() || stored.all_known() {
            return self.look_up_keys(census.vertices(), snapshot, report);
        }
        let mut sums = Sums::new(&self.engine);
        let sources = self.engine.pager.pages.sources();
        self.each_key(census.vertices(), |v, key| {
            match self.engine.keys.ids.lookup(key, snapshot.timestamp()) {
                Some(named) if named == v => {}
                None if !self.engine.keys.ids.knows(v) => sums.add(&sources, key, v),
                _ => sums.suspect(v),
            }
            Ok(())
        })?;
        if sums.keys > 0 {
            // Takes the sources again: a checkpoint may have replaced files, since the pass above read them,
            // by files with the same keys.
            self.engine.pager.pages.sources().for_each_key(|key, named| {
                if !self.engine.keys.ids.knows(named) {
                    sums.take_off(key, named);
                }
            })?;
        }
        self.look_up_keys(census.vertices().filter(|v| sums.differs(*v)), snapshot, report)
    }

    /// Looks up the key of each vertex, and reports the keys that do not name their vertex.
    fn look_up_keys(
        &self,
        vertices: impl Iterator<Item = VertexId>,
        snapshot: &Snapshot,
        report: &mut CheckReport,
    ) -> Result<()> {
        self.each_key(vertices, |v, key| {
            if self.engine.keys.vertex_to_read(&self.engine.pager, key, snapshot.timestamp())? != Some(v) {
                report.problem(format!("vertex {} has key {key}, which names another vertex or none", v.0));
            }
            Ok(())
        })
    }

    /// Calls `f` with the key of each vertex.
    fn each_key(
        &self,
        mut vertices: impl Iterator<Item = VertexId>,
        mut f: impl FnMut(VertexId, VertexKeyRef<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let together: Vec<VertexId> = vertices.by_ref().take(TOGETHER).collect();
            if together.is_empty() {
                return Ok(());
            }
            let keys = self.engine.keys.telling_keys(&self.engine.pager, |keys| {
                let keys = together.iter().map(|&v| keys.of(v));
                Ok(keys.collect::<Vec<VertexKey>>())
            })?;
            together.iter().zip(&keys).try_for_each(|(&v, key)| f(v, key.into()))?;
        }
    }
}

/// Sums of fingerprints, each for some consecutive ids.
struct Sums {
    fingerprints: RandomState,
    ids_per_sum: u32,
    sums: Vec<Sum>,
    /// The number of keys that were added.
    keys: u64,
    _charge: Charge,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    keys: u128,
    /// True if keys must be looked up even if the sum is zero.
    is_suspect: bool,
}

impl Sums {
    fn new(core: &Core) -> Sums {
        let most = core.pager.memory_limit.map_or(BYTES, |limit| limit / SHARE) / size_of::<Sum>() as u64;
        let ids_per_sum = u64::from(core.keys.ids.bound()).div_ceil(most).max(u64::from(IDS_PER_SUM));
        let ids_per_sum = u32::try_from(ids_per_sum).unwrap_or(u32::MAX);
        let sums = vec![Sum::default(); core.keys.ids.bound().div_ceil(ids_per_sum) as usize];
        let charge = Charge::new(core.pager.account(), Purpose::Views, size_of_val(&sums[..]));
        Sums { fingerprints: RandomState::new(), ids_per_sum, sums, keys: 0, _charge: charge }
    }

    /// Returns the sum of an id; `None` for an id that was added after the check began.
    fn of(&mut self, id: VertexId) -> Option<&mut Sum> {
        self.sums.get_mut((id.0 / self.ids_per_sum) as usize)
    }

    fn fingerprint(&self, key: IndexedKey<'_>, id: VertexId) -> u128 {
        fingerprint(&self.fingerprints, |hasher: &mut DefaultHasher| (key, id.0).hash(hasher))
    }

    /// Adds the fingerprint of a key that memory does not know, and of its vertex.
    fn add(&mut self, sources: &Sources, key: VertexKeyRef<'_>, id: VertexId) {
        let Some(key) = sources.indexed_key(key) else { return self.suspect(id) };
        let fingerprint = self.fingerprint(key, id);
        self.keys += 1;
        if let Some(sum) = self.of(id) {
            sum.keys = sum.keys.wrapping_add(fingerprint);
        }
    }

    /// Subtracts the fingerprint of a key of a key index, and of the vertex that the key names.
    fn take_off(&mut self, key: IndexedKey<'_>, named: VertexId) {
        let fingerprint = self.fingerprint(key, named);
        if let Some(sum) = self.of(named) {
            sum.keys = sum.keys.wrapping_sub(fingerprint);
        }
    }

    fn suspect(&mut self, id: VertexId) {
        if let Some(sum) = self.of(id) {
            sum.is_suspect = true;
        }
    }

    /// True if the keys of this id, and of the ids with the same sum, must be looked up.
    fn differs(&self, id: VertexId) -> bool {
        let sum = self.sums.get((id.0 / self.ids_per_sum) as usize);
        sum.is_none_or(|sum| sum.keys != 0 || sum.is_suspect)
    }
}
