//! The decoder of the operations of a record.

use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{KindId, LabelId, Op, PropertyId, PropertyType, VertexId, VertexKeyRef};
use hedgerow_io::CorruptionKind;
use hedgerow_io::codec::{OutOfBytes, Reader};

use crate::record::{
    DEFINE_KIND, DEFINE_LABEL, DEFINE_PROPERTY, ENDS, INSERT_VERTEX_STR, INSERT_VERTEX_U64, MAX_ROW_BYTES,
    MULTI, OF_KIND, PROPERTIES, PUT_EDGE, RANKED, REMOVE_EDGE, REMOVE_VERTEX, TEXT, WEIGHTED,
};
use crate::row::check_row;

/// An iterator over the operations of one commit, in the order in which they were added. The form of the
/// whole record was checked before. Ids and weights are checked by the code that applies the operations.
#[derive(Clone, Debug)]
pub struct Ops<'a> {
    reader: Reader<'a>,
    run: OpRun,
    left: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct OpRun {
    kind: u8,
    flags: u8,
    label: LabelId,
}

const SHORT: CorruptionKind = CorruptionKind::Invalid("an operation reaches beyond its record");

impl<'a> Ops<'a> {
    /// Returns the operations in `payload`.
    ///
    /// # Errors
    /// If the payload is not a sequence of complete, well-formed runs. O(runs), plus O(rows) of string keys.
    pub fn new(payload: &'a [u8]) -> Result<Ops<'a>, CorruptionKind> {
        check(payload)?;
        Ok(Ops { reader: Reader::new(payload), run: OpRun::default(), left: 0 })
    }

    fn try_next(&mut self) -> Result<Option<Op<'a>>, CorruptionKind> {
        if self.left == 0 {
            if self.reader.is_empty() {
                return Ok(None);
            }
            (self.run, self.left) = read_run(&mut self.reader)?;
        }
        let op = self.read_row()?;
        self.left -= 1;
        Ok(Some(op))
    }

    #[inline]
    fn read_row(&mut self) -> Result<Op<'a>, CorruptionKind> {
        let r = &mut self.reader;
        let OpRun { kind, flags, label } = self.run;
        if matches!(kind, DEFINE_LABEL | DEFINE_PROPERTY | DEFINE_KIND) {
            return read_definition(r, self.run);
        }
        let of = |key: VertexKeyRef<'a>| KindId(label.0 as u8).key(key);
        let first = VertexId(r.u32().map_err(|_| SHORT)?);
        Ok(match kind {
            PUT_EDGE => {
                let dst = VertexId(r.u32().map_err(|_| SHORT)?);
                let weight = match flags & WEIGHTED {
                    0 => None,
                    _ => Some(r.f64().map_err(|_| SHORT)?),
                };
                if flags & (RANKED | PROPERTIES) == 0 {
                    return Ok(Op::PutEdge { label, src: first, dst, weight });
                }
                let rank = read_rank(r, flags)?;
                let row = if flags & PROPERTIES == 0 { &[] } else { read_properties(r)? };
                Op::PutItem { label, src: first, dst, rank, weight, row }
            }
            REMOVE_EDGE => {
                let dst = VertexId(r.u32().map_err(|_| SHORT)?);
                match read_rank(r, flags)? {
                    0 => Op::RemoveEdge { label, src: first, dst },
                    rank => Op::RemoveItem { label, src: first, dst, rank },
                }
            }
            REMOVE_VERTEX => Op::RemoveVertex { id: first },
            INSERT_VERTEX_U64 => {
                let key = VertexKeyRef::U64(r.u64().map_err(|_| SHORT)?);
                Op::InsertVertex { id: first, key: of(key) }
            }
            _ => Op::InsertVertex { id: first, key: of(VertexKeyRef::Str(read_key(r)?)) },
        })
    }
}

fn read_rank(r: &mut Reader<'_>, flags: u8) -> Result<u64, CorruptionKind> {
    if flags & RANKED == 0 {
        return Ok(0);
    }
    match r.u64().map_err(|_| SHORT)? {
        0 => Err(CorruptionKind::Invalid("a rank of zero where the flags announce a rank")),
        rank => Ok(rank),
    }
}

fn read_properties<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], CorruptionKind> {
    let len = r.u32().map_err(|_| SHORT)? as usize;
    if len == 0 || len > MAX_ROW_BYTES {
        return Err(CorruptionKind::Invalid("properties that are empty or longer than they may be"));
    }
    let row = r.bytes(len).map_err(|_| SHORT)?;
    check_row(row).map_err(CorruptionKind::Invalid)?;
    Ok(row)
}

