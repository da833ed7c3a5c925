//! The state that the handles and threads of a store share: [`store`].

mod arguments;
pub(crate) mod catalog;
pub(crate) mod change;
pub(crate) mod chosen_edges;
pub(crate) mod closing;
pub(crate) mod csr_cache;
pub(crate) mod edge_key;
pub(crate) mod ends;
pub(crate) mod label_options;
pub(crate) mod log_bound;
#[cfg(all(test, not(feature = "model-checking")))]
mod pager_tests;
pub(crate) mod pin;
pub(crate) mod placement;
pub(crate) mod reclaim;
pub(crate) mod settling;
pub(crate) mod store;
pub(crate) mod view_cache;
pub(crate) mod work;
pub(crate) mod worker;
