//! Planted faults: negative controls of the tests. Each is a plausible mistake, at the one place in the code
//! where it could be made. They exist only in builds with the feature `planted-faults`. In every other build
//! [`is_on`] is the constant `false`, and the compiler removes their code.
//!
//! A test chooses a fault at run time, for the whole process, since commits, checkpoints and clients run on
//! threads of their own. [`plant`](fn@plant) waits until no test holds [`sound`](fn@sound), and keeps all
//! others out while it lasts. `docs/design/testing/faults.md` lists the faults with the tests that find each.

macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident,)*) => {
        /// A fault that a test can turn on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PlantedFault {
            $($(#[$doc])* $fault,)*
        }

        impl PlantedFault {
            /// All faults.
            pub const ALL: &[PlantedFault] = &[$(PlantedFault::$fault),*];

            /// Returns the fault with this name.
            pub fn named(name: &str) -> Option<PlantedFault> {
                PlantedFault::ALL.iter().copied().find(|fault| format!("{fault:?}") == name)
            }
        }
    };
}

faults! {
    // The log.
    /// Recovery accepts log records without looking at the checksum of their operations.
    UncheckedTail,
    /// Recovery does not sync the records that it accepted and wrote again, before it removes the files that
    /// held them.
    RecoveredTailNotSynced,
    /// Recovery keeps log segments that can be read although nothing proves them durable.
    UnprovenTailKept,
    /// Recovery ignores what witnesses state: a durable log that lost its end is taken for a torn one.
    WitnessesIgnored,
    /// A sync of the log that failed is tried once more.
    FailedSyncRetried,
    /// Commits are acknowledged before the log is synced.
    AcknowledgedEarly,
    /// A sync of the log is taken to cover records that were appended while it ran.
    LateCommitAcknowledged,
    /// Commits are published, and so acknowledged, although the log does not hold them durably.
    PublishedBeforeDurable,

    // Checkpoints and recovery.
    /// A checkpoint removes the log segments that it covers before the manifest that replaces them is
    /// durable.
    LogDeletedEarly,
    /// A checkpoint removes the segments that it took in before the manifest that replaces them is durable.
    SegmentsDeletedEarly,
    /// A manifest is renamed into place before it is synced.
    ManifestNotSynced,
    /// A segment is named by a manifest without having been synced.
    SegmentNotSynced,
    /// A segment is named by a manifest while the directory may not list it durably.
    SegmentNotListed,
    /// A checkpoint looks for changed subgraphs in the default label only.
    ChangesOfLabelsMissed,
    /// Segments are read without comparing the checksums of their blocks.
    BlocksNotChecked,
    /// A page that is loaded takes images of older segments where newer ones have them too.
    OlderImageLoaded,
    /// A checkpoint that takes in a segment omits the images of it that were not loaded.
    UnloadedImagesLost,
    /// Eviction takes out changes that are newer than the last checkpoint.
    EvictedDirty,
    /// A block is kept for later point reads before its checksum is compared.
    BlockCachedUnverified,
    /// Directories that are kept for point reads are named by their page, without the file.
    StaleDirectory,
    /// Eviction takes out a version that a snapshot holds, although files have only later ones.
    SnapshotsVersionEvicted,
    /// A page version is dropped although a snapshot reads it.
    PageVersionForgotten,
    /// A page version omits subgraphs that came into being after its timestamp, so newer segments answer for
    /// them.
    EmptyImagesLeftOut,
    /// Older readers take an image that was read back into memory for the beginning of its chain.
    MarkBehindLost,
    /// A cooling chain is linked again without a check that the current one is still the same.
    CooledNotCompared,
    /// The space of a segment that no manifest names any more is given back although images are still read
    /// from it.
    FileUnlinkedUnderReader,
    /// The check of a store does not compare the two sides of the edges.
    SidesNotCompared,
    /// The parallel replay of the log loses the order of operations on one subgraph.
    ReplayedOutOfOrder,

    // Transactions.
    /// Commits are not validated against what they read.
    ReadsNotValidated,
    /// Commits are not validated against what they read in the subgraphs that they write to.
    LatchedReadsNotValidated,
    /// A subgraph that another committer has latched is taken as unchanged.
    LatchedElsewhereUnchanged,
    /// The first committer does not win under snapshot isolation: edges that both write are not compared.
    WritesNotChecked,
    /// Inserting or removing a vertex does not conflict, under snapshot isolation, with its removal or
    /// insertion.
    KeysNotChecked,
    /// A commit does not look again, under its latches, whether the vertices that it looked up still exist.
    VerticesNotLookedAtAgain,
    /// A single operation does not look again, under its latches, whether the ids that it looked up still
    /// carry its keys.
    IdsNotLookedAtAgain,
    /// A single operation does not look, under its latches, whether the vertices that it guessed carry its
    /// keys.
    GuessNotVerified,
    /// Like [`VerticesNotLookedAtAgain`](Self::VerticesNotLookedAtAgain), but in large transactions.
    BatchKeysNotLookedAtAgain,
    /// Like [`VerticesNotLookedAtAgain`](Self::VerticesNotLookedAtAgain), but in transactions of a few
    /// operations on edges.
    FewKeysNotLookedAtAgain,
    /// A commit does not look again whether the pages that it found missing are still missing.
    AbsentNotLookedAtAgain,
    /// The removal of a vertex leaves those of its edges whose other end lies in a subgraph that the commit
    /// does not write to.
    FarEdgesLeft,
    /// The id of a removed vertex is given out again while a snapshot sees that vertex.
    IdReusedEarly,
    /// A commit that completes while another thread publishes is forgotten.
    CompletedCommitForgotten,
    /// A commit draws its timestamp outside of the ordering section while another one is in it.
    DrawnDuringSection,

    // Kinds.
    /// An id that goes to a vertex of the default kind keeps the kind that it had.
    KindOfIdKept,
    /// A commit that looks again whether an id carries a key does not compare kinds.
    KindsNotCompared,
    /// A manifest leaves out the kinds that are defined.
    KindsLeftOutOfManifest,
    /// Replay over a manifest with kinds does not add the kinds that the log defines after it to the schema.
    LaterKindsLost,
    /// Edges that come as rows are not checked against the kinds that their label states for its ends.
    EndsOfRowsNotChecked,

    // Memory.
    /// A version is reclaimed although a snapshot reads it.
    VersionReclaimedEarly,
    /// A version is reclaimed although a reader that is registering may need it.
    RegisteringReaderMissed,
    /// A snapshot that is held for long is forgotten when it gives its slot to another.
    HeldReaderForgotten,
    /// A version waits for the end of a snapshot that closed before the wait began.
    ClosedReaderWaitedFor,
    /// A version is freed although a walk may stand on it.
    WalkNotWaitedFor,
    /// The record of changed vertices in a reclaimed version is lost.
    UnlinkedChangesLost,
    /// A merge loses the newest entry of the delta.
    NewestEntryLost,
    /// An entry of a delta is not noted in the Bloom filter that look-ups consult first.
    EntryNotNoted,
    /// Degrees ignore the corrections beside a large main part.
    PatchForgotten,
    /// An edge of a label is not written to its incoming list.
    ReverseEdgeLost,
    /// A view that is refreshed from another one misses the changes.
    ViewNotRefreshed,
    /// The buffer in which records wait to be written is not charged to the account of the store.
    BufferNotCharged,

    // Reads.
    /// Reads that lend the newest edges of a vertex give them in list order, and not from the newest on.
    LentInListOrder,
    /// A vertex without a value of a property is taken for no vertex where the value is lent.
    LentNullMissed,

    // Defaults.
    /// Kernels that read weights take each weight of a label as 1.
    WeightsOfLabelsIgnored,
    /// A key without a kind names a vertex of the default kind, whatever kind the labels of the call state.
    StatedKindIgnored,
    /// A kernel over labels that state the kinds of their ends runs on the vertices of all kinds.
    OtherKindsKept,
    /// Kernels that may sample search from eight random vertices, and report the result as exact.
    EstimateNotReported,
    /// Bulk calls of Python give rank 0 to each edge of a `multi` label that has no rank of its own.
    ParallelEdgesMerged,
    /// Bulk calls of Python replace the properties of existing vertices where they should merge them.
    VerticesReplaced,

    // Tools.
    /// A backup leaves out the labels and properties that are defined.
    BackupWithoutSchema,
    /// Salvage does not report subgraphs that it could not read.
    SalvageSilent,
}

