//! Look-ups of many edges of a page, for a large commit.
//!
//! The records of the page are read once, newest first, and each edge is looked up in them until one decides.
//! So no delta is merged with its image: that would copy the lists of all edges, also of those not asked for.

use hedgerow_core::SubgraphId;
use hedgerow_tier::{ImageId, PageId, SubgraphDelta, SubgraphImage, SubgraphRecord, TierError};

use crate::sources::delta_words::{weight_of, word_at};
use crate::sources::newest::Places;
use crate::sources::segments::{Sources, invalid};
use crate::sources::source::HasMemory;
use crate::sources::word::EdgeAt;

/// The edges of one subgraph that a call looks for, and what was found so far.
struct Search<'a> {
    edges: &'a [EdgeAt],
    /// The word of the newest delta that has one, for each edge; empty before the first delta.
    words: Vec<Option<EdgeWord>>,
    /// The vertices that the newest delta names, and its file.
    above: Option<(u64, &'a str)>,
    /// The weights of the edges, once they are found.
    weights: Option<Vec<Option<f64>>>,
}

/// The word of a delta about one edge: its weight, or `None` if the delta removes it.
type EdgeWord = Option<f64>;

impl Search<'_> {
    /// Returns the bytes of what was found so far.
    fn bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
            + self.weights.as_ref().map_or(0, |found| size_of_val(&**found) as u64)
    }

    /// Looks into a delta, which is older than those before. A word in a stored delta ends the search for its
    /// edge: a checkpoint writes only puts and removes.
    fn take_delta(&mut self, delta: &SubgraphDelta) {
        self.words.resize(self.edges.len(), None);
        for (word, edge) in self.words.iter_mut().zip(self.edges) {
            if word.is_none() {
                let found = word_at(delta, edge);
                *word = found.map(|found| found.applied(None).map(|item| item.weight));
            }
        }
    }

    /// Looks up the edges without a word in the image, and drops the words.
    fn take_image(&mut self, image: &SubgraphImage) {
        let words = std::mem::take(&mut self.words);
        let weight = |(at, edge): (usize, &EdgeAt)| {
            words.get(at).copied().flatten().unwrap_or_else(|| weight_of(&image.parts, edge))
        };
        self.weights = Some(self.edges.iter().enumerate().map(weight).collect());
    }
}

impl Sources {
    /// Returns the weights of edges of several subgraphs of a page: for each of the `asked` subgraphs,
    /// ascending, one value for each of its edges, and `None` for an edge that does not exist. Skips
    /// subgraphs whose bit in `places` is not set, and those without an image: their value is empty.
    ///
    /// Reads the directory of the page in each segment, and the blocks of its records in order. Unlike a read
    /// of whole images it does not check that image and deltas have the form of the graph, and the number of
    /// edges that the newest delta states. Calls `keeps` after each record, whose memory is free then, with
    /// the bytes of all that was found so far.
    ///
    /// # Errors
    /// Damage, and failures of the file system; [`TierError::NoRoom`] if `has_memory` or `keeps` returns
    /// false.
    pub fn find_edges(
        &self,
        (page, places): (PageId, u64),
        asked: &[(SubgraphId, &[EdgeAt])],
        has_memory: HasMemory<'_>,
        mut keeps: impl FnMut(u64) -> bool,
    ) -> Result<Vec<Vec<Option<f64>>>, TierError> {
        let search = |&(_, edges): &(SubgraphId, _)| {
            let edges: &[EdgeAt] = edges;
            Search { edges, words: Vec::new(), above: None, weights: None }
        };
        let mut kept = 0u64;
        let mut searches: Vec<Search<'_>> = asked.iter().map(search).collect();
        let all = (Places::of_bits(places), usize::MAX);
        self.walk_page::<TierError>(page, all, |segment, number, open| {
            let mut found = Places::NONE;
            let is_wanted = |image: ImageId| open.has(image.subgraph);
            segment.reader.read_records::<TierError>(number, is_wanted, has_memory, |record| {
                let (id, present) = match &record {
                    SubgraphRecord::Delta(delta) => (delta.id.subgraph, delta.present),
                    SubgraphRecord::Image(image) => (image.id.subgraph, image.present),
                };
                if let Ok(at) = asked.binary_search_by_key(&id, |(id, _)| *id) {
                    let search = &mut searches[at];
                    if search.above.is_some_and(|(of_delta, _)| of_delta != present) {
                        return Err(invalid(&segment.name, "a delta of other vertices than its image"));
                    }
                    kept -= search.bytes();
                    match &record {
                        SubgraphRecord::Delta(delta) => {
                            search.above.get_or_insert((present, &segment.name));
                            search.take_delta(delta);
                        }
                        SubgraphRecord::Image(image) => {
                            found.insert(id);
                            search.take_image(image);
                        }
                    }
                    kept += search.bytes();
                }
                drop(record);
                if keeps(kept) { Ok(()) } else { Err(TierError::NoRoom { needed: kept }) }
            })?;
            Ok(found)
        })?;
        let weights_of = |search: Search<'_>| match (search.weights, search.above) {
            (None, Some((_, file))) => Err(invalid(file, "a delta without an image")),
            (weights, _) => Ok(weights.unwrap_or_default()),
        };
        searches.into_iter().map(weights_of).collect()
    }
}
