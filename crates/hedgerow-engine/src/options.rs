//! Options for opening a store.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_catalog::error::{ArgumentError, OpenError, Result};
use hedgerow_core::account::Account;
use hedgerow_core::{GraphConfig, KeyKind};
use hedgerow_mem::{Arena, Memory, PatchSizes};
use hedgerow_pager::limits::LEAST_MEMORY_LIMIT;

use crate::config::{Durability, Isolation};

/// The least and the most bytes of a log segment. Above that, more would be reserved than any log needs.
const LOG_SEGMENT_BYTES: (u64, u64) = (4 << 10, 16 << 30);
/// The least and the most time between two syncs: a thread that sleeps for less only spins.
const GROUP_INTERVAL: (Duration, Duration) = (Duration::from_micros(1), Duration::from_secs(86_400));

/// Options of [`Graph`](crate::Graph), with the defaults of a durable, serializable, directed graph with
/// `u64` ids.
///
/// ```
/// let graph = hedgerow::Options::new().directed(false).weighted(true).in_memory()?;
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    pub(crate) directed: Option<bool>,
    pub(crate) keys: Option<KeyKind>,
    pub(crate) weighted: Option<bool>,
    pub(crate) reverse: Option<bool>,
    pub(crate) durability: Durability,
    pub(crate) isolation: Isolation,
    pub(crate) create: bool,
    pub(crate) read_only: bool,
    pub(crate) mode: Option<u32>,
    pub(crate) log_segment_bytes: u64,
    pub(crate) max_unsynced_bytes: u64,
    pub(crate) checkpoint_log_bytes: u64,
    pub(crate) background_settling: bool,
    pub(crate) views_by_reads: bool,
    pub(crate) after_settling: Option<fn()>,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) thresholds: Thresholds,
}

/// Sizes at which a store begins to use methods that pay off only for large graphs and commits. Tests set
/// them; releases use the defaults.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// The number of entries of a batch, two for each edge, at which several threads begin to share a commit.
    /// With fewer entries a second thread costs more than it saves.
    pub threads_from: usize,
    /// The most blind operations on edges that a commit applies without the schedule for large commits. It is
    /// two under the controlled scheduler, so that small programs test both ways.
    pub few_up_to: usize,
    /// The sizes of main parts that get patches.
    pub patches: PatchSizes,
    /// True if every close writes a checkpoint, even if that saves little.
    pub checkpoints_at_close: bool,
    /// The bytes of keys in memory up to which looked-up keys are kept. A memory limit may lower this number.
    pub keys_kept: u64,
}

impl Thresholds {
    /// Sizes that the small graphs of tests reach.
    pub const SMALL: Thresholds = Thresholds {
        threads_from: 1 << 10,
        few_up_to: 6,
        patches: PatchSizes::SMALL,
        checkpoints_at_close: false,
        keys_kept: u64::MAX,
    };
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        let few_up_to = if cfg!(feature = "shuttle") { 2 } else { 1 << 10 };
        Thresholds {
            threads_from: 1 << 13,
            few_up_to,
            patches: PatchSizes::default(),
            checkpoints_at_close: false,
            keys_kept: u64::MAX,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            directed: None,
            keys: None,
            weighted: None,
            reverse: None,
            durability: Durability::Sync,
            isolation: Isolation::Serializable,
            create: true,
            read_only: false,
            mode: None,
            log_segment_bytes: 64 << 20,
            max_unsynced_bytes: 64 << 20,
            checkpoint_log_bytes: 256 << 20,
            background_settling: true,
            views_by_reads: true,
            after_settling: None,
            memory_limit: None,
            thresholds: Thresholds::default(),
        }
    }
}

impl Options {
    /// Returns the defaults.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets whether edges have a direction (default: yes). It must agree with an existing store.
    pub fn directed(mut self, directed: bool) -> Options {
        self.directed = Some(directed);
        self
    }

    /// Sets the type of external vertex ids (default: `u64`). It must agree with an existing store.
    pub fn keys(mut self, keys: KeyKind) -> Options {
        self.keys = Some(keys);
        self
    }

    /// Sets whether edges carry an `f64` weight (default: no). It must agree with an existing store.
    pub fn weighted(mut self, weighted: bool) -> Options {
        self.weighted = Some(weighted);
        self
    }

    /// Sets whether a directed graph also stores the incoming edges of each vertex (default: yes). It must
    /// agree with an existing store.
    ///
    /// Without them edges take half the memory and about half the work to write. Finding incoming neighbours
    /// then visits every vertex. So reads in that direction, also in a transaction, and the removal of a
    /// vertex cost O(vertices log degree). A transaction that reads incoming neighbours conflicts with every
    /// later commit. A [view](crate::Snapshot::view) makes its incoming side at the first use: O(edges) of
    /// time and memory.
    pub fn reverse(mut self, reverse: bool) -> Options {
        self.reverse = Some(reverse);
        self
    }

