//! Many edges with values of the same properties in one call of a transaction.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Cells, LabelId, PropertyId, PropertyType, Row, Value, VertexKeyRef};

use super::attributes::AttributesOfOps;
use super::define::check_value;
use super::op::{OpAttributes, OpKind, TxnOp};
use super::txn::WriteTxn;
use crate::state::edge_key::WEIGHT;
use crate::state::store::Engine;

/// The columns of a call: the meaning of each value of a row.
struct RowColumns<'a> {
    label: LabelId,
    /// Names of properties, with id and type once a row had a value for them.
    properties: Vec<(&'a str, Option<(PropertyId, PropertyType)>)>,
    /// The index of the weight among the properties.
    weight: Option<usize>,
}

impl<'a> RowColumns<'a> {
    fn of_edges(engine: &Engine, label: LabelId, names: &[&'a str]) -> RowColumns<'a> {
        let weight =
            names.iter().position(|&name| name == WEIGHT).filter(|_| engine.catalog.is_weighted(label));
        RowColumns { label, properties: names.iter().map(|&name| (name, None)).collect(), weight }
    }

    /// Adds a value to `cells`, or makes it the weight.
    fn take(
        &mut self,
        engine: &Engine,
        at: usize,
        value: Value,
        weight: &mut f64,
        cells: &mut Cells,
    ) -> Result<()> {
        let given = self.properties.len();
        let Some((name, known)) = self.properties.get_mut(at) else {
            return Err(too_many_values(given));
        };
        let Some(kind) = value.property_type() else { return Ok(()) };
        if self.weight == Some(at) {
            let Value::F64(given) = value else {
                let (property, expected) = (WEIGHT.to_owned(), PropertyType::F64);
                return Err(ArgumentError::PropertyType { property, expected, found: kind }.into());
            };
            engine.check_weight(given)?;
            *weight = given;
            return Ok(());
        }
        check_value(name, &value)?;
        let id = match known {
            Some((id, expected)) if *expected == kind => *id,
            // A value of another type is refused.
            _ => {
                let id = engine.property_for_writing(self.label, name, kind)?;
                *known = Some((id, kind));
                id
            }
        };
        cells.push((id, value));
        Ok(())
    }

    /// Adds the only value of a row, which is not the weight; returns the handle of the added attributes.
    #[inline]
    fn take_only(&mut self, engine: &Engine, value: Value, attributes: &mut AttributesOfOps) -> Result<u32> {
        if let (Some((kind, word)), Some((_, Some((id, expected))))) =
            (value.as_ref().to_word(), self.properties.first())
            && kind == *expected
        {
            return Ok(attributes.push_word(*id, kind, word));
        }
        self.take_first(engine, value, attributes)
    }

    /// Like [`take_only`](Self::take_only), but for a property without a value so far, or a value of another
    /// type.
    #[inline(never)]
    fn take_first(&mut self, engine: &Engine, value: Value, attributes: &mut AttributesOfOps) -> Result<u32> {
        let mut cells = Cells::new();
        self.take(engine, 0, value, &mut 1.0, &mut cells)?;
        let word = cells.first().and_then(|(id, value)| Some((*id, value.as_ref().to_word()?)));
        Ok(match word {
            Some((id, (kind, word))) => attributes.push_word(id, kind, word),
            None => Row::new(cells).map_or(0, |row| attributes.push(OpAttributes::of_row(row))),
        })
    }
}

/// Makes the error of a row with more values than there are properties.
pub(super) fn too_many_values(properties: usize) -> Error {
    let message = format!("a row has more values than there are properties: {properties}");
    ArgumentError::Invalid(message).into()
}

impl WriteTxn {
    /// Like [`put_edge_with`](Self::put_edge_with), but for many edges of one label. Each edge has a row of
    /// values for the `properties`, in their order. A null, or a value missing at the end of a row, sets
    /// nothing. Reads nothing. In a weighted graph the property `weight` of edges of the default label is
    /// their weight.
    ///
    /// O(values). Looks label and properties up once, and defines new ones.
    ///
    /// # Errors
    /// Those of `put_edge_with`, and [`ArgumentError::Invalid`] for a row with more values than there are
    /// properties; in these cases no edge is added. If the iterator of edges panics, the edges before the
    /// panic are added.
    pub fn put_edges_with<'a, K, R>(
        &mut self,
        label: impl Into<LabelRef<'a>>,
        properties: &[&str],
        edges: impl IntoIterator<Item = (K, K, R)>,
    ) -> Result<()>
    where
        K: Into<VertexKeyRef<'a>>,
        R: IntoIterator<Item: Into<Value>>,
    {
        let label = self.engine.label_for_writing(label.into(), 0)?;
        let before = (self.ops.len(), self.attributes.filled());
        let added = self.push_rows(label, properties, edges.into_iter());
        if added.is_err() {
            self.ops.truncate(before.0);
            self.attributes.truncate(before.1);
        }
        added
    }

    fn push_rows<'a, K, R>(
        &mut self,
        label: LabelId,
        properties: &[&str],
        edges: impl Iterator<Item = (K, K, R)>,
    ) -> Result<()>
    where
        K: Into<VertexKeyRef<'a>>,
        R: IntoIterator<Item: Into<Value>>,
    {
        let WriteTxn { engine, ops, keys, attributes, .. } = self;
        let mut columns = RowColumns::of_edges(engine, label, properties);
        let says_kinds =
            engine.catalog.schema.load().label_by_id(label).is_some_and(|label| label.ends().is_some());
        let mut cells = Cells::new();
        let coming = edges.size_hint().0;
        engine.catalog.check_operations(ops.len().saturating_add(coming))?;
        ops.reserve(coming);
        if let [_] = properties {
            attributes.reserve_words(coming);
        }
        for (src, dst, row) in edges {
            let (mut src, mut dst) = (src.into(), dst.into());
            if says_kinds && !faults::is_on(PlantedFault::EndsOfRowsNotChecked) {
                (src, dst) = engine.catalog.ends_of(Some(label), src, dst)?;
            }
            engine.check_key(src)?;
            engine.check_key(dst)?;
            engine.catalog.check_operations(ops.len() + 1)?;
            let mut op = TxnOp::plain(OpKind::Put, keys.intern(src), keys.intern(dst), 1.0);
            op.label = label;
            let mut values = row.into_iter();
            match (values.next().map(Into::into), values.next()) {
                (None, _) => {}
                (Some(value), None) if columns.weight.is_none() => {
                    op.attributes = columns.take_only(engine, value, attributes)?;
                }
                (first, second) => {
                    let rest = second.into_iter().chain(values).map(Into::into);
                    for (at, value) in first.into_iter().chain(rest).enumerate() {
                        columns.take(engine, at, value, &mut op.weight, &mut cells)?;
                    }
                    let row = Row::new(std::mem::take(&mut cells));
                    op.attributes = row.map_or(0, |row| attributes.push(OpAttributes::of_row(row)));
                }
            }
            ops.push(op);
        }
        Ok(())
    }
}
