//! What the manifest says beside files: the schema.
//!
//! The schema takes the form that it has in the log, definition by definition with its timestamp, so that there is one
//! layout and one check of it.

use hedgerow_core::{LabelId, Op, PropertyId, PropertyType, Timestamp};
use hedgerow_io::codec::{PutLe, Reader};
use hedgerow_tier::{Manifest, Section};

use crate::state::schema::Schema;

const LABEL: u8 = 0;
const PROPERTY: u8 = 1;
const MULTI: u8 = 1;

/// Puts the schema into the manifest; none if it holds no definition.
pub(crate) fn put_schema(manifest: &mut Manifest, schema: &Schema) {
    manifest.sections.retain(|section| section.tag != Section::SCHEMA);
    let mut bytes = Vec::new();
    for (ts, op) in schema.definitions() {
        let (kind, label, property, detail, name) = match op {
            Op::DefineLabel { label, multi, name } => (LABEL, label, PropertyId(0), u8::from(multi), name),
            Op::DefineProperty { label, property, kind, name } => {
                (PROPERTY, label, property, kind as u8, name)
            }
            _ => continue,
        };
        bytes.put_u64(ts.0);
        bytes.put_u8(kind);
        bytes.put_u8(detail);
        bytes.put_u16(label.0);
        bytes.put_u16(property.0);
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

/// The schema in the manifest. `Err` says what is wrong with it.
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

fn definition<'a>(r: &mut Reader<'a>) -> Result<(Timestamp, Op<'a>), &'static str> {
    const SHORT: &str = "a definition cut short";
    let ts = Timestamp(r.u64().map_err(|_| SHORT)?);
    let kind = r.u8().map_err(|_| SHORT)?;
    let detail = r.u8().map_err(|_| SHORT)?;
    let label = LabelId(r.u16().map_err(|_| SHORT)?);
    let property = PropertyId(r.u16().map_err(|_| SHORT)?);
    let len = usize::from(r.u8().map_err(|_| SHORT)?);
    let name =
        std::str::from_utf8(r.bytes(len).map_err(|_| SHORT)?).map_err(|_| "a name that is not UTF-8")?;
    let op = match (kind, detail) {
        (LABEL, 0 | MULTI) if property.0 == 0 => Op::DefineLabel { label, multi: detail == MULTI, name },
        (PROPERTY, detail) => {
            let kind = PropertyType::from_byte(detail).ok_or("an unknown type of property")?;
            Op::DefineProperty { label, property, kind, name }
        }
        _ => return Err("an unknown definition"),
    };
    Ok((ts, op))
}
