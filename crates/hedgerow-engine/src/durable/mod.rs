//! The files of a store: opening them, the log that commits write, checkpoints, recovery.

pub(crate) mod checkpoint;
pub(crate) mod log;
pub(crate) mod open;
pub(crate) mod recover;
pub(crate) mod sections;
pub(crate) mod sync;
