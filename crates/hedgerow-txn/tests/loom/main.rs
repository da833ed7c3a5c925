//! Model checks of the protocols of the transaction layer: every interleaving up to the preemption bound.
#![cfg(feature = "loom")]

mod clock;
mod commit_threads;
mod group_commit;
mod held;
mod readers;
mod reuse;
