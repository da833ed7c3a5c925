//! The refresh of chunks to another timestamp: finding the subgraphs that changed, and reading them.
//! Long because the steps of the software pipeline are read together.

use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, Timestamp, simd};

use super::{CHUNK_SUBGRAPHS, Chunk, Lists};
use crate::arena::{Arena, Counted};
use crate::grace::ReadGuard;
use crate::subgraph::{OFFSET_LINES, Stamp, Subgraph};
use crate::table::SubgraphPage;
use crate::version::{NotInMemory, Read};
use crate::view::block::NO_LISTS;
use crate::view::corrections::{Corrected, Kind, Pending, Scratch};

/// The distance in subgraphs between two links of the chain of misses: enough to wait for no link, and few
/// enough that their data fits the first cache. Zero under the model checker, where prefetches would only add
/// walks.
const APART: usize = if cfg!(feature = "loom") { 0 } else { 8 };
/// Number of subgraphs that are read in one walk.
const IN_ONE_WALK: usize = 16;

/// The subgraphs from which a chunk is made.
#[derive(Clone, Copy, Default)]
pub struct Page<'a> {
    /// The subgraphs with the lists; `None` if their page does not exist.
    pub lists: Option<&'a SubgraphPage>,
    /// The subgraphs whose outgoing versions record which vertices exist; `None` if that is not needed.
    pub existence: Option<&'a SubgraphPage>,
}

impl<'a> Page<'a> {
    /// Returns the page that records which vertices exist, if it is not the page of the lists.
    fn other_existence(self) -> Option<&'a SubgraphPage> {
        let start = |page: Option<&'a SubgraphPage>| page.map(std::ptr::from_ref);
        self.existence.filter(|_| start(self.existence) != start(self.lists))
    }

    /// True if there is any page.
    fn exists(self) -> bool {
        self.lists.is_some() || self.existence.is_some()
    }

    /// Returns the pages whose stamps matter.
    #[inline]
    fn stamped(self) -> impl Iterator<Item = &'a SubgraphPage> {
        [self.lists, self.other_existence()].into_iter().flatten()
    }

    fn subgraph(self, i: usize) -> Option<&'a Subgraph> {
        self.lists?.get(i)
    }
}

/// The facts that a view knows about a chunk without reading it. The facts about many chunks are adjacent.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct ChunkMeta {
    /// Subgraphs that were read.
    subgraphs: u64,
    /// The sum of the counts of settlings of its subgraphs at the last check.
    settled: u64,
    /// The vertices that exist.
    pub(in crate::view) vertices: usize,
    /// The number of entries in the lists.
    pub(in crate::view) edges: u64,
}

impl ChunkMeta {
    /// Makes the facts about a chunk of a view that is not refreshed.
    pub(in crate::view) fn counted(vertices: usize, edges: u64) -> ChunkMeta {
        ChunkMeta { vertices, edges, ..ChunkMeta::default() }
    }
}

/// Number of chunks whose facts are in one array.
pub(in crate::view) const GROUP: usize = 64;

/// The facts about some consecutive chunks; `None` while none of them has subgraphs.
pub(in crate::view) type KnownGroup = Option<Box<[ChunkMeta; GROUP]>>;

/// A chunk with subgraphs that must be read again.
pub struct Stale<'a> {
    chunk: &'a mut Arc<Chunk>,
    known: &'a mut ChunkMeta,
    page: Page<'a>,
    subgraphs: u64,
    /// True if no subgraph was read before.
    fresh: bool,
}

/// The distance in pages by which a check prefetches stamps, and in chunks by which reading prefetches heads.
const AHEAD: usize = 6;

