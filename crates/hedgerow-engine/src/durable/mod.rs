//! The durability of a store: waits for syncs, checkpoints, recovery.

pub(crate) mod checkpoint;
pub(crate) mod close;
pub(crate) mod recover;
pub(crate) mod sections;
pub(crate) mod sync;
