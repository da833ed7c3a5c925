//! Engines of other projects behind the traits of the benchmarks: LMDB, redb and, with the feature `rocksdb`,
//! RocksDB. The crate is not in the default members of the workspace: `make rivals` builds and tests it, and
//! `cargo run --release -p hedgerow-rivals -- linkbench` measures.
//!
//! Each engine is a sorted map of bytes ([`kv`]). It has LinkBench's nodes and links under keys that suit the
//! requests ([`keyed`]).
#![deny(unsafe_code)]

mod keyed;
mod kv;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use hedgerow_bench::Rival;

/// The engines in this build of the program.
pub const RIVALS: &[Rival] = &[
    Rival { name: "lmdb", can_be_durable: true, open: lmdb::open },
    Rival { name: "redb", can_be_durable: true, open: redb::open },
    #[cfg(feature = "rocksdb")]
    Rival { name: "rocksdb", can_be_durable: true, open: rocksdb::open },
];
