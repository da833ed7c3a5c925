//! The method of Hopcroft and Karp.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::KernelError;
use crate::NO_VERTEX;
use crate::cancel::{Cancel, Meter};

use super::rows::Rows;

/// The level of a vertex that no search has reached, or from which no way leads on.
const NO_LEVEL: u32 = u32::MAX;

/// The least size of a level that threads share; the calling thread alone processes smaller levels.
const SEQUENTIAL: usize = 1024;

/// The vertices of a level that a thread takes at a time.
const TOGETHER: usize = 256;

/// Returns the mates of a maximum matching.
pub(super) fn maximum<E>(rows: &Rows, cancel: &Cancel) -> Result<Vec<u32>, KernelError<E>> {
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let level = (0..rows.len()).map(|_| AtomicU32::new(NO_LEVEL)).collect();
    let mut phases = Phases { rows, mates: vec![NO_VERTEX; rows.len()], level, cancel };
    phases.take_free_neighbors(&mut meter);
    cancel.step(1);
    let mut next = rows.starts.clone();
    while phases.search(&mut meter) && !meter.is_over() {
        next.copy_from_slice(&rows.starts);
        phases.augment(&mut next, &mut meter);
    }
    cancel.check()?;
    Ok(phases.mates)
}

struct Phases<'r> {
    rows: &'r Rows,
    mates: Vec<u32>,
    /// The number of pairs on the way from a free vertex to each vertex of the first side. Accesses are
    /// relaxed: all threads of a level write the same number, and joins order the levels.
    level: Vec<AtomicU32>,
    cancel: &'r Cancel,
}

impl Phases<'_> {
    fn all(&self) -> std::ops::Range<u32> {
        0..self.rows.len() as u32
    }

    fn level_of(&self, u: u32) -> u32 {
        self.level[u as usize].load(Relaxed)
    }

    fn mate(&self, v: u32) -> u32 {
        self.mates[v as usize]
    }

    fn join(&mut self, u: u32, v: u32) {
        self.mates[u as usize] = v;
        self.mates[v as usize] = u;
    }

    /// Pairs each vertex with its first free neighbour.
    fn take_free_neighbors(&mut self, meter: &mut Meter<'_>) {
        for u in self.all() {
            let row = self.rows.row(u);
            if !meter.spend(row.len()) {
                return;
            }
            if let Some(&v) = row.iter().find(|&&v| self.mate(v) == NO_VERTEX) {
                self.join(u, v);
            }
        }
    }

    /// True if a vertex of the first side has edges and no mate.
    fn is_free(&self, u: u32) -> bool {
        self.mate(u) == NO_VERTEX && !self.rows.row(u).is_empty()
    }

    /// Finds the levels up to the first one with a free vertex of the second side; true if there is one.
    /// Levels do not depend on the order in which vertices of a level are read.
    fn search(&mut self, meter: &mut Meter<'_>) -> bool {
        self.level.iter_mut().for_each(|level| *level.get_mut() = NO_LEVEL);
        let mut last: Vec<u32> = self.all().filter(|&u| self.is_free(u)).collect();
        last.iter().for_each(|&u| self.level[u as usize].store(0, Relaxed));
        let (mut level, mut is_met) = (0, false);
        while !last.is_empty() && !is_met && !meter.is_over() {
            level += 1;
            (last, is_met) = if last.len() < SEQUENTIAL || hedgerow_par::threads() == 1 {
                self.advance::<false>(&last, level, meter)
            } else {
                let parts = hedgerow_par::map(last.par_chunks(TOGETHER), |part| match self.cancel.meter() {
                    Some(mut meter) => self.advance::<true>(part, level, &mut meter),
                    None => Default::default(),
                });
                let is_met = parts.iter().any(|(_, is_met)| *is_met);
                (parts.into_iter().flat_map(|(next, _)| next).collect(), is_met)
            };
        }
        is_met
    }

    /// Returns the vertices that a part of the last level finds, and true if it meets a free vertex.
    /// `SHARED`: other threads search at the same time.
    fn advance<const SHARED: bool>(
        &self,
        last: &[u32],
        level: u32,
        meter: &mut Meter<'_>,
    ) -> (Vec<u32>, bool) {
        let (mut next, mut is_met) = (Vec::new(), false);
        for &u in last {
            let row = self.rows.row(u);
            if !meter.spend(row.len()) {
                break;
            }
            for &v in row {
                let mate = self.mate(v);
                if mate == NO_VERTEX {
                    is_met = true;
                    continue;
                }
                let slot = &self.level[mate as usize];
                if slot.load(Relaxed) != NO_LEVEL {
                    continue;
                }
                let is_mine = !SHARED || slot.compare_exchange(NO_LEVEL, level, Relaxed, Relaxed).is_ok();
                if is_mine {
                    slot.store(level, Relaxed);
                    next.push(mate);
                }
            }
        }
        (next, is_met)
    }

    /// Exchanges pairs and edges along ways from free vertices, which do not meet each other, until no way
    /// along the levels is left. `next` has the place in each row at which its search continues.
    fn augment(&mut self, next: &mut [usize], meter: &mut Meter<'_>) {
        let mut way = Vec::new();
        for root in self.all() {
            if !self.is_free(root) {
                continue;
            }
            way.push(root);
            while let Some(&u) = way.last() {
                if !meter.spend(1) {
                    return;
                }
                let at = next[u as usize];
                if at == self.rows.starts[u as usize + 1] {
                    self.level[u as usize].store(NO_LEVEL, Relaxed);
                    way.pop();
                    continue;
                }
                next[u as usize] += 1;
                match self.mate(self.rows.targets[at]) {
                    NO_VERTEX => {
                        for u in way.drain(..) {
                            self.join(u, self.rows.targets[next[u as usize] - 1]);
                        }
                    }
                    mate if self.level_of(mate) == self.level_of(u).wrapping_add(1) => way.push(mate),
                    _ => {}
                }
            }
        }
    }
}
