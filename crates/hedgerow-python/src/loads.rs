//! Loads of files into an open store.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow::{Graph, KeyKind};
use hedgerow_kernels::Cancel;
use hedgerow_load::{
    Error, FileFormat, LoadOptions, LoadReport, OnError, Progress, Repeat, Watch, parse_column,
    parse_comment, parse_delimiter, parse_edge_property,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::database::Database;
use crate::ending::is_ending;
use crate::error::{DataError, DiskFullError, OperationalError, raise};
use crate::key::{count, long_count};
use crate::pool::{On, telling};
use crate::results::make;
use crate::schema::Label;
use crate::spelling::in_python;

/// One text or several: the paths of files, properties, texts that mean null.
struct Several<T>(Vec<T>);

impl<'py, T: for<'a> FromPyObject<'a, 'py>> FromPyObject<'_, 'py> for Several<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Several<T>> {
        let one = |object: &Bound<'py, PyAny>| object.extract::<T>().map_err(Into::into);
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(Several(vec![one(&object.to_owned())?]));
        }
        let all: PyResult<Vec<T>> = object.try_iter()?.map(|object| one(&object?)).collect();
        all.map(Several)
    }
}

/// A column: a position from 1, or a name.
struct Column(hedgerow_load::Column);

impl<'py> FromPyObject<'_, 'py> for Column {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Column> {
        if let Ok(name) = object.cast::<PyString>() {
            return match name.to_str()? {
                "" => Err(DataError::new_err("a column is a position from 1 or a name, found ''")),
                name => Ok(Column(hedgerow_load::Column::Name(name.to_owned()))),
            };
        }
        let wrong = || PyTypeError::new_err("a column is a position from 1, an int, or a name, a str");
        // A bool is an int of Python.
        if object.is_instance_of::<PyBool>() {
            return Err(wrong());
        }
        let position: u64 = object.extract().map_err(|_| wrong())?;
        parse_column(&position.to_string()).map(Column).map_err(DataError::new_err)
    }
}

/// Returns the value that an option names.
fn choice<T: Copy>(option: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    all.iter().find(|(other, _)| *other == name).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = all.iter().map(|(name, _)| format!("{name:?}")).collect();
        DataError::new_err(format!("{option} must be one of {}, found {name:?}", known.join(", ")))
    })
}

/// Returns the exception for the error of a load, with the file and the line at fault.
fn raise_load(py: Python<'_>, error: Error) -> PyErr {
    let text = in_python(&error.to_string());
    let (file, line) = error.place();
    let (file, line) = (file.map(|file| file.display().to_string()), line);
    let made = match error {
        Error::Committed { source, .. } => of_source(py, *source, text),
        error => of_source(py, error, text),
    };
    if is_ending() {
        return made;
    }
    let value = made.value(py);
    let marked = file.map_or(Ok(()), |file| value.setattr("file", file));
    match marked.and_then(|()| line.map_or(Ok(()), |line| value.setattr("line", line))) {
        Ok(()) => made,
        Err(other) => other,
    }
}

fn of_source(py: Python<'_>, error: Error, text: String) -> PyErr {
    let of_system = |kind: ErrorKind, text: String| match kind {
        ErrorKind::StorageFull => DiskFullError::new_err(text),
        _ => OperationalError::new_err(text),
    };
    match error {
        Error::Io { source, .. } => of_system(source.kind(), text),
        Error::Read(error) => match error.io_kind() {
            Some(kind) => of_system(kind, text),
            None => DataError::new_err(text),
        },
        Error::Store(error) | Error::Kind { source: error, .. } if error.to_string() == text => raise(error),
        Error::Store(error) | Error::Kind { source: error, .. } => raise_as(py, error, text),
        _ => DataError::new_err(text),
    }
}

/// Returns the exception for an error of the store, with another text.
fn raise_as(py: Python<'_>, error: hedgerow::Error, text: String) -> PyErr {
    let made = raise(error);
    if is_ending() {
        return made;
    }
    match made.get_type(py).call1((text,)) {
        Ok(value) => PyErr::from_value(value),
        Err(other) => other,
    }
}

fn report(py: Python<'_>, report: LoadReport) -> PyResult<Py<PyAny>> {
    let arguments = PyDict::new(py);
    for (name, count) in [
        ("rows", report.rows),
        ("rejected", report.rejected),
        ("comments", report.comments),
        ("new_vertices", report.new_vertices),
        ("new_edges", report.new_edges),
        ("repeated_edges", report.repeated_edges),
        ("existing_edges", report.existing_edges),
        ("existing_vertices", report.existing_vertices),
        ("repeated_vertices", report.repeated_vertices),
        ("vertices", report.vertices),
        ("edges", report.edges),
        ("transactions", report.transactions),
        ("timestamp", report.timestamp),
    ] {
        arguments.set_item(name, count)?;
    }
    let notes: Vec<_> =
        report.notes.iter().map(|n| (n.file.display().to_string(), in_python(&n.note))).collect();
    let rejects: Vec<_> = report
        .rejects
        .iter()
        .map(|reject| (reject.file.display().to_string(), reject.line, in_python(&reject.reason)))
        .collect();
    arguments.set_item("notes", notes)?;
    arguments.set_item("rejects", rejects)?;
    make(py, "Loaded", &arguments)
}

