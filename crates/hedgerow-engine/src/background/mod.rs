//! The work of a store's own threads: settling, and with it reclaiming versions; checkpoints that bound the
//! log.

pub(crate) mod checkpoints;
pub(crate) mod settle;

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