fn read_name<'a>(r: &mut Reader<'a>) -> Result<&'a str, CorruptionKind> {
    let len = usize::from(r.u8().map_err(|_| SHORT)?);
    let bytes = r.bytes(len).map_err(|_| SHORT)?;
    std::str::from_utf8(bytes).map_err(|_| CorruptionKind::Invalid("a name that is not UTF-8"))
}

fn read_definition<'a>(r: &mut Reader<'a>, run: OpRun) -> Result<Op<'a>, CorruptionKind> {
    let label = run.label;
    if run.kind == DEFINE_LABEL {
        let ends = if run.flags & ENDS == 0 { None } else { Some([read_kind(r)?, read_kind(r)?]) };
        return Ok(Op::DefineLabel { label, multi: run.flags & MULTI != 0, ends, name: read_name(r)? });
    }
    if run.kind == DEFINE_KIND {
        let (kind, text) = (KindId(label.0 as u8), run.flags & TEXT != 0);
        return Ok(Op::DefineKind { kind, text, name: read_name(r)? });
    }
    let property = PropertyId(r.u16().map_err(|_| SHORT)?);
    let kind = PropertyType::from_byte(r.u8().map_err(|_| SHORT)?);
    let kind = kind.ok_or(CorruptionKind::Invalid("an unknown type of property"))?;
    let of = if run.flags & OF_KIND == 0 { KindId::DEFAULT } else { read_kind(r)? };
    Ok(Op::DefineProperty { label, of, property, kind, name: read_name(r)? })
}

fn read_kind(r: &mut Reader<'_>) -> Result<KindId, CorruptionKind> {
    Ok(KindId(r.u8().map_err(|_| SHORT)?))
}

/// True if the number in the label field is small enough to be the number of a kind.
fn is_kind(label: LabelId) -> bool {
    label.0 <= u16::from(KindId::MAX.0)
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    #[inline]
    fn next(&mut self) -> Option<Op<'a>> {
        // `new` has decoded the same bytes, so no error can occur here.
        self.try_next().ok().flatten()
    }
}

fn read_run(r: &mut Reader<'_>) -> Result<(OpRun, u32), CorruptionKind> {
    let short = |_: OutOfBytes| SHORT;
    let run = OpRun {
        kind: r.u8().map_err(short)?,
        flags: r.u8().map_err(short)?,
        label: LabelId(r.u16().map_err(short)?),
    };
    let count = r.u32().map_err(short)?;
    if count == 0 {
        return Err(CorruptionKind::Invalid("a run without operations"));
    }
    let known = match run.kind {
        PUT_EDGE => run.flags & !(WEIGHTED | RANKED | PROPERTIES) == 0,
        REMOVE_EDGE => run.flags & !RANKED == 0,
        DEFINE_LABEL => run.flags & !(MULTI | ENDS) == 0,
        DEFINE_PROPERTY => run.flags & !OF_KIND == 0,
        DEFINE_KIND => run.flags & !TEXT == 0 && is_kind(run.label),
        INSERT_VERTEX_U64 | INSERT_VERTEX_STR => run.flags == 0 && is_kind(run.label),
        REMOVE_VERTEX => run.flags == 0 && run.label.0 == 0,
        _ => false,
    };
    if !known {
        return Err(CorruptionKind::Invalid("an unknown kind of operation"));
    }
    Ok((run, count))
}

fn read_key<'a>(r: &mut Reader<'a>) -> Result<&'a str, CorruptionKind> {
    let len = r.u32().map_err(|_| SHORT)? as usize;
    if len > MAX_KEY_BYTES {
        return Err(CorruptionKind::Invalid("a key longer than keys may be"));
    }
    let bytes = r.bytes(len).map_err(|_| SHORT)?;
    std::str::from_utf8(bytes).map_err(|_| CorruptionKind::Invalid("a key that is not UTF-8"))
}

fn check(payload: &[u8]) -> Result<(), CorruptionKind> {
    let mut r = Reader::new(payload);
    while !r.is_empty() {
        let (run, count) = read_run(&mut r)?;
        let row = match run.kind {
            INSERT_VERTEX_U64 => 12,
            REMOVE_VERTEX => 4,
            PUT_EDGE if run.flags == 0 => 8,
            PUT_EDGE if run.flags == WEIGHTED => 16,
            REMOVE_EDGE if run.flags == 0 => 8,
            _ => {
                // Rows of different lengths are read one by one, as the iterator will read them again.
                let mut rows = Ops { reader: r.clone(), run, left: count };
                for _ in 0..count {
                    rows.read_row()?;
                }
                r = rows.reader;
                continue;
            }
        };
        let bytes = u64::from(count) * row;
        r.bytes(usize::try_from(bytes).map_err(|_| SHORT)?).map_err(|_| SHORT)?;
    }
    Ok(())
}
