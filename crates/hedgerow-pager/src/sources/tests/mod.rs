//! Tests of the merge: stacks of sources equal a model that applies all operations in order.

mod decode;
mod deltas;
#[cfg(feature = "planted-faults")]
mod faults;
mod inboxes;
mod order;
mod segments;
mod stacks;
mod words;
