//! Operations over images: lists and images with the operations of inboxes and deltas.

use std::ops::Range;

use hedgerow_core::{
    Columns, Direction, LabelId, LocalVertex, RowRef, SUBGRAPH_VERTICES, Timestamp, VertexId,
};
use hedgerow_mem::EdgeOp;
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{
    AdjacencyPart, ImageId, ImageKeys, ListImage, ListQuery, ReadCache, ReadMemory, SubgraphDelta,
    SubgraphImage, TierError,
};

use crate::sources::delta_words::{ask_for_words, words_of};
use crate::sources::images::{ImageList, ImagesIn, PartOf};
use crate::sources::inboxes::{InboxEntry, InboxView};
use crate::sources::merge::{Merged, merge};
use crate::sources::segments::{Sources, invalid};
use crate::sources::source::{Answer, ChainId, Extent, HasMemory, MaskAnswer, Query, Source};
use crate::sources::word::{Identity, Word, WordKind, compose};

/// Operations above older records of one subgraph.
#[derive(Clone, Copy)]
pub(crate) enum Above<'s> {
    Inbox(&'s InboxView),
    Delta(&'s SubgraphDelta),
}

/// A source of a chain: operations, or something older.
enum Stacked<'s, S> {
    Above(Above<'s>),
    Older(S),
}

/// The image of a subgraph that was read before.
struct LoadedImage<'s>(&'s SubgraphImage);

impl<'s, S: Source<'s>> Source<'s> for Stacked<'s, S> {
    type Whole = S::Whole;

    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, S::Whole>, TierError> {
        let words = match self {
            Stacked::Above(above) => above.words(query.chain.direction(), query.extent, has_memory)?,
            Stacked::Older(source) => return source.answer(query, has_memory),
        };
        Ok(if words.is_empty() { Answer::Nothing } else { Answer::Words(words) })
    }

    fn mask(&self, image: ImageId, has_memory: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        match self {
            // No operation is about a vertex.
            Stacked::Above(_) => Ok(MaskAnswer::Nothing),
            Stacked::Older(source) => source.mask(image, has_memory),
        }
    }
}

impl<'s> Above<'s> {
    /// Returns the words about edges within the extent: one for each edge, ascending by identity.
    fn words(
        self,
        direction: Direction,
        extent: Extent,
        has_memory: HasMemory<'_>,
    ) -> Result<Vec<Word<'s>>, TierError> {
        let inbox = match self {
            Above::Inbox(inbox) => inbox,
            Above::Delta(delta) => return words_of(delta, direction, extent, has_memory),
        };
        let entries = inbox.entries(direction);
        let of = |entry: &InboxEntry| Identity { local: entry.op.local, other: entry.op.dst, rank: 0 };
        let is_it = |entry: &&InboxEntry| extent.has(of(entry));
        ask_for_words(entries.iter().filter(is_it).count(), has_memory)?;
        // Newest first, as the composition demands.
        let mut words: Vec<Word<'s>> = entries.iter().rev().filter(is_it).map(word_of).collect();
        compose(&mut words);
        Ok(words)
    }

    /// True if there are operations in this direction.
    fn has(self, direction: Direction) -> bool {
        match self {
            Above::Inbox(inbox) => !inbox.entries(direction).is_empty(),
            Above::Delta(delta) => {
                delta.put.iter().chain(&delta.removed).any(|part| part.direction == direction)
            }
        }
    }

    /// Returns the timestamp of the last operation.
    fn as_of(self) -> Timestamp {
        match self {
            Above::Inbox(inbox) => inbox.last(),
            Above::Delta(delta) => delta.as_of,
        }
    }
}

fn word_of(entry: &InboxEntry) -> Word<'static> {
    let kind = if entry.op.op == EdgeOp::Remove { WordKind::Remove } else { WordKind::Put };
    let item = ItemRef { dst: entry.op.dst, rank: 0, weight: entry.op.weight, row: RowRef::Empty };
    Word { local: entry.op.local, kind, item }
}

impl<'s> Source<'s> for LoadedImage<'s> {
    type Whole = PartOf<'s>;

    fn answer(&self, query: &Query, _: HasMemory<'_>) -> Result<Answer<'s, PartOf<'s>>, TierError> {
        let image: &'s SubgraphImage = self.0;
        let part = image.parts.iter().find(|part| part.direction == query.chain.direction());
        Ok(Answer::Whole(PartOf(part)))
    }

    fn mask(&self, _: ImageId, _: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        Ok(MaskAnswer::Whole(self.0.present))
    }
}