/// Returns false: no fault is planted in this build.
#[cfg(not(feature = "planted-faults"))]
#[inline(always)]
pub const fn is_on(_: PlantedFault) -> bool {
    false
}

#[cfg(feature = "planted-faults")]
pub use planting::{Planting, Sound, is_on, plant, sound};

#[cfg(feature = "planted-faults")]
mod planting {
    // Not the atomics of `crate::sync`: schedulers do not explore the planting.
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

    use super::PlantedFault;

    /// The planted fault, counted from 1.
    static ON: AtomicU8 = AtomicU8::new(0);
    /// The number of times that it took effect.
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static TURN: RwLock<()> = RwLock::new(());

    /// True if `fault` is planted.
    #[inline]
    pub fn is_on(fault: PlantedFault) -> bool {
        let on = ON.load(Ordering::Relaxed) == fault as u8 + 1;
        if on {
            REACHED.fetch_add(1, Ordering::Relaxed);
        }
        on
    }

    /// A fault that is planted until this is dropped.
    #[derive(Debug)]
    pub struct Planting(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>);

    /// A guard that keeps faults from being planted until it is dropped.
    #[derive(Debug)]
    pub struct Sound(#[allow(dead_code, reason = "held")] RwLockReadGuard<'static, ()>);

    /// Plants `fault` in the whole process. Waits until no other thread plants a fault or holds [`sound`].
    pub fn plant(fault: PlantedFault) -> Planting {
        // A test that failed during its turn must not keep others from theirs.
        let turn = TURN.write().unwrap_or_else(PoisonError::into_inner);
        REACHED.store(0, Ordering::Relaxed);
        ON.store(fault as u8 + 1, Ordering::Relaxed);
        Planting(turn)
    }

    /// Waits until no fault is planted, and keeps it so.
    pub fn sound() -> Sound {
        Sound(TURN.read().unwrap_or_else(PoisonError::into_inner))
    }

    impl Planting {
        /// Returns how often the fault took effect so far.
        pub fn reached(&self) -> u64 {
            REACHED.load(Ordering::Relaxed)
        }
    }

    impl Drop for Planting {
        fn drop(&mut self) {
            ON.store(0, Ordering::Relaxed);
        }
    }
}