    /// Sets when commits are acknowledged (default: [`Durability::Sync`]). It has no effect without files.
    pub fn durability(mut self, durability: Durability) -> Options {
        self.durability = durability;
        self
    }

    /// Sets the isolation of write transactions (default: [`Isolation::Serializable`]).
    pub fn isolation(mut self, isolation: Isolation) -> Options {
        self.isolation = isolation;
        self
    }

    /// Sets whether a store is created if there is none (default: yes).
    pub fn create(mut self, create: bool) -> Options {
        self.create = create;
        self
    }

    /// Opens for reading only (default: no): nothing is written, and write transactions are refused. Even
    /// commits that recovery would make durable are not. Several handles may read one store at once, in this
    /// process and others; no handle can write meanwhile.
    pub fn read_only(mut self, read_only: bool) -> Options {
        self.read_only = read_only;
        self
    }

    /// Sets the permissions of a new store's files, independent of the umask (default 0600: only the owner
    /// reads and writes them). 0640 lets the group read. A new directory lets all readers of the files enter,
    /// so 0640 gives it 0750; an existing directory keeps its permissions.
    ///
    /// The permissions of the store are those of its file `LOCK`: every later file gets them, even if the
    /// store is opened without this option. For an existing store `mode` must agree with them; `chmod` of
    /// `LOCK` changes them for later files. Backups and salvaged stores have the default. The option has no
    /// effect in memory, or if the store is opened only for reading.
    pub fn mode(mut self, mode: u32) -> Options {
        self.mode = Some(mode);
        self
    }

    /// Sets the largest size of log segments in bytes (default 64 MiB; 4 KiB to 16 GiB). Space for a segment
    /// is reserved ahead: 256 KiB for the first one after an opening. Each full segment doubles the reserved
    /// space, up to this size.
    pub fn log_segment_bytes(mut self, bytes: u64) -> Options {
        self.log_segment_bytes = bytes;
        self
    }

    /// Sets whether a thread settles subgraphs that no commit has written to for a second or two (default:
    /// yes), so that reads find plain lists. The thread starts with the first merge and works for a few
    /// milliseconds at a time. [`Graph::settle`](crate::Graph::settle) settles the whole graph at once.
    pub fn background_settling(mut self, background: bool) -> Options {
        self.background_settling = background;
        self
    }

    /// Sets whether many reads of a snapshot make its [view](crate::Snapshot::view) (default: yes). Later
    /// reads use the view, and are two to ten times as fast as before.
    ///
    /// With the default, a loop of single reads takes at most about a quarter longer than with `false`. One
    /// of its reads makes the view, on the reading thread: O(subgraphs), and O(edges) if deltas have a large
    /// share of them; 3 to 130 ms for 16 M edges. Reads of many keys in one call make the view once they have
    /// asked for as many keys as there are subgraphs.
    ///
    /// The view takes about 5 bytes for a vertex. If deltas are large it also takes up to 4 bytes for each
    /// entry of a list (12 with weights). It is freed once its last snapshot is closed and another view has
    /// replaced it ([`Stats::view_bytes`](crate::Stats::view_bytes)).
    ///
    /// With `false` reads never stall and take no such memory; they still use a view that the program has
    /// requested. [`DefaultLabel::set_views_by_reads`](crate::DefaultLabel::set_views_by_reads) overrides
    /// this for one snapshot.
    pub fn views_by_reads(mut self, may_make: bool) -> Options {
        self.views_by_reads = may_make;
        self
    }

    /// Sets, for [`Durability::Sync`], the most bytes of log records that are appended and not yet synced
    /// (default 64 MiB; any number). Beyond that, commits wait for a sync before they append;
    /// [`Stats::commit_waits`](crate::Stats::commit_waits) counts these waits. With 0 every commit waits
    /// until all earlier commits are synced. Snapshots never wait. A transaction larger than this commits
    /// alone.
    pub fn max_unsynced_bytes(mut self, bytes: u64) -> Options {
        self.max_unsynced_bytes = bytes;
        self
    }

    /// Sets a number of bytes of log since the last checkpoint. Beyond it, a background thread writes a
    /// checkpoint, while readers and writers continue (default 256 MiB; any number; 0 for never). At twice as
    /// many bytes commits wait for the checkpoint; [`Stats::commit_waits`](crate::Stats::commit_waits) counts
    /// these waits. So the log on disk has at most twice as many bytes, plus one log segment and the
    /// transactions under way, unless checkpoints fail (see
    /// [`Graph::checkpoint_error`](crate::Graph::checkpoint_error)).
    ///
    /// With 0 the [memory limit](Self::memory_limit) starts no checkpoint either, and
    /// [`Graph::close`](crate::Graph::close) writes none: the next opening replays the log.
    pub fn checkpoint_log_bytes(mut self, bytes: u64) -> Options {
        self.checkpoint_log_bytes = bytes;
        self
    }

