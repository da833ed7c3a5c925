//! The files of an open store: the log that commits write, and the places of the images of checkpoints.

pub(crate) mod log;
pub(crate) mod runs;
