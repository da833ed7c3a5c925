//! Bottom-up levels: vertices that look for a neighbour in the frontier.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU32;

use hedgerow_core::{Block, LocalVertex, VertexId};

use super::config::UNREACHED;
use crate::cancel::{Cancel, Meter};

/// The most neighbours that a thread reads without asking the meter in the first run of a vertex, and again
/// in its other runs. Both together are a short list.
const MOST_UNMETERED: usize = Cancel::SHORT_LIST / 2;

/// One bottom-up level.
pub(super) struct Adoption<'a> {
    pub(super) front: &'a [u64],
    pub(super) level: u32,
}

impl Adoption<'_> {
    /// Lets each open vertex of one subgraph look for a neighbour in the frontier. Returns the vertices that
    /// found one. Removes these from `open`, and also the vertices that never can find one.
    #[inline]
    pub(super) fn adopt<B: Block>(
        &self,
        block: B,
        open: &mut u64,
        depth: &mut [AtomicU32],
        meter: &mut Meter<'_>,
    ) -> u64 {
        let (mut found, mut closed) = (0u64, 0u64);
        let mut rest = *open;
        while rest != 0 {
            let i = rest.trailing_zeros();
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            let slot = depth[i as usize].get_mut();
            if *slot != UNREACHED {
                closed |= bit; // reached by an earlier top-down level
                continue;
            }
            let local = LocalVertex(i as u8);
            // Most searches end within the first few neighbours. So the other runs are looked up only after
            // the first run was searched without success.
            let main = block.main(local).unwrap_or(&[]);
            let first = main.split_at(main.len().min(MOST_UNMETERED)).0;
            let mut is_found = first.iter().any(|&v| is_set(self.front, v));
            if !is_found {
                let degree = block.degree(local);
                if degree == 0 {
                    closed |= bit;
                }
                is_found = degree > first.len() && self.finds_behind(block, local, first.len(), meter);
            }
            if is_found {
                *slot = self.level;
                found |= bit;
            }
        }
        *open &= !(found | closed);
        found
    }

    /// True if a neighbour behind the first `skip` is in the frontier.
    #[inline]
    fn finds_behind<B: Block>(
        &self,
        block: B,
        local: LocalVertex,
        skip: usize,
        meter: &mut Meter<'_>,
    ) -> bool {
        let (mut skip, mut unmetered) = (skip, MOST_UNMETERED);
        let ended = block.for_each_run(local, |run| {
            let rest = run.split_at(skip.min(run.len())).1;
            skip -= run.len() - rest.len();
            let is_found = if rest.len() <= unmetered {
                unmetered -= rest.len();
                rest.iter().any(|&v| is_set(self.front, v))
            } else {
                any_in_polling(rest, self.front, meter)
            };
            if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ended.is_break()
    }
}

#[inline]
fn is_set(bitmap: &[u64], v: VertexId) -> bool {
    bitmap[v.index() >> 6] >> (v.0 & 63) & 1 != 0
}

/// True if a neighbour of the run is in the frontier, with polls.
#[cold]
fn any_in_polling(run: &[VertexId], bitmap: &[u64], meter: &mut Meter<'_>) -> bool {
    let mut found = false;
    meter.parts(run, |part| found = found || part.iter().any(|&v| is_set(bitmap, v)));
    found
}
