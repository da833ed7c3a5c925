//! The lists of one source for 64 vertices, with the edges that are taken.

use hedgerow_core::{EdgeTest, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId, simd};

use super::super::{CHUNK_SUBGRAPHS, Chunk};
use super::changes::Added;
use super::take::{ComposeError, EdgeWeight, Part, Take};
use crate::arena::Counted;
use crate::items::ItemRef;
use crate::main_part::Main;
use crate::version::{Piece, Read, Version};
use crate::view::corrections::Scratch;

/// The lists of a source.
pub(super) struct Gathered {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    /// True if the lists are all lists of the main part, which are not copied.
    whole: bool,
    lists: Vec<VertexId>,
    weights: Vec<f64>,
    /// The edges that patch and delta add, in a view without weights. With weights the lists include them.
    pub(super) added: Added,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered {
            offsets: [0; SUBGRAPH_VERTICES + 1],
            whole: false,
            lists: Vec::new(),
            weights: Vec::new(),
            added: Added::default(),
        }
    }
}

impl Gathered {
    fn clear(&mut self) {
        (self.offsets, self.whole) = ([0; SUBGRAPH_VERTICES + 1], false);
        self.lists.clear();
        self.weights.clear();
        self.added.clear();
    }

    /// Returns the number of entries, without additions.
    pub(super) fn len(&self) -> u32 {
        self.offsets[SUBGRAPH_VERTICES]
    }

    /// Returns the lists, which were gathered from `version`.
    pub(super) fn part<'a>(&'a self, version: &'a Version) -> Part<'a> {
        match self.whole {
            true => Part { lists: &version.main().neighbors, ..self.own_part() },
            false => self.own_part(),
        }
    }

    pub(super) fn own_part(&self) -> Part<'_> {
        Part { offsets: &self.offsets, lists: &self.lists, weights: &self.weights }
    }

    /// Returns the array of the main part, if the lists are its lists.
    pub(super) fn shared<'a>(&self, version: &'a Version) -> Option<&'a Counted<VertexId>> {
        self.whole.then(|| &version.main().neighbors)
    }

    /// Gathers the neighbours in the lists of the chunk's subgraph `i` that `wanted` accepts.
    pub(super) fn resolve(
        &mut self,
        chunk: &Chunk,
        i: usize,
        weighted: bool,
        wanted: impl Fn(LocalVertex, VertexId) -> bool,
    ) {
        self.clear();
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            if weighted {
                chunk.weighted_block(i).weighted_neighbors(local).for_each_sorted(|v, weight| {
                    if wanted(local, v) {
                        self.lists.push(v);
                        self.weights.push(weight);
                    }
                });
            } else {
                let neighbors = chunk.block(i).neighbors(local);
                match neighbors.as_slice() {
                    Some(list) => self.lists.extend(list.iter().filter(|&&v| wanted(local, v))),
                    None => self.lists.extend(neighbors.iter().filter(|&v| wanted(local, v))),
                }
            }
            self.offsets[local.index() + 1] = self.lists.len() as u32;
        }
    }
}

impl Take<'_> {
    /// True if an edge of the list of `at` is taken. The tests read the properties of this copy of the edge.
    pub fn takes(&self, at: VertexId, item: &ItemRef<'_>) -> bool {
        let ranked = self.ranks.is_none_or(|(first, last)| (first..=last).contains(&item.rank));
        let first = !self.first_copies || at <= item.dst;
        ranked && first && self.tests.iter().all(|test| test.passes(item.weight, item.row))
    }

    /// Returns the weight of an edge, if its source for the weight is a number.
    pub fn weight_of(&self, item: &ItemRef<'_>) -> Option<f64> {
        match self.weight {
            EdgeWeight::Stored => Some(item.weight),
            EdgeWeight::Property(property, missing) => {
                property.and_then(|property| item.row.get(property).as_number()).or(missing)
            }
        }
    }

    /// Marks the edges of a main part that are taken, a bit for each.
    fn mark(&self, id: SubgraphId, main: &Main, marks: &mut Vec<u64>) {
        let len = main.neighbors.len();
        marks.clear();
        marks.resize(len.div_ceil(64), u64::MAX);
        if let Some(last) = marks.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last = (1 << (len % 64)) - 1;
        }
        match (self.ranks, main.ranks()) {
            (Some((first, last)), Some(ranks)) => {
                simd::clear(ranks, marks, |rank| first <= rank && rank <= last);
            }
            (Some((first, _)), None) if first > 0 => marks.fill(0),
            _ => {}
        }
        for test in self.tests {
            clear_marks(main, test, marks);
        }
        if self.first_copies {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                let (range, v) = (main.range(local), id.vertex(local));
                let second = main.neighbors(local).partition_point(|&u| u < v);
                (range.start..range.start + second).for_each(|at| marks[at / 64] &= !(1 << (at % 64)));
            }
        }
    }
}

