//! The plan of a round.

use hedgerow::{Durability, KeyKind, Options};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{ModelConfig, SimFs};

use crate::common;

/// One round: a workload, and the density of its checks.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) config: ModelConfig,
    /// Under `Manual`, the store reports the durable commits.
    pub(crate) durability: Durability,
    pub(crate) segment_bytes: u64,
    pub(crate) transactions: u64,
    pub(crate) most_ops: u64,
    pub(crate) universe: u64,
    /// The number of vertices that the first transaction inserts; 0 in most plans.
    pub(crate) vertices: u64,
    pub(crate) checkpoint_every: u64,
    /// The number of transactions between two definitions of kinds. With dense keys there are no definitions.
    pub(crate) kind_every: u64,
    /// The number of crash states from one that crashes again during recovery to the next.
    pub(crate) again_every: u64,
    /// True if a snapshot stays open from one checkpoint to the next, so that its content goes into a page
    /// version.
    pub(crate) holds: bool,
    /// True if closing writes a checkpoint.
    pub(crate) checkpoints_at_close: bool,
    pub(crate) fault: Planted,
}

/// A fault of the disk that the simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    None,
    /// The disk ignores syncs of files.
    NoFileSync,
    /// The disk ignores syncs of the directory.
    NoDirectorySync,
}

impl Planted {
    /// Plants the fault in a disk.
    pub(crate) fn plant(self, disk: &SimFs) {
        disk.ignore_sync_data(self == Planted::NoFileSync);
        disk.ignore_sync_dir(self == Planted::NoDirectorySync);
    }
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Plan {
        let mut rng = SplitMix64::new(seed);
        let config = ModelConfig::all().nth(rng.below(12) as usize).expect("twelve kinds");
        let durability = if rng.below(6) == 0 { Durability::Manual } else { Durability::Sync };
        let transactions = 28 + rng.below(8);
        Plan {
            seed,
            config,
            durability,
            segment_bytes: 4096,
            transactions,
            most_ops: 128,
            universe: 20 + rng.below(120),
            vertices: 0,
            checkpoint_every: transactions / 3,
            kind_every: 10,
            again_every: 12,
            holds: !seed.is_multiple_of(2),
            checkpoints_at_close: seed.is_multiple_of(2),
            fault: Planted::None,
        }
    }

    /// Makes a plan with many subgraphs, of which few change between checkpoints. Checkpoints therefore write
    /// several generations of segments, and merge them.
    pub(crate) fn incremental(seed: u64) -> Plan {
        let all = Plan::of(seed);
        let config = ModelConfig { rich: false, ..all.config };
        Plan {
            config,
            transactions: 20,
            most_ops: 3,
            universe: 420,
            vertices: 400,
            checkpoint_every: 2,
            segment_bytes: 16 << 10,
            ..all
        }
    }

    /// True if a kind is defined after this number of transactions. This is in the middle between two
    /// multiples. No checkpoint is due there, so the definition is only in the log for some time.
    pub(crate) fn defines_kind_after(&self, transactions: u64) -> bool {
        let middle = transactions + self.kind_every / 2;
        self.config.keys != KeyKind::Dense && middle.is_multiple_of(self.kind_every)
    }

    pub(crate) fn options(&self) -> Options {
        let options = common::checkpoints_at_close(common::options(self.config), self.checkpoints_at_close);
        options.durability(self.durability).log_segment_bytes(self.segment_bytes)
    }
}
