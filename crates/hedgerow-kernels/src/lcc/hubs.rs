//! The edges among hubs as bits, from both ends.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::Cancel;
use crate::ranked::{Earlier, MOST_HUBS};

/// The hubs next to each hub as bits, whether they are ranked before or after it.
pub(super) struct Hubs {
    pub(super) count: usize,
    /// The words of each row.
    pub(super) words: usize,
    joined: Vec<u64>,
    /// The hubs whose edges lead both ways; only in a directed graph.
    both: Vec<u64>,
}

impl Hubs {
    pub(super) fn new(earlier: &Earlier, cancel: &Cancel) -> Result<Hubs, KernelError> {
        let count = earlier.len().min(MOST_HUBS);
        let words = count.div_ceil(64);
        let knows_ways = earlier.knows_ways();
        let zeros = |rows: usize| (0..rows * words).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let (joined, both) = (zeros(count), zeros(if knows_ways { count } else { 0 }));
        // Relaxed: no thread reads before all threads are joined.
        let set = |bits: &[AtomicU64], row: u32, at: u32| {
            bits[row as usize * words + (at >> 6) as usize].fetch_or(1 << (at & 63), Relaxed);
        };
        hedgerow_par::for_each((0..count as u32).into_par_iter(), |hub| {
            if cancel.poll() {
                return;
            }
            for &other in earlier.list(hub) {
                set(&joined, hub, other);
                set(&joined, other, hub);
            }
            if knows_ways {
                let ways = earlier.list(hub).iter().zip(earlier.both(hub));
                for (&other, _) in ways.filter(|&(_, &both)| both != 0) {
                    set(&both, hub, other);
                    set(&both, other, hub);
                }
            }
        });
        cancel.check()?;
        let plain = |bits: Vec<AtomicU64>| bits.into_iter().map(AtomicU64::into_inner).collect();
        Ok(Hubs { count, words, joined: plain(joined), both: plain(both) })
    }

    /// Returns the hubs next to a hub.
    #[inline]
    pub(super) fn joined(&self, hub: u32) -> &[u64] {
        &self.joined[hub as usize * self.words..(hub as usize + 1) * self.words]
    }

    /// Returns the hubs next to a hub that are joined to it in both directions. Only for a directed graph.
    #[inline]
    pub(super) fn both(&self, hub: u32) -> &[u64] {
        &self.both[hub as usize * self.words..(hub as usize + 1) * self.words]
    }
}