impl<'a> Stale<'a> {
    /// Finds the subgraphs that may differ at `t` from the chunks, which are exact at `as_of`, in content or
    /// in layout. Returns their chunks, and removes the facts about them until they are read. O(64) per
    /// chunk; an unchanged chunk and its subgraphs are not read.
    pub(in crate::view) fn find(
        chunks: &'a mut [Arc<Chunk>],
        known: &'a mut [KnownGroup],
        page: impl Fn(usize) -> Page<'a>,
        as_of: Timestamp,
        t: Timestamp,
    ) -> Vec<Stale<'a>> {
        let blind = faults::is_on(PlantedFault::ViewNotRefreshed);
        let bound = if blind { Stamp::LAST } else { Stamp::last_of(t.min(as_of)) };
        let mut found = Vec::new();
        for (group, (chunks, known)) in chunks.chunks_mut(GROUP).zip(known).enumerate() {
            let page = |at: usize| page(group * GROUP + at);
            if known.is_none() && (0..chunks.len()).any(|at| page(at).exists()) {
                *known = Some(Box::new(std::array::from_fn(|_| ChunkMeta::default())));
            }
            let known = known.as_mut().map_or(&mut [][..], |known| &mut known[..]);
            find_in_group(chunks, known, page, bound, &mut found);
        }
        found
    }

    /// Returns the number of subgraphs to read.
    pub fn count(&self) -> u32 {
        self.subgraphs.count_ones()
    }

    /// Prefetches the reference counts of the chunk, and its sums.
    #[inline]
    fn prefetch_counts(&self) {
        // The counts are before the chunk, its sums and the first fields of `near` at its beginning.
        let line = align_of::<Chunk>();
        let start = Arc::as_ptr(self.chunk).wrapping_byte_sub(line);
        (0..4).for_each(|i| simd::prefetch(start.wrapping_byte_add(i * line)));
    }

    /// Returns the indices of the subgraphs in the chunk, ascending.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let mut rest = self.subgraphs;
        std::iter::from_fn(move || {
            let i = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (i < CHUNK_SUBGRAPHS).then_some(i)
        })
    }
}

/// Like [`Stale::find`], but among some chunks. `known` is empty if none of them has subgraphs.
fn find_in_group<'a>(
    chunks: &'a mut [Arc<Chunk>],
    known: &'a mut [ChunkMeta],
    page: impl Fn(usize) -> Page<'a>,
    bound: Stamp,
    found: &mut Vec<Stale<'a>>,
) {
    let load = |page: Page<'a>| {
        page.stamped().for_each(SubgraphPage::prefetch_stamps);
        page
    };
    let mut pages: [Page<'a>; AHEAD] = std::array::from_fn(|at| load(page(at)));
    for (at, (chunk, known)) in chunks.iter_mut().zip(known).enumerate() {
        let page = std::mem::replace(&mut pages[at % AHEAD], load(page(at + AHEAD)));
        let fresh = known.subgraphs == 0;
        let subgraphs = known.stale(chunk, page, bound);
        if subgraphs != 0 {
            found.push(Stale { chunk, known, page, subgraphs, fresh });
        }
    }
}

/// Reads stale subgraphs at `t`, the registered timestamp of [`Stale::find`]. Returns the number of read
/// entries of deltas and copied patches. O(delta entries), and O(64) counted references for a shared chunk.
///
/// # Errors
/// [`NotInMemory`] if a subgraph is not in memory. Then none of these chunks counts as read.
pub fn read_stale(
    stale: &mut [Stale<'_>],
    direction: Direction,
    t: Timestamp,
    weighted: bool,
    arena: &Arena,
) -> Result<usize, NotInMemory> {
    let mut reading = Reading { own: Vec::with_capacity(stale.len()), direction, t, arena };
    let mut scratch = Scratch::default();
    let places: Vec<(usize, usize)> =
        stale.iter().enumerate().flat_map(|(of, stale)| stale.places().map(move |i| (of, i))).collect();
    stale.iter().take(AHEAD).for_each(Stale::prefetch_counts);
    let mut stale = stale.iter_mut();
    let steps = places.len() + 3 * APART;
    for first in (0..steps).step_by(IN_ONE_WALK) {
        // The walks of single reads are inside this one.
        let _walk = ReadGuard::begin();
        for step in first..steps.min(first + IN_ONE_WALK) {
            let at = |stage: usize| places.get(step.wrapping_sub(stage * APART)).copied();
            if let Some(place) = at(0) {
                let missing = (place.0 + 1).saturating_sub(reading.own.len());
                reading
                    .own
                    .extend(stale.by_ref().take(missing).map(|stale| ExclusiveChunk::new(stale, weighted)));
                if let Some(ahead) = stale.as_slice().get(AHEAD - 1).filter(|_| missing > 0) {
                    ahead.prefetch_counts();
                }
                reading.prefetch_headers(place);
            }
            at(1).into_iter().for_each(|place| reading.prefetch_version(place));
            at(2).into_iter().for_each(|place| reading.prefetch_lists(place));
            if let Some(place) = at(3) {
                reading.read(place, &mut scratch)?;
            }
        }
    }
    for ExclusiveChunk { chunk, known, subgraphs, .. } in reading.own {
        known.subgraphs |= subgraphs;
        (known.vertices, known.edges) = (chunk.vertices, chunk.edges);
        chunk.charge_to(arena.account());
    }
    Ok(scratch.entries)
}

/// A stale chunk without other references.
struct ExclusiveChunk<'a> {
    chunk: &'a mut Chunk,
    known: &'a mut ChunkMeta,
    page: Page<'a>,
    subgraphs: u64,
    fresh: bool,
}

