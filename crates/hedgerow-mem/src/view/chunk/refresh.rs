//! Bringing chunks to another timestamp: which of their subgraphs to read again, and reading them.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, Timestamp, simd};

use super::{CHUNK_SUBGRAPHS, Chunk, Lists, NO_LISTS};
use crate::arena::Counted;
use crate::grace::Walk;
use crate::subgraph::{OFFSET_LINES, Stamp, Subgraph};
use crate::table::SubgraphPage;
use crate::version::Read;
use crate::view::corrections::{Corrected, Corrections, Scratch};

/// How many subgraphs lie between one link of the chain of misses and the next: enough to wait for none of them, and what
/// they need fits the first cache. None under the model checker, where steps that only load would be more walks.
const APART: usize = if cfg!(loom) { 0 } else { 8 };
/// Subgraphs that are read in one walk.
const IN_ONE_WALK: usize = 16;

/// The subgraphs that a chunk is made from.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// Those that hold the lists; `None` where there are none yet.
    pub lists: Option<&'a SubgraphPage>,
    /// Those that say which vertices exist, in their outgoing versions; `None` where that is not asked for.
    pub existence: Option<&'a SubgraphPage>,
}

impl<'a> Page<'a> {
    /// What says which vertices exist, if that is not what holds the lists.
    fn other_existence(self) -> Option<&'a SubgraphPage> {
        let start = |page: Option<&'a SubgraphPage>| page.map(std::ptr::from_ref);
        self.existence.filter(|_| start(self.existence) != start(self.lists))
    }

    /// The pages whose stamps count.
    #[inline]
    fn stamped(self) -> impl Iterator<Item = &'a SubgraphPage> {
        [self.lists, self.other_existence()].into_iter().flatten()
    }

    fn subgraph(self, i: usize) -> Option<&'a Subgraph> {
        self.lists?.get(i)
    }
}

/// A chunk of which something is to be read again.
pub struct Stale<'a> {
    chunk: &'a mut Arc<Chunk>,
    page: Page<'a>,
    subgraphs: u64,
}

/// Chunks that a look for what is stale loads ahead.
const AHEAD: usize = 6;

impl<'a> Stale<'a> {
    /// Looks which subgraphs may differ at `t` from what the chunks hold, in content or in layout, and tells the chunks
    /// that have some. `page` is asked for the subgraphs by the position of the chunk. O(64) a chunk, without a look
    /// at the subgraphs if it holds nothing.
    pub fn find(
        chunks: &'a mut [Arc<Chunk>],
        page: impl Fn(usize) -> Page<'a>,
        t: Timestamp,
    ) -> Vec<Stale<'a>> {
        let masks: Vec<u64> = (0..chunks.len())
            .map(|i| {
                if i + 2 * AHEAD < chunks.len() {
                    page(i + 2 * AHEAD).stamped().for_each(SubgraphPage::warm_first);
                }
                if let Some(next) = chunks.get(i + AHEAD) {
                    next.warm_known();
                    page(i + AHEAD).stamped().for_each(SubgraphPage::warm_stamps);
                }
                chunks[i].stale(page(i), t)
            })
            .collect();
        let found = chunks.iter_mut().zip(masks).enumerate().filter(|(_, (_, subgraphs))| *subgraphs != 0);
        found.map(|(i, (chunk, subgraphs))| Stale { chunk, page: page(i), subgraphs }).collect()
    }

    /// How many subgraphs are to be read.
    pub fn count(&self) -> u32 {
        self.subgraphs.count_ones()
    }

    /// Starts loading the counts of references to the chunk, and its sums.
    #[inline]
    fn warm_counts(&self) {
        let chunk = Arc::as_ptr(self.chunk);
        simd::prefetch(chunk.wrapping_byte_sub(align_of::<Chunk>()));
        simd::prefetch(&self.chunk.edges);
    }

    /// Their places, ascending.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let mut rest = self.subgraphs;
        std::iter::from_fn(move || {
            let i = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (i < CHUNK_SUBGRAPHS).then_some(i)
        })
    }
}

