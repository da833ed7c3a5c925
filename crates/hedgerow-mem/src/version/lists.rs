//! Reads of the neighbours of one vertex.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LocalVertex, VertexId, simd};
use smallvec::SmallVec;

use super::Read;
use crate::main_part::Main;
use crate::op::EdgeOp;
use crate::patch::Patch;

/// A function that takes a stretch of neighbours, and their weights if they have any.
type OnRun<'a> = &'a mut dyn FnMut(&[VertexId], &[f64]);

impl Read<'_> {
    /// Returns the number of neighbours. O(delta): it compares the tags of sixteen entries at a time.
    #[inline]
    pub fn degree(&self, local: LocalVertex) -> usize {
        let mut degree = self.version.main.range(local).len();
        if let Some(patch) = &self.version.patch
            && !faults::is_on(PlantedFault::PatchForgotten)
        {
            let (added, removed) = patch.sizes(local);
            degree = degree + added - removed;
        }
        degree.saturating_add_signed(self.version.delta.growth_of(self.n, local))
    }

    /// True if edges have weights; otherwise all weights are 1.
    #[inline]
    pub fn is_weighted(&self) -> bool {
        self.version.main.weights.is_some() || self.version.delta.is_weighted()
    }

    /// Calls `f` with each neighbour and weight (1 in a graph without weights), ascending. O(degree + delta).
    #[inline]
    pub fn for_each_neighbor(&self, local: LocalVertex, mut f: impl FnMut(VertexId, f64)) {
        self.for_each_run(local, |run, weights| with_weights(run, weights, &mut f));
    }

    /// Calls `f` with the neighbours in stretches, in no particular order, and with their weights; without
    /// weights that slice is empty. Stretches may be empty. Faster than [`for_each_run`](Self::for_each_run)
    /// if the delta only inserts, because it then sorts no entries. O(degree + delta).
    #[inline]
    pub fn visit(&self, local: LocalVertex, mut f: impl FnMut(&[VertexId], &[f64])) {
        if self.version.is_ranked() {
            return self.for_each_ranked_run(local, &mut f);
        }
        let Some(inserted) = self.insertions(local) else { return self.for_each_run(local, f) };
        self.visit_merged(local, &mut f);
        if !inserted.neighbors.is_empty() {
            f(&inserted.neighbors, &inserted.weights);
        }
    }

    /// Like [`visit`](Self::visit), but only for main part and patch.
    #[inline]
    pub(super) fn visit_merged(&self, local: LocalVertex, f: &mut impl FnMut(&[VertexId], &[f64])) {
        let mut list = self.uncorrected(local, f);
        let Some(patch) = &self.version.patch else { return list.give(list.end) };
        patch.removed.neighbors(local).iter().for_each(|&dst| list.replace(dst, None));
        list.give(list.end);
        let added = patch.added.range(local);
        (list.f)(patch.added.neighbors(local), weights_of(&patch.added, added));
    }

    /// Returns the neighbours that the delta inserts, with weights in a weighted graph. `None` if it also has
    /// other entries about edges of the vertex.
    #[inline]
    fn insertions(&self, local: LocalVertex) -> Option<Insertions> {
        let delta = &self.version.delta;
        let Insertions { mut neighbors, mut weights } = Insertions::default();
        let mut other = false;
        delta.for_each_index_of(self.n, local, |at| match delta.source(at).1 {
            EdgeOp::Insert => {
                neighbors.push(delta.destination(at));
                if delta.is_weighted() {
                    weights.push(delta.entry(at).weight);
                }
            }
            EdgeOp::Vertex => {}
            EdgeOp::Remove | EdgeOp::Update => other = true,
        });
        (!other).then_some(Insertions { neighbors, weights })
    }

    /// Calls `f` with the neighbours in stretches, ascending, and with their weights; without weights that
    /// slice is empty. Stretches may be empty. O(degree + delta).
    #[inline]
    pub fn for_each_run(&self, local: LocalVertex, mut f: impl FnMut(&[VertexId], &[f64])) {
        let version = self.version;
        if version.is_ranked() {
            return self.for_each_ranked_run(local, &mut f);
        }
        let words = self.last_words(local);
        let mut list = self.uncorrected(local, &mut f);
        if version.patch.is_some() || !words.is_empty() {
            self.correct(local, &words, &mut list);
        }
        list.give(list.end);
    }

    /// Returns the list in the main part, to which corrections are then applied.
    #[inline]
    fn uncorrected<'b, F>(&'b self, local: LocalVertex, f: &'b mut F) -> Uncorrected<'b, F> {
        let std::ops::Range { start: at, end } = self.version.main.range(local);
        Uncorrected { main: &self.version.main, at, end, weighted: self.is_weighted(), f }
    }

    /// Passes on the list up to its last correction by patch or delta.
    fn correct(
        &self,
        local: LocalVertex,
        words: &[Word],
        list: &mut Uncorrected<'_, impl FnMut(&[VertexId], &[f64])>,
    ) {
        let mut patched = self.version.patch.as_deref().map(|patch| Patched::new(patch, local));
        let mut patched_below = |list: &mut Uncorrected<'_, _>, bound: Option<VertexId>| {
            while let Some((dst, state)) = patched.as_mut().and_then(|patched| patched.next_below(bound)) {
                list.replace(dst, state);
            }
            // If both have an edge, the delta's state is the newer one.
            patched.iter_mut().zip(bound).for_each(|(patched, dst)| patched.skip(dst));
        };
        for word in words {
            patched_below(list, Some(word.dst()));
            let state = (!word.is_removal()).then(|| self.version.delta.entry(word.place()).weight);
            list.replace(word.dst(), state);
        }
        patched_below(list, None);
    }

    /// Returns the last entry of the delta about each edge of a vertex without ranks, ascending. They are
    /// usually few, so that they need no allocation.
    #[inline]
    fn last_words(&self, local: LocalVertex) -> SmallVec<[Word; 16]> {
        let delta = &self.version.delta;
        let mut words: SmallVec<[Word; 16]> = SmallVec::new();
        delta.for_each_index_of(self.n, local, |at| {
            let op = delta.source(at).1;
            if op != EdgeOp::Vertex {
                words.push(Word::new(delta.destination(at), at, op));
            }
        });
        if words.len() > 1 {
            words.sort_unstable();
            // Of several entries about one edge the last one is needed. `dedup_by` keeps the first, so the
            // first gets the last one's value.
            words.dedup_by(|later, kept| {
                let same = later.dst() == kept.dst();
                if same {
                    *kept = *later;
                }
                same
            });
        }
        words
    }

    /// Like [`for_each_run`](Self::for_each_run), but for edges with ranks.
    fn for_each_ranked_run(&self, local: LocalVertex, f: OnRun<'_>) {
        let main = &self.version.main;
        let range = main.range(local);
        let mut at = range.start;
        for change in &self.version.changes(self.n, Some(local), |_| true) {
            let upto = main.lower_bound(at..range.end, change.dst, change.rank);
            f(&main.neighbors[at..upto], weights_of(main, at..upto));
            at = upto;
            at += usize::from(at < range.end && main.item_key(at) == (change.dst, change.rank));
            if let Some((weight, _)) = change.state {
                let one = [weight];
                f(&[change.dst], if self.is_weighted() { &one } else { &[] });
            }
        }
        f(&main.neighbors[at..range.end], weights_of(main, at..range.end));
    }
}

