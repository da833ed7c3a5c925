//! The method of Hopcroft and Karp.

use crate::KernelError;
use crate::NO_VERTEX;
use crate::cancel::{Cancel, Meter};

use super::rows::Rows;

/// The level of a vertex to which a search has not come, or from which no way leads on.
const NO_LEVEL: u32 = u32::MAX;

/// The mates of a maximum matching.
pub(super) fn maximum<E>(rows: &Rows, cancel: &Cancel) -> Result<Vec<u32>, KernelError<E>> {
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let mut phases = Phases { rows, mates: vec![NO_VERTEX; rows.len()], level: vec![NO_LEVEL; rows.len()] };
    phases.take_free_neighbors(&mut meter);
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
    /// Of vertices of the first side how many pairs lead to them from a free one.
    level: Vec<u32>,
}

impl Phases<'_> {
    fn all(&self) -> std::ops::Range<u32> {
        0..self.rows.len() as u32
    }

    fn mate(&self, v: u32) -> u32 {
        self.mates[v as usize]
    }

    fn join(&mut self, u: u32, v: u32) {
        self.mates[u as usize] = v;
        self.mates[v as usize] = u;
    }

    /// Lets each vertex take the first free neighbour.
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

    /// Whether a vertex of the first side has edges and no mate.
    fn is_free(&self, u: u32) -> bool {
        self.mate(u) == NO_VERTEX && !self.rows.row(u).is_empty()
    }

    /// Finds the levels up to the first at which a free vertex of the second side is met; whether there is one.
    fn search(&mut self, meter: &mut Meter<'_>) -> bool {
        self.level.fill(NO_LEVEL);
        let mut last: Vec<u32> = self.all().filter(|&u| self.is_free(u)).collect();
        last.iter().for_each(|&u| self.level[u as usize] = 0);
        let (mut level, mut is_met) = (0, false);
        while !last.is_empty() && !is_met {
            level += 1;
            let mut next = Vec::new();
            for u in last {
                let row = self.rows.row(u);
                if !meter.spend(row.len()) {
                    return false;
                }
                for &v in row {
                    match self.mate(v) {
                        NO_VERTEX => is_met = true,
                        mate if self.level[mate as usize] == NO_LEVEL => {
                            self.level[mate as usize] = level;
                            next.push(mate);
                        }
                        _ => {}
                    }
                }
            }
            last = next;
        }
        is_met
    }

    /// Changes pairs along ways that do not meet, from each free vertex, until there is none along the levels. `next` says where each row goes on.
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
                    self.level[u as usize] = NO_LEVEL;
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
                    mate if self.level[mate as usize] == self.level[u as usize].wrapping_add(1) => {
                        way.push(mate);
                    }
                    _ => {}
                }
            }
        }
    }
}
