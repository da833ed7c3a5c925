//! The method of `Snapshot` that reads the newest edges.

use hedgerow::{EdgeLimit, Limited};
use pyo3::prelude::*;

use crate::error::{DataError, raise};
use crate::first::limited;
use crate::key::{count, direction as one_direction};
use crate::neighbors::{Neighbor, Parts};
use crate::schema::Label;
use crate::snapshot::Snapshot;

#[pymethods]
impl Snapshot {
    /// The neighbors of a vertex over the edges of one label with the greatest ranks, by descending rank. If
    /// the ranks are times, these are the newest edges. The label must be ``multi``.
    ///
    /// The call compares all ranks in the list, which is ordered by neighbor. It reads properties only of the
    /// edges that it returns.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// label : str
    ///     The label of the edges, ``""`` for the default one.
    /// limit : int
    ///     The maximal number of edges to return.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; in an undirected graph these are the same.
    /// ranks, properties : bool
    ///     Return tuples of the neighbor and the requested attributes, in the order rank, properties as a
    ///     dict.
    ///
    /// Returns
    /// -------
    /// Limited
    ///     A list whose attribute ``more`` is True if there are older edges.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    /// DataError
    ///     The label is not ``multi``: its edges have no ranks. ``neighbors`` with ``limit`` returns the
    ///     first edges of any label.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_label("calls", multi=True)
    /// >>> with db.write() as tx:
    /// ...     for to, time in [(2, 50), (3, 90), (2, 70)]:
    /// ...         tx.put_edge(1, to, label="calls", rank=time, seconds=30)
    /// >>> db.snapshot().newest_neighbors(1, "calls", 2, ranks=True)
    /// [(3, 90), (2, 70)]
    #[pyo3(signature = (key, label, limit, direction="out", *, ranks=false, properties=false), text_signature = "($self, key, label, limit, direction='out', *, ranks=False, properties=False)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn newest_neighbors(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        label: Label<'_>,
        limit: &Bound<'_, PyAny>,
        direction: &str,
        ranks: bool,
        properties: bool,
    ) -> PyResult<Py<PyAny>> {
        let (key, direction) = (self.key(key)?, one_direction(direction)?);
        let (limit, reading) = (count("limit", limit, 0)? as usize, self.reading()?);
        let snapshot = &reading.snapshot;
        // Labels are those of the snapshot, as in `neighbors`.
        let schema = snapshot.schema();
        let of_label = schema.find_label(&*label).map_err(raise)?;
        if !of_label.is_multi() {
            let name: &str = &label;
            let what = format!(
                "label {name:?} is not multi: its edges have no ranks, and none of them is the newest; \
                 neighbors(..., label={name:?}, limit={limit}) gives the first ones"
            );
            return Err(DataError::new_err(what));
        }
        let label = of_label.name().to_string();
        let found = py.detach(|| {
            let wanted = EdgeLimit::newest(limit);
            let wanted = if properties { wanted } else { wanted.without_properties() };
            snapshot.first_edges(key.as_ref(), (label.as_str(), direction), wanted)
        });
        let Limited { found, more } = found.map_err(raise)?.ok_or_else(|| key.no_such_vertex(self))?;
        let found: Vec<Neighbor> = Neighbor::all(found);
        let found = Parts { labels: false, ranks, properties }.list(py, self, &found, |_| label.clone())?;
        limited(py, found, more)
    }
}
