//! Tests of the order in which a merge asks its sources, and of its errors.

use std::cell::RefCell;

use hedgerow_core::{Direction, LocalVertex, RowRef, Timestamp, VertexId};
use hedgerow_io::FileId;
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, TierError};

use crate::sources::testing::operations::Operations;
use crate::sources::testing::{Change, Edge, image, sound};
use crate::sources::{
    Answer, ChainId, Extent, HasMemory, Identity, MaskAnswer, Query, Source, WholeList, Word, WordKind,
    merge, merge_mask, sort_newest_first,
};

const VERTEX: LocalVertex = LocalVertex(4);
const EDGE: Identity = Identity { local: VERTEX, other: VertexId(9), rank: 0 };

/// A source that always has the same answer, and notes the queries that it gets.
struct Asked<'a> {
    answer: Has,
    /// The queries so far: the number of the source, and the extent.
    log: &'a RefCell<Vec<(usize, Extent)>>,
    number: usize,
}

#[derive(Clone, Copy)]
enum Has {
    Nothing,
    Word(WordKind),
    Whole,
    Damage,
}

/// A whole list with one edge. It panics if a merge reads its edges.
struct Uncompared;

impl WholeList for Uncompared {
    fn for_each(&self, _: impl FnMut(LocalVertex, ItemRef<'_>)) {
        panic!("the edges of a list without words above it");
    }

    fn degree(&self, _: LocalVertex) -> u64 {
        1
    }
}

impl<'s> Source<'s> for Asked<'_> {
    type Whole = Uncompared;

