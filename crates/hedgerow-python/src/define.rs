//! Defining kinds, labels and properties.

use std::collections::HashMap;

use hedgerow::{KeyKind, LabelOptions};
use pyo3::prelude::*;

use crate::database::Database;
use crate::error::{DataError, ProgrammingError, raise};
use crate::names::Kinds;
use crate::schema::{self, Label};
use crate::value::{read_type, read_types};

#[pymethods]
impl Database {
    /// Define a label, or do nothing if an equal one exists. The first edge of a label also defines it,
    /// unless the label is ``multi``.
    ///
    /// A definition is a separate commit, and cannot be undone.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name, of at most 255 bytes.
    /// multi : bool
    ///     True if edges have a rank, so that there may be several from one vertex to another.
    /// properties : dict, optional
    ///     Types by name, like in ``define_property``.
    /// src, dst : str, optional
    ///     The kinds of both ends; ``""`` is the default one. If they are given, an id without a kind at an
    ///     end of such an edge is of that end's kind. A vertex of another kind is refused at that end.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     The label has another definition, or a kind is not defined.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_label("calls", multi=True, properties={"seconds": int})
    /// >>> db.schema().labels["calls"].properties
    /// {'seconds': 'i64'}
    #[pyo3(signature = (name, *, multi=false, properties=None, src=None, dst=None), text_signature = "($self, name, *, multi=False, properties=None, src=None, dst=None)")]
    fn define_label(
        &self,
        py: Python<'_>,
        name: &str,
        multi: bool,
        properties: Option<HashMap<String, Bound<'_, PyAny>>>,
        src: Option<&str>,
        dst: Option<&str>,
    ) -> PyResult<()> {
        let mut options = LabelOptions::new().multi(multi);
        match (src, dst) {
            (None, None) => {}
            (Some(src), Some(dst)) => {
                let schema = self.handle.kind_schema()?;
                let kind = |name| schema.find_kind(name).map_err(raise);
                options = options.ends(kind(src)?, kind(dst)?);
            }
            _ => return Err(ProgrammingError::new_err("src and dst come together")),
        }
        for (name, kind) in read_types(properties)? {
            options = options.property(name, kind);
        }
        self.detached(py, |graph| graph.define_label(name, options).map(drop))
    }

    /// Define a property, or do nothing if it exists with this type. The first value of a property also
    /// defines it.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name, of at most 255 bytes.
    /// type : str or type
    ///     ``"bool"``, ``"i64"``, ``"f64"``, ``"utf8"``, ``"bytes"`` or ``"timestamp"`` (microseconds since
    ///     1970, UTC), or the Python type of its values.
    /// label : str, optional
    ///     The label whose edges have the property; ``""`` is the default one. Without a label it is a
    ///     property of vertices.
    /// kind : str, optional
    ///     The kind of the vertices that have the property; the default one if not given.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     The property has another type.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_property("age", int)
    /// >>> db.schema().vertex_properties
    /// {'age': 'i64'}
    #[pyo3(signature = (name, r#type, *, label=None, kind=None), text_signature = "($self, name, type, *, label=None, kind=None)")]
    fn define_property(
        &self,
        py: Python<'_>,
        name: &str,
        r#type: &Bound<'_, PyAny>,
        label: Option<Label<'_>>,
        kind: Option<&str>,
    ) -> PyResult<()> {
        let value = read_type(r#type)?;
        if label.is_some() && kind.is_some() {
            let what = "a property belongs to edges or to vertices: give label or kind, not both";
            return Err(ProgrammingError::new_err(what));
        }
        self.detached(py, |graph| match label.as_deref() {
            Some(label) => graph.define_edge_property(label, name, value).map(drop),
            None => {
                let of = graph.schema().find_kind(kind.unwrap_or_default())?;
                graph.define_vertex_property(of, name, value).map(drop)
            }
        })
    }

    /// Define a kind of vertices, or do nothing if an equal one exists.
    ///
    /// Each kind has its own ids and properties. A vertex of a kind is named by a pair of the kind's name and
    /// the vertex's id, like ``("page", 7)``. If an edge's label states the kind of an end, the id is enough
    /// for that end. A definition is a separate commit, and cannot be undone.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name, of at most 255 bytes.
    /// keys : {"u64", "str"}
    ///     The type of the ids.
    ///
    /// Raises
    /// ------
    /// ProgrammingError
    ///     The kind has another definition.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow
    /// >>> db = hedgerow.open()
    /// >>> db.define_kind("user", "str")
    /// >>> db.define_kind("page")
    /// >>> db.define_label("edited", src="user", dst="page")
    /// >>> with db.write() as tx:
    /// ...     tx.put_edge("ann", 7, label="edited")
    /// ...     tx.add_vertex(("page", 8), title="Owls")
    /// >>> db.snapshot().neighbors(("user", "ann"))
    /// [('page', 7)]
    #[pyo3(signature = (name, keys="u64"))]
    fn define_kind(&self, py: Python<'_>, name: &str, keys: &str) -> PyResult<()> {
        let keys = match keys {
            "u64" => KeyKind::U64,
            "str" => KeyKind::Str,
            other => {
                return Err(DataError::new_err(format!("keys must be \"u64\" or \"str\", found {other:?}")));
            }
        };
        self.detached(py, |graph| graph.define_kind(name, keys).map(drop))
    }

    /// The names of the labels. The first one is ``""``, the default label.
    fn labels(&self) -> PyResult<Vec<String>> {
        Ok(schema::names(&self.handle.graph()?.schema()))
    }

    /// The defined labels and properties, with their types.
    ///
    /// Returns
    /// -------
    /// Schema
    fn schema(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        schema::to_object(py, &self.handle.graph()?.schema())
    }
}