/// Clears the marks of the edges of a main part that do not pass a test. O(edges) for each of its tests.
fn clear_marks(main: &Main, test: &EdgeTest, marks: &mut [u64]) {
    match test {
        EdgeTest::Property(test) => test.clear_marks(main.columns(), marks),
        EdgeTest::Weight(condition) => keep(marks, |at| condition.holds(main.weight_at(at).into())),
        EdgeTest::All(tests) => tests.iter().for_each(|test| clear_marks(main, test, marks)),
        EdgeTest::Any(tests) => {
            let (before, mut one) = (marks.to_vec(), Vec::new());
            marks.fill(0);
            for test in tests {
                one.clone_from(&before);
                clear_marks(main, test, &mut one);
                marks.iter_mut().zip(&one).for_each(|(mark, one)| *mark |= one);
            }
        }
    }
}

/// Clears the marks of edges that `passes` rejects.
fn keep(marks: &mut [u64], passes: impl Fn(usize) -> bool) {
    for (at, mark) in marks.iter_mut().enumerate() {
        *mark = (0..64)
            .fold(0, |kept, bit| kept | u64::from(*mark >> bit & 1 == 1 && passes(at * 64 + bit)) << bit);
    }
}

/// The gatherer of lists at a timestamp.
pub(super) struct Gatherer {
    t: Timestamp,
    weighted: bool,
    pub(super) scratch: Scratch,
    /// A buffer for one subgraph, in which corrections are applied to its lists.
    resolved: Box<Chunk>,
    marks: Vec<u64>,
}

impl Gatherer {
    pub(super) fn new(t: Timestamp, weighted: bool) -> Gatherer {
        Gatherer { t, weighted, scratch: Scratch::default(), resolved: Box::default(), marks: Vec::new() }
    }

    /// Gathers the taken edges of the source with index `at`, in the subgraph `id`.
    pub(super) fn gather(
        &mut self,
        id: SubgraphId,
        at: usize,
        take: &Take<'_>,
        version: &Version,
        gathered: &mut Gathered,
    ) -> Result<(), ComposeError> {
        gathered.clear();
        let read = version.at(self.t);
        let settled = read.delta_len() == 0 && version.patch.is_none();
        if settled {
            return self.gather_settled(id, at, take, version.main(), gathered);
        }
        if !self.weighted {
            take.mark(id, version.main(), &mut self.marks);
            take.change(id, read, &mut self.scratch, &mut self.marks, &mut gathered.added);
            gathered.take_marked(version.main(), &self.marks);
            return Ok(());
        }
        if take.is_all() && !matches!(take.weight, EdgeWeight::Property(..)) {
            if self.resolved.weights.is_empty() {
                self.resolved.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
            }
            self.resolved.read_lists(0, read, &mut self.scratch);
            gathered.resolve(&self.resolved, 0, true, |_, _| true);
            return Ok(());
        }
        self.gather_pieces(id, at, take, read, gathered)
    }