    fn answer(&self, query: &Query, _: HasMemory<'_>) -> Result<Answer<'s, Uncompared>, TierError> {
        self.log.borrow_mut().push((self.number, query.extent));
        Ok(match self.answer {
            Has::Nothing => Answer::Nothing,
            Has::Word(kind) => {
                let item = ItemRef { dst: EDGE.other, rank: 0, weight: 1.0, row: RowRef::Empty };
                Answer::Words(vec![Word { local: VERTEX, kind, item }])
            }
            Has::Whole => Answer::Whole(Uncompared),
            Has::Damage => return Err(TierError::NoSuchPage { index: 3, len: 1 }),
        })
    }

    fn mask(&self, image: ImageId, _: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        self.log.borrow_mut().push((self.number, Extent::Vertex(LocalVertex(image.label.0 as u8))));
        Ok(match self.answer {
            Has::Nothing => MaskAnswer::Nothing,
            Has::Word(_) => MaskAnswer::Words { inserted: 1, removed: 2 },
            Has::Whole => MaskAnswer::Whole(6),
            Has::Damage => return Err(TierError::NoSuchPage { index: 3, len: 1 }),
        })
    }
}

fn query(extent: Extent) -> Query {
    Query { chain: ChainId::new(image(0, 2), Direction::Out), extent, rows: true }
}

/// Merges sources with these answers, newest first. Returns the queries that the sources got. If `count` is
/// true, returns the degree of the vertex too.
fn asked(answers: &[Has], extent: Extent, count: bool) -> (Vec<(usize, Extent)>, Option<u64>) {
    let log = RefCell::new(Vec::new());
    let sources =
        answers.iter().enumerate().map(|(number, answer)| Asked { answer: *answer, log: &log, number });
    let merged = merge(sources, &query(extent), &mut |_| true).unwrap();
    let degree = count.then(|| merged.degree(VERTEX));
    (log.into_inner(), degree)
}

#[test]
fn images_alone_cost_one_question_each_and_no_edge_is_compared() {
    let _sound = sound();
    use Has::{Damage, Nothing, Whole};
    for extent in [Extent::Chain, Extent::List(VERTEX), Extent::Degree(VERTEX), Extent::Edge(EDGE)] {
        let (log, _) = asked(&[Nothing, Nothing, Whole, Damage], extent, false);
        assert_eq!(log, [(0, extent), (1, extent), (2, extent)]);
    }
    let (_, degree) = asked(&[Nothing, Whole, Damage], Extent::Degree(VERTEX), true);
    assert_eq!(degree, Some(1));
}

#[test]
fn a_query_for_an_edge_ends_at_a_put_or_remove() {
    let _sound = sound();
    use Has::{Damage, Whole, Word};
    use WordKind::{Put, PutIfAbsent, Remove};
    for (last, degree) in [(Put, 1), (Remove, 0)] {
        let (log, found) = asked(&[Word(last), Damage], Extent::Edge(EDGE), true);
        assert_eq!((log.len(), found), (1, Some(degree)));
    }
    // The newer *put if absent* is valid, since the *remove* comes before it. No source below the *remove* is
    // asked.
    let (log, found) = asked(&[Word(PutIfAbsent), Word(Remove), Damage], Extent::Edge(EDGE), true);
    assert_eq!((log.len(), found), (2, Some(1)));
    let (log, _) = asked(&[Word(PutIfAbsent), Whole, Damage], Extent::Edge(EDGE), false);
    assert_eq!(log.len(), 2);
    // Other edges of the list may be in older sources.
    let (log, _) = asked(&[Word(Put), Whole, Damage], Extent::List(VERTEX), false);
    assert_eq!(log.len(), 2);
}

#[test]
fn below_words_a_degree_is_a_query_for_the_list() {
    let _sound = sound();
    let answers = [Has::Nothing, Has::Word(WordKind::Put), Has::Whole];
    let (log, _) = asked(&answers, Extent::Degree(VERTEX), false);
    let extents: Vec<Extent> = log.into_iter().map(|(_, extent)| extent).collect();
    assert_eq!(extents, [Extent::Degree(VERTEX), Extent::Degree(VERTEX), Extent::List(VERTEX)]);
}

#[test]
fn an_error_ends_the_merge() {
    let _sound = sound();
    let log = RefCell::new(Vec::new());
    let sources = || {
        let answers = [Has::Word(WordKind::Put), Has::Damage, Has::Whole].into_iter().enumerate();
        answers.map(|(number, answer)| Asked { answer, log: &log, number })
    };
    let error = merge(sources(), &query(Extent::Chain), &mut |_| true).err();
    assert!(matches!(error, Some(TierError::NoSuchPage { .. })));
    assert!(merge_mask(sources(), image(0, 2), &mut |_| true).is_err());
    assert_eq!(log.borrow().len(), 4);
}

#[test]
fn masks_are_merged_newest_first() {
    let _sound = sound();
    use Has::{Damage, Nothing, Whole, Word};
    let mask = |answers: &[Has]| {
        let log = RefCell::new(Vec::new());
        let sources =
            answers.iter().enumerate().map(|(number, answer)| Asked { answer: *answer, log: &log, number });
        merge_mask(sources, image(0, 2), &mut |_| true).unwrap()
    };
    assert_eq!(mask(&[]), None);
    assert_eq!(mask(&[Nothing]), None);
    assert_eq!(mask(&[Nothing, Whole, Damage]), Some(6));
    assert_eq!(mask(&[Word(WordKind::Put), Nothing, Whole, Damage]), Some(5));
    assert_eq!(mask(&[Word(WordKind::Put)]), Some(1));
}

#[test]
fn a_source_without_memory_for_its_words_fails() {
    let _sound = sound();
    let (chain, edge) = (query(Extent::Chain).chain, Edge { weight: 2.0, row: None });
    let change = Change::Edge { chain, at: EDGE, kind: WordKind::Put, edge };
    let operations = Operations { entries: vec![(Timestamp(1), change)] };
    let merged = merge([operations.upto(Timestamp(1))], &query(Extent::Chain), &mut |_| false);
    assert!(matches!(merged.err(), Some(TierError::NoRoom { needed }) if needed > 0));
    // At a timestamp before the operation, the source has no words, and takes no memory.
    let merged = merge([operations.upto(Timestamp(0))], &query(Extent::Chain), &mut |_| false).unwrap();
    assert!(merged.words().is_empty() && merged.base().is_none());
}

#[test]
fn segments_are_sorted_newest_first() {
    let mut files = [3, 9, 1, 4].map(FileId);
    sort_newest_first(&mut files, |file| *file);
    assert_eq!(files, [9, 4, 3, 1].map(FileId));
}
