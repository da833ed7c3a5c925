//! The vertices at the ends of an edge, where the label prescribes their kinds; and the keys that a vertex
//! may have.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::kinds::Kind;
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{Direction, KeyKind, KindId, LabelId, VertexKeyRef};

use super::catalog::Catalog;
use super::chosen_edges::EdgeDirection;

/// Returns the key of one end of an edge, with the kind that the label prescribes for it if the key has none;
/// `None` if the key has another kind.
fn end<'a>(key: VertexKeyRef<'a>, kind: KindId) -> Option<VertexKeyRef<'a>> {
    match key.kind() {
        KindId::DEFAULT => Some(kind.key(key)),
        of => (of == kind).then_some(key),
    }
}

impl Catalog {
    /// Returns the ends of an edge of a label, with the kinds that the label prescribes. `None` for a label
    /// that is not defined yet, which prescribes no kinds.
    #[inline]
    pub(crate) fn ends_of<'a>(
        &self,
        label: Option<LabelId>,
        src: VertexKeyRef<'a>,
        dst: VertexKeyRef<'a>,
    ) -> Result<(VertexKeyRef<'a>, VertexKeyRef<'a>)> {
        match label {
            None | Some(LabelId::DEFAULT) => Ok((src, dst)),
            Some(label) => self.stated_ends(label, src, dst),
        }
    }

    fn stated_ends<'a>(
        &self,
        label: LabelId,
        src: VertexKeyRef<'a>,
        dst: VertexKeyRef<'a>,
    ) -> Result<(VertexKeyRef<'a>, VertexKeyRef<'a>)> {
        let schema = self.schema.load();
        let Some((label, [from, to])) = schema.label_by_id(label).and_then(|l| Some((l, l.ends()?))) else {
            return Ok((src, dst));
        };
        let as_said = end(src, from).zip(end(dst, to));
        // In an undirected graph the ends may be named in the other order.
        let turned = || end(src, to).zip(end(dst, from)).filter(|_| !self.config.directed);
        as_said.or_else(turned).ok_or_else(|| {
            let (key, expected) = if end(src, from).is_none() { (src, from) } else { (dst, to) };
            wrong_end(&schema, label, key, expected)
        })
    }

    /// Like [`end_of_all`](Self::end_of_all), but for one label of the present schema.
    pub(crate) fn end_of<'a>(
        &self,
        label: LabelId,
        key: VertexKeyRef<'a>,
        direction: Direction,
    ) -> Result<VertexKeyRef<'a>> {
        if label == LabelId::DEFAULT || key.kind() != KindId::DEFAULT {
            return Ok(key);
        }
        let schema = self.schema.load();
        let Some(label) = schema.label_by_id(label) else { return Ok(key) };
        self.end_of_all(&schema, [label], key, direction.into())
    }

    /// Returns the full key of the vertex at which edges of these labels are read. A key without a kind gets
    /// the kind that all labels prescribe for the ends in that direction. If a label prescribes none, the key
    /// gets the default kind, whose vertices may have edges of that label. The labels alone decide: it makes
    /// no difference which of them have edges, or what else is requested.
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] if all labels prescribe kinds, but different ones.
    pub(crate) fn end_of_all<'a, 'l>(
        &self,
        schema: &Schema,
        labels: impl IntoIterator<Item = &'l Label>,
        key: VertexKeyRef<'a>,
        direction: EdgeDirection,
    ) -> Result<VertexKeyRef<'a>> {
        if key.kind() != KindId::DEFAULT || faults::is_on(PlantedFault::StatedKindIgnored) {
            return Ok(key);
        }
        let mut said: Option<(&Label, KindId)> = None;
        let mut other = None;
        for label in labels {
            let Some(ends) = label.ends() else { return Ok(key) };
            let read = match (self.config.directed, direction) {
                (true, EdgeDirection::Out) => &ends[..1],
                (true, EdgeDirection::In) => &ends[1..],
                _ => &ends[..],
            };
            for &kind in read {
                let (_, first) = said.get_or_insert((label, kind));
                if *first != kind {
                    other.get_or_insert((label, kind));
                }
            }
        }
        match (said, other) {
            (None, _) => Ok(key),
            (Some((_, kind)), None) => Ok(kind.key(key)),
            (Some(one), Some(other)) => Err(several_kinds(schema, one, other, key)),
        }
    }

    /// True if a vertex may have a key of another kind than the default one.
    #[cold]
    pub(super) fn takes_key_of_kind(&self, key: VertexKeyRef<'_>) -> bool {
        let schema = self.schema.load();
        match (schema.kind_by_id(key.kind()).map(Kind::keys), key) {
            (Some(KeyKind::U64), VertexKeyRef::KindU64(..)) => true,
            (Some(KeyKind::Str), VertexKeyRef::KindStr(_, s)) => s.len() <= MAX_KEY_BYTES,
            _ => false,
        }
    }

    /// Makes the error for a key of another kind than the default one.
    #[cold]
    pub(super) fn misfit_of_kind(&self, key: VertexKeyRef<'_>) -> Error {
        let schema = self.schema.load();
        let Some(kind) = schema.kind_by_id(key.kind()) else {
            return schema
                .check_kind(key.kind())
                .err()
                .unwrap_or_else(|| ArgumentError::Invalid(format!("vertex {key}")).into());
        };
        match (kind.keys(), key) {
            (KeyKind::Str, VertexKeyRef::KindStr(_, s)) => ArgumentError::TooLarge {
                what: format!("a vertex key of {} bytes, of kind {},", s.len(), kind.name()),
                limit: MAX_KEY_BYTES as u64,
            }
            .into(),
            (expected, _) => ArgumentError::KeyOfKind {
                kind: kind.name().to_string(),
                expected,
                found: key.split().1.to_owned(),
            }
            .into(),
        }
    }
}

#[cold]
fn wrong_end(schema: &Schema, label: &Label, key: VertexKeyRef<'_>, expected: KindId) -> Error {
    ArgumentError::EndOfKind {
        label: label.name().to_string().into(),
        expected: schema.named_kind(expected).into(),
        key: format!("{} of {}", key.split().1, schema.named_kind(key.kind())).into(),
    }
    .into()
}

/// Makes the error for labels that prescribe different kinds for the ends at which edges are read.
#[cold]
fn several_kinds(
    schema: &Schema,
    one: (&Label, KindId),
    other: (&Label, KindId),
    key: VertexKeyRef<'_>,
) -> Error {
    let [a, b] = [one.1, other.1].map(|kind| schema.named_kind(kind));
    let (label, of) = (one.0.name(), other.0.name());
    let what = if label == of {
        format!("an edge of label {label} joins vertices of {a} and of {b}")
    } else {
        format!(
            "edges of label {label} are read at vertices of {a}, and those of label {of} at vertices of {b}"
        )
    };
    ArgumentError::Invalid(format!("{what}: say the kind of vertex {key}")).into()
}
