//! The engine's one place that touches files: a small file-system trait, file headers, checksums and bounded
//! little-endian codecs.
#![forbid(unsafe_code)]

pub mod vfs;
pub use vfs::{Vfs, VfsFile};
