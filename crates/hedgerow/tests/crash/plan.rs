//! What a round does.

use hedgerow::{Durability, Options};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{ModelConfig, SimFs};

use crate::common;

/// One round: a workload and how closely it is watched.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) config: ModelConfig,
    /// Under `Manual`, what is durable is what the store says.
    pub(crate) durability: Durability,
    pub(crate) segment_bytes: u64,
    pub(crate) transactions: u64,
    pub(crate) most_ops: u64,
    pub(crate) universe: u64,
    /// One in so many crash states crashes again during recovery.
    pub(crate) again_every: u64,
    pub(crate) fault: Planted,
}

/// A fault that the simulation must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    None,
    /// The disk ignores syncs of files.
    NoFileSync,
    /// The disk ignores syncs of the directory.
    NoDirectorySync,
    /// In builds with planted faults, the engine has this one.
    #[cfg_attr(not(hedgerow_faults), allow(dead_code, reason = "only such builds have faults"))]
    Engine(hedgerow::io::faults::PlantedFault),
}

impl Planted {
    /// Plants the fault for a round on this thread.
    pub(crate) fn plant(self, disk: &SimFs) {
        disk.ignore_sync_data(self == Planted::NoFileSync);
        disk.ignore_sync_dir(self == Planted::NoDirectorySync);
        #[cfg(hedgerow_faults)]
        hedgerow::io::faults::plant(match self {
            Planted::Engine(fault) => Some(fault),
            _ => None,
        });
    }
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Plan {
        let mut rng = SplitMix64::new(seed);
        let config = ModelConfig::all().nth(rng.below(12) as usize).expect("twelve kinds");
        let durability = if rng.below(6) == 0 { Durability::Manual } else { Durability::Sync };
        Plan {
            seed,
            config,
            durability,
            segment_bytes: 4096,
            transactions: 28 + rng.below(8),
            most_ops: 128,
            universe: 20 + rng.below(120),
            again_every: 12,
            fault: Planted::None,
        }
    }

    pub(crate) fn options(&self) -> Options {
        common::options(self.config).durability(self.durability).log_segment_bytes(self.segment_bytes)
    }
}
