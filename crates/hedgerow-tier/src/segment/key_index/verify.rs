//! The comparison of a segment's key index with its images.

use std::hash::{BuildHasher, RandomState};

use hedgerow_core::{KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, VertexId, VertexKey, VertexKeyRef};
use hedgerow_io::StoreId;

use super::KeyIndex;
use super::entry::{Entry, hash_of};
use crate::TierError;
use crate::segment::image::ImageKeys;
use crate::segment::page_keys::SubgraphKeys;
use crate::segment::paged::PagedSegment;

/// A key, by its hash and kind, and the vertex that it names.
type Binding = (u64, VertexId, KindId);

impl PagedSegment {
    /// Reads the head of the key index; `None` if there is no index.
    pub(in crate::segment) fn key_index(&self) -> Result<Option<KeyIndex>, TierError> {
        KeyIndex::open(self.source(), self.footer(), self.pages())
    }

    /// Compares the index with the keys of all images, without storing either: the sums of the fingerprints
    /// of all bindings must be equal. The fingerprints are keyed with random numbers of the process, so
    /// different bindings have the same sum with a probability of 2^-128.
    pub(in crate::segment) fn verify_keys(&self, index: &KeyIndex, store: StoreId) -> Result<(), TierError> {
        let head = self.footer().key_head.unwrap_or(0);
        let differ = || self.source().invalid(head, "the key index differs from the images");
        let fingerprints = RandomState::new();
        let (mut told, mut found, mut is_sound) = (0, 0, true);
        let mut last: Option<Binding> = None;
        index.for_each(self.source(), |entry| {
            let binding = (entry.hash, entry.id, entry.kind);
            let names_another = last.is_some_and(|last| (last.0, last.2) == (entry.hash, entry.kind));
            is_sound &= has_its_hash(store, entry) && !names_another && last < Some(binding);
            told = fingerprint(&fingerprints, binding).wrapping_add(told);
            last = Some(binding);
        })?;
        for (page, _) in self.pages().iter().enumerate().filter(|(_, page)| page.id.label == LabelId::DEFAULT)
        {
            self.read_keys(
                page,
                |_| true,
                |keys| {
                    each_binding(&keys, |key, id| {
                        let binding = (hash_of(store, key), id, key.kind());
                        found = fingerprint(&fingerprints, binding).wrapping_add(found);
                    });
                    is_sound &= index.has_vertices_of(keys.id);
                    Ok::<(), TierError>(())
                },
            )?;
        }
        if is_sound && told == found { Ok(()) } else { Err(differ()) }
    }
}

fn fingerprint(key: &RandomState, binding: Binding) -> u128 {
    let half = |which: u8| u128::from(key.hash_one((which, binding)));
    half(0) << 64 | half(1)
}

/// True if the entry of a text has the hash of the text. Always true for a number, which is computed from its
/// hash.
fn has_its_hash(store: StoreId, entry: &Entry<'_>) -> bool {
    entry.text.is_none_or(|text| hash_of(store, entry.kind.key(text)) == entry.hash)
}

fn each_binding(keys: &SubgraphKeys, mut f: impl FnMut(VertexKeyRef<'_>, VertexId)) {
    let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
    let live = locals.filter(|local| keys.present & local.bit() != 0);
    let ids = live.map(|local| keys.id.vertex(local));
    match &keys.keys {
        ImageKeys::Dense => {}
        ImageKeys::U64(keys) => ids.zip(keys).for_each(|(id, &n)| f(VertexKeyRef::U64(n), id)),
        ImageKeys::Str(keys) => ids.zip(keys).for_each(|(id, text)| f(VertexKeyRef::Str(text), id)),
        ImageKeys::Kinds(keys) => {
            ids.zip(keys.iter().map(VertexKey::as_ref)).for_each(|(id, key)| f(key, id))
        }
    }
}