impl<'a> ExclusiveChunk<'a> {
    fn new(stale: &'a mut Stale<'_>, weighted: bool) -> ExclusiveChunk<'a> {
        let chunk = Arc::make_mut(stale.chunk);
        if weighted && chunk.weights.is_empty() {
            chunk.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
        }
        let Stale { page, subgraphs, fresh, .. } = *stale;
        ExclusiveChunk { chunk, known: stale.known, page, subgraphs, fresh }
    }
}

/// Subgraphs that are being read, by chunk and index. Reading a subgraph is a chain of cache misses. Each
/// link is loaded while other subgraphs are read (software pipelining of prefetches: Chen, Ailamaki, Gibbons,
/// Mowry, "Improving hash join performance through prefetching", section 5).
struct Reading<'a> {
    own: Vec<ExclusiveChunk<'a>>,
    direction: Direction,
    t: Timestamp,
    arena: &'a Arena,
}

impl Reading<'_> {
    /// Prefetches the chunk's entry of the subgraph, and its header.
    #[inline]
    fn prefetch_headers(&self, (of, i): (usize, usize)) {
        // Under the model checker prefetches would only add interleavings.
        if !cfg!(feature = "loom") {
            self.own[of].chunk.prefetch_entry(i);
            self.own[of].page.subgraph(i).into_iter().for_each(Subgraph::prefetch_header);
        }
    }

    #[inline]
    fn prefetch_version(&self, (of, i): (usize, usize)) {
        if !cfg!(feature = "loom") {
            let ExclusiveChunk { chunk, page, fresh, .. } = &self.own[of];
            page.subgraph(i).into_iter().for_each(|s| s.prefetch_version(self.direction, *fresh));
            chunk.prefetch_corrections(i);
        }
    }

    #[inline]
    fn prefetch_lists(&self, (of, i): (usize, usize)) {
        if !cfg!(feature = "loom") {
            let ExclusiveChunk { chunk, page, .. } = &self.own[of];
            let Some(subgraph) = page.subgraph(i) else { return };
            if subgraph.prefetch_lists(self.direction, &chunk.lists[i].main) {
                chunk.prefetch_replaced(i);
            }
        }
    }

    #[inline]
    fn read(&mut self, (of, i): (usize, usize), scratch: &mut Scratch) -> Result<(), NotInMemory> {
        let ExclusiveChunk { chunk, page, .. } = &mut self.own[of];
        chunk.read(i, *page, self.direction, self.t, scratch, self.arena)
    }
}

impl ChunkMeta {
    /// Returns the subgraphs to read, and marks them as not read. `bound` is the earlier of the new timestamp
    /// and the chunk's. A subgraph whose last change is at or before `bound` is the same at both timestamps.
    #[inline]
    fn stale(&mut self, chunk: &Chunk, page: Page<'_>, bound: Stamp) -> u64 {
        if !page.exists() {
            return 0;
        }
        let (mut newer, mut settled) = (0, 0);
        for (of, page) in page.stamped().enumerate() {
            let (changed, count) = page.look(bound);
            newer |= changed;
            settled |= count << (32 * of);
        }
        if self.subgraphs == 0 {
            self.settled = settled;
            return u64::MAX;
        }
        if self.settled != settled {
            self.settled = settled;
            newer |= chunk.resettled(page);
        }
        let stale = newer | !self.subgraphs;
        self.subgraphs &= !stale;
        stale
    }
}

impl Chunk {
    /// Returns the subgraphs that were settled after the chunk read them.
    #[cold]
    fn resettled(&self, page: Page<'_>) -> u64 {
        let mut resettled = 0;
        for (of, page) in [page.lists, page.other_existence()].into_iter().enumerate() {
            for (i, stamp) in
                page.into_iter().flat_map(SubgraphPage::stamps).take(CHUNK_SUBGRAPHS).enumerate()
            {
                resettled |= u64::from(stamp.settled() != self.settled[i][of]) << i;
            }
        }
        resettled
    }

