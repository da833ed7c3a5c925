//! The chunks of a view: its data on 64 consecutive subgraphs in one direction.
//!
//! A view that is refreshed shares unchanged chunks with the earlier view. Other chunks are copied, or
//! rewritten in place if no other view refers to them. `docs/design/views.md` proves that the shared data is
//! right.

use std::sync::Arc;

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_core::{SUBGRAPH_VERTICES, VertexId, simd};

use super::block::{NO_LISTS, ViewBlock, WeightedViewBlock};
use super::corrections::{Corrections, Masks, SmallPatch};
use crate::arena::Counted;
use crate::table::PAGE;

mod compose;
mod fold;
mod folded;
mod refresh;

pub use compose::{ComposeError, Composer, EdgeWeight, Source, Take};
use folded::Folded;
pub use folded::FromScratch;
pub(super) use refresh::{ChunkMeta, GROUP, KnownGroup};
pub use refresh::{Page, Stale, read_stale};

/// Subgraphs in a chunk: the subgraphs of one page of the table.
pub const CHUNK_SUBGRAPHS: usize = PAGE;

/// 64 subgraphs in one direction, laid out so that a neighbour list is found in two steps, as in a CSR. The
/// first step reads the offsets and the reference to the lists, the second the list itself.
///
/// Finding a list reads two cache lines: the subgraph's entry of `lists`, and its offsets. A corrected vertex
/// needs a third line, unless its subgraph has one correction only.
///
/// The fields that every refresh touches come first, in the same page as the entries.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Chunk {
    /// The weights parallel to the main lists; empty in a graph without weights.
    weights: Vec<Counted<f64>>,
    vertices: usize,
    edges: u64,
    /// The subgraphs whose lists are copies of the view's own, into which the delta is [folded](fold).
    folded: u64,
    /// The contents of those copies; empty before the first of them.
    folds: Vec<Folded>,
    /// A mask of the free elements of `near`.
    free: u8,
    /// The small patches of some subgraphs.
    near: [SmallPatch; NEAR],
    lists: [Lists; CHUNK_SUBGRAPHS],
    /// The count of settlings of each subgraph when the view read it.
    settled: [[u8; 2]; CHUNK_SUBGRAPHS],
    offsets: [[u32; SUBGRAPH_VERTICES + 1]; CHUNK_SUBGRAPHS],
    /// The bytes of corrections outside the chunk.
    outside: usize,
    /// The charge of the store for a chunk that is refreshed.
    charge: Option<Charge>,
}

/// Number of small patches for which a chunk has room.
const NEAR: usize = 4;

/// The lists of a subgraph, their corrections, and the vertices that exist: all data that a refresh writes if
/// the main part has not changed. One cache line.
#[derive(Clone, Default)]
#[repr(align(64))]
struct Lists {
    main: Counted<VertexId>,
    corrections: Corrections,
    masks: Masks,
    /// The vertices that exist.
    present: u64,
    /// The number of entries in the lists after corrections.
    edges: u64,
}

const _: () = assert!(size_of::<Lists>() == 64);

/// The number of cache lines of a subgraph's lists to prefetch; the processor prefetches the rest.
const PREFETCHED_LINES: usize = 4;

impl Default for Chunk {
    fn default() -> Self {
        Chunk {
            weights: Vec::new(),
            vertices: 0,
            edges: 0,
            folded: 0,
            folds: Vec::new(),
            free: (1 << NEAR) - 1,
            near: std::array::from_fn(|_| SmallPatch::default()),
            lists: std::array::from_fn(|_| Lists::default()),
            settled: [[0; 2]; CHUNK_SUBGRAPHS],
            offsets: [NO_LISTS; CHUNK_SUBGRAPHS],
            outside: 0,
            charge: None,
        }
    }
}

impl Chunk {
    /// Sets the lists of a subgraph.
    pub(super) fn set(
        &mut self,
        i: usize,
        offsets: [u32; SUBGRAPH_VERTICES + 1],
        main: Counted<VertexId>,
        weights: Option<Counted<f64>>,
    ) {
        self.edges -= self.lists[i].edges;
        self.offsets[i] = offsets;
        self.folded &= !(1 << i);
        self.forget_corrections(i);
        let (present, edges) = (self.lists[i].present, main.len() as u64);
        self.lists[i] = Lists { main, present, edges, ..Lists::default() };
        if let Some(weights) = weights {
            if self.weights.is_empty() {
                self.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
            }
            self.weights[i] = weights;
        }
        self.edges += self.lists[i].edges;
    }

    /// Removes the corrections of a subgraph.
    #[inline]
    fn forget_corrections(&mut self, i: usize) {
        let corrections = std::mem::take(&mut self.lists[i].corrections);
        self.outside -= corrections.bytes();
        if let Corrections::Near(place) = corrections {
            self.free |= 1 << place;
        }
    }

    /// Stores a few corrections, in the chunk if it has room.
    #[inline]
    fn keep_few(&mut self, few: &SmallPatch) -> Corrections {
        let place = self.free.trailing_zeros();
        match self.near.get_mut(place as usize) {
            Some(near) => {
                near.clone_from(few);
                self.free &= !(1 << place);
                Corrections::Near(place as u8)
            }
            None => Corrections::SmallPatch(Arc::new(few.clone())),
        }
    }

    #[inline]
    pub(super) fn present(&self, i: usize) -> u64 {
        self.lists[i % CHUNK_SUBGRAPHS].present
    }

