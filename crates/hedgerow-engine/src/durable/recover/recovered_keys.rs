//! Keys and ids when a store is opened: the vertices that exist, the keys that the log needs, and the ids
//! without a vertex.
//!
//! If all segments have key indexes no key is read: memory learns keys when they are looked up. Else all keys
//! are bound at once.

use hedgerow_catalog::error::{Error, Result};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{
    KeyKind, LabelId, LocalVertex, Op, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId, VertexKeyRef,
};
use hedgerow_mem::Hold;
use hedgerow_pager::Sources;
use hedgerow_pager::ids::stored::Stored;
use hedgerow_pager::limits::fits_limit;
use hedgerow_pager::pager::pages::{Binding, KEY_BYTES, StoredKeys, add_bindings, invalid, vertices_below};
use hedgerow_tier::{ImageKeys, PageId, SubgraphKeys};
use rayon::prelude::*;

use super::Loaded;

impl Loaded {
    /// Finds out which vertices exist, and binds their keys if segments have no key index. O(pages), or
    /// O(vertices).
    pub(super) fn load_keys(&mut self, sources: &Sources, bound: u32, manifest_file: &str) -> Result<()> {
        let wrong_count =
            || invalid(manifest_file, "two vertices have the same key, or their count is wrong");
        if !sources.have_key_indexes() {
            let account = self.subgraphs.memory().account();
            fits_limit(account, self.counts.vertices.saturating_mul(KEY_BYTES))?;
            self.living = self.each_page(|page| self.bind_keys_of(sources, page))?;
            let keys = self.ids.bound_keys().map(|keys| keys as u64);
            return if keys == Some(self.counts.vertices) { Ok(()) } else { Err(wrong_count()) };
        }
        self.living = self.each_page(|page| living(sources, page, bound, manifest_file))?;
        let vertices: u64 = self.living.iter().map(|(_, present)| u64::from(present.count_ones())).sum();
        if vertices != self.counts.vertices {
            return Err(wrong_count());
        }
        for (id, present) in &self.living {
            self.include(*id, *present);
        }
        self.ids.stored = Stored::new(vertices, self.checkpoint);
        Ok(())
    }

    /// Calls `f` for each page of the default label, and returns the results in no order.
    fn each_page(
        &self,
        f: impl Fn(PageId) -> Result<Vec<(SubgraphId, u64)>> + Sync + Send,
    ) -> Result<Vec<(SubgraphId, u64)>> {
        let page_of = |page: usize| PageId { label: LabelId::DEFAULT, page: page as u32 };
        let pages: Vec<PageId> = self.subgraphs.unloaded().map(page_of).collect();
        let all = Mutex::new(Vec::new());
        hedgerow_par::try_for_each(pages.par_iter(), |page| {
            let found = f(*page)?;
            all.lock().extend(found);
            Ok::<(), Error>(())
        })?;
        Ok(std::mem::take(&mut *all.lock()))
    }

    /// Makes room for the ids of the existing vertices of a subgraph.
    fn include(&self, id: SubgraphId, present: u64) {
        if let Some(last) = present.checked_ilog2() {
            self.ids.include(id.vertex(LocalVertex(last as u8)));
        }
    }

    /// Binds the keys of a page; returns the vertices that its subgraphs have.
    fn bind_keys_of(&self, sources: &Sources, page: PageId) -> Result<Vec<(SubgraphId, u64)>> {
        let mut found: Vec<(SubgraphKeys, &str)> = Vec::with_capacity(SUBGRAPH_VERTICES);
        sources.read_keys((page, u64::MAX), |keys, file| {
            self.pages.installer(&self.subgraphs).check_vertices((keys.id, keys.present), file)?;
            found.push((keys, file));
            Ok::<_, Error>(())
        })?;
        let mut bindings = Vec::new();
        for (SubgraphKeys { id, present, keys }, file) in &found {
            add_bindings((&self.schema, self.config), (*id, *present), keys, file, &mut bindings)?;
        }
        self.bind(bindings);
        Ok(found.into_iter().map(|(keys, _)| (keys.id, keys.present)).collect())
    }

    /// Binds the keys of the vertices of an image, whose ids were checked against the bound.
    pub(super) fn bind_keys(&self, vertices: (SubgraphId, u64), keys: &ImageKeys, file: &str) -> Result<()> {
        self.include(vertices.0, vertices.1);
        let mut bindings = Vec::new();
        add_bindings((&self.schema, self.config), vertices, keys, file, &mut bindings)?;
        self.bind(bindings);
        Ok(())
    }

    fn bind(&self, bindings: Vec<Binding<'_>>) {
        self.ids.bind_all(bindings.into_iter(), self.checkpoint, Timestamp::INFINITY);
    }

    /// Makes memory learn the key that an operation binds, so that replay sees if the key names a vertex
    /// already. Once that costs no more than the look-ups so far, learns all keys, if the memory limit has
    /// room for them.
    pub(super) fn learn_keys_of(&self, op: &Op<'_>) -> Result<()> {
        match op {
            Op::InsertVertex { key, .. } if !self.ids.stored.all_known() => self.learn(*key),
            _ => Ok(()),
        }
    }

    #[cold]
    fn learn(&self, key: VertexKeyRef<'_>) -> Result<()> {
        if self.ids.lookup(key, Timestamp(u64::MAX - 1)).is_some() {
            return Ok(());
        }
        let sources = self.pages.sources();
        let (ids, schema, config) = (&self.ids, &self.schema, self.config);
        let stored = StoredKeys { ids, sources: &sources, schema, config };
        let account = self.subgraphs.memory().account();
        let bytes = account.used().saturating_add(self.ids.stored.count().saturating_mul(KEY_BYTES));
        if self.ids.stored.note_look() && fits_limit(account, bytes).is_ok() {
            return stored.learn_all();
        }
        stored.learn(key)
    }

    /// Frees the ids without a vertex after the replay. Pages in memory show which vertices exist; segments
    /// show it for other pages. O(vertices), however large their ids are.
    pub(crate) fn free_unused_ids(&mut self) {
        if self.config.keys == KeyKind::Dense {
            return;
        }
        let mut taken = std::mem::take(&mut self.living);
        taken.retain(|&(id, _)| self.subgraphs.find(id, Hold::none()).is_err());
        for id in self.subgraphs.existing() {
            taken.push((id, self.subgraphs.get(id, Hold::none()).map_or(0, |entry| entry.latch().present())));
        }
        taken.sort_unstable();
        let mut end = VertexId(self.ids.bound());
        for (id, present) in taken.into_iter().rev().filter(|&(_, present)| present != 0) {
            for local in (0..SUBGRAPH_VERTICES as u8).rev().map(LocalVertex) {
                if present & local.bit() != 0 {
                    let live = id.vertex(local);
                    if live.0 + 1 < end.0 {
                        self.ids.add_unused(VertexId(live.0 + 1), end);
                    }
                    end = live;
                }
            }
        }
        if end.0 > 0 {
            self.ids.add_unused(VertexId(0), end);
        }
        self.ids.forget_removed();
    }
}

/// Returns the vertices that the subgraphs of a page have, from directories.
fn living(
    sources: &Sources,
    page: PageId,
    bound: u32,
    manifest_file: &str,
) -> Result<Vec<(SubgraphId, u64)>> {
    let images = sources.summaries(page)?;
    images
        .into_iter()
        .map(|image| {
            let vertices = (image.id.subgraph, image.present);
            vertices_below(bound, vertices, manifest_file).map(|()| vertices)
        })
        .collect()
}
