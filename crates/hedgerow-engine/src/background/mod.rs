//! What a store does in threads of its own, or leaves to them: settling, reclaiming versions, checkpoints that bound the log,
//! and how closing ends it all.

pub(crate) mod closing;
pub(crate) mod log_bound;
pub(crate) mod reclaim;
pub(crate) mod settle;
