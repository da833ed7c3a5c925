//! `Maintained`: an answer that is updated from snapshot to snapshot.

use std::sync::{Arc, Mutex};

use hedgerow::{Direction, Label, LabelId, LabelSnapshot, Topology, VertexId};
use hedgerow_core::Changing;
use hedgerow_kernels::KernelError;
use hedgerow_kernels::maintain::{Answer, Handle, Made};
use hedgerow_kernels::registry::{KERNELS, Kernel};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ending::released;
use crate::error::raise_kernel;
use crate::handle::{Origin, lock, own};
use crate::kernels::{no_such_kernel, some_vertices};
use crate::names::raise_run;
use crate::pool::cancellable;
use crate::results::Reading;
use crate::snapshot::Snapshot;

/// The kernels whose answers can be kept.
const KEPT: [&str; 4] = ["wcc", "tc", "pagerank", "degrees"];

/// An answer that is updated as the graph changes. Made by ``Database.maintain``.
///
/// ``at`` computes the answer from the last one and the changes after it, instead of the whole graph. The
/// object keeps the last snapshot open, and so old versions stay in memory; ``release`` closes it.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> db.add_edges([1, 3], [2, 4])
/// 2
/// >>> components = db.maintain("wcc")
/// >>> with db.snapshot() as g:
/// ...     len(set(components.at(g).values))
/// 2
/// >>> db.insert_edge(2, 3)
/// True
/// >>> with db.snapshot() as g:
/// ...     len(set(components.at(g).values)), components.made
/// (1, 'from 1 changes')
#[pyclass(frozen, module = "hedgerow")]
pub(crate) struct Maintained {
    origin: Origin,
    /// The kernel that computes the answer: ``wcc``, ``tc``, ``pagerank`` or ``degrees``.
    #[pyo3(get)]
    name: String,
    /// The label whose edges are followed; ``None`` for the edges without a label.
    #[pyo3(get)]
    label: Option<String>,
    label_id: LabelId,
    kept: Arc<Mutex<Handle<LabelSnapshot>>>,
    made: Mutex<Option<Made>>,
}

impl Maintained {
    pub(crate) fn new(origin: Origin, name: &str, label: &Label) -> PyResult<Maintained> {
        let kernels: Vec<&Kernel> =
            KERNELS.iter().copied().filter(|kernel| KEPT.contains(&kernel.name)).collect();
        let found = kernels.iter().find(|kernel| kernel.name == name || kernel.function == name);
        let name = found.ok_or_else(|| no_such_kernel(name, &kernels))?.name;
        let kept = Handle::new(name).map_err(raise_kernel)?;
        Ok(Maintained {
            origin,
            name: name.to_owned(),
            label: Some(label.name()).filter(|name| !name.is_empty()).map(|name| name.to_string()),
            label_id: label.id(),
            kept: Arc::new(Mutex::new(kept)),
            made: Mutex::default(),
        })
    }
}

#[pymethods]
impl Maintained {
    /// The answer about a snapshot. If Ctrl-C ends the call, the next answer is made from scratch. Calls from
    /// several threads wait for one another.
    ///
    /// Parameters
    /// ----------
    /// snapshot : Snapshot
    ///     A snapshot of the same database. If it is earlier than the last one, the answer is made from
    ///     scratch.
    ///
    /// Returns
    /// -------
    /// VertexResult, int or dict
    ///     The result of ``Snapshot.wcc`` or ``Snapshot.triangle_count``, or of ``Snapshot.pagerank`` with a
    ///     tolerance of 1e-6; for ``degrees`` a ``VertexResult`` for each direction, ``"out"`` and ``"in"``.
    fn at(&self, py: Python<'_>, snapshot: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.origin.check_process()?;
        let reading = snapshot.extract::<PyRef<'_, Snapshot>>()?.reading()?;
        let (kept, label, of) = (self.kept.clone(), self.label_id, reading.snapshot.clone());
        let answered = cancellable(py, &self.origin, move |cancel| {
            let of_label = LabelSnapshot::new(&of, label).map_err(KernelError::Topology)?;
            let mut kept = lock(&kept);
            let (values, made) =
                kept.at_until(&of_label, cancel).map(|(answer, made)| (Values::of(answer), made))?;
            let view = of_label.view().map_err(KernelError::Topology)?;
            Ok((values, some_vertices(&of, view.vertex_count(), view.vertices()), made))
        })?;
        let (values, vertices, made) = answered.map_err(|error| raise_run(&reading.snapshot, error))?;
        *lock(&self.made) = Some(made);
        values.to_object(py, &reading, vertices)
    }

    /// The way in which the last answer was computed: ``"from 12 changes"``, or ``"from scratch: ..."`` with
    /// the reason; ``None`` before the first one.
    #[getter]
    fn made(&self) -> PyResult<Option<String>> {
        self.origin.check_process()?;
        Ok(lock(&self.made).map(|made| match made {
            Made::FromChanges(changes) => format!("from {changes} changes"),
            Made::First => "from scratch: the first one".to_owned(),
            Made::NotLater => "from scratch: the snapshot is not later than the last one".to_owned(),
            Made::TooManyChanges(changes) => format!("from scratch: {changes} changes are too many"),
        }))
    }

    /// Drops the last answer and closes its snapshot, so that the next answer is made from scratch.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.origin.check_process()?;
        py.detach(|| lock(&self.kept).release());
        Ok(())
    }
}

impl Drop for Maintained {
    /// Does nothing in a forked child, where the state is the parent's.
    fn drop(&mut self) {
        if self.origin.is_forked() {
            std::mem::forget(self.kept.clone());
        } else if let Some(kept) = Arc::get_mut(&mut self.kept) {
            released(|| own(kept).release());
        }
    }
}

/// The values of an answer, without the state for updating it.
enum Values {
    Components(Vec<u32>),
    Count(u64),
    Scores(Vec<f64>),
    /// The outgoing and the incoming degrees.
    Degrees([Vec<u32>; 2]),
    /// A kind of answer that this package cannot convert.
    Unknown,
}

impl Values {
    fn of(answer: &Answer) -> Values {
        match answer {
            Answer::Components(kept) => Values::Components(kept.names().to_vec()),
            Answer::Triangles(kept) => Values::Count(kept.count()),
            Answer::Ranks(kept) => Values::Scores(kept.scores().to_vec()),
            Answer::Degrees(kept) => {
                Values::Degrees([Direction::Out, Direction::In].map(|direction| kept.of(direction).to_vec()))
            }
            _ => Values::Unknown,
        }
    }

    /// Returns the values for the given vertices; for all vertices if none are given.
    fn to_object(
        &self,
        py: Python<'_>,
        reading: &Reading,
        vertices: Option<Vec<VertexId>>,
    ) -> PyResult<Py<PyAny>> {
        let rows = || reading.rows(py, vertices);
        match self {
            Values::Components(names) => reading.vertex_per_vertex(py, &*rows()?, names),
            Values::Count(count) => Ok(count.into_pyobject(py)?.into_any().unbind()),
            Values::Scores(scores) => reading.per_vertex(py, &*rows()?, scores, |&score: &f64| score),
            Values::Degrees(degrees) => {
                let (both, rows) = (PyDict::new(py), rows()?);
                for (name, degrees) in ["out", "in"].into_iter().zip(degrees) {
                    let degree = |&degree: &u32| i64::from(degree);
                    both.set_item(name, reading.per_vertex(py, &rows, degrees, degree)?)?;
                }
                Ok(both.into_any().unbind())
            }
            Values::Unknown => Ok(py.None()),
        }
    }
}
