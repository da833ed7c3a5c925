//! Graph analytics on snapshots: each kernel as a function, and all of them by name.
//!
//! ```
//! use hedgerow::{Direction, Graph};
//! use hedgerow::kernels::{PageRankConfig, pagerank, top_k};
//!
//! let graph = Graph::in_memory()?;
//! graph.insert_edges(&[(1, 2), (3, 2)])?;
//! let snapshot = graph.snapshot()?;
//! let view = snapshot.view(Direction::Out)?;
//! let scores = pagerank(&*view, &PageRankConfig::default())?;
//! let (first, _) = top_k(&*view, &scores, 1)[0];
//! assert_eq!(snapshot.vertex_key(first)?, Some(2.into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`run`] calls a kernel that [`registry::find`] finds by its name. The kernels are compiled once for both
//! forms of a store's graph, so a program that offers all kernels need not compile them again.

pub use hedgerow_analytics::{run, run_by_page, run_resident, view};
pub use hedgerow_kernels::*;
