//! The files of an open store: the log that commits write, and the places of the images of checkpoints.

pub(crate) mod image_table;
pub(crate) mod log;
