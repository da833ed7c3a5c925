//! Write transactions: their methods ([`WriteTxn`]), and how they commit.
//!
//! Methods of a transaction:
//!
//! * [`txn`]: the transaction; [`labelled_ops`]: its operations with labels, ranks and properties.
//! * [`edge_rows`] and [`vertex_rows`]: many edges, or vertices, with properties at once.
//! * [`label_reads`]: reads over the edges of all labels; [`ranks`]: reads of the ranks between two vertices.
//! * [`remove_edges`]: removing the edges of a vertex; [`remove_where`]: removing edges by a condition.
//! * [`own_reads`] and [`overlay`]: reading its own writes; [`define`]: new labels and properties.
//! * [`autocommit`]: single operations without a transaction object; [`pipeline`]: a window of them in
//!   flight; [`ticket`]: commits without waiting.
//!
//! How they commit:
//!
//! * [`op`]: operations, and the effect of each on an edge; [`names`]: the keys of operations, as handles;
//!   [`request`]: the input of a commit, and its outcome.
//! * [`general`]: the phases in their order; [`single`], [`few`] and [`batch`]: the same phases for one
//!   operation, for a few blind ones, and for many; [`schedule`] chooses among the four.
//! * The phases: [`key_bindings`] (keys to vertex ids), [`validate`] (latches, and the read set),
//!   [`incident`] (edges of removed vertices), [`effect`] (the actual changes), [`encode`] (the log record),
//!   [`order`] (the ordering section).

mod attributes;
pub(crate) mod autocommit;
mod batch;
mod define;
mod edge_rows;
mod effect;
mod encode;
mod few;
mod general;
mod incident;
mod key_bindings;
mod label_reads;
pub(crate) mod labelled_ops;
mod names;
pub(crate) mod op;
pub(crate) mod order;
mod overlay;
mod own_reads;
mod pipeline;
mod ranks;
mod remove_edges;
mod remove_where;
pub(crate) mod request;
mod schedule;
mod single;
mod ticket;
mod txn;
mod validate;
mod vertex_rows;

pub use pipeline::{Ack, Applied, Pipeline};
pub use remove_edges::RemovedEdges;
pub use remove_where::RemoveOptions;
pub use ticket::Ticket;
pub use txn::WriteTxn;
