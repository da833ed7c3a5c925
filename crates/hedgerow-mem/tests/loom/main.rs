//! Model checks of the protocols of versions: every interleaving up to the preemption bound.
#![cfg(feature = "loom")]

mod cooling;
mod evict;
mod keys;
mod outside;
mod pages;
mod reuse;
mod room;
mod takings;
mod versions;
mod views;
mod write_skew;
