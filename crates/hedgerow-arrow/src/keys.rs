//! Columns of keys, and of the kinds of their vertices.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, LargeStringArray, UInt64Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use hedgerow::{KeyColumn, KeyKind, KindId, Schema, VertexKeyRef};

use crate::Error;

/// Returns the Arrow type of the keys of some kinds: numbers, or texts if a kind has texts as keys.
pub(crate) fn type_of(schema: &Schema, default: KeyKind, kinds: &[KindId]) -> DataType {
    let keys = |kind: &KindId| schema.kind_by_id(*kind).map_or(default, hedgerow::Kind::keys);
    match kinds.iter().any(|kind| keys(kind) == KeyKind::Str) {
        true => DataType::LargeUtf8,
        false => DataType::UInt64,
    }
}

/// Returns keys as an array of the type `wanted`. Numbers become texts if texts are wanted.
pub(crate) fn array_of(keys: KeyColumn, wanted: &DataType) -> Result<ArrayRef, Error> {
    match (keys, wanted) {
        (KeyColumn::U64(numbers), DataType::UInt64) => Ok(Arc::new(UInt64Array::from(numbers))),
        (KeyColumn::Str(texts), DataType::LargeUtf8) => {
            let (offsets, text) = texts.into_parts();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let array = LargeStringArray::try_new(offsets, Buffer::from_vec(text.into_bytes()), None);
            Ok(Arc::new(array?))
        }
        (keys, DataType::UInt64) => {
            let number = |key: VertexKeyRef<'_>| match key.split().1 {
                VertexKeyRef::U64(number) | VertexKeyRef::KindU64(_, number) => Some(number),
                VertexKeyRef::Str(_) | VertexKeyRef::KindStr(..) => None,
            };
            Ok(Arc::new(keys.iter().map(number).collect::<UInt64Array>()))
        }
        (keys, _) => {
            let mut texts = LargeStringBuilder::new();
            for key in keys.iter() {
                match key.split().1 {
                    VertexKeyRef::U64(number) | VertexKeyRef::KindU64(_, number) => {
                        texts.append_value(number.to_string());
                    }
                    VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text) => texts.append_value(text),
                }
            }
            Ok(Arc::new(texts.finish()))
        }
    }
}

/// Returns the names of the kinds of keys.
pub(crate) fn kinds_of(keys: &KeyColumn, schema: &Schema) -> ArrayRef {
    let mut names = LargeStringBuilder::new();
    keys.iter().for_each(|key| names.append_value(schema.kind_name(key.kind())));
    Arc::new(names.finish())
}

/// Returns each key as often as its count says.
pub(crate) fn repeated(keys: KeyColumn, counts: impl Iterator<Item = usize>) -> KeyColumn {
    match keys {
        KeyColumn::U64(numbers) => {
            let all = numbers.into_iter().zip(counts);
            KeyColumn::U64(all.flat_map(|(number, count)| std::iter::repeat_n(number, count)).collect())
        }
        keys => {
            let mut all = KeyColumn::new(matches!(keys, KeyColumn::Str(_)));
            if matches!(keys, KeyColumn::Kinds(_)) {
                all = KeyColumn::Kinds(Vec::new());
            }
            for (key, count) in keys.iter().zip(counts) {
                (0..count).for_each(|_| all.push(key));
            }
            all
        }
    }
}
