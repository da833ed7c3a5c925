//! The method `Database.remove_edges_where`.

use hedgerow::RemoveOptions;
use pyo3::prelude::*;

use crate::database::Database;
use crate::error::{DataError, raise};
use crate::heap::Keeping;
use crate::key::count;
use crate::pool::cancellable;
use crate::selection::{Chosen, Labels, RankRange, Where};

#[pymethods]
impl Database {
    /// Remove the edges of a label that meet a condition, in batches.
    ///
    /// Each batch is a transaction, but the whole call is not. If it fails, or Ctrl-C ends it, the edges of
    /// committed batches stay removed. A snapshot that is opened meanwhile sees the batches committed so far.
    /// Each removed edge meets the condition when its batch commits. Edges that other transactions add during
    /// the call may or may not be removed. No vertex is removed. The call reads all edges of the label.
    ///
    /// Parameters
    /// ----------
    /// label : str or sequence of str
    ///     The label of the edges, or several; ``""`` is the default one.
    /// rank_range, where : optional
    ///     The condition for an edge to be removed, as in ``neighbors``; at least one of these two is
    ///     required.
    /// batch : int
    ///     The maximal number of edges that one transaction removes.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of edges that were removed.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     There is no condition; or none of the labels has the property; or its type differs from the
    ///     value's.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_label("saw", multi=True)
    /// >>> db.add_edges([1, 1, 1], [2, 2, 3], label="saw", ranks=[10, 20, 30])
    /// 3
    /// >>> db.remove_edges_where("saw", rank_range=(None, 25))
    /// 2
    /// >>> db.snapshot().neighbors(1, label="saw")
    /// [3]
    #[pyo3(signature = (label, *, rank_range=None, r#where=None, batch=None), text_signature = "($self, label, *, rank_range=None, where=None, batch=65536)")]
    fn remove_edges_where(
        &self,
        py: Python<'_>,
        label: Labels,
        rank_range: Option<RankRange>,
        r#where: Option<Where>,
        batch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let _keeping = Keeping::begin();
        let batch = batch.map_or(Ok(1 << 16), |batch| count("batch", batch, 1))? as usize;
        let graph = self.handle.graph()?;
        if rank_range.is_none() && r#where.is_none() {
            let what = "remove_edges_where needs a condition, rank_range= or where=; rank_range=(None, None) removes all edges of the label";
            return Err(DataError::new_err(what));
        }
        let chosen = Chosen::new(&self.handle, &graph.schema(), Some(label), rank_range, r#where)?;
        let removed = cancellable(py, &self.handle, move |cancel| {
            let until = || cancel.poll();
            graph.remove_edges_where(&chosen.selection(), RemoveOptions::new().batch(batch).until(&until))
        })?;
        removed.map_err(raise)
    }
}
