//! A list of operations in memory, as a source of words. It is simpler than an
//! [`Inboxes`](crate::sources::Inboxes).

use std::collections::BTreeSet;
use std::convert::Infallible;

use hedgerow_core::{LocalVertex, Timestamp};
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, TierError};

use super::{Change, ask_for_words};
use crate::sources::{Answer, HasMemory, MaskAnswer, Query, Source, WholeList, Word, compose};

/// Operations in the order of their commits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) entries: Vec<(Timestamp, Change)>,
}

/// The operations up to a timestamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationsUpto<'s> {
    operations: &'s Operations,
    upto: Timestamp,
}

impl Operations {
    /// Returns the images that the operations change, ascending.
    pub(crate) fn images(&self) -> BTreeSet<ImageId> {
        let image = |(_, change): &(Timestamp, Change)| match change {
            Change::Edge { chain, .. } => chain.image,
            Change::Vertex { image, .. } => *image,
        };
        self.entries.iter().map(image).collect()
    }

    /// Returns the operations up to `t`, as a source.
    pub(crate) fn upto(&self, t: Timestamp) -> OperationsUpto<'_> {
        OperationsUpto { operations: self, upto: t }
    }
}

impl<'s> OperationsUpto<'s> {
    /// Returns the words within a query, newest first, not composed yet.
    fn words(self, query: &Query) -> impl Iterator<Item = Word<'s>> {
        let (query, upto) = (*query, self.upto);
        self.newest_first().filter_map(move |(ts, change)| match change {
            Change::Edge { chain, at, kind, edge } => {
                let is_it = *ts <= upto && *chain == query.chain && query.extent.has(*at);
                is_it.then(|| edge.word(*at, *kind))
            }
            Change::Vertex { .. } => None,
        })
    }

    fn newest_first(self) -> impl Iterator<Item = &'s (Timestamp, Change)> {
        self.operations.entries.iter().rev()
    }
}

impl<'s> Source<'s> for OperationsUpto<'s> {
    type Whole = Infallible;

    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, Infallible>, TierError> {
        let count = self.words(query).count();
        if count == 0 {
            return Ok(Answer::Nothing);
        }
        ask_for_words(count, has_memory)?;
        let mut words: Vec<Word<'s>> = self.words(query).collect();
        compose(&mut words);
        Ok(Answer::Words(words))
    }

    fn mask(&self, wanted: ImageId, _: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        let (mut inserted, mut removed) = (0, 0);
        for (_, change) in self.newest_first().filter(|(ts, _)| *ts <= self.upto) {
            if let Change::Vertex { image, local, exists } = change
                && *image == wanted
                && (inserted | removed) & local.bit() == 0
            {
                *(if *exists { &mut inserted } else { &mut removed }) |= local.bit();
            }
        }
        let is_empty = inserted | removed == 0;
        Ok(if is_empty { MaskAnswer::Nothing } else { MaskAnswer::Words { inserted, removed } })
    }
}

/// The whole list of a source that has only words: it has no value.
impl WholeList for Infallible {
    fn for_each(&self, _: impl FnMut(LocalVertex, ItemRef<'_>)) {}

    fn degree(&self, _: LocalVertex) -> u64 {
        0
    }
}
