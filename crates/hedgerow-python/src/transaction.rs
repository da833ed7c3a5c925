//! `Transaction`: a write transaction.

use std::sync::{Arc, Mutex};

use hedgerow::{EdgeKey, Value, WriteTxn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::edge_arguments::{AnyEdge, Edge, Weight, edge_cells};
use crate::ending::released;
use crate::error::{DataError, ProgrammingError, raise};
use crate::handle::{Handle, lock, own};
use crate::key::{Key, direction};
use crate::names::raise_commit;
use crate::neighbors::{Neighbor, Parts};
use crate::schema;
use crate::schema::Label;
use crate::ticket::Ticket;
use crate::value::{Owner, read_cells, to_dict};

const ROLLED_BACK: &str = "rolled back";

/// The state of a transaction.
enum State {
    Active(Box<WriteTxn>),
    /// Used by a call that released the interpreter lock.
    Busy,
    /// Used as in `Busy`, but the call will roll it back: the block of the transaction has raised.
    Abandoned,
    /// Ended; the text states how.
    Done(&'static str),
}

/// A write transaction. Made by ``Database.write`` and ``Database.transact``.
///
/// It gathers operations. Its reads see its own writes and one snapshot. Its commit takes effect wholly or
/// not at all. Only one thread may use it at a time; a second thread gets ``ProgrammingError``.
///
/// Examples
/// --------
/// >>> import hedgerow
/// >>> db = hedgerow.open()
/// >>> with db.write() as tx:
/// ...     tx.put_edge(1, 2)
/// ...     tx.has_edge(1, 2)
/// True
/// >>> tx.put_edge(2, 3)
/// Traceback (most recent call last):
///     ...
/// hedgerow.ProgrammingError: the transaction was committed
#[pyclass(frozen, weakref, module = "hedgerow")]
pub(crate) struct Transaction {
    handle: Arc<Handle>,
    state: Mutex<State>,
}

impl Transaction {
    pub(crate) fn new(handle: &Arc<Handle>, txn: WriteTxn) -> Transaction {
        Transaction { handle: handle.clone(), state: Mutex::new(State::Active(Box::new(txn))) }
    }

    /// Runs `f` on the active transaction. `f` must not run Python code.
    fn with<T>(&self, f: impl FnOnce(&mut WriteTxn) -> hedgerow::Result<T>) -> PyResult<T> {
        self.handle.check_usable()?;
        let outcome = match &mut *lock(&self.state) {
            State::Active(txn) => Ok(f(txn)),
            State::Busy | State::Abandoned => Err(None),
            State::Done(how) => Err(Some(*how)),
        };
        // The lock is released before this: making an exception may run Python code.
        match outcome {
            Ok(result) => result.map_err(raise),
            Err(how) => Err(refused(how)),
        }
    }

    /// Takes the active transaction, and sets the state to `next`.
    fn take(&self, next: State) -> PyResult<Box<WriteTxn>> {
        let outcome = {
            let mut state = lock(&self.state);
            match std::mem::replace(&mut *state, next) {
                State::Active(txn) => Ok(txn),
                other => {
                    let how = if let State::Done(how) = &other { Some(*how) } else { None };
                    *state = other;
                    Err(how)
                }
            }
        };
        outcome.map_err(refused)
    }

    /// Stores the new state of a transaction that was busy.
    fn put_back(&self, py: Python<'_>, next: State) {
        let mut state = lock(&self.state);
        let abandoned = match (&*state, next) {
            (State::Abandoned, State::Active(txn)) => {
                *state = State::Done(ROLLED_BACK);
                Some(txn)
            }
            (_, next) => {
                *state = next;
                None
            }
        };
        drop(state);
        py.detach(|| drop(abandoned));
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `f`, which adds many operations, without the interpreter lock. Rolls back if `f` fails.
    pub(crate) fn bulk<T: Send>(
        &self,
        py: Python<'_>,
        failed: &'static str,
        f: impl FnOnce(&mut hedgerow::WriteTxn) -> hedgerow::Result<T> + Send,
    ) -> PyResult<T> {
        let mut txn = self.take(State::Busy)?;
        let (outcome, next) = py.detach(|| match f(&mut txn) {
            Ok(done) => (Ok(done), State::Active(txn)),
            Err(error) => {
                drop(txn);
                (Err(error), State::Done(failed))
            }
        });
        self.put_back(py, next);
        outcome.map_err(raise)
    }

    /// Rolls back, because a call failed that has added operations.
    pub(crate) fn fail(&self, py: Python<'_>, failed: &'static str) -> PyResult<()> {
        let txn = self.take(State::Busy)?;
        py.detach(|| drop(txn));
        self.put_back(py, State::Done(failed));
        Ok(())
    }

    fn key(&self, object: &Bound<'_, PyAny>) -> PyResult<Key> {
        self.handle.check_process()?;
        Key::read(self.handle.config.keys, &*self.handle, object)
    }

    /// Rolls the transaction back: immediately, or at the end of another thread's call that uses it.
    fn abandon(&self, py: Python<'_>) {
        let mut state = lock(&self.state);
        let next = match &*state {
            State::Active(_) => State::Done(ROLLED_BACK),
            State::Busy | State::Abandoned => State::Abandoned,
            State::Done(how) => State::Done(how),
        };
        let before = std::mem::replace(&mut *state, next);
        drop(state);
        py.detach(|| drop(before));
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(*lock(&self.state), State::Active(_))
    }
}

fn refused(how: Option<&'static str>) -> PyErr {
    match how {
        Some(how) => ProgrammingError::new_err(format!("the transaction was {how}")),
        None => ProgrammingError::new_err("the transaction is in use by another thread"),
    }
}

impl Drop for Transaction {
    /// Does nothing in a forked child, where the state is the parent's.
    fn drop(&mut self) {
        let state = std::mem::replace(own(&mut self.state), State::Busy);
        if self.handle.is_forked() {
            std::mem::forget(state);
        } else if let State::Active(txn) = state {
            released(|| drop(txn));
        }
    }
}

#[pymethods]
impl Transaction {
    /// Make sure that an edge and its endpoints exist. The call reads nothing, so it conflicts with no other
    /// transaction.
    ///
    /// Weight and properties of an existing edge are replaced. New labels and properties are defined; the
    /// first value of a property determines its type.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids, of the graph's type.
    /// weight : float, optional
    ///     The weight in a weighted graph; 1 if not given. With a label, the label's property ``weight``.
    /// label : str, optional
    ///     The class of the edge; the default label, ``""``, if not given. Each label has its own edges.
    /// rank : int, optional
    ///     Distinguishes edges of a ``multi`` label between the same vertices: required for such a label;
    ///     edges of other labels have none.
    /// properties : mapping, optional
    ///     Values by name: None, bool, int, float, str, bytes or datetime with a time zone, and NumPy's
    ///     scalars of these kinds. For a property of floats, an int becomes a float if a float equals it.
    ///     None, ``NaT`` and ``pandas.NA`` mean no value.
    /// **named
    ///     Further properties.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.put_edge(1, 2, label="knows", since=2001, how="school")
    /// >>> db.snapshot().edge_properties(1, 2, label="knows")
    /// {'since': 2001, 'how': 'school'}
    #[pyo3(signature = (src, dst, weight=None, *, label=None, rank=None, properties=None, **named))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn put_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<Weight>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.map(|label| label.0), rank)?;
        let weight = weight.map(|weight| weight.0);
        let cells = edge_cells(&self.handle, &edge, weight, properties, named)?;
        self.with(|txn| match weight {
            None if edge.is_plain() && cells.is_empty() => {
                txn.put_edge((edge.src.as_ref(), edge.dst.as_ref()))
            }
            Some(weight) if edge.is_plain() && cells.len() == 1 => {
                txn.put_edge((edge.src.as_ref(), edge.dst.as_ref(), weight))
            }
            _ => txn.put_edge_with(edge.key(), cells),
        })
    }

    /// Make sure that an edge exists: ``put_edge`` with an order of arguments that is convenient for many
    /// labels.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_label("calls", multi=True)
    /// >>> with db.write() as tx:
    /// ...     tx.add_edge(1, 2, "calls", 7, seconds=30)
    /// ...     tx.add_edge(1, 2, "calls", 9, seconds=45)
    /// >>> db.snapshot().neighbors(1, label="calls", ranks=True)
    /// [(2, 7), (2, 9)]
    #[pyo3(signature = (src, dst, label=None, rank=None, weight=None, *, properties=None, **named))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn add_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        weight: Option<Weight>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.put_edge(src, dst, weight, label, rank, properties, named)
    }

    /// Insert an edge, and its endpoints if absent. An existing edge is not changed.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids, of the graph's type.
    /// weight : float, optional
    ///     The weight in a weighted graph; 1 if not given. With a label, the label's property ``weight``.
    /// label, rank, properties, **named
    ///     Like in ``put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge was new.
    #[pyo3(signature = (src, dst, weight=None, *, label=None, rank=None, properties=None, **named))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn insert_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<Weight>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.map(|label| label.0), rank)?;
        let weight = weight.map(|weight| weight.0);
        let cells = edge_cells(&self.handle, &edge, weight, properties, named)?;
        self.with(|txn| match weight {
            None if edge.is_plain() && cells.is_empty() => {
                txn.insert_edge((edge.src.as_ref(), edge.dst.as_ref()))
            }
            Some(weight) if edge.is_plain() && cells.len() == 1 => {
                txn.insert_edge((edge.src.as_ref(), edge.dst.as_ref(), weight))
            }
            _ => txn.insert_edge_with(edge.key(), cells),
        })
    }

    /// Set properties of an existing edge, without changing its other properties. The value None removes a
    /// property.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, rank, properties, **named
    ///     Like in ``put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge exists.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.put_edge(1, 2, since=2001, how="school")
    /// ...     tx.update_edge(1, 2, since=None, trust=0.5)
    /// ...     tx.edge_properties(1, 2)
    /// True
    /// {'how': 'school', 'trust': 0.5}
    #[pyo3(signature = (src, dst, *, label=None, rank=None, properties=None, **named))]
    fn update_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.as_deref(), rank)?;
        let cells = edge_cells(&self.handle, &edge, None, properties, named)?;
        self.with(|txn| txn.update_edge(edge.key(), cells))
    }

    /// Remove an edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst, label, rank
    ///     Like in ``put_edge``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the edge existed. Removing an absent edge is no error.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn remove_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.as_deref(), rank)?;
        self.with(|txn| match edge.is_plain() {
            true => txn.remove_edge((edge.src.as_ref(), edge.dst.as_ref())),
            false => txn.remove_edge(edge.key()),
        })
    }

    /// Insert a vertex unless it exists, and give it exactly these properties. The call reads nothing.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// properties : mapping, optional
    ///     Values by name, like in ``put_edge``.
    /// **named
    ///     Further properties.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> with db.write() as tx:
    /// ...     tx.add_vertex(1, name="Ann", age=30)
    /// ...     tx.update_vertex(1, age=31)
    /// True
    /// >>> db.snapshot().vertex_properties(1)
    /// {'name': 'Ann', 'age': 31}
    #[pyo3(signature = (key, *, properties=None, **named))]
    fn add_vertex(
        &self,
        key: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let key = self.key(key)?;
        let cells = read_cells(&self.handle, Owner::Vertices(key.kind()), properties, named)?;
        self.with(|txn| txn.put_vertex_with(key.as_ref(), cells))
    }

    /// Set properties of an existing vertex, without changing its other properties. The value None removes a
    /// property.
    ///
    /// Parameters
    /// ----------
    /// key, properties, **named
    ///     Like in ``add_vertex``.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the vertex exists.
    #[pyo3(signature = (key, *, properties=None, **named))]
    fn update_vertex(
        &self,
        key: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyAny>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let key = self.key(key)?;
        let cells = read_cells(&self.handle, Owner::Vertices(key.kind()), properties, named)?;
        self.with(|txn| txn.update_vertex(key.as_ref(), cells))
    }

    /// Insert a vertex.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if it was new.
    fn insert_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.insert_vertex(key.as_ref()))
    }

    /// Remove a vertex with all its edges.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if it existed.
    fn remove_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.remove_vertex(key.as_ref()))
    }

    /// Remove at most ``most`` edges of a vertex, of all labels and in both directions. If a vertex has more
    /// edges than one transaction may change, several transactions can remove the edges, and the last one the
    /// vertex.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id. A vertex that does not exist has no edges.
    /// most : int
    ///     The maximal number of edges to remove, at least 0. Each one counts as an operation.
    ///
    /// Returns
    /// -------
    /// tuple of (int, int)
    ///     The number of edges removed, and the number of edges that the vertex still has; a self-loop counts
    ///     once.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     ``most`` is negative.
    /// OutOfMemoryError
    ///     There are more edges than a transaction may change under the memory limit. No edge was removed.
    fn remove_edges_of(&self, key: &Bound<'_, PyAny>, most: i64) -> PyResult<(usize, usize)> {
        let key = self.key(key)?;
        let most = usize::try_from(most)
            .map_err(|_| DataError::new_err(format!("most is {most}: it is a number of edges, 0 or more")))?;
        let edges = self.with(|txn| txn.remove_edges_of(key.as_ref(), most))?;
        Ok((edges.removed, edges.left))
    }

    /// True if a vertex exists.
    fn has_vertex(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.key(key)?;
        self.with(|txn| txn.contains_vertex(key.as_ref()))
    }

    /// True if there is an edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids.
    /// label : str, optional
    ///     The label of the edge; any label if not given. ``""`` is the default one.
    /// rank : int, optional
    ///     The rank of the edge; any rank if not given.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn has_edge(
        &self,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let edges = AnyEdge::read(&self.handle, &*self.handle, src, dst, label.as_deref(), rank)?;
        self.with(|txn| txn.contains_edge(edges.pattern()))
    }

    /// The properties of an edge that have a value, or ``None`` if there is no such edge.
    ///
    /// Parameters
    /// ----------
    /// src, dst : int or str
    ///     Vertex ids.
    /// label : str, optional
    ///     The label of the edge; the default one, ``""``, if not given.
    /// rank : int, optional
    ///     The rank of the edge: required for a ``multi`` label; edges of other labels have none.
    #[pyo3(signature = (src, dst, *, label=None, rank=None))]
    fn edge_properties<'py>(
        &self,
        py: Python<'py>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        rank: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let edge = Edge::read(&self.handle, &*self.handle, src, dst, label.as_deref(), rank)?;
        let found = self.with(|txn| txn.edge_properties(edge.key()))?;
        found.map(|found| to_dict(py, &found)).transpose()
    }

    /// The properties of a vertex that have a value, or ``None`` if there is no such vertex.
    fn vertex_properties<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let key = self.key(key)?;
        let found = self.with(|txn| txn.vertex_properties(key.as_ref()))?;
        found.map(|found| to_dict(py, &found)).transpose()
    }

    /// The weight of an edge of the default label, or ``None`` if there is no such edge; 1 in a graph without
    /// weights.
    fn weight(&self, src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        let edge = EdgeKey::new("", src.as_ref(), dst.as_ref());
        if !self.handle.config.weighted {
            return Ok(self.with(|txn| txn.contains_edge(edge))?.then_some(1.0));
        }
        let found = self.with(|txn| txn.edge_property(edge, "weight"))?;
        Ok(found.and_then(|weight| if let Value::F64(weight) = weight { Some(weight) } else { None }))
    }

    /// The neighbors of a vertex, sorted, with one entry for each edge. A neighbor is repeated if there are
    /// edges with several labels or ranks to it.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; in an undirected graph these are the same.
    /// label : str, optional
    ///     The label of the edges; all labels if not given. ``""`` is the default one.
    /// ranks, labels : bool
    ///     Return tuples of the neighbor and the requested attributes, in the order label, rank. Edges to the
    ///     same neighbor are sorted by the definition of their labels, then by rank.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (key, direction="out", *, label=None, ranks=false, labels=false), text_signature = "($self, key, direction='out', *, label=None, ranks=False, labels=False)")]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn neighbors(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        direction: &str,
        label: Option<Label<'_>>,
        ranks: bool,
        labels: bool,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        let found = self.with(|txn| match label.as_deref() {
            None => txn.edge_list(key.as_ref(), direction),
            Some(label) => txn.edge_list(key.as_ref(), (label, direction)),
        })?;
        let found = found.map(Neighbor::all);
        let schema = if labels && label.is_none() { Some(self.handle.graph()?.schema()) } else { None };
        let parts = Parts { labels, ranks, properties: false };
        let name = |id| schema::name(schema.as_deref(), label.as_deref(), id);
        parts.list(py, &*self.handle, &found.ok_or_else(|| key.no_such_vertex(&*self.handle))?, name)
    }

    /// The number of edges at a vertex: the length of ``neighbors``. A self-loop counts once.
    ///
    /// Parameters
    /// ----------
    /// key : int or str
    ///     A vertex id.
    /// direction : {"out", "in"}
    ///     Along the edges or against them; in an undirected graph these are the same.
    /// label : str, optional
    ///     The label of the edges; all labels if not given. ``""`` is the default one.
    ///
    /// Raises
    /// ------
    /// IntegrityError
    ///     There is no such vertex.
    /// ProgrammingError
    ///     There is no such label.
    #[pyo3(signature = (key, direction="out", *, label=None))]
    fn degree(&self, key: &Bound<'_, PyAny>, direction: &str, label: Option<Label<'_>>) -> PyResult<usize> {
        let (key, direction) = (self.key(key)?, self::direction(direction)?);
        let found = self.with(|txn| match label.as_deref() {
            None => txn.degree(key.as_ref(), direction),
            Some(label) => txn.degree(key.as_ref(), (label, direction)),
        })?;
        found.ok_or_else(|| key.no_such_vertex(&*self.handle))
    }

    /// Commit.
    ///
    /// Returns
    /// -------
    /// int
    ///     The commit timestamp. The commit is visible to every snapshot opened from now on, and as durable
    ///     as the store's durability mode promises.
    ///
    /// Raises
    /// ------
    /// ConflictError
    ///     Another commit changed data that the transaction had read. Run the transaction again, as
    ///     ``Database.transact`` does.
    /// IntegrityError
    ///     An edge lacks an endpoint and ``create_endpoints`` is false.
    /// DiskFullError
    ///     No space is left.
    /// OutcomeUnknownError
    ///     The log failed. Only opening the store again shows the outcome. After any other error the commit
    ///     has no effect.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        self.handle.check_usable()?;
        let txn = self.take(State::Busy)?;
        let outcome = py.detach(|| txn.commit());
        let how = if outcome.is_ok() { "committed" } else { "rolled back: its commit failed" };
        *lock(&self.state) = State::Done(how);
        Ok(outcome.map_err(|error| raise_commit(&*self.handle, error))?.0)
    }

    /// Commit without waiting for the disk or for other commits.
    ///
    /// When the call returns, the transaction has its position in the order of commits. Snapshots and reading
    /// transactions that begin after its ticket is done see it.
    ///
    /// Returns
    /// -------
    /// Ticket
    ///
    /// Raises
    /// ------
    /// ConflictError, IntegrityError, DiskFullError
    ///     Like in ``commit``.
    fn submit(&self, py: Python<'_>) -> PyResult<Ticket> {
        self.handle.check_usable()?;
        let txn = self.take(State::Busy)?;
        let outcome = py.detach(|| txn.submit());
        let how = if outcome.is_ok() { "submitted" } else { "rolled back: its commit failed" };
        *lock(&self.state) = State::Done(how);
        let ticket = outcome.map_err(|error| raise_commit(&*self.handle, error))?;
        Ok(Ticket::new(&self.handle, ticket))
    }

    /// Drop all operations and end the transaction.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.check_process()?;
        let txn = self.take(State::Done(ROLLED_BACK))?;
        py.detach(|| drop(txn));
        Ok(())
    }

    /// True if the transaction is neither committed nor rolled back.
    #[getter]
    fn active(&self) -> PyResult<bool> {
        self.handle.check_process()?;
        Ok(self.is_active())
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().with(|_| Ok(()))?;
        Ok(slf)
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if self.handle.is_forked() {
            // Only the parent ends the transaction. A child that leaves the block by an exception continues
            // with it.
            return if kind.is_none() { self.handle.check_process().map(|()| false) } else { Ok(false) };
        }
        // The code in the block may have ended the transaction already.
        if !matches!(*lock(&self.state), State::Done(_)) {
            // A closed store refuses the commit before it takes the transaction. The transaction has ended
            // nevertheless.
            let committed = if kind.is_none() { self.commit(py).map(drop) } else { Ok(()) };
            if !matches!(*lock(&self.state), State::Done(_)) {
                self.abandon(py);
            }
            committed?;
        }
        Ok(false)
    }

    fn __repr__(&self) -> String {
        if self.handle.is_forked() {
            return "<hedgerow.Transaction of another process>".to_owned();
        }
        let state = match &*lock(&self.state) {
            State::Active(txn) => format!("active with {} operations", txn.operation_count()),
            State::Busy | State::Abandoned => "in use".to_owned(),
            State::Done(how) => (*how).to_owned(),
        };
        format!("<hedgerow.Transaction {state}>")
    }
}