#[pymethods]
impl Database {
    /// Load graph files: lines of several layouts, tables of Parquet and Arrow, GraphML, or a directory: an
    /// export, or the files of LDBC's social network.
    ///
    /// The command ``hedgerow load`` has the same options under the same names, and its
    /// [guide](../../guide/cli.md#loading) describes the layouts. Each file is read twice: first every row is
    /// checked, then the rows are written by transactions of ``batch`` rows. If a file cannot be loaded, the
    /// store is as before, except for definitions of labels, kinds and properties. If the second reading
    /// fails, or Ctrl-C or ``progress`` ends it, committed transactions stay. Other threads may write
    /// meanwhile; then the counts of new vertices and edges include theirs. There is no checkpoint at the
    /// end.
    ///
    /// Parameters
    /// ----------
    /// path : str, path, or sequence of these
    ///     The files, loaded in this order; gzip and zstd files are decompressed. Or one directory.
    /// vertices : str, path, or sequence of these, optional
    ///     Files of vertices with properties, loaded before the edges.
    /// kind, kind_keys : str, optional
    ///     The kind of the vertices in files of vertices, and the type of its keys if it is new.
    /// from_, to : str, optional
    ///     The kinds of the sources and of the destinations, which the label states from now on.
    /// from_column, to_column : int or str, optional
    ///     The columns of the kinds of both ends. A column is a position from 1, or a name in the header.
    /// label : str, optional
    ///     The label of the edges.
    /// label_column : int or str, optional
    ///     The column of each edge's label.
    /// multi : bool
    ///     True if the label has several edges between two vertices. Without ``rank`` the ranks are counted.
    /// rank : int or str, optional
    ///     The column of the rank.
    /// property : str or sequence of str, optional
    ///     The properties of edges: ``NAME:TYPE``, then ``=COLUMN`` if the column has another name.
    /// format : str
    ///     The layout of the files; ``"auto"`` detects it.
    /// header : bool, optional
    ///     True if the first row names the columns, False if it is data; None detects it.
    /// skip : int
    ///     The number of lines to skip at the start of each file.
    /// delimiter : str, optional
    ///     The separator of fields: one character, or ``"blanks"``; None detects it.
    /// null : str or sequence of str, optional
    ///     Texts without quotes that mean null, besides the empty one.
    /// comment : str, optional
    ///     The character with which comments begin, or ``"none"``; by default ``#`` and ``%``.
    /// weighted : bool
    ///     True if edges have a weight.
    /// src_col, dst_col, weight_col, time_col : int or str, optional
    ///     The columns of source, destination, weight, and of a time that is only checked.
    /// on_error : {"raise", "skip", "collect"}
    ///     The treatment of malformed rows: the first one fails the load; or they are left out, and the
    ///     report describes the first one, or up to 1,000 of them.
    /// repeat : {"last", "first", "sum"}
    ///     The weight and properties of an edge that occurs again: the new ones, the old ones, or the sum of
    ///     the weights.
    /// batch : int
    ///     The rows of a transaction.
    /// progress : callable, optional
    ///     A function that is called from time to time with the number of bytes read, and the number of
    ///     bytes of both readings of all files; the last call has the same number twice. An exception that
    ///     it raises ends the load.
    ///
    /// Returns
    /// -------
    /// Loaded
    ///     The counts, and notes of all that was left out or changed.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     A row is malformed, a file does not fit, or options contradict each other. If a file is at fault,
    ///     the attribute ``file`` names it; for a row ``line`` has its line.
    /// OperationalError
    ///     A file cannot be read.
    ///
    /// Examples
    /// --------
    /// >>> import hedgerow, os, pathlib, tempfile
    /// >>> file = os.path.join(tempfile.mkdtemp(), "pays.csv")
    /// >>> _ = pathlib.Path(file).write_text(chr(10).join(["src,dst,amount", "1,2,9.5", "2,3,0.5"]))
    /// >>> db = hedgerow.open()
    /// >>> loaded = db.load(file, label="pays", property="amount:f64")
    /// >>> loaded.rows, loaded.new_edges, loaded.notes
    /// (2, 2, [])
    /// >>> db.snapshot().edge_properties(1, 2, label="pays")
    /// {'amount': 9.5}
    #[pyo3(signature = (path, *, vertices=None, kind=None, kind_keys=None, from_=None, to=None, from_column=None, to_column=None, label=None, label_column=None, multi=false, rank=None, property=None, format="auto", header=None, skip=None, delimiter=None, null=None, comment=None, weighted=false, src_col=None, dst_col=None, weight_col=None, time_col=None, on_error="raise", repeat="last", batch=None, progress=None), text_signature = "($self, path, *, vertices=None, kind=None, kind_keys=None, from_=None, to=None, from_column=None, to_column=None, label=None, label_column=None, multi=False, rank=None, property=None, format='auto', header=None, skip=0, delimiter=None, null=None, comment=None, weighted=False, src_col=None, dst_col=None, weight_col=None, time_col=None, on_error='raise', repeat='last', batch=65536, progress=None)")]
    #[expect(clippy::too_many_arguments, reason = "the options of the command line, by their names")]
    // Long because the options of the command line are its parameters.
    fn load(
        &self,
        py: Python<'_>,
        path: Several<PathBuf>,
        vertices: Option<Several<PathBuf>>,
        kind: Option<String>,
        kind_keys: Option<&str>,
        from_: Option<String>,
        to: Option<String>,
        from_column: Option<Column>,
        to_column: Option<Column>,
        label: Option<Label<'_>>,
        label_column: Option<Column>,
        multi: bool,
        rank: Option<Column>,
        property: Option<Several<String>>,
        format: &str,
        header: Option<bool>,
        skip: Option<&Bound<'_, PyAny>>,
        delimiter: Option<&str>,
        null: Option<Several<String>>,
        comment: Option<&str>,
        weighted: bool,
        src_col: Option<Column>,
        dst_col: Option<Column>,
        weight_col: Option<Column>,
        time_col: Option<Column>,
        on_error: &str,
        repeat: &str,
        batch: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let wrong = |option: &'static str| move |why: String| DataError::new_err(format!("{option}: {why}"));
        let column = |column: Option<Column>| column.map(|column| column.0);
        let mut options = LoadOptions::default();
        (options.files, options.vertices) = (path.0, vertices.map_or_else(Vec::new, |paths| paths.0));
        if options.files.iter().chain(&options.vertices).any(|path| path.as_os_str() == "-") {
            let why = "path: - is standard input, which only the command line reads; ./- names a file";
            return Err(DataError::new_err(why));
        }
        let keys = [("u64", KeyKind::U64), ("str", KeyKind::Str)];
        options.kind = kind;
        options.kind_keys = kind_keys.map(|name| choice("kind_keys", name, &keys)).transpose()?;
        (options.from, options.to) = (from_, to);
        (options.from_column, options.to_column) = (column(from_column), column(to_column));
        options.label = label.map(|label| label.0.to_owned());
        options.label_column = column(label_column);
        (options.multi, options.rank) = (multi, column(rank));
        let properties = property.map_or_else(Vec::new, |property| property.0);
        options.property = properties
            .iter()
            .map(|p| parse_edge_property(p).map_err(wrong("property")))
            .collect::<PyResult<_>>()?;
        options.format = choice("format", format, &FileFormat::ALL)?;
        options.header = header;
        options.skip = skip.map_or(Ok(0), |skip| long_count("skip", skip))?;
        options.delimiter = delimiter.map(parse_delimiter).transpose().map_err(wrong("delimiter"))?;
        options.null = null.map_or_else(Vec::new, |null| null.0);
        options.comment = comment.map(parse_comment).transpose().map_err(wrong("comment"))?;
        options.weighted = weighted;
        (options.src_col, options.dst_col) = (column(src_col), column(dst_col));
        (options.weight_col, options.time_col) = (column(weight_col), column(time_col));
        let choices = [("raise", OnError::Raise), ("skip", OnError::Skip), ("collect", OnError::Collect)];
        options.on_error = choice("on_error", on_error, &choices)?;
        let choices = [("last", Repeat::Last), ("first", Repeat::First), ("sum", Repeat::Sum)];
        options.repeat = choice("repeat", repeat, &choices)?;
        if let Some(batch) = batch {
            options.batch = count("batch", batch, 1)? as usize;
        }
        self.load_with(py, options, progress)
    }
}

impl Database {
    fn load_with(
        &self,
        py: Python<'_>,
        options: LoadOptions,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let graph: Graph = self.handle.graph()?;
        let read = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let counted = read.clone();
        let work = move |cancel: &Cancel| {
            let until = || cancel.poll();
            let count = |at: Progress<'_>| {
                counted.iter().zip(at.of_load).for_each(|(to, bytes)| to.store(bytes, Relaxed));
            };
            hedgerow_load::load(&graph, &options, Watch::default().until(&until).progress(&count))
        };
        let done = |_: &Cancel| (read[0].load(Relaxed), read[1].load(Relaxed));
        let loaded = telling(py, &self.handle, On::Own, progress, done, work)?;
        report(py, loaded.map_err(|error| raise_load(py, error))?)
    }
}