/// Reads what is stale at the timestamp `t`, which must be registered and that of [`Stale::find`]. O(delta entries), and
/// O(64) counted references for each chunk that another view shares. Returns the number of delta entries read.
pub fn read_stale(stale: &mut [Stale<'_>], direction: Direction, t: Timestamp, weighted: bool) -> usize {
    let mut reading = Reading { own: Vec::with_capacity(stale.len()), direction, t };
    let mut scratch = Scratch::default();
    let places: Vec<(usize, usize)> =
        stale.iter().enumerate().flat_map(|(of, stale)| stale.places().map(move |i| (of, i))).collect();
    stale.iter().take(AHEAD).for_each(Stale::warm_counts);
    let mut stale = stale.iter_mut();
    let steps = places.len() + 3 * APART;
    for first in (0..steps).step_by(IN_ONE_WALK) {
        // Those of the single reads are inside it.
        let _walk = Walk::begin();
        for step in first..steps.min(first + IN_ONE_WALK) {
            let at = |stage: usize| places.get(step.wrapping_sub(stage * APART)).copied();
            if let Some(place) = at(0) {
                let missing = (place.0 + 1).saturating_sub(reading.own.len());
                reading.own.extend(stale.by_ref().take(missing).map(|stale| Own::new(stale, weighted)));
                if let Some(ahead) = stale.as_slice().get(AHEAD - 1).filter(|_| missing > 0) {
                    ahead.warm_counts();
                }
                reading.warm_headers(place);
            }
            at(1).into_iter().for_each(|place| reading.warm_version(place));
            at(2).into_iter().for_each(|place| reading.warm_lists(place));
            at(3).into_iter().for_each(|place| reading.read(place, &mut scratch));
        }
    }
    for Own { chunk, subgraphs, .. } in reading.own {
        chunk.known |= subgraphs;
        chunk.as_of = t;
    }
    scratch.entries
}

/// A stale chunk that nobody else refers to any more.
struct Own<'a> {
    chunk: &'a mut Chunk,
    page: Page<'a>,
    subgraphs: u64,
}

impl<'a> Own<'a> {
    fn new(stale: &'a mut Stale<'_>, weighted: bool) -> Own<'a> {
        let chunk = Arc::make_mut(stale.chunk);
        if weighted && chunk.weights.is_empty() {
            chunk.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
        }
        Own { chunk, page: stale.page, subgraphs: stale.subgraphs }
    }
}

/// Subgraphs that are being read, by chunk and place. What reading one touches is a chain of misses, each link of which is
/// loaded while others are read (software pipelining of prefetches: Chen, Ailamaki, Gibbons, Mowry, "Improving hash join
/// performance through prefetching", section 5).
struct Reading<'a> {
    own: Vec<Own<'a>>,
    direction: Direction,
    t: Timestamp,
}

impl Reading<'_> {
    /// Starts loading what is kept of the subgraph, and its header.
    #[inline]
    fn warm_headers(&self, (of, i): (usize, usize)) {
        // Under the model checker loads ahead would only be more interleavings.
        if !cfg!(loom) {
            self.own[of].chunk.warm(i);
            self.own[of].page.subgraph(i).into_iter().for_each(Subgraph::warm_header);
        }
    }

    #[inline]
    fn warm_version(&self, (of, i): (usize, usize)) {
        if !cfg!(loom) {
            let Own { chunk, page, .. } = &self.own[of];
            page.subgraph(i).into_iter().for_each(|s| s.warm_version(self.direction, chunk.known == 0));
            chunk.warm_corrections(i);
        }
    }

    #[inline]
    fn warm_lists(&self, (of, i): (usize, usize)) {
        if !cfg!(loom) {
            let Own { chunk, page, .. } = &self.own[of];
            let Some(subgraph) = page.subgraph(i) else { return };
            if subgraph.warm_lists(self.direction, &chunk.lists[i].main) {
                chunk.warm_replaced(i);
            }
        }
    }

    #[inline]
    fn read(&mut self, (of, i): (usize, usize), scratch: &mut Scratch) {
        let Own { chunk, page, .. } = &mut self.own[of];
        chunk.read(i, *page, self.direction, self.t, scratch);
    }
}

impl Chunk {
    /// Brings a chunk to the timestamp `t`, which must be registered; `t` may be older than what the chunk was made
    /// for. Returns how many subgraphs were read. Cost: see [`Stale::find`] and [`read_stale`].
    pub fn refresh(
        chunk: &mut Arc<Chunk>,
        page: Page<'_>,
        direction: Direction,
        t: Timestamp,
        weighted: bool,
    ) -> u32 {
        let mut stale = Stale::find(std::slice::from_mut(chunk), |_| page, t);
        read_stale(&mut stale, direction, t, weighted);
        stale.iter().map(Stale::count).sum()
    }

