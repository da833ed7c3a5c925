//! Engines of others behind the traits of the benchmarks: LMDB, redb and, with the feature `rocksdb`,
//! RocksDB. Outside of the default members of the workspace: `make rivals` builds and tests it, and
//! `cargo run --release -p hedgerow-rivals -- linkbench` measures.
//!
//! Each engine is a sorted map of bytes ([`kv`]), and LinkBench's nodes and links lie in it under keys that
//! suit its requests ([`keyed`]).
#![deny(unsafe_code)]

mod keyed;
mod kv;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use hedgerow_bench::Rival;

/// What this program was built with.
pub const RIVALS: &[Rival] = &[
    Rival { name: "lmdb", can_be_durable: true, open: lmdb::open },
    Rival { name: "redb", can_be_durable: true, open: redb::open },
    #[cfg(feature = "rocksdb")]
    Rival { name: "rocksdb", can_be_durable: true, open: rocksdb::open },
];