    /// Gathers from a version without delta and patch. The tests on edges are evaluated on whole columns.
    fn gather_settled(
        &mut self,
        id: SubgraphId,
        at: usize,
        take: &Take<'_>,
        main: &Main,
        gathered: &mut Gathered,
    ) -> Result<(), ComposeError> {
        if take.is_all() {
            gathered.take_all(main);
        } else {
            take.mark(id, main, &mut self.marks);
            gathered.take_marked(main, &self.marks);
        }
        if !self.weighted {
            return Ok(());
        }
        match take.weight {
            EdgeWeight::Stored if main.weights().is_none() => return Ok(()),
            EdgeWeight::Stored if gathered.whole => {
                gathered.weights.extend_from_slice(main.weights().unwrap_or(&[]));
                return Ok(());
            }
            _ => {}
        }
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            for place in main.range(local) {
                if gathered.whole || self.marks[place / 64] >> (place % 64) & 1 == 1 {
                    let item = main.item_at(place);
                    let missing = ComposeError::NoWeight(id.vertex(local), item.dst, at);
                    gathered.weights.push(take.weight_of(&item).ok_or(missing)?);
                }
            }
        }
        Ok(())
    }

    /// Gathers from any version, with weights. Tests are evaluated on whole columns of its main part, and
    /// edge by edge on later changes.
    fn gather_pieces(
        &mut self,
        id: SubgraphId,
        at: usize,
        take: &Take<'_>,
        read: Read<'_>,
        gathered: &mut Gathered,
    ) -> Result<(), ComposeError> {
        let main = read.version().main();
        take.mark(id, main, &mut self.marks);
        let mut missing = None;
        let mut push = |local: LocalVertex, item: &ItemRef<'_>| {
            gathered.lists.push(item.dst);
            gathered.offsets[local.index() + 1] += 1;
            let weight = take.weight_of(item);
            if weight.is_none() {
                let edge = (id.vertex(local), item.dst);
                missing = Some(missing.map_or(edge, |least: (VertexId, VertexId)| least.min(edge)));
            }
            gathered.weights.push(weight.unwrap_or(1.0));
        };
        read.for_each_piece(|local, piece| match piece {
            Piece::Main(range) => {
                for_each_mark(&self.marks, range, |place| push(local, &main.item_at(place)));
            }
            Piece::Changed(item) if take.takes(id.vertex(local), &item) => push(local, &item),
            Piece::Changed(_) => {}
        });
        (0..SUBGRAPH_VERTICES).for_each(|local| gathered.offsets[local + 1] += gathered.offsets[local]);
        missing.map_or(Ok(()), |(src, dst)| Err(ComposeError::NoWeight(src, dst, at)))
    }
}

/// Calls `f` with each marked position of a range, ascending.
#[inline]
fn for_each_mark(marks: &[u64], range: std::ops::Range<usize>, mut f: impl FnMut(usize)) {
    let mut at = range.start;
    while at < range.end {
        let end = (at / 64 * 64 + 64).min(range.end);
        let mut rest = marks[at / 64] >> (at % 64);
        if end - at < 64 {
            rest &= (1 << (end - at)) - 1;
        }
        while rest != 0 {
            f(at + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
        at = end;
    }
}

impl Gathered {
    /// Takes all neighbours of a main part.
    fn take_all(&mut self, main: &Main) {
        (self.whole, self.offsets) = (true, main.offsets());
    }

    /// Takes the marked neighbours of a main part.
    fn take_marked(&mut self, main: &Main, marks: &[u64]) {
        let list = &main.neighbors[..];
        let (whole, last) = marks.split_at(list.len() / 64);
        let all = (1 << (list.len() % 64)) - 1;
        if whole.iter().all(|&mark| mark == u64::MAX) && last.iter().all(|&mark| mark == all) {
            return self.take_all(main);
        }
        self.offsets = simd::marks_before(marks, &main.offsets());
        self.lists.resize(list.len().next_multiple_of(64), VertexId(0));
        let taken = simd::copy_marked(list, marks, &mut self.lists);
        self.lists.truncate(taken);
    }
}