    /// What was last changed at or before both `t` and the time of the chunk is the same at both.
    fn stale(&self, page: Page<'_>, t: Timestamp) -> u64 {
        let exists = page.lists.is_some() || page.existence.is_some();
        if self.known == 0 {
            return if exists { u64::MAX } else { 0 };
        }
        let blind = faults::is_on(PlantedFault::ViewNotRefreshed);
        let bound = if blind { Stamp::LAST } else { Stamp::last_of(t.min(self.as_of)) };
        let mut stale = if exists { !self.known } else { 0 };
        for (of, page) in [page.lists, page.other_existence()].into_iter().enumerate() {
            let Some(page) = page else { continue };
            // Each goes in at the top. Without a jump: which subgraphs changed is a guess that the processor would often
            // get wrong.
            let count = page.len().min(CHUNK_SUBGRAPHS);
            let changed = page.stamps().zip(&self.settled).fold(0, |mask, (stamp, known)| {
                mask >> 1 | u64::from((stamp > bound) | (stamp.settled() != known[of])) << 63
            });
            let changed = changed.checked_shr((CHUNK_SUBGRAPHS - count) as u32).unwrap_or(0);
            stale |= changed;
        }
        stale
    }

    /// Starts loading what [`stale`](Self::stale) compares.
    #[inline]
    fn warm_known(&self) {
        simd::prefetch(&self.settled[0]);
        simd::prefetch(&self.settled[CHUNK_SUBGRAPHS / 2]);
        simd::prefetch(&self.as_of);
    }

    /// Starts loading what is kept of a subgraph.
    #[inline]
    fn warm(&self, i: usize) {
        simd::prefetch(&self.lists[i]);
    }

    /// Starts loading the corrections that reading a subgraph will replace, whose entry should be here.
    #[inline]
    fn warm_corrections(&self, i: usize) {
        self.lists[i].corrections.warm();
    }

    /// Starts loading what reading a subgraph with another main part will replace, whose entry should be here.
    #[inline]
    fn warm_replaced(&self, i: usize) {
        self.lists[i].main.warm();
        simd::prefetch_slice(&self.offsets[i], OFFSET_LINES);
    }

    fn read(&mut self, i: usize, page: Page<'_>, direction: Direction, t: Timestamp, scratch: &mut Scratch) {
        let lists = page.subgraph(i);
        let other = page.other_existence().and_then(|s| s.get(i));
        // Before the versions: if a settling comes between, the next refresh reads the subgraph again.
        self.settled[i] = [lists, other].map(|s| s.map_or(0, |s| s.stamp().settled()));
        self.vertices -= self.lists[i].present.count_ones() as usize;
        self.edges -= self.edges_of(i);
        let mut own_mask = 0;
        match lists.and_then(|s| s.read(direction, t, |read| own_mask = self.read_lists(i, read, scratch))) {
            Some(()) => {}
            None => self.clear(i),
        }
        self.lists[i].present = match other {
            Some(other) => other.read(Direction::Out, t, |read| read.present()).unwrap_or(0),
            None if page.existence.is_some() && direction == Direction::Out => own_mask,
            None => 0,
        };
        self.vertices += self.lists[i].present.count_ones() as usize;
        self.edges += self.edges_of(i);
    }

    fn clear(&mut self, i: usize) {
        (self.offsets[i], self.lists[i]) = (NO_LISTS, Lists::default());
        if let Some(weights) = self.weights.get_mut(i) {
            *weights = Counted::default();
        }
    }

    /// Returns the mask of existing vertices.
    fn read_lists(&mut self, i: usize, read: Read<'_>, scratch: &mut Scratch) -> u64 {
        let main = read.version().main();
        let Corrected { corrections, masks, present } =
            Corrections::of(read.version(), read.delta_len(), scratch);
        scratch.entries += read.delta_len();
        self.lists[i].corrections = corrections;
        self.lists[i].masks = masks;
        // The same array is that of the same main part, unless both are empty; then the offsets are the same too.
        if !self.lists[i].main.is_same(&main.neighbors) {
            self.lists[i].main = main.neighbors.clone();
            self.offsets[i] = *main.offsets();
        }
        if let Some(kept) = self.weights.get_mut(i)
            && !main.weights.as_ref().is_some_and(|weights| kept.is_same(weights))
        {
            *kept = main.weights.clone().unwrap_or_default();
        }
        present
    }
}