    #[inline]
    pub(super) fn offsets(&self, i: usize) -> &[u32; SUBGRAPH_VERTICES + 1] {
        &self.offsets[i % CHUNK_SUBGRAPHS]
    }

    #[inline]
    pub(super) fn block(&self, i: usize) -> ViewBlock<'_> {
        let Lists { main, corrections, masks, .. } = &self.lists[i % CHUNK_SUBGRAPHS];
        ViewBlock { offsets: self.offsets(i), main, corrections, near: &self.near, masks: *masks }
    }

    /// Prefetches the offsets and the first lists of a subgraph.
    #[inline]
    pub(super) fn prefetch(&self, i: usize) {
        let lists = &self.lists[i % CHUNK_SUBGRAPHS];
        let lines = lists.main.iter().step_by(64 / size_of::<VertexId>()).take(PREFETCHED_LINES);
        lines.for_each(|line| simd::prefetch(line));
        simd::prefetch(&self.offsets(i)[0]);
        lists.corrections.prefetch();
    }

    /// Prefetches the entries that locate the list of a vertex.
    #[inline]
    pub(super) fn prefetch_place(&self, v: VertexId) {
        let i = v.subgraph().index() % CHUNK_SUBGRAPHS;
        simd::prefetch(&self.offsets[i][v.local().index()]);
        simd::prefetch(&self.lists[i]);
    }

    /// Prefetches the list of a vertex, and the entry that locates its corrections.
    #[inline]
    pub(super) fn prefetch_list(&self, v: VertexId) {
        let block = self.block(v.subgraph().index());
        simd::prefetch_slice(block.list(v.local()), LIST_LINES);
        self.prefetch_corrections_of(v);
    }

    /// Prefetches the entry that locates the corrections of a vertex's list.
    #[inline]
    pub(super) fn prefetch_corrections_of(&self, v: VertexId) {
        let block = self.block(v.subgraph().index());
        if block.masks.touched & v.local().bit() != 0 {
            block.corrections.prefetch_places(&self.near, v.local());
        }
    }

    /// Prefetches the additions to the list of a vertex.
    #[inline]
    pub(super) fn prefetch_added(&self, v: VertexId) {
        let block = self.block(v.subgraph().index());
        if block.masks.touched & v.local().bit() != 0
            && let Corrections::IndexedPatch(many) = block.corrections
        {
            many.prefetch_added(v.local());
        }
    }

    /// Prefetches the weights of a vertex.
    #[inline]
    pub(super) fn prefetch_weights(&self, v: VertexId) {
        let i = v.subgraph().index() % CHUNK_SUBGRAPHS;
        let at = v.local().index();
        let range = self.offsets[i][at] as usize..self.offsets[i][at + 1] as usize;
        if let Some(weights) = self.weights.get(i).and_then(|weights| weights.get(range)) {
            simd::prefetch_slice(weights, LIST_LINES);
        }
    }

    #[inline]
    pub(super) fn weighted_block(&self, i: usize) -> WeightedViewBlock<'_> {
        let weights = self.weights.get(i % CHUNK_SUBGRAPHS).map_or(&[][..], |weights| weights);
        WeightedViewBlock { block: self.block(i), weights }
    }

    /// Returns the bytes of the chunk itself, with its corrections. O(1).
    pub(super) fn bytes(&self) -> usize {
        size_of::<Chunk>() + size_of_val(&*self.weights) + size_of_val(&*self.folds) + self.outside
    }

    /// Charges the bytes of the chunk, replacing its earlier charge.
    fn charge_to(&mut self, account: &Arc<Account>) {
        let bytes = self.bytes();
        match &mut self.charge {
            Some(charge) => charge.set(bytes),
            None => self.charge = Some(Charge::new(account, Purpose::Views, bytes)),
        }
    }

    /// Charges the bytes that only this chunk holds, if it was not charged before: after a [`Composer`] has
    /// filled it. Does nothing for a chunk that other views share. O(subgraphs of a chunk).
    pub fn charge_lists(chunk: &mut Arc<Chunk>, account: &Arc<Account>) {
        if let Some(chunk) = Arc::get_mut(chunk)
            && chunk.charge.is_none()
        {
            let bytes = chunk.kept_bytes() + chunk.bytes();
            chunk.charge = Some(Charge::new(account, Purpose::Views, bytes));
        }
    }

    /// Returns the bytes of lists to which only this chunk refers, because their versions are gone.
    pub(super) fn kept_bytes(&self) -> usize {
        // Copies that a view made may be shared by views of different times; no version refers to them.
        let is_own = |i: usize| self.folded >> i & 1 != 0;
        let weights = self.weights.iter().enumerate().filter(|(i, w)| is_own(*i) || !w.is_shared());
        let weights = weights.map(|(_, weights)| weights.bytes()).sum::<usize>();
        let lists = self.lists.iter().map(|l| &l.main).enumerate();
        let lists = lists.filter(|(i, main)| is_own(*i) || !main.is_shared()).map(|(_, main)| main);
        let beside = self.lists.iter().map(|l| l.corrections.kept_bytes()).sum::<usize>();
        lists.map(Counted::bytes).sum::<usize>() + weights + beside
    }
}

/// The number of cache lines of one list to prefetch; the processor prefetches the rest.
const LIST_LINES: usize = 2;
