//! The order in which changes become visible: the commit clock, the threads of a large commit, the reader
//! registry, the reuse of ids, and group commit.
//!
//! The crate knows neither edges nor bytes. It uses the log through one port, [`DurableLog`], so that the
//! protocol can be model-checked with a fake log. `docs/design/protocol.md` has its rules and invariants.
#![forbid(unsafe_code)]

mod apart;
pub mod clock;
#[cfg_attr(feature = "shuttle", path = "commit_threads/alone.rs")]
pub mod commit_threads;
pub mod group_commit;
pub mod readers;
pub mod reuse;

pub use clock::{Clock, Counts, OrderGuard};
pub use commit_threads::CommitThreads;
#[cfg(not(feature = "loom"))]
pub use commit_threads::with_commit_threads;
pub use group_commit::{DurableLog, GroupCommit, NotDurable};
pub use readers::{ActiveReaders, Ended, ReaderRegistry, Registration};
pub use reuse::{FreeId, FreeIds};
