//! Many edges at once: columns from NumPy arrays or sequences, checked before anything is written.

use std::ops::Range;

use hedgerow::{EdgeKey, KeyKind, KindId, LabelRef, PropertyType, Value, VertexKeyRef, WriteTxn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyBytes, PyMapping, PyString};

use crate::arrays::{Array, exact, not_exact, reserved, view};
use crate::columns::{self, Column};
use crate::ending::calling;
use crate::error::{DataError, NotSupportedError};
use crate::handle::{Handle, Origin};
use crate::key;
use crate::names::Kinds;
use crate::value::{self, Owner, Types, WEIGHT};

/// What messages call the column of ranks.
const RANKS: &str = "ranks";

/// One column of vertex ids, copied: other threads may change the array while the interpreter lock is released.
pub(crate) enum Keys {
    Numbers(Vec<u64>),
    Texts(Vec<PyBackedStr>),
}

impl Keys {
    pub(crate) fn at(&self, i: usize) -> VertexKeyRef<'_> {
        match self {
            Keys::Numbers(numbers) => VertexKeyRef::U64(numbers[i]),
            Keys::Texts(texts) => VertexKeyRef::Str(&texts[i]),
        }
    }

    /// The keys as those of vertices of a kind.
    pub(crate) fn of_kind(&self, kind: KindId) -> Vec<VertexKeyRef<'_>> {
        (0..self.len()).map(|at| kind.key(self.at(at))).collect()
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Keys::Numbers(numbers) => numbers.len(),
            Keys::Texts(texts) => texts.len(),
        }
    }
}

/// Edges to put, all of them valid for the graph.
pub(crate) struct Edges {
    src: Keys,
    dst: Keys,
    weights: Option<Vec<f64>>,
    /// Of edges that have a label, ranks or properties.
    rich: Option<Rich>,
}

/// What edges have besides their ends; the weight of a labelled edge is one of the properties.
struct Rich {
    label: String,
    ranks: Option<Vec<u64>>,
    columns: Vec<Column>,
}

/// The arguments of `add_edges`.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) src: &'a Bound<'py, PyAny>,
    pub(crate) dst: &'a Bound<'py, PyAny>,
    pub(crate) weights: Option<&'a Bound<'py, PyAny>>,
    pub(crate) label: Option<&'a str>,
    pub(crate) ranks: Option<&'a Bound<'py, PyAny>>,
    pub(crate) properties: Option<&'a Bound<'py, PyAny>>,
}

impl Edges {
    /// Reads the arguments of `add_edges`.
    pub(crate) fn read(handle: &Handle, arguments: &Arguments<'_, '_>) -> PyResult<Edges> {
        let _calling = calling(arguments.src.py());
        let label = arguments.label.unwrap_or("");
        let [src, dst] = key_types(&handle.origin, handle, label)?;
        let (src, dst) = (read_keys(src, "src", arguments.src)?, read_keys(dst, "dst", arguments.dst)?);
        if src.len() != dst.len() {
            let (src, dst) = (src.len(), dst.len());
            return Err(DataError::new_err(format!("src has {src} elements and dst has {dst}")));
        }
        if arguments.weights.is_some() && label.is_empty() && !handle.config.weighted {
            return Err(NotSupportedError::new_err("the graph has no weights"));
        }
        let mut weights = arguments.weights.map(|w| read_weights(w, src.len())).transpose()?;
        let plain = label.is_empty() && arguments.ranks.is_none() && arguments.properties.is_none();
        let rich =
            if plain { None } else { Some(Rich::read(handle, label, arguments, weights.take(), src.len())?) };
        Ok(Edges { src, dst, weights, rich })
    }

    pub(crate) fn len(&self) -> usize {
        self.src.len()
    }