/// Returns the weights of a range of edges; empty in a graph without weights.
#[inline]
fn weights_of(main: &Main, range: std::ops::Range<usize>) -> &[f64] {
    main.weights().and_then(|weights| weights.get(range)).unwrap_or(&[])
}

/// Calls `f` with each neighbour of a stretch and its weight, or 1 if `weights` is empty.
#[inline]
pub(crate) fn with_weights(run: &[VertexId], weights: &[f64], mut f: impl FnMut(VertexId, f64)) {
    if weights.is_empty() {
        run.iter().for_each(|&v| f(v, 1.0));
    } else {
        run.iter().zip(weights).for_each(|(&v, &weight)| f(v, weight));
    }
}

/// An entry of a delta about an edge: destination, index in the delta and operation. So entries about one
/// edge are in commit order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Word(u64);

impl Word {
    #[inline]
    fn new(dst: VertexId, at: usize, op: EdgeOp) -> Word {
        Word(u64::from(dst.0) << 26 | (at as u64) << 2 | op as u64)
    }

    #[inline]
    fn dst(self) -> VertexId {
        VertexId((self.0 >> 26) as u32)
    }

    #[inline]
    fn place(self) -> usize {
        (self.0 >> 2) as usize & 0xff_ffff
    }

    #[inline]
    fn is_removal(self) -> bool {
        EdgeOp::from_bits(self.0 as u8 & 3) == EdgeOp::Remove
    }
}

