//! Tests of all kernels against slow independent answers and published ones. Tests of a single kernel are in
//! its folder.

/// Defines the methods of a [`Topology`](hedgerow_core::Topology) that return no neighbors, by calling the
/// graph that it wraps.
macro_rules! counts_of {
    ($whole:ident) => {
        fn vertex_bound(&self) -> usize {
            self.$whole.vertex_bound()
        }

        fn vertex_count(&self) -> usize {
            self.$whole.vertex_count()
        }

        fn edge_count(&self) -> u64 {
            self.$whole.edge_count()
        }

        fn is_directed(&self) -> bool {
            self.$whole.is_directed()
        }

        fn contains(&self, v: hedgerow_core::VertexId) -> bool {
            self.$whole.contains(v)
        }
    };
}

mod cancel;
mod corrected;
mod kernels;
mod memory;
mod oracles;
mod paged;
mod pages;
mod pairs_oracles;
mod progress;
mod published;
mod random;
#[path = "../../src/testing.rs"]
mod testing;
