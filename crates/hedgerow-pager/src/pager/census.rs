//! The existing vertices, and estimates of the number of their edges. Kernels ask for both without a read, so
//! they are read once and kept.

use hedgerow_catalog::error::Result;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LabelId, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_tier::PageId;
use rayon::prelude::*;

use crate::pager::Pager;
use crate::pager::pages::{places, places_below};

/// The existing vertices of a label as of one timestamp, by page. Pages without vertices have no entry.
pub struct Census {
    pages: Vec<Option<Box<PageCensus>>>,
    /// The number of entries of all outgoing lists.
    entries: u64,
    _charge: Charge,
}

struct PageCensus {
    /// The existing vertices of each subgraph, whatever their labels.
    present: [u64; PAGE],
    /// The mean number of outgoing edges of the label, for the vertices of each subgraph.
    means: [u32; PAGE],
}

/// The existing vertices of each subgraph of a page, from its chain of the default label, and the number of
/// entries of its outgoing lists.
type Counted = [(u64, u64); PAGE];

impl Census {
    /// Takes the census of the default label, whose chains show which vertices exist, at a registered
    /// timestamp. For data that is not in memory it reads directories: one read for each page and each
    /// segment with the page. O(subgraphs); in parallel on the current rayon pool.
    ///
    /// # Errors
    /// The errors of every read of a file.
    pub fn of_default(pager: &Pager, ts: Timestamp, bound: u32) -> Result<Census> {
        Census::of(pager, LabelId::DEFAULT, ts, bound, |_, counted| counted.map(|(present, _)| present))
    }

    /// Takes the census of another label, otherwise like [`of_default`](Self::of_default).
    ///
    /// # Errors
    /// Those of [`of_default`](Self::of_default).
    pub fn of_label(
        pager: &Pager,
        label: LabelId,
        ts: Timestamp,
        bound: u32,
        vertices: &Census,
    ) -> Result<Census> {
        Census::of(pager, label, ts, bound, |page, _| {
            vertices.page(page).map_or([0; PAGE], |page| page.present)
        })
    }

    fn of(
        pager: &Pager,
        label: LabelId,
        ts: Timestamp,
        bound: u32,
        present: impl Fn(u32, &Counted) -> [u64; PAGE] + Sync,
    ) -> Result<Census> {
        let pages = 0..bound.div_ceil((SUBGRAPH_VERTICES * PAGE) as u32);
        // Few results: after a far id almost all pages are absent.
        let parts = hedgerow_par::fold(
            pages.into_par_iter(),
            || Ok((0, Vec::new())),
            |found: Result<(u64, Vec<Option<Box<PageCensus>>>)>, page| {
                let (entries, mut pages) = found?;
                let counted = count(pager, PageId { label, page }, ts, bound)?;
                let present = present(page, &counted);
                let of_page: u64 = counted.iter().map(|(_, entries)| entries).sum();
                let mean = |at: usize| counted[at].1.div_ceil(u64::from(present[at].count_ones()).max(1));
                let means = std::array::from_fn(|at| u32::try_from(mean(at)).unwrap_or(u32::MAX));
                let is_empty = present == [0; PAGE] && of_page == 0;
                pages.push((!is_empty).then(|| Box::new(PageCensus { present, means })));
                Ok((entries + of_page, pages))
            },
        );
        let count = parts.iter().flatten().map(|(_, pages)| pages.len()).sum();
        let (mut entries, mut pages) = (0, Vec::with_capacity(count));
        for part in parts {
            let (more, mut of_part) = part?;
            entries += more;
            pages.append(&mut of_part);
        }
        let bytes = size_of_val(&pages[..]) + pages.iter().flatten().count() * size_of::<PageCensus>();
        let charge = Charge::new(pager.account(), Purpose::Views, bytes);
        Ok(Census { pages, entries, _charge: charge })
    }

    fn page(&self, page: u32) -> Option<&PageCensus> {
        self.pages.get(page as usize)?.as_deref()
    }

    /// True if a page has vertices. O(1).
    pub fn has_page(&self, page: u32) -> bool {
        self.page(page).is_some()
    }

    /// Returns the vertices of a subgraph that exist. O(1).
    #[inline]
    pub fn present(&self, id: SubgraphId) -> u64 {
        self.page(id.0 / PAGE as u32).map_or(0, |page| page.present[id.index() % PAGE])
    }

    /// Returns the mean number of outgoing edges of a subgraph's vertices. O(1).
    #[inline]
    pub fn mean(&self, id: SubgraphId) -> usize {
        self.page(id.0 / PAGE as u32).map_or(0, |page| page.means[id.index() % PAGE] as usize)
    }

    /// Returns the number of entries of all outgoing lists. O(1).
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the vertices that exist, ascending.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        let pages = (0u32..).zip(&self.pages).filter_map(|(at, page)| Some((at, page.as_deref()?)));
        let subgraphs = pages.flat_map(|(at, page)| (at * PAGE as u32..).map(SubgraphId).zip(page.present));
        subgraphs
            .flat_map(|(id, present)| places(present).map(move |local| VertexId(id.0 << 6 | local as u32)))
    }
}

/// Returns the existing vertices of each subgraph of a page, as the census of the default label has them.
pub(crate) fn present_on(pager: &Pager, page: u32, ts: Timestamp, bound: u32) -> Result<[u64; PAGE]> {
    let counted = count(pager, PageId { label: LabelId::DEFAULT, page }, ts, bound)?;
    Ok(counted.map(|(present, _)| present))
}

/// Counts the vertices and entries of each subgraph of a page. Ignores vertices that a damaged directory
/// names beyond the bound, since kernels have arrays only up to the bound. A read of such an image fails.
fn count(pager: &Pager, page: PageId, ts: Timestamp, bound: u32) -> Result<Counted> {
    let mut found = [(0, 0); PAGE];
    let cold = pager.read_in_memory(page, u64::MAX, ts, |place, subgraph| {
        let of = subgraph.read(Direction::Out, ts, |read| (read.present(), read.edge_entries()))?;
        found[place % PAGE] = of.unwrap_or_default();
        Ok(())
    })?;
    if let Some(cold) = cold {
        for summary in cold.summaries()? {
            let id = SubgraphId(page.page * PAGE as u32 + summary.place as u32);
            found[summary.place % PAGE] = (summary.present & places_below(bound, id), summary.edges);
        }
    }
    Ok(found)
}
