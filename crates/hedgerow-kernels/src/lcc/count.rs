//! Counting triangles for all three of their vertices.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::simd::{and_count, intersect_count};

use super::hubs::Hubs;
use crate::cancel::Meter;
use crate::ranked::{EDGES_PER_HUB, Earlier, is_set, set};

/// The number of words of bits whose intersection costs about as much as testing one bit.
const WORDS_PER_TEST: usize = 2;

/// The state of one work item, and its counts for hubs.
pub(super) struct Counting<'a, const DIRECTED: bool> {
    earlier: &'a Earlier,
    hubs: &'a Hubs,
    linked: &'a [AtomicU64],
    /// The counts for hubs, which are added at the end: many vertices count for the same hubs.
    of_hubs: Vec<u64>,
    /// The hubs that the vertex keeps, as bits; 0 between vertices.
    kept: Vec<u64>,
    /// The hubs of `kept` whose edges lead both ways; only in a directed graph.
    kept_both: Vec<u64>,
}

/// Adds to the count of a vertex. All threads are joined before the counts are read.
#[inline]
fn tell(linked: &[AtomicU64], rank: u32, edges: u64) {
    linked[rank as usize].fetch_add(edges, Relaxed);
}

/// Returns 2 for an edge that leads both ways in a directed graph, else 1.
#[inline(always)]
fn times<const DIRECTED: bool>(both: bool) -> u64 {
    1 + u64::from(DIRECTED && both)
}

impl<'a, const DIRECTED: bool> Counting<'a, DIRECTED> {
    pub(super) fn new(earlier: &'a Earlier, hubs: &'a Hubs, linked: &'a [AtomicU64]) -> Self {
        let words = || vec![0; hubs.words];
        let kept_both = if DIRECTED { words() } else { Vec::new() };
        Counting { earlier, hubs, linked, of_hubs: vec![0; hubs.count], kept: words(), kept_both }
    }

    /// Adds the counts for hubs.
    pub(super) fn finish(self) {
        for (hub, &edges) in (0..).zip(&self.of_hubs).filter(|(_, edges)| **edges > 0) {
            tell(self.linked, hub, edges);
        }
    }

    /// Counts the triangles whose last vertex has rank `u`.
    pub(super) fn count_at(&mut self, u: u32, meter: &mut Meter<'_>) {
        let list = self.earlier.list(u);
        let both = if DIRECTED { self.earlier.both(u) } else { &[] };
        let among_hubs = list.partition_point(|&v| (v as usize) < self.hubs.count);
        if list.len() < 2 || !meter.spend(among_hubs * EDGES_PER_HUB) {
            return;
        }
        self.keep(&list[..among_hubs], both);
        let words = list[..among_hubs].last().map_or(0, |&last| last as usize / 64 + 1);
        let mut own = if words < among_hubs * WORDS_PER_TEST {
            self.among_hubs_by_words(&list[..among_hubs], words)
        } else {
            self.among_hubs_by_pairs(&list[..among_hubs], both)
        };
        for (i, &v) in list.iter().enumerate().skip(among_hubs) {
            let other = self.earlier.list(v);
            if !meter.spend(i + other.len()) {
                break;
            }
            let is_both = DIRECTED && both[i] != 0;
            own += self.with_list((list, both, i), v, times::<DIRECTED>(is_both));
        }
        self.forget(&list[..among_hubs]);
        if own > 0 {
            tell(self.linked, u, own);
        }
    }

    fn keep(&mut self, hubs: &[u32], both: &[u8]) {
        hubs.iter().for_each(|&w| set(&mut self.kept, w));
        if DIRECTED {
            let twice = hubs.iter().zip(both).filter(|&(_, &both)| both != 0);
            twice.for_each(|(&w, _)| set(&mut self.kept_both, w));
        }
    }

    fn forget(&mut self, hubs: &[u32]) {
        for &w in hubs {
            self.kept[(w >> 6) as usize] = 0;
            if DIRECTED {
                self.kept_both[(w >> 6) as usize] = 0;
            }
        }
    }

    /// Counts the triangles of the vertex with two hubs. Adds to the count of each hub the triangles that it
    /// is in; returns the count for the vertex.
    fn among_hubs_by_words(&mut self, list: &[u32], words: usize) -> u64 {
        let mut twice = 0;
        for &v in list {
            let joined = &self.hubs.joined(v)[..words];
            let common = and_count(&self.kept[..words], joined);
            let (mut told, mut between) = (common, common);
            if DIRECTED && common > 0 {
                told += and_count(&self.kept_both[..words], joined);
                between += and_count(&self.kept[..words], &self.hubs.both(v)[..words]);
            }
            self.of_hubs[v as usize] += told;
            twice += between;
        }
        twice / 2
    }

    /// Does the same for few hubs: tests each pair of them.
    fn among_hubs_by_pairs(&mut self, list: &[u32], both: &[u8]) -> u64 {
        let mut own = 0;
        for (i, &v) in list.iter().enumerate().skip(1) {
            let joined = self.hubs.joined(v);
            let mut told = 0;
            for (j, &w) in list[..i].iter().enumerate() {
                let is_joined = u64::from(is_set(joined, w));
                if DIRECTED {
                    told += is_joined * times::<DIRECTED>(both[j] != 0);
                    self.of_hubs[w as usize] += is_joined * times::<DIRECTED>(both[i] != 0);
                    own += is_joined + u64::from(is_set(self.hubs.both(v), w));
                } else {
                    told += is_joined;
                    self.of_hubs[w as usize] += is_joined;
                    own += is_joined;
                }
            }
            self.of_hubs[v as usize] += told;
        }
        own
    }

    /// Counts the triangles whose second vertex `v`, at place `i` of the list, is no hub. Returns the count
    /// for the vertex. An edge of the vertex to `v` counts `weight` times.
    fn with_list(&mut self, (list, both, i): (&[u32], &[u8], usize), v: u32, weight: u64) -> u64 {
        let other = self.earlier.list(v);
        let other_both = if DIRECTED { self.earlier.both(v) } else { &[] };
        let (mut own, mut told) = (0, 0);
        let hubs = other.partition_point(|&w| (w as usize) < self.hubs.count);
        for (at, &w) in other[..hubs].iter().enumerate() {
            let is_joined = u64::from(is_set(&self.kept, w));
            self.of_hubs[w as usize] += is_joined * weight;
            if DIRECTED {
                own += is_joined * times::<DIRECTED>(other_both[at] != 0);
                told += is_joined + u64::from(is_set(&self.kept_both, w));
            } else {
                own += is_joined;
                told += is_joined;
            }
        }
        let among_hubs = list[..i].partition_point(|&w| (w as usize) < self.hubs.count);
        if intersect_count(&list[among_hubs..i], &other[hubs..]) > 0 {
            let (mut a, mut b) = (among_hubs, hubs);
            while a < i && b < other.len() {
                let (x, y) = (list[a], other[b]);
                if x == y {
                    own += times::<DIRECTED>(DIRECTED && other_both[b] != 0);
                    told += times::<DIRECTED>(DIRECTED && both[a] != 0);
                    tell(self.linked, x, weight);
                }
                a += usize::from(x <= y);
                b += usize::from(y <= x);
            }
        }
        if told > 0 {
            tell(self.linked, v, told);
        }
        own
    }
}
