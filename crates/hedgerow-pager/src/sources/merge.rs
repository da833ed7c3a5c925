//! The merge of the sources of a chain: **no other code combines lists of sources** (`edges` looks single
//! edges up). `docs/design/pager.md` explains how to look for a second merge.

use hedgerow_core::LocalVertex;
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, TierError};

use crate::sources::newest::{Places, newest_first};
use crate::sources::source::{Answer, Extent, HasMemory, MaskAnswer, Query, Source, WholeList};
use crate::sources::word::{Identity, Word, compose};

/// The merged answers about a part of a chain: a whole list, and newer words.
#[derive(Clone, Debug)]
pub struct Merged<'s, L> {
    /// One word for each edge, ascending by identity.
    words: Vec<Word<'s>>,
    base: Option<L>,
    extent: Extent,
}

/// Merges the sources of a chain up to the first source that has the whole list. The sources must come newest
/// first. A query for one edge ends earlier if it finds a word that replaces all older words. If all sources
/// are images, the merge costs one look-up in each directory, allocates nothing, and compares no edges. Words
/// cost O(words log words) in addition.
///
/// # Errors
/// The errors of the sources.
pub fn merge<'s, S: Source<'s>>(
    sources: impl IntoIterator<Item = S>,
    query: &Query,
    has_memory: HasMemory<'_>,
) -> Result<Merged<'s, S::Whole>, TierError> {
    let mut merged = Merged { words: Vec::new(), base: None, extent: query.extent };
    let chain = Places::of(query.chain.image.subgraph);
    newest_first::<_, TierError>(sources, chain, |source, _| {
        match source.answer(&merged.query_of_next(query), has_memory)? {
            Answer::Nothing => return Ok(Places::NONE),
            Answer::Words(words) => merged.take(words),
            Answer::Whole(list) => merged.base = Some(list),
        }
        Ok(if merged.is_decided() { chain } else { Places::NONE })
    })?;
    if !merged.words.is_empty() {
        compose(&mut merged.words);
    }
    Ok(merged)
}

/// Returns the existing vertices of a subgraph as a mask: bit `i` stands for the local vertex `i`. Returns
/// `None` if no source has the subgraph. The sources must come newest first.
///
/// # Errors
/// The errors of the sources.
pub fn merge_mask<'s, S: Source<'s>>(
    sources: impl IntoIterator<Item = S>,
    image: ImageId,
    has_memory: HasMemory<'_>,
) -> Result<Option<u64>, TierError> {
    let subgraph = Places::of(image.subgraph);
    let (mut mask, mut known, mut is_found) = (0, 0, false);
    newest_first::<_, TierError>(sources, subgraph, |source, _| {
        let (present, decided) = match source.mask(image, has_memory)? {
            MaskAnswer::Nothing => return Ok(Places::NONE),
            MaskAnswer::Words { inserted, removed } => (inserted, inserted | removed),
            MaskAnswer::Whole(present) => (present, u64::MAX),
        };
        mask |= present & !known;
        known |= decided;
        is_found = true;
        Ok(if known == u64::MAX { subgraph } else { Places::NONE })
    })?;
    Ok(is_found.then_some(mask))
}

impl<'s, L: WholeList> Merged<'s, L> {
    /// Returns the query for the next older source. Words cannot be merged with a degree alone. So once there
    /// are words, a query for a degree becomes a query for the list.
    fn query_of_next(&self, query: &Query) -> Query {
        match query.extent {
            Extent::Degree(local) if !self.words.is_empty() => {
                Query { extent: Extent::List(local), rows: false, ..*query }
            }
            _ => *query,
        }
    }

    /// Adds the words of one more source, which is older than all sources before.
    fn take(&mut self, mut words: Vec<Word<'s>>) {
        if self.words.is_empty() {
            self.words = words;
        } else {
            self.words.append(&mut words);
        }
        if let Extent::Edge(_) = self.extent {
            compose(&mut self.words);
        }
    }

    /// True if older sources have no effect on the answer.
    fn is_decided(&self) -> bool {
        let is_edge = matches!(self.extent, Extent::Edge(_));
        self.base.is_some() || (is_edge && self.words.first().is_some_and(Word::ends_search))
    }

    /// Returns the composed words, ascending by identity. They have the same effect as all sources that are
    /// newer than the whole list.
    pub fn words(&self) -> &[Word<'s>] {
        &self.words
    }

    /// Returns the whole list, which is older than the words; `None` if no source has a whole list, or if the
    /// query did not need it.
    pub fn base(&self) -> Option<&L> {
        self.base.as_ref()
    }

    /// Returns the whole list, and the words, which are newer.
    pub fn into_parts(self) -> (Option<L>, Vec<Word<'s>>) {
        (self.base, self.words)
    }

    /// Calls `f` with each edge within the extent of the query, ascending by identity. O(edges + words).
    pub fn for_each(&self, mut f: impl FnMut(LocalVertex, ItemRef<'_>)) {
        let mut words = self.words.iter().copied().peekable();
        if let Some(base) = &self.base {
            base.for_each(|local, item| {
                let at = Identity::of(local, &item);
                if !self.extent.has(at) {
                    return;
                }
                while let Some(word) = words.next_if(|word| word.identity() < at) {
                    word.applied(None).into_iter().for_each(|item| f(word.local, item));
                }
                match words.next_if(|word| word.identity() == at) {
                    Some(word) => word.applied(Some(item)).into_iter().for_each(|item| f(local, item)),
                    None => f(local, item),
                }
            });
        }
        words.for_each(|word| word.applied(None).into_iter().for_each(|item| f(word.local, item)));
    }

    /// Returns the number of edges of a vertex within the extent of the query. Without words, O(1) for
    /// [`Extent::Degree`] and [`Extent::List`]; else O(edges + words).
    pub fn degree(&self, local: LocalVertex) -> u64 {
        if let (Extent::Degree(_) | Extent::List(_), Some(base)) = (self.extent, &self.base)
            && self.words.is_empty()
        {
            return base.degree(local);
        }
        let mut count = 0;
        self.for_each(|of, _| count += u64::from(of == local));
        count
    }
}
