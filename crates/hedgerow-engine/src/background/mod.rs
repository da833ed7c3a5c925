//! What a store does in threads of its own, or leaves to them: settling, reclaiming versions, checkpoints that bound the log.

pub(crate) mod checkpoints;
pub(crate) mod reclaim;
pub(crate) mod settle;
