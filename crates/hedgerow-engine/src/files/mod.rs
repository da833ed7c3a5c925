//! The files of an open store: the log that commits write, and where the images of checkpoints are.

pub(crate) mod log;
pub(crate) mod runs;
pub(crate) mod sources;
