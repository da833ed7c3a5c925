//! Keys that are in segments and not yet known to memory. They are learned one by one from the key indexes,
//! or page by page (`docs/design/stored-keys.md`).
//!
//! Memory never forgets what it knows of an id (`KeyTable::knows`), and every change makes the id known. So
//! while memory does not know an id, its binding in segments is valid. It is the binding at the opening of
//! the store, even in a segment that was written later.

use std::collections::HashMap;

use hedgerow_catalog::error::{Error, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{
    GraphConfig, KeyKind, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey,
    VertexKeyRef,
};
use hedgerow_mem::table::PAGE;
use hedgerow_tier::{ImageKeys, PageId, SubgraphKeys};
use rayon::prelude::*;

use super::fits::fits_kind;
use super::install::{invalid, vertices_below};
use crate::ids::IdMap;
use crate::sources::Sources;

/// The least bytes of a key in memory: a number takes them, in its row and in the index.
pub const KEY_BYTES: u64 = 19;

/// A key, and the vertex that it names.
pub type Binding<'k> = (VertexKeyRef<'k>, VertexId);

/// A reader that brings keys from segments into the id map. Never used with a latch, or in a walk over
/// versions.
pub struct StoredKeys<'a> {
    /// The keys and ids in memory.
    pub ids: &'a IdMap,
    /// The segments.
    pub sources: &'a Sources,
    /// The schema of the open store.
    pub schema: &'a Schema,
    /// The configuration of the graph.
    pub config: GraphConfig,
}

impl StoredKeys<'_> {
    /// Makes memory learn the binding of a key. Reads a block of each segment, newest first, until one has
    /// the key.
    ///
    /// # Errors
    /// Damage, the system's errors.
    pub fn learn(&self, key: VertexKeyRef<'_>) -> Result<()> {
        if !fits_kind(self.schema, self.config.keys, key) {
            return Ok(());
        }
        if let Some(id) = self.find(key)? {
            self.ids.learn(self.ids.latch_of(key), [(key, id)]);
        }
        Ok(())
    }

    /// Returns the vertex that segments name for a key of an existing kind. Reads a block of each segment,
    /// newest first, until one has the key.
    ///
    /// # Errors
    /// Damage, the system's errors.
    pub fn find(&self, key: VertexKeyRef<'_>) -> Result<Option<VertexId>> {
        match self.sources.find_key(key)? {
            Some((id, file)) if id.0 >= self.ids.bound() => {
                Err(invalid(file, "a vertex beyond the bound of the manifest"))
            }
            found => Ok(found.map(|(id, _)| id)),
        }
    }

    /// Finds in segments the keys of the vertices `ids`, ascending, of a page of the default label. Reads a
    /// directory of each segment that has the page, and the blocks from the first to the last of their
    /// subgraphs.
    pub(crate) fn find_keys(
        &self,
        page: PageId,
        ids: &[VertexId],
        to: &mut HashMap<VertexId, VertexKey>,
    ) -> Result<()> {
        let wanted = ids.iter().fold(0, |mask: u64, id| mask | 1 << (id.subgraph().index() % PAGE));
        self.sources.read_keys((page, wanted), |keys, file| {
            vertices_below(self.ids.bound(), (keys.id, keys.present), file)?;
            let mut bindings = Vec::new();
            add_bindings(
                (self.schema, self.config),
                (keys.id, keys.present),
                &keys.keys,
                file,
                &mut bindings,
            )?;
            let wanted = bindings.into_iter().filter(|(_, id)| ids.binary_search(id).is_ok());
            to.extend(wanted.map(|(key, id)| (id, key.to_owned())));
            Ok(())
        })
    }

    /// Makes memory learn the keys of a page of the default label. O(vertices of the page).
    pub(crate) fn learn_page(&self, page: PageId) -> Result<()> {
        let mut found: Vec<(SubgraphKeys, &str)> = Vec::with_capacity(SUBGRAPH_VERTICES);
        self.sources.read_keys((page, u64::MAX), |keys, file| {
            vertices_below(self.ids.bound(), (keys.id, keys.present), file)?;
            found.push((keys, file));
            Ok::<_, Error>(())
        })?;
        let mut bindings = Vec::new();
        for (SubgraphKeys { id, present, keys }, file) in &found {
            add_bindings((self.schema, self.config), (*id, *present), keys, file, &mut bindings)?;
        }
        let mut latched: Vec<(usize, Binding<'_>)> =
            bindings.into_iter().map(|binding| (self.ids.latch_of(binding.0), binding)).collect();
        latched.sort_unstable_by_key(|(latch, _)| *latch);
        for group in latched.chunk_by(|a, b| a.0 == b.0) {
            self.ids.learn(group[0].0, group.iter().map(|(_, binding)| *binding));
        }
        Ok(())
    }

    /// Makes memory learn all keys. O(vertices), page by page in parallel.
    ///
    /// # Errors
    /// Damage, the system's errors.
    pub fn learn_all(&self) -> Result<()> {
        let pages: Vec<PageId> =
            self.sources.pages().into_iter().filter(|page| page.label == LabelId::DEFAULT).collect();
        hedgerow_par::try_for_each(pages.par_iter(), |page| self.learn_page(*page))?;
        self.ids.stored.note_all_known();
        Ok(())
    }
}

/// Adds the keys of the vertices that are `present` in a subgraph, if they fit the graph; none if ids are
/// dense.
///
/// # Errors
/// Damage, if the keys do not fit the graph.
pub fn add_bindings<'k>(
    (schema, config): (&Schema, GraphConfig),
    (id, present): (SubgraphId, u64),
    keys: &'k ImageKeys,
    file: &str,
    to: &mut Vec<Binding<'k>>,
) -> Result<()> {
    let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
    let mut live = locals.filter(|l| present & l.bit() != 0).map(|l| id.vertex(l));
    let wrong = || invalid(file, "the keys do not fit the graph");
    let mut add = |key: VertexKeyRef<'k>| live.next().map(|id| to.push((key, id))).ok_or_else(wrong);
    match (keys, config.keys) {
        (ImageKeys::Dense, KeyKind::Dense) => Ok(()),
        _ if present == 0 => Ok(()),
        (ImageKeys::U64(keys), KeyKind::U64) => keys.iter().try_for_each(|&n| add(VertexKeyRef::U64(n))),
        (ImageKeys::Str(keys), KeyKind::Str) => keys.iter().try_for_each(|s| add(VertexKeyRef::Str(s))),
        (ImageKeys::Kinds(keys), _) => keys
            .iter()
            .map(VertexKey::as_ref)
            .try_for_each(|key| if fits_kind(schema, config.keys, key) { add(key) } else { Err(wrong()) }),
        _ => Err(wrong()),
    }
}
