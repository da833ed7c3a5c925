//! The model: the edges and vertices after all operations, applied in order. Some images of a model are a
//! source of whole lists ([`WholeImages`]).

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::LocalVertex;
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, TierError};

use super::{Change, Edge};
use crate::sources::{
    Answer, ChainId, Extent, HasMemory, Identity, MaskAnswer, Query, Source, WholeList, Word, WordKind,
};

/// The state after the operations so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    edges: BTreeMap<(ChainId, Identity), Edge>,
    vertices: BTreeMap<ImageId, u64>,
}

/// Some images of a state, as a source of whole lists.
#[derive(Clone, Debug)]
pub(crate) struct WholeImages {
    pub(crate) state: Model,
    pub(crate) images: BTreeSet<ImageId>,
}

/// A list of a state. If only its length was requested, it has no edges.
#[derive(Clone, Debug)]
pub(crate) struct ModelList<'s> {
    edges: Vec<(LocalVertex, ItemRef<'s>)>,
    degree: u64,
}

impl Model {
    /// Applies an operation.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Vertex { image, local, exists } => {
                let mask = self.vertices.entry(*image).or_default();
                *mask = if *exists { *mask | local.bit() } else { *mask & !local.bit() };
            }
            Change::Edge { chain, at, kind, edge } => match kind {
                WordKind::Put => drop(self.edges.insert((*chain, *at), edge.clone())),
                WordKind::PutIfAbsent => drop(self.edges.entry((*chain, *at)).or_insert(edge.clone())),
                WordKind::Remove => drop(self.edges.remove(&(*chain, *at))),
            },
        }
    }

    /// Returns the existing vertices of an image of the default label.
    pub(crate) fn mask(&self, image: ImageId) -> u64 {
        self.vertices.get(&image).copied().unwrap_or(0)
    }

    /// Returns the edges of a chain, ascending.
    pub(crate) fn edges(&self, chain: ChainId) -> impl Iterator<Item = (Identity, &Edge)> {
        let of_chain = self.edges.iter().filter(move |((of, _), _)| *of == chain);
        of_chain.map(|((_, at), edge)| (*at, edge))
    }
}

impl<'s> Source<'s> for &'s WholeImages {
    type Whole = ModelList<'s>;

    /// Returns the whole list of the vertex even if only some of its edges are requested, as images may.
    fn answer(&self, query: &Query, _: HasMemory<'_>) -> Result<Answer<'s, ModelList<'s>>, TierError> {
        if !self.images.contains(&query.chain.image) {
            return Ok(Answer::Nothing);
        }
        let extent = match query.extent {
            Extent::Near(local, _) | Extent::Edge(Identity { local, .. }) => Extent::List(local),
            extent => extent,
        };
        let (state, mut edges): (&'s Model, _) = (&self.state, Vec::new());
        for (at, edge) in state.edges(query.chain).filter(|(at, _)| extent.has(*at)) {
            let Word { local, item, .. } = edge.word(at, WordKind::Put);
            edges.push((local, item));
        }
        let degree = edges.len() as u64;
        if let Extent::Degree(_) = query.extent {
            edges.clear();
        }
        Ok(Answer::Whole(ModelList { edges, degree }))
    }

    fn mask(&self, image: ImageId, _: HasMemory<'_>) -> Result<MaskAnswer, TierError> {
        let is_there = self.images.contains(&image);
        Ok(if is_there { MaskAnswer::Whole(self.state.mask(image)) } else { MaskAnswer::Nothing })
    }
}

impl WholeList for ModelList<'_> {
    fn for_each(&self, mut f: impl FnMut(LocalVertex, ItemRef<'_>)) {
        self.edges.iter().for_each(|(local, item)| f(*local, *item));
    }

    fn degree(&self, _: LocalVertex) -> u64 {
        self.degree
    }
}
