//! What a store does in threads of its own, or leaves to them: settling, reclaiming versions, checkpoints that bound the log,
//! and how closing ends it all.
//!
//! What threads and handles share stands below the store: [`closing`], [`log_bound`], [`pending`], [`settling`] and what merges
//! ask, [`horizon`]. What the threads do stands above it: [`checkpoints`], [`reclaim`], [`settle`].

pub(crate) mod checkpoints;
pub(crate) mod closing;
pub(crate) mod horizon;
pub(crate) mod log_bound;
pub(crate) mod pending;
pub(crate) mod reclaim;
pub(crate) mod settle;
pub(crate) mod settling;
