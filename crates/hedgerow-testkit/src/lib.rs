//! The shared parts of Hedgerow's tests: a file system that crashes on demand, a model graph, checks for
//! graphs that kernels use, and seeds.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod effort;
pub mod forge;
pub mod history;
pub mod layout;
pub mod model;
pub mod patience;
pub mod sim_fs;

pub use effort::{Effort, evicts, explored, is_deep, share, skipped};
pub use forge::{Forge, Forged, Part};
pub use layout::SegmentLayout;
pub use model::{
    BulkOp, Generator, ItemKey, KINDS, LABELS, Model, ModelConfig, ModelOp, PROPERTIES, Props, RichOp,
    WEIGHT, vertex_key,
};
pub use patience::{FOR_EVER, wait_until};
pub use sim_fs::{Damage, SimFs};
