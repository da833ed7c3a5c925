//! The sections of the manifest other than files: the schema, and the counts of vertices and edges.
//!
//! The schema is written as in the log, definition by definition with its timestamp, so that there is one
//! layout and one check of it.

use hedgerow_catalog::schema::Schema;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{KindId, LabelId, Op, PropertyId, PropertyType, Timestamp};
use hedgerow_io::codec::{PutLe, Reader};
use hedgerow_tier::{Manifest, Section};
use hedgerow_txn::Counts;

const LABEL: u8 = 0;
const PROPERTY: u8 = 1;
const KIND: u8 = 2;
/// A property of vertices of a kind other than the default one; the field of the label has the kind.
const PROPERTY_OF_KIND: u8 = 3;
const MULTI: u8 = 1;
/// A flag of a label: the field of the property number has the kinds of its ends.
const ENDS: u8 = 2;

/// Puts the schema into the manifest, or nothing if the schema has no definition.
pub(crate) fn put_schema(manifest: &mut Manifest, schema: &Schema) {
    manifest.sections.retain(|section| section.tag != Section::SCHEMA);
    let mut bytes = Vec::new();
    for (ts, op) in schema.definitions() {
        let (kind, label, number, detail, name) = match op {
            Op::DefineLabel { label, multi, ends, name } => {
                let flags = (u8::from(multi) * MULTI) | (u8::from(ends.is_some()) * ENDS);
                let ends = ends.map_or([0, 0], |ends| ends.map(|kind| kind.0));
                (LABEL, label, u16::from_le_bytes(ends), flags, name)
            }
            Op::DefineProperty { label, of: KindId::DEFAULT, property, kind, name } => {
                (PROPERTY, label, property.0, kind as u8, name)
            }
            Op::DefineProperty { of, property, kind, name, .. } => {
                (PROPERTY_OF_KIND, LabelId(u16::from(of.0)), property.0, kind as u8, name)
            }
            Op::DefineKind { .. } if faults::is_on(PlantedFault::KindsLeftOutOfManifest) => continue,
            Op::DefineKind { kind, text, name } => {
                (KIND, LabelId(u16::from(kind.0)), 0, u8::from(text), name)
            }
            _ => continue,
        };
        bytes.put_u64(ts.0);
        bytes.put_u8(kind);
        bytes.put_u8(detail);
        bytes.put_u16(label.0);
        bytes.put_u16(number);
        bytes.put_u8(name.len() as u8);
        bytes.put_bytes(name.as_bytes());
    }
    if !bytes.is_empty() {
        manifest.sections.push(Section {
            tag: Section::SCHEMA,
            version: Section::SCHEMA_VERSION,
            required: true,
            bytes,
        });
        manifest.sections.sort_by_key(|section| section.tag);
    }
}

/// Reads the schema from the manifest. `Err` names the fault.
pub(crate) fn schema(manifest: &Manifest) -> Result<Schema, &'static str> {
    let mut schema = Schema::default();
    let Some(section) = manifest.sections.iter().find(|section| section.tag == Section::SCHEMA) else {
        return Ok(schema);
    };
    if !section.is_known() {
        return Err("a schema in an unknown form");
    }
    let mut r = Reader::new(&section.bytes);
    while !r.is_empty() {
        let (ts, op) = definition(&mut r)?;
        if ts > manifest.checkpoint {
            return Err("a definition after the checkpoint");
        }
        schema.add(ts, op)?;
    }
    Ok(schema)
}

/// Puts the counts of vertices and edges at the manifest's checkpoint into it.
pub(crate) fn put_counts(manifest: &mut Manifest, counts: Counts) {
    manifest.sections.retain(|section| section.tag != Section::COUNTS);
    let mut bytes = Vec::new();
    bytes.put_u64(manifest.checkpoint.0);
    bytes.put_u64(counts.vertices);
    bytes.put_u64(counts.edges);
    let (tag, version) = (Section::COUNTS, Section::COUNTS_VERSION);
    manifest.sections.push(Section { tag, version, required: false, bytes });
    manifest.sections.sort_by_key(|section| section.tag);
}

/// Reads the counts at the manifest's checkpoint. `None` if the manifest has no counts, or if they belong to
/// an earlier checkpoint: a program that does not know the section left them. `Err` names the fault.
pub(crate) fn counts(manifest: &Manifest) -> Result<Option<Counts>, &'static str> {
    let Some(section) = manifest.sections.iter().find(|section| section.tag == Section::COUNTS) else {
        return Ok(None);
    };
    if !section.is_known() {
        return Ok(None);
    }
    let mut r = Reader::new(&section.bytes);
    let mut next = || r.u64().map_err(|_| "counts cut short");
    let (as_of, vertices, edges) = (Timestamp(next()?), next()?, next()?);
    let told: u64 = manifest.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.info.edges));
    let fits = vertices <= u64::from(manifest.next_vertex) && edges <= told;
    match (r.is_empty(), as_of == manifest.checkpoint) {
        (false, _) => Err("bytes left over behind the counts"),
        (true, true) if !fits => Err("counts beyond what segments hold"),
        (true, same) => Ok(same.then_some(Counts { vertices, edges })),
    }
}

fn definition<'a>(r: &mut Reader<'a>) -> Result<(Timestamp, Op<'a>), &'static str> {
    const SHORT: &str = "a definition cut short";
    let ts = Timestamp(r.u64().map_err(|_| SHORT)?);
    let kind = r.u8().map_err(|_| SHORT)?;
    let detail = r.u8().map_err(|_| SHORT)?;
    let label = LabelId(r.u16().map_err(|_| SHORT)?);
    let number = r.u16().map_err(|_| SHORT)?;
    let len = usize::from(r.u8().map_err(|_| SHORT)?);
    let name =
        std::str::from_utf8(r.bytes(len).map_err(|_| SHORT)?).map_err(|_| "a name that is not UTF-8")?;
    let of_kind = || u8::try_from(label.0).map(KindId).map_err(|_| "a kind beyond the largest");
    let op = match (kind, detail) {
        (LABEL, 0..=3) if detail & ENDS != 0 || number == 0 => {
            let ends = (detail & ENDS != 0).then_some(number.to_le_bytes().map(KindId));
            Op::DefineLabel { label, multi: detail & MULTI != 0, ends, name }
        }
        (PROPERTY | PROPERTY_OF_KIND, detail) => {
            let value = PropertyType::from_byte(detail).ok_or("an unknown type of property")?;
            let (label, of) =
                if kind == PROPERTY { (label, KindId::DEFAULT) } else { (LabelId::VERTICES, of_kind()?) };
            Op::DefineProperty { label, of, property: PropertyId(number), kind: value, name }
        }
        (KIND, 0 | 1) if number == 0 => Op::DefineKind { kind: of_kind()?, text: detail == 1, name },
        _ => return Err("an unknown definition"),
    };
    Ok((ts, op))
}