/// The edges of one vertex that a delta inserts, by commit. They are usually few, so that they need no
/// allocation.
#[derive(Default)]
struct Insertions {
    neighbors: SmallVec<[VertexId; 32]>,
    /// Empty in a graph without weights.
    weights: SmallVec<[f64; 8]>,
}

/// The rest of a main part's list that has not been passed to a reader yet.
struct Uncorrected<'a, F> {
    main: &'a Main,
    at: usize,
    end: usize,
    weighted: bool,
    f: &'a mut F,
}

impl<F: FnMut(&[VertexId], &[f64])> Uncorrected<'_, F> {
    /// Passes on the neighbours up to a position.
    #[inline]
    fn give(&mut self, upto: usize) {
        let run = self.main.neighbors.get(self.at..upto).unwrap_or(&[]);
        let weights = weights_of(self.main, self.at..upto);
        self.at = upto;
        (self.f)(run, weights);
    }

    /// Passes on the neighbours before `dst`, then `dst` with its new weight, if it is still a neighbour.
    #[inline]
    fn replace(&mut self, dst: VertexId, state: Option<f64>) {
        let rest = self.main.neighbors.get(self.at..self.end).unwrap_or(&[]);
        let before = simd::count_below(rest, dst);
        let is_there = rest.get(before) == Some(&dst);
        self.give(self.at + before);
        self.at += usize::from(is_there);
        if let Some(weight) = state {
            let weights = [weight];
            (self.f)(&[dst], if self.weighted { &weights } else { &[] });
        }
    }
}

/// The corrections of one list in a patch that were not applied yet.
struct Patched<'a> {
    patch: &'a Patch,
    added: std::ops::Range<usize>,
    removed: std::ops::Range<usize>,
}

impl<'a> Patched<'a> {
    fn new(patch: &'a Patch, local: LocalVertex) -> Patched<'a> {
        Patched { patch, added: patch.added.range(local), removed: patch.removed.range(local) }
    }

    #[inline]
    fn heads(&self) -> (Option<VertexId>, Option<VertexId>) {
        let head = |part: &Main, range: &std::ops::Range<usize>| {
            (!range.is_empty()).then(|| part.neighbors.get(range.start).copied()).flatten()
        };
        (head(&self.patch.added, &self.added), head(&self.patch.removed, &self.removed))
    }

    /// Returns the next corrected edge if it is before `bound`, and its weight if it exists.
    #[inline]
    fn next_below(&mut self, bound: Option<VertexId>) -> Option<(VertexId, Option<f64>)> {
        let (added, removed) = self.heads();
        let dst = [added, removed].into_iter().flatten().min()?;
        if bound.is_some_and(|bound| dst >= bound) {
            return None;
        }
        // An edge in both lists has the state of `added`.
        let state = (added == Some(dst)).then(|| self.patch.added.weight_at(self.added.start));
        self.skip(dst);
        Some((dst, state))
    }

    /// Skips the corrections of `dst`, if they are next.
    #[inline]
    fn skip(&mut self, dst: VertexId) {
        let (added, removed) = self.heads();
        self.added.start += usize::from(added == Some(dst));
        self.removed.start += usize::from(removed == Some(dst));
    }
}
