//! Images and deltas in segments, as sources. An image has the whole list, a delta has words.

use hedgerow_core::{Direction, LocalVertex, RowRef, SUBGRAPH_VERTICES};
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{
    AdjacencyPart, Extent as ImageExtent, FoundList, ImageId, ListImage, ListQuery, ReadCache, SubgraphImage,
    SubgraphRecord, TierError,
};

use crate::sources::delta_words::words_of;
use crate::sources::named_segment::NamedSegment;
use crate::sources::source::{Answer, ChainId, Extent, HasMemory, MaskAnswer, Query, Source, WholeList};
use crate::sources::word::Identity;

/// The records of one page in one segment.
#[derive(Clone, Copy)]
pub(crate) struct ImagesIn<'s, 'c> {
    pub(crate) segment: &'s NamedSegment,
    /// The number of the page in the segment.
    pub(crate) page: usize,
    pub(crate) cache: &'c ReadCache,
}

/// A list of an image, with the name of its file.
#[derive(Clone, Debug)]
pub struct ImageList<'s> {
    /// The list. For [`Extent::Chain`], its part has the lists of all vertices, and its `degree` is the sum
    /// of their lengths.
    pub list: ListImage,
    /// The name of the file, for messages.
    pub file: &'s str,
}

impl From<&ListQuery> for Query {
    fn from(query: &ListQuery) -> Query {
        let extent = match query.extent {
            ImageExtent::Vertex => Extent::Vertex(query.local),
            ImageExtent::Degree => Extent::Degree(query.local),
            ImageExtent::Near(other) => Extent::Near(query.local, other),
            ImageExtent::Whole => Extent::List(query.local),
        };
        Query { chain: ChainId::new(query.image, query.direction), extent, rows: query.rows }
    }
}

impl Query {
    /// Returns the query for one list of an image; `None` if all lists are requested.
    fn of_list(&self) -> Option<ListQuery> {
        let (local, extent) = match self.extent {
            Extent::Chain => return None,
            Extent::Vertex(local) => (local, ImageExtent::Vertex),
            Extent::Degree(local) => (local, ImageExtent::Degree),
            Extent::List(local) => (local, ImageExtent::Whole),
            Extent::Near(local, other) | Extent::Edge(Identity { local, other, .. }) => {
                (local, ImageExtent::Near(other))
            }
        };
        let ChainId { image, .. } = self.chain;
        Some(ListQuery { image, local, direction: self.chain.direction(), extent, rows: self.rows })
    }
}

impl ImagesIn<'_, '_> {
    fn list(&self, query: &ListQuery, has_memory: HasMemory<'_>) -> Result<Option<FoundList>, TierError> {
        self.segment.reader.read_list(self.page, query, self.cache, has_memory)
    }

    /// Reads all lists of a chain. Decodes the other direction of the image too.
    fn chain(&self, chain: ChainId, has_memory: HasMemory<'_>) -> Result<Option<FoundList>, TierError> {
        let found = self.segment.reader.read_record(self.page, chain.image, self.cache, has_memory)?;
        Ok(found.map(|record| match record {
            SubgraphRecord::Delta(delta) => FoundList::Delta(delta),
            SubgraphRecord::Image(SubgraphImage { present, parts, .. }) => {
                let part = parts.into_iter().find(|part| part.direction == chain.direction());
                let degree = part.as_ref().map_or(0, |part| part.neighbors.len() as u32);
                FoundList::Image(Box::new(ListImage { present, degree, part }))
            }
        }))
    }
}

impl<'s> Source<'s> for ImagesIn<'s, '_> {
    type Whole = ImageList<'s>;

    #[inline]
    fn answer(
        &self,
        query: &Query,
        has_memory: HasMemory<'_>,
    ) -> Result<Answer<'s, ImageList<'s>>, TierError> {
        let found = match query.of_list() {
            Some(query) => self.list(&query, has_memory)?,
            None => self.chain(query.chain, has_memory)?,
        };
        match found {
            None => Ok(Answer::Nothing),
            Some(FoundList::Image(list)) => {
                Ok(Answer::Whole(ImageList { list: *list, file: &self.segment.name }))
            }
            Some(FoundList::Delta(delta)) => {
                words_of(&delta, query.chain.direction(), query.extent, has_memory).map(Answer::Words)
            }
        }
    }

    fn mask(&self, image: ImageId, has_memory: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        let (local, direction) = (LocalVertex(0), Direction::Out);
        let query = ListQuery { image, local, direction, extent: ImageExtent::Vertex, rows: false };
        let found = self.list(&query, has_memory)?;
        Ok(match found {
            None => MaskAnswer::Nothing,
            Some(FoundList::Image(list)) => MaskAnswer::Whole(list.present),
            Some(FoundList::Delta(delta)) => MaskAnswer::Whole(delta.present),
        })
    }
}

/// The lists of a part; none without a part.
pub(crate) struct PartOf<'s>(pub(crate) Option<&'s AdjacencyPart>);

impl WholeList for PartOf<'_> {
    fn for_each(&self, mut f: impl FnMut(LocalVertex, ItemRef<'_>)) {
        let Some(part) = self.0 else { return };
        for local in (0..SUBGRAPH_VERTICES).map(|local| LocalVertex(local as u8)) {
            part.range_of(local.index()).filter_map(|at| item_of(part, at)).for_each(|item| f(local, item));
        }
    }

    fn degree(&self, local: LocalVertex) -> u64 {
        self.0.map_or(0, |part| part.range_of(local.index()).len() as u64)
    }
}

impl WholeList for ImageList<'_> {
    fn for_each(&self, f: impl FnMut(LocalVertex, ItemRef<'_>)) {
        PartOf(self.list.part.as_ref()).for_each(f);
    }

    fn degree(&self, _: LocalVertex) -> u64 {
        u64::from(self.list.degree)
    }
}

/// Returns edge number `at` of a part; `None` beyond its end.
pub(crate) fn item_of(part: &AdjacencyPart, at: usize) -> Option<ItemRef<'_>> {
    let dst = *part.neighbors.get(at)?;
    let rank = part.ranks.as_ref().and_then(|ranks| ranks.get(at)).map_or(0, |rank| *rank);
    let weight = part.weights.as_ref().and_then(|weights| weights.get(at)).map_or(1.0, |weight| *weight);
    let columns = &part.columns;
    let row = if columns.is_empty() { RowRef::Empty } else { RowRef::Columns(columns, at) };
    Some(ItemRef { dst, rank, weight, row })
}