    /// Puts the edges of `range`.
    pub(crate) fn put(&self, txn: &mut WriteTxn, range: Range<usize>) -> hedgerow::Result<()> {
        match (&self.src, &self.dst) {
            (Keys::Numbers(src), Keys::Numbers(dst)) => self.put_pairs(
                txn,
                src[range.clone()].iter().copied().zip(dst[range.clone()].iter().copied()),
                range,
            ),
            (Keys::Texts(src), Keys::Texts(dst)) => {
                let (src, dst) = (src[range.clone()].iter(), dst[range.clone()].iter());
                self.put_pairs(txn, src.map(|s| &**s).zip(dst.map(|d| &**d)), range)
            }
            (src, dst) => self.put_pairs(txn, range.clone().map(|at| (src.at(at), dst.at(at))), range),
        }
    }

    /// Calls `f` with the ends and the weight (1 where none is given) of each edge of `range`, which have nothing else.
    pub(crate) fn each(
        &self,
        range: Range<usize>,
        mut f: impl FnMut(VertexKeyRef<'_>, VertexKeyRef<'_>, f64) -> hedgerow::Result<()>,
    ) -> hedgerow::Result<()> {
        let weight = |at: usize| self.weights.as_ref().map_or(1.0, |weights| weights[at]);
        range.into_iter().try_for_each(|at| f(self.src.at(at), self.dst.at(at), weight(at)))
    }

    fn put_pairs<'a, K: Into<VertexKeyRef<'a>>>(
        &self,
        txn: &mut WriteTxn,
        mut pairs: impl Iterator<Item = (K, K)>,
        range: Range<usize>,
    ) -> hedgerow::Result<()> {
        match (&self.rich, &self.weights) {
            (Some(rich), _) if rich.ranks.is_none() => rich.put_all(txn, pairs.zip(range)),
            (Some(rich), _) => {
                pairs.zip(range).try_for_each(|((src, dst), at)| rich.put(txn, src.into(), dst.into(), at))
            }
            (None, None) => pairs.try_for_each(|(src, dst)| txn.put_edge(src, dst)),
            (None, Some(weights)) => pairs
                .zip(&weights[range])
                .try_for_each(|((src, dst), &weight)| txn.put_weighted_edge(src, dst, weight)),
        }
    }
}

impl Rich {
    fn read(
        handle: &Handle,
        label: &str,
        arguments: &Arguments<'_, '_>,
        weights: Option<Vec<f64>>,
        edges: usize,
    ) -> PyResult<Rich> {
        let ranks = arguments.ranks.map(|ranks| read_ranks(ranks, edges)).transpose()?;
        let types = Types::new(handle, Owner::Edges(label))?;
        let mut columns = read_columns(arguments.properties, &types, edges)?;
        if let Some(weights) = weights {
            let column = Column { name: WEIGHT.to_owned(), values: weights.into() };
            check_type(&types, &column)?;
            columns.push(column);
        }
        Ok(Rich { label: label.to_owned(), ranks, columns })
    }

    /// Puts edges without ranks, each with its place in the columns: label and properties are looked up once.
    fn put_all<'a, K: Into<VertexKeyRef<'a>>>(
        &self,
        txn: &mut WriteTxn,
        edges: impl Iterator<Item = ((K, K), usize)>,
    ) -> hedgerow::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let edges = edges.map(|((src, dst), at)| {
            (src.into(), dst.into(), self.columns.iter().map(move |column| column.value(at)))
        });
        txn.put_edges_with(LabelRef::Name(&self.label), &names, edges)
    }

    fn put(
        &self,
        txn: &mut WriteTxn,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        at: usize,
    ) -> hedgerow::Result<()> {
        let rank = self.ranks.as_ref().map_or(0, |ranks| ranks[at]);
        let edge = EdgeKey::new(&self.label, src, dst).rank(rank);
        // Nulls have no place in a new row.
        let cells = self.columns.iter().map(|column| (column.name.as_str(), column.value(at)));
        txn.put_edge_with(edge, cells.filter(|(_, value)| !value.is_null()))
    }
}

