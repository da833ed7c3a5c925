//! Model-checked protocols of the versions: every interleaving up to the preemption bound.
#![cfg(feature = "loom")]

mod cooling;
mod evict;
mod keys;
mod reservations;
mod reuse;
mod room;
mod versions;
mod views;
mod write_skew;