    /// Sets the number of bytes of memory that the store may use. The default is half of the memory of the
    /// machine, or of the control group of the process; [`Stats::memory_limit`](crate::Stats::memory_limit)
    /// returns it. The limit bounds [`Stats::memory_bytes`](crate::Stats::memory_bytes): the graph, its
    /// versions, keys, views and buffers. Arrays of kernels and of results belong to the caller and do not
    /// count.
    ///
    /// If the program sets a limit, full memory makes the store evict data that checkpoints have, and reads
    /// load it again. If too much has changed since the last checkpoint, a commit waits until a background
    /// thread has written the next one ([`Stats::commit_waits`](crate::Stats::commit_waits) counts these
    /// waits). The default limit refuses nothing.
    ///
    /// A commit is refused with [`CommitError::MemoryLimit`](crate::CommitError::MemoryLimit) if a checkpoint
    /// makes no room because snapshots pin the data. It is also refused if no checkpoint is written: in a
    /// store without files, or with [`checkpoint_log_bytes`](Self::checkpoint_log_bytes) 0. On a full disk
    /// the error is [`CommitError::DiskFull`](crate::CommitError::DiskFull). A commit that would take more
    /// than a quarter of the limit fails with [`CommitError::TooLarge`](crate::CommitError::TooLarge). Views
    /// that the program asks for are not refused.
    ///
    /// If the log of a store does not fit, or the limit is less than [`LEAST_MEMORY_LIMIT`], opening the
    /// store fails with [`OpenError::MemoryLimit`].
    pub fn memory_limit(mut self, bytes: u64) -> Options {
        self.memory_limit = Some(bytes);
        self
    }

    /// Sets a function to call after a thousand subgraphs or more were settled. If the allocator caches free
    /// pages, the function can make it return the pages of the replaced versions. The caller is a thread of
    /// the store, or the thread that settles.
    #[doc(hidden)]
    pub fn after_settling(mut self, call: fn()) -> Options {
        self.after_settling = Some(call);
        self
    }

    /// Sets [`Thresholds`] that differ from those of releases, for tests.
    #[doc(hidden)]
    pub fn thresholds(mut self, thresholds: Thresholds) -> Options {
        self.thresholds = thresholds;
        self
    }

    /// Returns the memory of a new store, with its account.
    pub(crate) fn memory(&self) -> Memory {
        let account = Arc::new(Account::new(self.memory_limit));
        Memory::new(Arena::charging(account).with_patch_sizes(self.thresholds.patches))
    }

    /// Refuses options that are out of range, even if they have no effect on the store.
    pub(crate) fn check(&self) -> Result<()> {
        let (least, most) = LOG_SEGMENT_BYTES;
        let found = self.log_segment_bytes;
        if !(least..=most).contains(&found) {
            let text = format!("log_segment_bytes must be {least} to {most}, found {found}");
            return Err(ArgumentError::Invalid(text).into());
        }
        if let Some(mode) = self.mode.filter(|mode| mode & !0o666 != 0 || mode & 0o600 != 0o600) {
            let text = format!(
                "mode must let the owner read and write, and must let no user execute: 0o600, 0o640 or 0o660 for \
                 instance, found 0o{mode:o}"
            );
            return Err(ArgumentError::Invalid(text).into());
        }
        if let Some(limit) = self.memory_limit.filter(|&limit| limit < LEAST_MEMORY_LIMIT) {
            return Err(OpenError::MemoryLimit { limit, least: LEAST_MEMORY_LIMIT }.into());
        }
        let (least, most) = GROUP_INTERVAL;
        match self.durability {
            Durability::Group(interval) if !(least..=most).contains(&interval) => {
                let [least, most, found] = [least, most, interval].map(|time| time.as_secs_f64());
                let text = format!(
                    "the interval of group durability must be {least} to {most} seconds, found {found}"
                );
                Err(ArgumentError::Invalid(text).into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the configuration of a new graph.
    pub(crate) fn config(&self) -> GraphConfig {
        let default = GraphConfig::default();
        GraphConfig {
            directed: self.directed.unwrap_or(default.directed),
            keys: self.keys.unwrap_or(default.keys),
            weighted: self.weighted.unwrap_or(default.weighted),
            reverse: self.reverse.unwrap_or(default.reverse),
        }
        .normalized()
    }

    /// Fails if the options disagree with an existing graph.
    pub(crate) fn agrees(&self, found: GraphConfig) -> Result<()> {
        let wanted = GraphConfig {
            directed: self.directed.unwrap_or(found.directed),
            keys: self.keys.unwrap_or(found.keys),
            weighted: self.weighted.unwrap_or(found.weighted),
            reverse: self.reverse.unwrap_or(found.reverse),
        }
        .normalized();
        if wanted == found { Ok(()) } else { Err(OpenError::ConfigMismatch { wanted, found }.into()) }
    }
}
