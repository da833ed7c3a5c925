//! The counts of explored states.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use hedgerow_testkit::Damage;

/// Counts of one or many rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) states: u64,
    /// The number of opened states. Of states with equal bytes, the test opens only one. States that crash
    /// again do not count.
    pub(crate) opened: u64,
    pub(crate) recovery_crashes: u64,
    pub(crate) third_lives: u64,
    pub(crate) rotations: u64,
    pub(crate) checkpoints: u64,
    pub(crate) checkpoints_at_close: u64,
    /// The maximum number of segments in a store at one time.
    pub(crate) most_runs: u64,
    pub(crate) commits: u64,
    pub(crate) kinds: u64,
    /// The number of page versions written. The next two fields count the chains that cooled and the chains
    /// that were evicted.
    pub(crate) page_versions: u64,
    pub(crate) cooled: u64,
    pub(crate) evicted: u64,
    pub(crate) full_rounds: u64,
    pub(crate) modes: BTreeMap<Damage, u64>,
    pub(crate) sites: BTreeMap<Arc<str>, u64>,
    /// The crash states that were taken while a store closed.
    pub(crate) sites_of_close: BTreeMap<Arc<str>, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.states += other.states;
        self.opened += other.opened;
        self.recovery_crashes += other.recovery_crashes;
        self.third_lives += other.third_lives;
        self.rotations += other.rotations;
        self.checkpoints += other.checkpoints;
        self.checkpoints_at_close += other.checkpoints_at_close;
        self.most_runs = self.most_runs.max(other.most_runs);
        self.commits += other.commits;
        self.kinds += other.kinds;
        self.page_versions += other.page_versions;
        self.cooled += other.cooled;
        self.evicted += other.evicted;
        self.full_rounds += u64::from(other.rotations >= 2 && other.checkpoints >= 2);
        for (mode, n) in &other.modes {
            *self.modes.entry(*mode).or_default() += n;
        }
        for (site, n) in &other.sites {
            *self.sites.entry(site.clone()).or_default() += n;
        }
        for (site, n) in &other.sites_of_close {
            *self.sites_of_close.entry(site.clone()).or_default() += n;
        }
    }

    pub(crate) fn count(&mut self, site: &Arc<str>, mode: Damage) {
        self.states += 1;
        *self.modes.entry(mode).or_default() += 1;
        *self.sites.entry(site.clone()).or_default() += 1;
    }

    pub(crate) fn mode(&self, mode: Damage) -> u64 {
        self.modes.get(&mode).copied().unwrap_or(0)
    }

    pub(crate) fn site(&self, site: &str) -> u64 {
        self.sites.get(site).copied().unwrap_or(0)
    }
}

impl Tally {
    pub(crate) fn site_of_close(&self, site: &str) -> u64 {
        self.sites_of_close.get(site).copied().unwrap_or(0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { commits, states, opened, .. } = self;
        writeln!(f, "{commits} commits, {states} crash states, {opened} different ones; by file operation:")?;
        for (site, n) in &self.sites {
            writeln!(f, "  {site:<16} {n:>9}")?;
        }
        write!(f, "by damage:")?;
        self.modes.iter().try_for_each(|(mode, n)| write!(f, " {mode:?} {n}"))
    }
}
