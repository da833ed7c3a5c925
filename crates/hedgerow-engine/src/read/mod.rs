//! Reading: snapshots, point reads in all labels, rows of edges, and the views that kernels run on.

pub(crate) mod all_labels;
pub(crate) mod at_vertex;
mod by_reads;
mod changes;
mod compose;
mod contains;
pub(crate) mod csr;
pub(crate) mod default_label;
pub(crate) mod expand;
mod filter;
pub(crate) mod first;
mod held_registration;
mod items;
pub(crate) mod k_hop;
pub(crate) mod key_columns;
mod kind_census;
mod kinds;
pub(crate) mod label_snapshot;
pub(crate) mod labelled;
pub(crate) mod lent;
pub(crate) mod many;
pub(crate) mod neighbors;
mod newest;
mod partitions;
mod point;
pub(crate) mod properties;
pub(crate) mod rows;
pub(crate) mod scan;
pub(crate) mod selected;
mod selected_kinds;
mod selected_views;
pub(crate) mod selection;
pub(crate) mod selection_ref;
mod selection_weights;
pub(crate) mod snapshot;
pub(crate) mod tiered;
mod view_demand;
pub(crate) mod views;

#[cfg(test)]
mod tests;
