//! Bringing chunks to another timestamp: which of their subgraphs to read again, and reading them. Long because the steps
//! of the software pipeline are read together.

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

/// How many subgraphs lie between one link of the chain of misses and the next: enough to wait for none of them, and what
/// they need fits the first cache. None under the model checker, where steps that only load would be more walks.
const APART: usize = if cfg!(feature = "loom") { 0 } else { 8 };
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

    /// Whether there is anything to be known.
    fn exists(self) -> bool {
        self.lists.is_some() || self.existence.is_some()
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

/// What a view knows of a chunk without looking at it. That of many chunks lies side by side.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct ChunkMeta {
    /// Subgraphs that were read.
    subgraphs: u64,
    /// How often they were settled when they were looked at last, all together.
    settled: u64,
    /// The vertices that exist.
    pub(in crate::view) vertices: usize,
    /// The number of entries in the lists.
    pub(in crate::view) edges: u64,
}

impl ChunkMeta {
    /// What is known of a chunk that is in no view that is refreshed.
    pub(in crate::view) fn counted(vertices: usize, edges: u64) -> ChunkMeta {
        ChunkMeta { vertices, edges, ..ChunkMeta::default() }
    }
}

/// Chunks of which what is known is kept together.
pub(in crate::view) const GROUP: usize = 64;

/// What is known of some consecutive chunks; `None` while there are no subgraphs for any of them.
pub(in crate::view) type KnownGroup = Option<Box<[ChunkMeta; GROUP]>>;

/// A chunk of which something is to be read again.
pub struct Stale<'a> {
    chunk: &'a mut Arc<Chunk>,
    known: &'a mut ChunkMeta,
    page: Page<'a>,
    subgraphs: u64,
    /// Whether nothing was read before.
    fresh: bool,
}

/// Pages whose stamps a look for what is stale loads ahead, and chunks whose heads reading loads ahead.
const AHEAD: usize = 6;

impl<'a> Stale<'a> {
    /// Looks which subgraphs may differ at `t` from what the chunks hold, which is exact at `as_of`, in content or in layout,
    /// and tells the chunks that have some: what is not read after this is not known any more. O(64) a chunk, without a
    /// look at it or at the subgraphs if nothing changed there.
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

    /// How many subgraphs are to be read.
    pub fn count(&self) -> u32 {
        self.subgraphs.count_ones()
    }

    /// Starts loading the counts of references to the chunk, and its sums.
    #[inline]
    fn prefetch_counts(&self) {
        // The counts stand before the chunk, its sums and the first of what it has room for at its start.
        let line = align_of::<Chunk>();
        let start = Arc::as_ptr(self.chunk).wrapping_byte_sub(line);
        (0..4).for_each(|i| simd::prefetch(start.wrapping_byte_add(i * line)));
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

/// As [`Stale::find`], among some chunks; none of what is known of them if none exists.
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

/// Reads what is stale at the timestamp `t`, which must be registered and that of [`Stale::find`]. O(delta entries), and
/// O(64) counted references for each chunk that another view shares. Returns the number of entries read of deltas, and of patches that were copied.
///
/// # Errors
/// [`NotInMemory`] if a subgraph is not. None of these chunks counts as read then.
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
        // Those of the single reads are inside it.
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

/// A stale chunk that nobody else refers to any more.
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

/// Subgraphs that are being read, by chunk and place. What reading one touches is a chain of misses, each link of which is
/// loaded while others are read (software pipelining of prefetches: Chen, Ailamaki, Gibbons, Mowry, "Improving hash join
/// performance through prefetching", section 5).
struct Reading<'a> {
    own: Vec<ExclusiveChunk<'a>>,
    direction: Direction,
    t: Timestamp,
    arena: &'a Arena,
}

impl Reading<'_> {
    /// Starts loading what is kept of the subgraph, and its header.
    #[inline]
    fn prefetch_headers(&self, (of, i): (usize, usize)) {
        // Under the model checker loads ahead would only be more interleavings.
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
    /// The subgraphs to be read, which are no longer known. What was last changed at or before both the time that is asked for
    /// and that of the chunk, the `bound`, is the same at both.
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
    /// The subgraphs that were settled since they were read.
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

    /// Starts loading what is kept of a subgraph.
    #[inline]
    fn prefetch_entry(&self, i: usize) {
        simd::prefetch(&self.lists[i]);
        simd::prefetch(&self.settled[i]);
    }

    /// Starts loading the corrections that reading a subgraph will replace, whose entry should be here.
    #[inline]
    fn prefetch_corrections(&self, i: usize) {
        self.lists[i].corrections.prefetch();
    }

    /// Starts loading what reading a subgraph with another main part will replace, whose entry should be here.
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
        // Before the versions: if a settling comes between, the next refresh reads the subgraph again.
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

    /// Returns the mask of existing vertices.
    #[inline]
    pub(super) fn read_lists(&mut self, i: usize, read: Read<'_>, scratch: &mut Scratch) -> u64 {
        let main = read.version().main();
        scratch.entries += read.delta_len();
        self.folded &= !(1 << i);
        // In each case by itself: a value that went through memory on the way to the chunk would wait for all that was written
        // before it, lines that are not here yet among them.
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
        // The same array is that of the same main part, unless both are empty; then the offsets are the same too.
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

    /// Keeps the corrections of lists with so many edges. Returns the mask of existing vertices.
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