impl Sources {
    /// Reads one list of a subgraph, with the file that has its image; `None` if there is no image. Calls
    /// `has_memory` before it takes memory.
    ///
    /// # Errors
    /// Damage, and failures of the file system; [`TierError::NoRoom`] if `has_memory` returns false.
    pub(crate) fn read_list(
        &self,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<(ListImage, &str)>, TierError> {
        let merged = merge(self.images(query.image.page(), cache), &Query::from(query), has_memory)?;
        if merged.base().is_none() && !merged.words().is_empty() {
            return Err(invalid("", "a delta without an image"));
        }
        self.list_of(merged, query, has_memory)
    }

    /// Like [`read_list`](Self::read_list), with the operations of an inbox over the list. These segments are
    /// its base.
    ///
    /// # Errors
    /// The errors of [`read_list`](Self::read_list).
    pub(crate) fn read_list_under<'s>(
        &'s self,
        inbox: &'s InboxView,
        query: &ListQuery,
        cache: &ReadCache,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<(ListImage, &'s str)>, TierError> {
        let images = self.images(query.image.page(), cache).map(Stacked::Older);
        let sources = std::iter::once(Stacked::Above(Above::Inbox(inbox))).chain(images);
        let merged = merge::<Stacked<'_, ImagesIn<'_, '_>>>(sources, &Query::from(query), has_memory)?;
        self.list_of(merged, query, has_memory)
    }

    /// Applies the words of a merge to its list.
    fn list_of<'s>(
        &'s self,
        merged: Merged<'s, ImageList<'s>>,
        query: &ListQuery,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<(ListImage, &'s str)>, TierError> {
        let (base, words) = merged.into_parts();
        if words.is_empty() {
            return Ok(base.map(|ImageList { list, file }| (list, file)));
        }
        let (list, file) = base.map_or_else(Default::default, |base| (base.list, base.file));
        let form = (query.direction, self.is_weighted(query.image.label));
        // With words the merge reads the list and not its length, so the part has all edges of the answer.
        let part = part_with(list.part.as_ref(), &words, form, has_memory)?;
        let degree = part.as_ref().map_or(0, |part| part.neighbors.len() as u32);
        Ok(Some((ListImage { present: list.present, degree, part }, file)))
    }

    /// Returns an image with the operations of an inbox over it; `image` is `None` if the segments, which are
    /// the base of the inbox, have no image. O(edges + operations), and O(1) if there are no operations.
    ///
    /// # Errors
    /// [`TierError::NoRoom`] if `has_memory` returns false.
    pub fn image_under(
        &self,
        inbox: &InboxView,
        id: ImageId,
        image: Option<SubgraphImage>,
        has_memory: HasMemory<'_>,
    ) -> Result<Option<SubgraphImage>, TierError> {
        let above = Above::Inbox(inbox);
        if ![Direction::Out, Direction::In].iter().any(|&direction| above.has(direction)) {
            return Ok(image);
        }
        let new = || SubgraphImage {
            id,
            as_of: Timestamp::ZERO,
            present: 0,
            keys: ImageKeys::Dense,
            parts: Vec::new(),
        };
        self.image_below(&[above], image.unwrap_or_else(new), has_memory).map(Some)
    }

    /// Returns an image with operations over it, which come newest first.
    pub(crate) fn image_below(
        &self,
        above: &[Above<'_>],
        mut image: SubgraphImage,
        has_memory: HasMemory<'_>,
    ) -> Result<SubgraphImage, TierError> {
        let (id, directions) = (image.id, [Direction::Out, Direction::In]);
        let changed = |direction: &Direction| above.iter().any(|above| above.has(*direction));
        let Some(newest) = above.first().filter(|_| directions.iter().any(changed)) else { return Ok(image) };
        let weighted = self.is_weighted(id.label);
        let mut parts = Vec::new();
        for direction in directions.into_iter().filter(changed) {
            let query = Query { chain: ChainId::new(id, direction), extent: Extent::Chain, rows: true };
            let sources = above.iter().map(|&above| Stacked::Above(above));
            let sources = sources.chain(std::iter::once(Stacked::Older(LoadedImage(&image))));
            let merged = merge::<Stacked<'_, LoadedImage<'_>>>(sources, &query, has_memory)?;
            let (base, words) = merged.into_parts();
            let base = base.and_then(|PartOf(part)| part);
            parts.push((direction, part_with(base, &words, (direction, weighted), has_memory)?));
        }
        for (direction, part) in parts {
            image.parts.retain(|part| part.direction != direction);
            image.parts.extend(part);
        }
        image.parts.sort_unstable_by_key(|part| part.direction as usize);
        if id.label != LabelId::DEFAULT {
            image.present = image.parts.iter().fold(0, |mask, part| mask | with_neighbors(part));
        }
        image.as_of = newest.as_of();
        Ok(image)
    }

    /// Returns one delta with the effect of several operations, which come newest first. `present` and
    /// `edges` are the live vertices of the subgraph, and the number of its outgoing neighbor entries after
    /// the operations. Returns `None` if there are none.
    pub(crate) fn delta_of(
        &self,
        above: &[Above<'_>],
        (id, present, edges): (ImageId, u64, u64),
        has_memory: HasMemory<'_>,
    ) -> Result<Option<SubgraphDelta>, TierError> {
        let Some(newest) = above.first() else { return Ok(None) };
        let (mut put, mut removed) = (Vec::new(), Vec::new());
        for direction in [Direction::Out, Direction::In] {
            let query = Query { chain: ChainId::new(id, direction), extent: Extent::Chain, rows: true };
            let sources = above.iter().map(|&above| Stacked::Above(above));
            let merged = merge::<Stacked<'_, LoadedImage<'_>>>(sources, &query, has_memory)?;
            let (_, words) = merged.into_parts();
            put.extend(part_with(None, &words, (direction, self.is_weighted(id.label)), has_memory)?);
            let mut gone = words;
            gone.retain(|word| word.kind == WordKind::Remove);
            gone.iter_mut().for_each(|word| word.kind = WordKind::Put);
            removed.extend(part_with(None, &gone, (direction, false), has_memory)?);
        }
        let delta = SubgraphDelta { id, as_of: newest.as_of(), present, edges, put, removed };
        Ok(Some(delta).filter(|delta| !delta.put.is_empty() || !delta.removed.is_empty()))
    }

    /// True if the images of a label have weights.
    fn is_weighted(&self, label: LabelId) -> bool {
        label == LabelId::DEFAULT && self.segments().next().is_some_and(|it| it.reader.config().weighted)
    }
}

fn with_neighbors(part: &AdjacencyPart) -> u64 {
    let has = |local: usize| part.offsets.get(local) != part.offsets.get(local + 1);
    (0..SUBGRAPH_VERTICES).filter(|&local| has(local)).fold(0, |mask, local| mask | 1 << local)
}

/// Applies words, ascending by identity, to the lists of a part without ranks and properties. Copies the
/// stretches between the words, so it takes O(words log edges) and a copy of the lists. Returns `None` if the
/// result is empty; damage, if the part has another form. [`Merged::for_each`](crate::Merged::for_each) has
/// the same edges.
pub(crate) fn part_with(
    part: Option<&AdjacencyPart>,
    words: &[Word<'_>],
    (direction, weighted): (Direction, bool),
    has_memory: HasMemory<'_>,
) -> Result<Option<AdjacencyPart>, TierError> {
    if part.is_some_and(|part| part.weights.is_some() != weighted) {
        return Err(invalid("", "weights do not fit the graph"));
    }
    if part.is_some_and(|part| part.ranks.is_some() || !part.columns.is_empty()) {
        return Err(invalid("", "operations without properties on edges that have some"));
    }
    let most = part.map_or(0, |part| part.neighbors.len()) + words.len();
    let needed = most as u64 * if weighted { 12 } else { 4 };
    if !has_memory(ReadMemory::Copy(needed)) {
        return Err(TierError::NoRoom { needed });
    }
    let mut made = AdjacencyPart {
        direction,
        offsets: [0; SUBGRAPH_VERTICES + 1],
        neighbors: Vec::with_capacity(most),
        weights: weighted.then(|| Vec::with_capacity(most)),
        ranks: None,
        columns: Columns::default(),
    };
    let mut words = words.iter().peekable();
    for local in 0..SUBGRAPH_VERTICES {
        let of = LocalVertex(local as u8);
        let base = Stretch::of(part, of);
        let mut at = 0;
        while let Some(word) = words.next_if(|word| word.local == of) {
            let to = at + base.neighbors[at..].partition_point(|&other| other < word.item.dst);
            base.copy(at..to, &mut made);
            let before = base.item(to).filter(|item| item.dst == word.item.dst);
            at = to + usize::from(before.is_some());
            if let Some(item) = word.applied(before) {
                made.neighbors.push(item.dst);
                made.weights.iter_mut().for_each(|weights| weights.push(item.weight));
            }
        }
        base.copy(at..base.neighbors.len(), &mut made);
        made.offsets[local + 1] = made.neighbors.len() as u32;
    }
    Ok((!made.neighbors.is_empty()).then_some(made))
}

/// The list of a vertex.
struct Stretch<'p> {
    neighbors: &'p [VertexId],
    weights: Option<&'p [f64]>,
}

impl<'p> Stretch<'p> {
    fn of(part: Option<&'p AdjacencyPart>, local: LocalVertex) -> Stretch<'p> {
        let Some(part) = part else { return Stretch { neighbors: &[], weights: None } };
        let range = part.range_of(local.index());
        let weights = part.weights.as_ref().and_then(|weights| weights.get(range.clone()));
        Stretch { neighbors: part.neighbors.get(range).unwrap_or(&[]), weights }
    }

    fn item(&self, at: usize) -> Option<ItemRef<'p>> {
        let dst = *self.neighbors.get(at)?;
        let weight = self.weights.and_then(|weights| weights.get(at)).map_or(1.0, |&weight| weight);
        Some(ItemRef { dst, rank: 0, weight, row: RowRef::Empty })
    }

    fn copy(&self, range: Range<usize>, to: &mut AdjacencyPart) {
        if let (Some(weights), Some(from)) = (&mut to.weights, self.weights) {
            weights.extend_from_slice(&from[range.clone()]);
        }
        to.neighbors.extend_from_slice(&self.neighbors[range]);
    }
}
