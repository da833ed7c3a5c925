//! Multi-version subgraphs in memory.
//!
//! A subgraph has 64 consecutive vertices. Per direction it is a chain of versions, newest first. A version
//! is an immutable sorted [main part](main_part) (a small CSR) plus an append-only [`delta`] log, whose
//! entries have commit timestamps. A reader at timestamp `t` finds the newest version that began at or before
//! `t`, and reads its main part plus the delta entries up to `t`. It takes no lock, and checks no version per
//! edge of the main part. Writers hold the latch of the subgraph ([`Latched`]). When a delta is full they
//! merge it into a new version. (RapidStore section 5 has this partition and version chain; here a version is
//! made per merge, not per edge.)
//!
//! The crate never reads a clock: commit timestamps and the [`Horizon`] of readers are arguments. It does no
//! I/O. `docs/design/protocol.md` states the invariants and the reasons for them.
//!
//! [`keys`] maps the keys of vertices to ids and back, by timestamp.
//!
//! `unsafe` is confined to [`arena`], [`delta`] and [`grace`].
#![deny(unsafe_code)]

pub mod arena;
mod change;
pub mod delta;
mod fold;
pub mod grace;
pub mod items;
pub mod keys;
pub mod main_part;
pub mod merge;
pub mod op;
mod patch;
mod patch_sizes;
pub mod reclaim;
pub mod subgraph;
pub mod table;
mod takings;
pub mod version;
pub mod view;

pub use arena::{Arena, ArenaStats, Counted};
pub use grace::{Hold, Memory};
pub use items::{Extra, ItemRef};
pub use keys::KeyTable;
pub use main_part::Main;
pub use op::{Attributes, EdgeOp, Ops};
pub use patch_sizes::PatchSizes;
pub use reclaim::{Horizon, Merged, Pin, VersionPins};
pub use subgraph::{Ahead, Finder, Latched, ReadItem, Subgraph, changes_of_many};
pub use table::{PageLook, Stored, SubgraphPage, SubgraphTable};
pub use takings::Takings;
pub use version::Version;
pub use view::View;
