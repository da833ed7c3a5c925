//! The state after a crash.

use std::collections::BTreeMap;

use super::content::Content;
use super::rng::SplitMix64;
use super::state::{DirOp, FileOp, Inode, Pending, State};

/// The fate of unsynced changes in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// All changes are lost.
    LoseAll,
    /// All changes survive.
    KeepAll,
    /// The changes before some moment survive; a write at that moment survives in part.
    Prefix,
    /// Each change survives or is lost.
    RandomSubset,
    /// Each sector of 512 bytes of each write survives or is lost. The same holds for each change of a length
    /// or of the directory.
    Tear512,
    /// The same as `Tear512`, with sectors of 4,096 bytes.
    Tear4096,
    /// Each sector of each write survives, is lost, or is replaced by garbage.
    Garbage,
}

impl Damage {
    /// All damage modes.
    pub const ALL: [Damage; 7] = [
        Damage::LoseAll,
        Damage::KeepAll,
        Damage::Prefix,
        Damage::RandomSubset,
        Damage::Tear512,
        Damage::Tear4096,
        Damage::Garbage,
    ];
}

/// One crash, with its random choices.
struct Crash {
    damage: Damage,
    rng: SplitMix64,
    /// The chance, in eighths, that a change survives.
    odds: u64,
    /// The first change that is not in the prefix.
    cut: u64,
}

/// The part of a change that survives.
enum Survives {
    Nothing,
    All,
    /// A part of a write, at byte precision.
    Begun,
}

pub(super) fn crash(state: &State, damage: Damage, seed: u64) -> State {
    let mut rng = SplitMix64::new(seed);
    let odds = [1, 4, 7][rng.below(3) as usize];
    let cut = if damage == Damage::Prefix { choose_cut(state, &mut rng) } else { 0 };
    let mut crash = Crash { damage, rng, odds, cut };
    let mut names = state.durable_names.clone();
    // Journals keep the order of directory changes. Half of the crashes therefore keep it.
    let ordered = crash.rng.eighths(4) && !matches!(damage, Damage::KeepAll | Damage::Prefix);
    let kept = crash.rng.below(state.pending_names.len() as u64 + 1) as usize;
    for (i, pending) in state.pending_names.iter().enumerate() {
        let survives = if ordered { i < kept } else { matches!(crash.survives(pending), Survives::All) };
        if survives && damage != Damage::LoseAll {
            DirOp::apply(&pending.op, &mut names);
        }
    }
    let mut contents = BTreeMap::new();
    for (name, id) in names {
        contents.insert(name, crash.content(state.inode(id)));
    }
    State::settled(contents.into_iter())
}

/// Draws a moment among all pending changes.
fn choose_cut(state: &State, rng: &mut SplitMix64) -> u64 {
    let files = state.inodes.values().flat_map(|inode| inode.pending.iter().map(|p| p.seq));
    let mut seqs: Vec<u64> = files.chain(state.pending_names.iter().map(|p| p.seq)).collect();
    seqs.sort_unstable();
    seqs.get(rng.below(seqs.len() as u64 + 1) as usize).copied().unwrap_or(u64::MAX)
}

impl Crash {
    fn survives<Op>(&mut self, pending: &Pending<Op>) -> Survives {
        let all = match self.damage {
            Damage::LoseAll => false,
            Damage::KeepAll => true,
            Damage::Prefix if pending.seq == self.cut => return Survives::Begun,
            Damage::Prefix => pending.seq < self.cut,
            _ => self.rng.eighths(self.odds),
        };
        if all { Survives::All } else { Survives::Nothing }
    }

    fn content(&mut self, inode: &Inode) -> Content {
        let mut content = inode.durable.clone();
        for pending in &inode.pending {
            match (&pending.op, self.damage) {
                (FileOp::Write { offset, data }, Damage::Tear512) => {
                    self.tear(&mut content, *offset, data, 512)
                }
                (FileOp::Write { offset, data }, Damage::Tear4096) => {
                    self.tear(&mut content, *offset, data, 4096);
                }
                (FileOp::Write { offset, data }, Damage::Garbage) => {
                    self.tear(&mut content, *offset, data, 512)
                }
                (op, _) => match self.survives(pending) {
                    Survives::All => op.apply(&mut content),
                    Survives::Nothing => {}
                    Survives::Begun => {
                        if let FileOp::Write { offset, data } = op {
                            let n = self.rng.below(data.len() as u64 + 1) as usize;
                            content.write(*offset, &data[..n]);
                        }
                    }
                },
            }
        }
        content
    }

    /// Applies a write sector by sector. The file may grow even if a sector is lost.
    fn tear(&mut self, content: &mut Content, offset: u64, data: &[u8], sector: usize) {
        if self.rng.eighths(4) {
            content.extend(offset + data.len() as u64);
        }
        let mut from = 0;
        while from < data.len() {
            let at = offset + from as u64;
            let n = (sector - (at % sector as u64) as usize).min(data.len() - from);
            let part = &data[from..from + n];
            if self.rng.eighths(self.odds) {
                content.write(at, part);
            } else if self.damage == Damage::Garbage && self.rng.eighths(4) {
                content.write(at, &self.garble(part));
            }
            from += n;
        }
    }

    /// Returns `part` with some wrong bits, or with wrong bytes after some place.
    fn garble(&mut self, part: &[u8]) -> Vec<u8> {
        let mut bytes = part.to_vec();
        if self.rng.eighths(4) {
            for _ in 0..=self.rng.below(3) {
                let bit = self.rng.below(bytes.len() as u64 * 8) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        } else {
            let from = self.rng.below(bytes.len() as u64) as usize;
            bytes[from..].iter_mut().for_each(|b| *b = self.rng.next_u64() as u8);
        }
        bytes
    }
}