/// Reads columns of properties by name, each with so many values.
pub(crate) fn read_columns(
    properties: Option<&Bound<'_, PyAny>>,
    types: &Types<'_>,
    rows: usize,
) -> PyResult<Vec<Column>> {
    let Some(properties) = properties else { return Ok(Vec::new()) };
    let mapping = properties.cast::<PyMapping>().map_err(|_| {
        let found = key::type_name(properties);
        DataError::new_err(format!("properties must map names to arrays, found {found}"))
    })?;
    let mut columns = Vec::new();
    for item in mapping.items()?.iter() {
        let (name, column) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let Ok(name) = name.extract::<String>() else {
            let found = key::shown(&name);
            return Err(PyTypeError::new_err(format!("properties: a name must be a str, found {found}")));
        };
        let kind = types.of(&name);
        let column = columns::read(name, &column, rows, kind)?;
        check_type(types, &column)?;
        columns.push(column);
    }
    Ok(columns)
}

/// Refuses a column of another type than its property's before anything is written.
fn check_type(types: &Types<'_>, column: &Column) -> PyResult<()> {
    match (types.of(&column.name), column.found_type()) {
        (Some(expected), Some(found)) if expected != found => {
            let property = column.name.clone();
            Err(crate::error::raise(hedgerow::Error::Argument(hedgerow::ArgumentError::PropertyType {
                property,
                expected,
                found,
            })))
        }
        _ => Ok(()),
    }
}

pub(crate) fn read_ranks(object: &Bound<'_, PyAny>, edges: usize) -> PyResult<Vec<u64>> {
    let ranks = read_numbers(KeyKind::U64, RANKS, object)?;
    if ranks.len() != edges {
        return Err(DataError::new_err(format!("ranks has {} elements for {edges} edges", ranks.len())));
    }
    Ok(ranks)
}

/// The types of the ids at both ends of edges of a label: those of the kinds that it says.
pub(crate) fn key_types(origin: &Origin, kinds: &impl Kinds, label: &str) -> PyResult<[KeyKind; 2]> {
    let default = origin.config.keys;
    if label.is_empty() {
        return Ok([default; 2]);
    }
    let schema = kinds.kind_schema()?;
    let ends = schema.label(label).and_then(hedgerow::Label::ends).unwrap_or_default();
    Ok(ends.map(|kind| schema.kind_by_id(kind).map_or(default, hedgerow::Kind::keys)))
}

/// Reads a column of vertex ids for a graph with ids of `kind`.
pub(crate) fn read_keys(kind: KeyKind, name: &str, object: &Bound<'_, PyAny>) -> PyResult<Keys> {
    match kind {
        KeyKind::Str => read_texts(name, object).map(Keys::Texts),
        KeyKind::U64 | KeyKind::Dense => read_numbers(kind, name, object).map(Keys::Numbers),
    }
}

fn read_numbers(kind: KeyKind, name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let array = Array::read(name, object)?;
    array.check_whole(name)?;
    let mut numbers = reserved("vertex ids", array.len())?;
    match array.kind {
        'u' => numbers.extend(view::<u64>(&array.array, "uint64")?.as_array().iter()),
        'i' => {
            for (at, &number) in view::<i64>(&array.array, "int64")?.as_array().iter().enumerate() {
                let number = u64::try_from(number).map_err(|_| {
                    let what = if name == RANKS { "ranks" } else { "ids" };
                    DataError::new_err(format!("{name}[{at}] is {number}: {what} are not negative"))
                })?;
                numbers.push(number);
            }
        }
        'O' => {
            for (at, item) in array.objects()?.enumerate() {
                numbers.push(read_number(kind, name, at, &item)?);
            }
        }
        // NumPy makes floats of an empty list.
        _ if array.len() == 0 => {}
        _ => {
            let found = array.dtype().str()?;
            return Err(DataError::new_err(format!("{name} must hold ints, found {found}")));
        }
    }
    if kind == KeyKind::Dense {
        for (at, &number) in numbers.iter().enumerate() {
            key::check_range(kind, number).map_err(|e| DataError::new_err(format!("{name}[{at}]: {e}")))?;
        }
    }
    Ok(numbers)
}

