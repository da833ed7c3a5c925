//! Reads of one edge, and of one degree, over the default label.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, Resident, VertexId, VertexKeyRef, WeightedTopology};
use hedgerow_mem::keys::Moment;
use hedgerow_mem::version::Read;
use hedgerow_mem::{Hold, Subgraph};
use hedgerow_pager::pager::pages::Wanted;

use crate::read::snapshot::Snapshot;
use crate::read::view_demand::cost;

impl Snapshot {
    /// Looks up the ids of both ends. At the same time prefetches the source's list, which is read next.
    #[inline]
    pub(super) fn look_up_edge(
        &self,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
    ) -> Result<[Option<VertexId>; 2]> {
        let engine = self.engine();
        let likely = |moment, at, id: VertexId| {
            if at == 0
                && let Some(subgraph) = engine.pager.subgraphs.get(id.subgraph(), Hold::none())
            {
                match moment {
                    Moment::RowSought => subgraph.prefetch_header(),
                    Moment::RowHere => subgraph.prefetch_head(Direction::Out, id.local()),
                }
            }
        };
        engine.keys.vertices_to_read(&engine.pager, [src, dst], self.timestamp(), likely)
    }

    /// Does what [`DefaultLabel::weight`](crate::DefaultLabel::weight) says. In a graph without weights it
    /// reads the view if there is one.
    pub(crate) fn weight_by_id(&self, src: VertexId, dst: VertexId) -> Result<Option<f64>> {
        if let Some(view) = self.made_view()
            && !view.has_weights()
        {
            return Ok(view.neighbors(src, Direction::Out).contains_near(dst, self.hint()).then_some(1.0));
        }
        let found = self.weight_in_chain(src, dst)?;
        // Reads that a view cannot answer do not count as a reason to make one.
        if !self.engine().catalog.config.weighted {
            self.note_read(cost::EDGE);
        }
        Ok(found)
    }

    #[inline]
    fn weight_in_chain(&self, src: VertexId, dst: VertexId) -> Result<Option<f64>> {
        let weight =
            |entry: &Subgraph| entry.edge(Direction::Out, self.timestamp(), src.local(), dst, self.hint());
        // Reads of files are in a separate function, as for a degree.
        match self.engine().pager.subgraphs.get(src.subgraph(), Hold::none()).map(weight) {
            Some(Ok(found)) => Ok(found),
            _ => self.weight_out_of_memory(src, dst),
        }
    }

    #[cold]
    #[inline(never)]
    fn weight_out_of_memory(&self, src: VertexId, dst: VertexId) -> Result<Option<f64>> {
        let wanted = Wanted::edge(LabelId::DEFAULT, src, Direction::Out, dst);
        let found = self.engine().pager.read_list((wanted, self.timestamp()), |entry| {
            entry.edge(Direction::Out, self.timestamp(), src.local(), dst, self.hint())
        })?;
        Ok(found.flatten())
    }

    /// Does what [`DefaultLabel::contains_edge`](crate::DefaultLabel::contains_edge) says.
    #[inline]
    pub(crate) fn contains_edge_by_id(&self, src: VertexId, dst: VertexId) -> Result<bool> {
        if let Some(view) = self.made_view() {
            return Ok(view.neighbors(src, Direction::Out).contains_near(dst, self.hint()));
        }
        let found = self.weight_in_chain(src, dst)?.is_some();
        self.note_read(cost::EDGE);
        Ok(found)
    }

    /// Does what [`DefaultLabel::degree`](crate::DefaultLabel::degree) says.
    #[inline]
    pub(crate) fn degree_by_id(&self, id: VertexId, direction: Direction) -> Result<usize> {
        if let Some(view) = self.made_view() {
            return Ok(view.degree(id, direction));
        }
        if self.has_to_search(direction) {
            return self.degree_by_label(LabelId::DEFAULT, id, direction);
        }
        let read = |read: Read<'_>| (read.degree(id.local()), read.delta_len() > 0);
        let stored = self.stored(direction);
        // Loads are in a separate function: this is the shortest of all reads.
        let subgraph = self.engine().pager.subgraphs.get(id.subgraph(), Hold::none());
        let (degree, beside_delta) = match subgraph.map(|entry| entry.read(stored, self.timestamp(), read)) {
            Some(Ok(found)) => found.unwrap_or_default(),
            _ => self.degree_out_of_memory(id, stored)?,
        };
        self.note_read(if beside_delta { cost::DEGREE_BESIDE_DELTA } else { cost::DEGREE });
        Ok(degree)
    }

    #[cold]
    #[inline(never)]
    fn degree_out_of_memory(&self, id: VertexId, stored: Direction) -> Result<(usize, bool)> {
        self.engine().pager.read_degree((LabelId::DEFAULT, id, stored), self.timestamp())
    }
}
