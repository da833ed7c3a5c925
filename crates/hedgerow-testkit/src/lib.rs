//! What Hedgerow's tests share: a file system that crashes on demand, a model graph, checks for graphs
//! that kernels run on, and seeds.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod effort;
pub mod forge;
pub mod history;
pub mod layout;
pub mod model;
pub mod sim_fs;

pub use effort::{Effort, evicts, explored, is_deep, share};
pub use forge::{Forge, Forged, Part};
pub use layout::SegmentLayout;
pub use model::{
    BulkOp, Generator, ItemKey, KINDS, LABELS, Model, ModelConfig, ModelOp, PROPERTIES, Props, RichOp,
    WEIGHT, vertex_key,
};
pub use sim_fs::{Damage, SimFs};
