//! Parts of a graph with about equally many vertices and edges, for scans side by side.

use std::ops::Range;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_core::{SUBGRAPH_VERTICES, SubgraphId, VertexId};

use crate::read::snapshot::Snapshot;

impl Snapshot {
    /// Divides the vertices into ranges of ids, such that the vertices and edges of each range are about
    /// equally many: at most `parts`, fewer if there are few vertices. Together they have all vertices.
    /// Several threads can scan a range each. O(subgraphs) for each label, and a read of the directory of
    /// each page that is not in memory.
    ///
    /// ```
    /// use hedgerow::{EdgeSelection, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&(0..500).map(|id| (id, id + 1)).collect::<Vec<_>>())?;
    /// let (snapshot, mut edges) = (graph.snapshot()?, 0);
    /// for sources in snapshot.partitions(3)? {
    ///     let mut scan = snapshot.scan_edges(&EdgeSelection::all())?.within(sources);
    ///     while scan.next_source(|_| edges += 1)? {}
    /// }
    /// assert_eq!(edges, 500);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] if `parts` is 0; the errors of every [read](Self).
    pub fn partitions(&self, parts: usize) -> Result<Vec<Range<VertexId>>> {
        if parts == 0 {
            return Err(ArgumentError::Invalid("0 parts: a graph has at least one".to_owned()).into());
        }
        let vertices = self.census()?;
        let labels = self.label_ids().filter(|&label| self.engine().pager.table(label).is_some());
        let labels = labels.map(|label| self.census_of(label, vertices)).collect::<Result<Vec<_>>>()?;
        let (bound, subgraphs) = (self.engine().keys.ids.bound(), self.engine().keys.ids.bound.subgraphs());
        let weight = |id: u32| {
            let edges: usize = labels.iter().map(|census| census.mean(SubgraphId(id))).sum();
            u64::from(vertices.present(SubgraphId(id)).count_ones()) * (1 + edges as u64)
        };
        let mut left: u64 = (0..subgraphs).map(weight).sum();
        let (mut ranges, mut start, mut taken) = (Vec::new(), 0, 0);
        for id in 0..subgraphs {
            taken += weight(id);
            // A range ends with its share of what is left; the last one has the rest.
            let shares = (parts - ranges.len()) as u64;
            if shares > 1 && taken > 0 && taken >= left.div_ceil(shares) && taken < left {
                let end = VertexId(((id + 1) * SUBGRAPH_VERTICES as u32).min(bound));
                ranges.push(VertexId(start)..end);
                (start, left, taken) = (end.0, left - taken, 0);
            }
        }
        if start < bound {
            ranges.push(VertexId(start)..VertexId(bound));
        }
        Ok(ranges)
    }
}
