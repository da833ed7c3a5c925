//! Stacks of sources of several kinds, newest first.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::{
    Columns, Direction, GraphConfig, KeyKind, LabelId, LocalVertex, SUBGRAPH_VERTICES, Timestamp, VertexId,
};
use hedgerow_io::{FileId, StoreId};
use hedgerow_mem::items::ItemRef;
use hedgerow_testkit::SimFs;
use hedgerow_tier::{
    AdjacencyPart, ImageId, ImageKeys, PageId, ReadCache, SegmentWriter, SubgraphImage, TierError,
};

use super::model::{Model, ModelList, WholeImages};
use super::operations::{Operations, OperationsUpto};
use super::records::DeltaRecords;
use crate::sources::images::{ImageList, ImagesIn};
use crate::sources::{Answer, HasMemory, MaskAnswer, Query, Source, Sources, WholeList};

const STORE: StoreId = StoreId(*b"a store to test.");
const CONFIG: GraphConfig =
    GraphConfig { directed: true, keys: KeyKind::Dense, weighted: true, reverse: true };

/// One or more sources of the same kind.
#[derive(Debug)]
pub(crate) enum Layer {
    Operations { operations: Operations, upto: Timestamp },
    Records(DeltaRecords),
    Whole(WholeImages),
    Segments(Sources),
}

/// The layers of a store, oldest first, and the files of its segments.
pub(crate) struct Stack {
    pub(crate) layers: Vec<Layer>,
    pub(crate) fs: SimFs,
    pub(crate) cache: ReadCache,
}

/// A source of any kind.
pub(crate) enum AnySource<'s, 'c> {
    Operations(OperationsUpto<'s>),
    Records(&'s DeltaRecords),
    Whole(&'s WholeImages),
    Images(ImagesIn<'s, 'c>),
}

/// A whole list of a source of any kind.
#[derive(Debug)]
pub(crate) enum AnyList<'s> {
    Model(ModelList<'s>),
    Image(Box<ImageList<'s>>),
}

impl Stack {
    /// Makes a stack without layers.
    pub(crate) fn new() -> Stack {
        let cache = ReadCache::new(&Arc::new(Account::new(None)), (1 << 16, 1 << 16), 0);
        Stack { layers: Vec::new(), fs: SimFs::new(), cache }
    }

    /// Returns the sources of a page, newest first.
    pub(crate) fn sources(&self, page: PageId) -> Vec<AnySource<'_, '_>> {
        let mut sources = Vec::new();
        for layer in self.layers.iter().rev() {
            match layer {
                Layer::Operations { operations, upto } => {
                    sources.push(AnySource::Operations(operations.upto(*upto)));
                }
                Layer::Records(records) => sources.push(AnySource::Records(records)),
                Layer::Whole(whole) => sources.push(AnySource::Whole(whole)),
                Layer::Segments(segments) => {
                    sources.extend(segments.images(page, &self.cache).map(AnySource::Images));
                }
            }
        }
        sources
    }

    /// Adds a segment with the images of a state. If the newest layer has segments, the new one joins that
    /// layer.
    pub(crate) fn add_segment(&mut self, whole: &WholeImages, as_of: Timestamp) -> Result<(), TierError> {
        let file = FileId(as_of.0 + 1);
        let mut writer = SegmentWriter::create(self.fs.handle(), file, STORE, CONFIG)?;
        for id in &whole.images {
            image_of(&whole.state, *id, as_of).with_ref(|image| writer.write(image))?;
        }
        let info = writer.finish()?;
        let older = match self.layers.pop() {
            Some(Layer::Segments(sources)) => sources,
            other => {
                self.layers.extend(other);
                Sources::default()
            }
        };
        let segments = older.behind(&self.fs.handle(), info, STORE)?;
        self.layers.push(Layer::Segments(segments));
        Ok(())
    }
}

/// Makes the image `id` from the edges and vertices of a state.
fn image_of(state: &Model, id: ImageId, as_of: Timestamp) -> SubgraphImage {
    let parts = super::chains(id).map(|chain| {
        let edges: Vec<_> = state.edges(chain).collect();
        let mut offsets = [0; SUBGRAPH_VERTICES + 1];
        for (local, offset) in offsets.iter_mut().enumerate() {
            *offset = edges.iter().filter(|(at, _)| at.local.index() < local).count() as u32;
        }
        let neighbors: Vec<VertexId> = edges.iter().map(|(at, _)| at.other).collect();
        let ranks: Vec<u64> = edges.iter().map(|(at, _)| at.rank).collect();
        let columns = Columns::of_rows(edges.iter().map(|(_, edge)| edge.row.as_ref().into()));
        let weights = Some(edges.iter().map(|(_, edge)| edge.weight).collect());
        let ranks = ranks.iter().any(|rank| *rank != 0).then_some(ranks);
        AdjacencyPart { direction: chain.direction(), offsets, neighbors, weights, ranks, columns }
    });
    let parts: Vec<AdjacencyPart> = parts.into_iter().filter(|part| !part.neighbors.is_empty()).collect();
    let with_neighbors = [Direction::Out, Direction::In].into_iter().fold(0, |mask, direction| {
        let chain = crate::sources::ChainId::new(id, direction);
        state.edges(chain).fold(mask, |mask, (at, _)| mask | at.local.bit())
    });
    let present = if id.label == LabelId::DEFAULT { state.mask(id) } else { with_neighbors };
    SubgraphImage { id, as_of, present, keys: ImageKeys::Dense, parts }
}

/// Converts the whole list of an answer with `f`. Other answers stay as they are.
fn map<'s, L, M>(answer: Answer<'s, L>, f: impl FnOnce(L) -> M) -> Answer<'s, M> {
    match answer {
        Answer::Nothing => Answer::Nothing,
        Answer::Words(words) => Answer::Words(words),
        Answer::Whole(list) => Answer::Whole(f(list)),
    }
}

impl<'s> Source<'s> for AnySource<'s, '_> {
    type Whole = AnyList<'s>;

    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, AnyList<'s>>, TierError> {
        Ok(match self {
            AnySource::Operations(source) => map(source.answer(query, has_memory)?, |none| match none {}),
            AnySource::Records(source) => map(source.answer(query, has_memory)?, |none| match none {}),
            AnySource::Whole(source) => map(source.answer(query, has_memory)?, AnyList::Model),
            AnySource::Images(source) => {
                map(source.answer(query, has_memory)?, |list| AnyList::Image(Box::new(list)))
            }
        })
    }

    fn mask(&self, image: ImageId, has_memory: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        match self {
            AnySource::Operations(source) => source.mask(image, has_memory),
            AnySource::Records(source) => source.mask(image, has_memory),
            AnySource::Whole(source) => source.mask(image, has_memory),
            AnySource::Images(source) => source.mask(image, has_memory),
        }
    }
}

impl WholeList for AnyList<'_> {
    fn for_each(&self, f: impl FnMut(LocalVertex, ItemRef<'_>)) {
        match self {
            AnyList::Model(list) => list.for_each(f),
            AnyList::Image(list) => list.for_each(f),
        }
    }

    fn degree(&self, local: LocalVertex) -> u64 {
        match self {
            AnyList::Model(list) => list.degree(local),
            AnyList::Image(list) => list.degree(local),
        }
    }
}
