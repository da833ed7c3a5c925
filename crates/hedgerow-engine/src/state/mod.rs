//! What a store is, shared by commits and by recovery: tables of subgraphs, ids, labels and their properties.

pub(crate) mod edge_key;
pub(crate) mod ids;
pub(crate) mod schema;
pub(crate) mod tables;
