//! Write transactions: what a program does with one ([`WriteTxn`]), and how it commits.
//!
//! * [`overlay`]: reading one's own writes.
//! * [`validate`]: what was read, for validation.
//! * [`plan`]: keys to vertex ids, operations to net effects.
//! * [`general`]: the phases of a commit, in one place.
//! * [`items`]: operations with labels, ranks and properties; [`all_labels`]: reads over the edges of all labels.
//! * [`autocommit`]: single operations without a transaction object; [`single`]: their short way through the phases;
//!   [`pipeline`]: a window of them in flight.
//! * [`batch`]: transactions of many blind operations, sorted and in parallel.
//! * [`ticket`]: commits that are not waited for.

mod all_labels;
pub(crate) mod autocommit;
pub(crate) mod batch;
pub(crate) mod define;
mod effect;
mod encode;
pub(crate) mod general;
mod incident;
mod items;
pub(crate) mod op;
pub(crate) mod order;
pub(crate) mod overlay;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod request;
pub(crate) mod schedule;
pub(crate) mod single;
pub(crate) mod ticket;
mod txn;
pub(crate) mod validate;

pub use pipeline::{Ack, Applied, Pipeline};
pub use ticket::Ticket;
pub use txn::WriteTxn;
