//! The state of a store: tables of subgraphs, ids, labels and their properties, the order of commits; and the
//! state that its handles and threads share: [`store`].

mod arguments;
pub(crate) mod budget;
pub(crate) mod catalog;
pub(crate) mod change;
pub(crate) mod checkpoint_demand;
pub(crate) mod closing;
pub(crate) mod cold_reads;
pub(crate) mod commit_loads;
pub(crate) mod csr;
pub(crate) mod directions;
pub(crate) mod edge_key;
pub(crate) mod ends;
pub(crate) mod eviction;
#[cfg(feature = "planted-faults")]
pub(crate) mod eviction_switch;
pub(crate) mod horizon;
pub(crate) mod ids;
pub(crate) mod keys;
pub(crate) mod kinds;
pub(crate) mod label_options;
pub(crate) mod limits;
pub(crate) mod log_bound;
pub(crate) mod order;
pub(crate) mod page_versions;
pub(crate) mod pager;
pub(crate) mod pages;
pub(crate) mod pending;
pub(crate) mod pin;
pub(crate) mod placement;
pub(crate) mod recent;
pub(crate) mod reclaim;
pub(crate) mod room;
pub(crate) mod schema;
pub(crate) mod schema_cell;
pub(crate) mod selection;
pub(crate) mod settling;
pub(crate) mod store;
pub(crate) mod tables;
pub(crate) mod view_cache;
pub(crate) mod work;
pub(crate) mod worker;