    /// Prefetches the entry of a subgraph.
    #[inline]
    fn prefetch_entry(&self, i: usize) {
        simd::prefetch(&self.lists[i]);
        simd::prefetch(&self.settled[i]);
    }

    /// Prefetches the corrections that reading a subgraph will replace; its entry should be in the cache.
    #[inline]
    fn prefetch_corrections(&self, i: usize) {
        self.lists[i].corrections.prefetch();
    }

    /// Prefetches the data that is replaced if the subgraph has another main part; its entry should be in the
    /// cache.
    #[inline]
    fn prefetch_replaced(&self, i: usize) {
        self.lists[i].main.prefetch();
        simd::prefetch_slice(&self.offsets[i], OFFSET_LINES);
    }

    fn read(
        &mut self,
        i: usize,
        page: Page<'_>,
        direction: Direction,
        t: Timestamp,
        scratch: &mut Scratch,
        arena: &Arena,
    ) -> Result<(), NotInMemory> {
        let lists = page.subgraph(i);
        let other = page.other_existence().and_then(|s| s.get(i));
        // Before the versions are loaded: if a settling happens in between, the next refresh reads the
        // subgraph again.
        self.settled[i] = [lists, other].map(|s| s.map_or(0, |s| s.stamp().settled()));
        let before = (self.lists[i].present, self.lists[i].edges);
        let mut own_mask = 0;
        let read = |read: Read<'_>| own_mask = self.read_or_fold(i, read, scratch, arena);
        if lists.map_or(Ok(None), |subgraph| subgraph.read(direction, t, read))?.is_none() {
            self.clear(i);
        }
        self.lists[i].present = match other {
            Some(other) => other.read(Direction::Out, t, |read| read.present())?.unwrap_or(0),
            None if page.existence.is_some() && direction == Direction::Out => own_mask,
            None => 0,
        };
        self.vertices =
            self.vertices + self.lists[i].present.count_ones() as usize - before.0.count_ones() as usize;
        self.edges = self.edges + self.lists[i].edges - before.1;
        Ok(())
    }

    fn clear(&mut self, i: usize) {
        self.forget_corrections(i);
        self.folded &= !(1 << i);
        (self.offsets[i], self.lists[i]) = (NO_LISTS, Lists::default());
        if let Some(weights) = self.weights.get_mut(i) {
            *weights = Counted::default();
        }
    }

    /// Stores main part and corrections of a version. Returns the mask of existing vertices.
    #[inline]
    pub(super) fn read_lists(&mut self, i: usize, read: Read<'_>, scratch: &mut Scratch) -> u64 {
        let main = read.version().main();
        scratch.entries += read.delta_len();
        self.folded &= !(1 << i);
        // Each case has its own call: a common value would go through memory. There it would wait for all
        // earlier writes, also to lines that are still being loaded.
        let present = match Kind::of(read) {
            Kind::None => {
                self.correct(i, main.neighbors.len(), Corrected::unchanged(main.present()), scratch)
            }
            Kind::One => self.correct(
                i,
                main.neighbors.len(),
                Corrected::one(&Pending::of(read.version(), 1)),
                scratch,
            ),
            Kind::More => {
                let corrected = Corrected::several(read.version(), read.delta_len(), scratch);
                self.correct(i, main.neighbors.len(), corrected, scratch)
            }
        };
        // The same array means the same main part, unless both are empty; then the offsets are the same too.
        if !self.lists[i].main.is_same(&main.neighbors) {
            self.lists[i].main = main.neighbors.clone();
            self.offsets[i] = main.offsets();
        }
        if let Some(kept) = self.weights.get_mut(i)
            && !main.weights.as_ref().is_some_and(|weights| kept.is_same(weights))
        {
            *kept = main.weights.clone().unwrap_or_default();
        }
        present
    }

    /// Stores the corrections of lists with `edges` edges. Returns the mask of existing vertices.
    #[inline(always)]
    pub(super) fn correct(&mut self, i: usize, edges: usize, corrected: Corrected, scratch: &Scratch) -> u64 {
        let Corrected { corrections, few, masks, present, counts } = corrected;
        self.forget_corrections(i);
        let corrections = if few { self.keep_few(&scratch.few) } else { corrections };
        self.outside += corrections.bytes();
        self.lists[i].corrections = corrections;
        self.lists[i].masks = masks;
        self.lists[i].edges = (edges + counts.0 - counts.1) as u64;
        present
    }
}
