//! The background threads of a store: one settles subgraphs and reclaims versions, one writes the checkpoints
//! that bound the log.

pub(crate) mod checkpoints;
pub(crate) mod settle;

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