fn read_number(kind: KeyKind, name: &str, at: usize, item: &Bound<'_, PyAny>) -> PyResult<u64> {
    let error = match key::read_number(kind, item) {
        // A list of bools is no list of ids, as an array of them is none.
        _ if item.is_instance_of::<PyBool>() => {
            let what = if name == RANKS { "ranks" } else { "ids" };
            return Err(DataError::new_err(format!(
                "{name}[{at}] is a bool: {what} are ints, 0 to 2**64 - 1"
            )));
        }
        Ok(number) => return Ok(number),
        Err(error) => error,
    };
    if name == RANKS || item.is_instance_of::<PyString>() {
        let shown = item.repr().map_or_else(|_| key::type_name(item), |repr| repr.to_string());
        let what = if name == RANKS { "ranks" } else { "ids" };
        return Err(DataError::new_err(format!("{name}[{at}] is {shown}: {what} are ints, 0 to 2**64 - 1")));
    }
    Err(DataError::new_err(format!("{name}[{at}]: {}", error.value(item.py()))))
}

fn read_texts(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedStr>> {
    // One string is a sequence of strings too, but hardly meant as one.
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(DataError::new_err(format!(
            "{name} must be a sequence of str, found one {}",
            key::type_name(object)
        )));
    }
    if object.try_iter().is_err() {
        let found = key::type_name(object);
        return Err(DataError::new_err(format!("{name} must be a sequence of str, found {found}")));
    }
    let array = Array::read(name, object)?;
    array.check_whole(name)?;
    let mut texts = reserved("vertex ids", array.len())?;
    for (at, item) in array.objects()?.enumerate() {
        let Ok(text) = item.cast::<PyString>() else {
            let found = key::type_name(&item);
            return Err(DataError::new_err(format!("{name}[{at}] must be a str, found {found}")));
        };
        texts.push(key::check_text(text).map_err(|e| DataError::new_err(format!("{name}[{at}]: {e}")))?);
    }
    Ok(texts)
}

fn read_weights(object: &Bound<'_, PyAny>, edges: usize) -> PyResult<Vec<f64>> {
    let array = Array::read("weights", object)?;
    if array.len() != edges {
        let found = array.len();
        return Err(DataError::new_err(format!("weights has {found} elements for {edges} edges")));
    }
    array.check_whole("weights")?;
    let mut weights: Vec<f64> = reserved("weights", edges)?;
    let inexact = |at: usize, number: i128| not_exact(&format_args!("weights[{at}]"), number);
    match array.kind {
        'f' if !array.is_wide_float() => {
            weights.extend(view::<f64>(&array.array, "float64")?.as_array().iter());
        }
        'i' => {
            for (at, &number) in view::<i64>(&array.array, "int64")?.as_array().iter().enumerate() {
                weights.push(exact(number).ok_or_else(|| inexact(at, number.into()))?);
            }
        }
        'u' => {
            for (at, &number) in view::<u64>(&array.array, "uint64")?.as_array().iter().enumerate() {
                weights.push(exact(number).ok_or_else(|| inexact(at, number.into()))?);
            }
        }
        'O' => {
            for (at, item) in array.objects()?.enumerate() {
                weights.push(read_weight(at, &item)?);
            }
        }
        _ if array.len() == 0 => {}
        _ => {
            let found = array.dtype().str()?;
            return Err(DataError::new_err(format!("weights must hold numbers, found {found}")));
        }
    }
    match weights.iter().position(|w: &f64| w.is_nan()) {
        Some(at) => Err(DataError::new_err(format!("weights[{at}] is NaN: a weight must be a number"))),
        None => Ok(weights),
    }
}

fn read_weight(at: usize, item: &Bound<'_, PyAny>) -> PyResult<f64> {
    let shown = format_args!("weights[{at}]");
    match value::read(&shown, item, Some(PropertyType::F64)) {
        Ok(Value::F64(weight)) => Ok(weight),
        Err(error) if error.is_instance_of::<DataError>(item.py()) => Err(error),
        Ok(_) | Err(_) => {
            let found = key::type_name(item);
            Err(DataError::new_err(format!("weights[{at}]: weights must hold numbers, found {found}")))
        }
    }
}
