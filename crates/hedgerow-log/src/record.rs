//! Records: building the payload of a commit, and the frame around every payload.

use thiserror::Error;

use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::property::MAX_NAME_BYTES;
use hedgerow_core::{KindId, Op, Timestamp, VertexId, VertexKeyRef};
use hedgerow_io::checksum::checksum64;
use hedgerow_io::codec::{OutOfBytes, PutLe, Reader};
use hedgerow_io::{FileId, Lsn, StoreId};

/// The length of a record's frame, before its payload.
pub const RECORD_HEADER_BYTES: usize = 56;
/// The longest record, frame and padding included.
pub const MAX_RECORD_BYTES: usize = 256 << 20;
const MAX_PAYLOAD_BYTES: usize = MAX_RECORD_BYTES - RECORD_HEADER_BYTES;
/// The alignment of records: they begin at multiples of this.
pub(crate) const ALIGN: usize = 8;

pub(crate) const RUN_HEADER_BYTES: usize = 8;
pub(crate) const INSERT_VERTEX_U64: u8 = 1;
pub(crate) const INSERT_VERTEX_STR: u8 = 2;
pub(crate) const REMOVE_VERTEX: u8 = 3;
pub(crate) const PUT_EDGE: u8 = 4;
pub(crate) const REMOVE_EDGE: u8 = 5;
pub(crate) const DEFINE_LABEL: u8 = 6;
pub(crate) const DEFINE_PROPERTY: u8 = 7;
pub(crate) const DEFINE_KIND: u8 = 8;
/// Flag of a run of `PUT_EDGE`: each row has a weight.
pub(crate) const WEIGHTED: u8 = 1;
/// Flag of a run of `PUT_EDGE` or `REMOVE_EDGE`: each row has a rank.
pub(crate) const RANKED: u8 = 2;
/// Flag of a run of `PUT_EDGE`: each row has properties.
pub(crate) const PROPERTIES: u8 = 4;
/// Flag of a run of `DEFINE_LABEL`: the edges have ranks.
pub(crate) const MULTI: u8 = 1;
/// Flag of a run of `DEFINE_LABEL`: each row has the kinds of source and destination.
pub(crate) const ENDS: u8 = 2;
/// Flag of a run of `DEFINE_KIND`: the keys are strings.
pub(crate) const TEXT: u8 = 1;
/// Flag of a run of `DEFINE_PROPERTY`: each row has the kind of the vertices with the property.
pub(crate) const OF_KIND: u8 = 1;
/// The most bytes of the properties of one edge or vertex in a record.
pub const MAX_ROW_BYTES: usize = 64 << 20;

/// The reason why an operation does not fit a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The transaction is larger than a record may be.
    #[error("the transaction needs a log record of more than {MAX_RECORD_BYTES} bytes")]
    TooLarge,
    /// The properties of one edge or vertex are longer than [`MAX_ROW_BYTES`].
    #[error("properties of {bytes} bytes, at most {MAX_ROW_BYTES} are allowed")]
    RowTooLong {
        /// Their length.
        bytes: usize,
    },
    /// A name is longer than a name may be.
    #[error("a name has {bytes} bytes, at most {MAX_NAME_BYTES} are allowed")]
    NameTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A string key is longer than a key may be.
    #[error("a key has {bytes} bytes, at most {MAX_KEY_BYTES} are allowed")]
    KeyTooLong {
        /// Its length.
        bytes: usize,
    },
}

/// The operations of one commit, in the form of the log.
///
/// Consecutive operations of the same kind share one run header, so an edge costs 8 bytes, or 16 with its
/// weight. A builder can be reused after [`clear`](Self::clear) without allocation.
#[derive(Clone, Debug, Default)]
pub struct RecordBuilder {
    payload: Vec<u8>,
    run: Option<OpRun>,
    ops: u64,
    finished: Option<Finished>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpRunKey {
    kind: u8,
    flags: u8,
    label: u16,
}

#[derive(Clone, Copy, Debug)]
struct OpRun {
    key: OpRunKey,
    /// The position of the run's count in the payload.
    count_at: usize,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Finished {
    /// The length without padding.
    len: usize,
    checksum: u64,
}

impl RecordBuilder {
    /// Returns a builder without operations.
    pub fn new() -> Self {
        RecordBuilder::default()
    }

    /// Removes all operations and keeps the memory.
    pub fn clear(&mut self) {
        self.payload.clear();
        self.run = None;
        self.ops = 0;
        self.finished = None;
    }

    /// True if there are no operations. Such a record is never written.
    pub fn is_empty(&self) -> bool {
        self.ops == 0
    }

    /// Returns the number of operations.
    pub fn op_count(&self) -> u64 {
        self.ops
    }

    /// Returns the length of the record in the log, frame and padding included.
    pub fn encoded_len(&self) -> u64 {
        record_len(self.payload.len()) as u64
    }

    /// Adds an operation after the others. Amortised O(1), plus the length of a string key.
    ///
    /// # Errors
    /// If the record or a key would be too large; then the builder is unchanged.
    pub fn push(&mut self, op: Op<'_>) -> Result<(), RecordError> {
        match op {
            Op::InsertVertex { id, key } => self.insert_vertex(id, key)?,
            Op::RemoveVertex { id } => {
                self.row(OpRunKey { kind: REMOVE_VERTEX, flags: 0, label: 0 }, 4)?;
                self.payload.put_u32(id.0);
            }
            Op::PutEdge { label, src, dst, weight } => {
                let (flags, bytes) = if weight.is_some() { (WEIGHTED, 16) } else { (0, 8) };
                self.row(OpRunKey { kind: PUT_EDGE, flags, label: label.0 }, bytes)?;
                self.payload.put_u64(u64::from(src.0) | u64::from(dst.0) << 32);
                if let Some(weight) = weight {
                    self.payload.put_f64(weight);
                }
            }
            Op::RemoveEdge { label, src, dst } => {
                self.row(OpRunKey { kind: REMOVE_EDGE, flags: 0, label: label.0 }, 8)?;
                self.payload.put_u64(u64::from(src.0) | u64::from(dst.0) << 32);
            }
            other => self.push_rich(other)?,
        }
        Ok(())
    }

    /// Adds an insertion. The label field of the run has the kind of the vertex.
    fn insert_vertex(&mut self, id: VertexId, key: VertexKeyRef<'_>) -> Result<(), RecordError> {
        let (vertices, key) = key.split();
        let run = |kind| OpRunKey { kind, flags: 0, label: u16::from(vertices.0) };
        match key {
            VertexKeyRef::U64(key) | VertexKeyRef::KindU64(_, key) => {
                self.row(run(INSERT_VERTEX_U64), 12)?;
                self.payload.put_u32(id.0);
                self.payload.put_u64(key);
            }
            VertexKeyRef::Str(key) | VertexKeyRef::KindStr(_, key) => {
                if key.len() > MAX_KEY_BYTES {
                    return Err(RecordError::KeyTooLong { bytes: key.len() });
                }
                self.row(run(INSERT_VERTEX_STR), 8 + key.len())?;
                self.payload.put_u32(id.0);
                self.payload.put_u32(key.len() as u32);
                self.payload.put_bytes(key.as_bytes());
            }
        }
        Ok(())
    }

    /// Adds an operation with a rank, properties or a name.
    fn push_rich(&mut self, op: Op<'_>) -> Result<(), RecordError> {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        match op {
            Op::PutItem { label, src, dst, rank, weight, row } => {
                if row.len() > MAX_ROW_BYTES {
                    return Err(RecordError::RowTooLong { bytes: row.len() });
                }
                let flags = flag(weight.is_some(), WEIGHTED) | flag(rank != 0, RANKED);
                let flags = flags | flag(!row.is_empty(), PROPERTIES);
                self.row(OpRunKey { kind: PUT_EDGE, flags, label: label.0 }, 28 + row.len())?;
                self.payload.put_u64(u64::from(src.0) | u64::from(dst.0) << 32);
                if let Some(weight) = weight {
                    self.payload.put_f64(weight);
                }
                if rank != 0 {
                    self.payload.put_u64(rank);
                }
                if !row.is_empty() {
                    self.payload.put_u32(row.len() as u32);
                    self.payload.put_bytes(row);
                }
            }
            Op::RemoveItem { label, src, dst, rank } => {
                let key = OpRunKey { kind: REMOVE_EDGE, flags: flag(rank != 0, RANKED), label: label.0 };
                self.row(key, 16)?;
                self.payload.put_u64(u64::from(src.0) | u64::from(dst.0) << 32);
                if rank != 0 {
                    self.payload.put_u64(rank);
                }
            }
            definition => self.push_definition(definition)?,
        }
        Ok(())
    }

    fn push_definition(&mut self, op: Op<'_>) -> Result<(), RecordError> {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        match op {
            Op::DefineLabel { label, multi, ends, name } => {
                let flags = flag(multi, MULTI) | flag(ends.is_some(), ENDS);
                let key = OpRunKey { kind: DEFINE_LABEL, flags, label: label.0 };
                self.row(key, 3 + check_name(name)?)?;
                ends.iter().flatten().for_each(|kind| self.payload.put_u8(kind.0));
                self.name(name);
            }
            Op::DefineKind { kind, text, name } => {
                let (flags, label) = (flag(text, TEXT), u16::from(kind.0));
                self.row(OpRunKey { kind: DEFINE_KIND, flags, label }, 1 + check_name(name)?)?;
                self.name(name);
            }
            Op::DefineProperty { label, of, property, kind, name } => {
                let flags = flag(of != KindId::DEFAULT, OF_KIND);
                let key = OpRunKey { kind: DEFINE_PROPERTY, flags, label: label.0 };
                self.row(key, 5 + check_name(name)?)?;
                self.payload.put_u16(property.0);
                self.payload.put_u8(kind as u8);
                if of != KindId::DEFAULT {
                    self.payload.put_u8(of.0);
                }
                self.name(name);
            }
            // The caller handles the other operations.
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, name: &str) {
        self.payload.put_u8(name.len() as u8);
        self.payload.put_bytes(name.as_bytes());
    }

    /// Makes room for one row of `bytes`, in the current run or in a new one.
    #[inline]
    fn row(&mut self, key: OpRunKey, bytes: usize) -> Result<(), RecordError> {
        if self.finished.is_none()
            && self.payload.len() + bytes <= MAX_PAYLOAD_BYTES
            && let Some(run) = self.run.as_mut().filter(|run| run.key == key)
            && let Some(count) = self.payload.get_mut(run.count_at..run.count_at + 4)
        {
            run.count += 1;
            count.copy_from_slice(&run.count.to_le_bytes());
            self.ops += 1;
            return Ok(());
        }
        self.first_row(key, bytes)
    }

    /// Begins a run with a row of `bytes`. The first operation after [`finish`](Self::finish) also begins a
    /// run.
    #[cold]
    fn first_row(&mut self, key: OpRunKey, bytes: usize) -> Result<(), RecordError> {
        let len = self.finished.map_or(self.payload.len(), |finished| finished.len);
        if len + RUN_HEADER_BYTES + bytes > MAX_PAYLOAD_BYTES {
            return Err(RecordError::TooLarge);
        }
        self.payload.truncate(len);
        self.finished = None;
        self.payload.put_u8(key.kind);
        self.payload.put_u8(key.flags);
        self.payload.put_u16(key.label);
        let count_at = self.payload.len();
        self.payload.put_u32(1);
        self.run = Some(OpRun { key, count_at, count: 1 });
        self.ops += 1;
        Ok(())
    }

    /// Pads the payload and computes its checksum. Should be called before locks are taken, or the
    /// reservation does it. O(bytes); does nothing if no operation was added after the last call.
    pub fn finish(&mut self) {
        if self.finished.is_none() {
            let len = self.payload.len();
            self.payload.resize(len.next_multiple_of(ALIGN), 0);
            self.finished = Some(Finished { len, checksum: checksum64(&self.payload) });
        }
    }

    /// Returns the finished payload with its padding, its length without padding, and its checksum.
    pub(crate) fn finished(&mut self) -> Payload<'_> {
        self.finish();
        let Finished { len, checksum } = self.finished.unwrap_or(Finished { len: 0, checksum: 0 });
        Payload { padded: &self.payload, len, checksum }
    }
}

fn check_name(name: &str) -> Result<usize, RecordError> {
    let bytes = name.len();
    if bytes > MAX_NAME_BYTES { Err(RecordError::NameTooLong { bytes }) } else { Ok(bytes) }
}

/// A payload ready to be framed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload<'a> {
    /// The bytes with zeros up to a multiple of [`ALIGN`].
    pub(crate) padded: &'a [u8],
    /// The length without padding.
    pub(crate) len: usize,
    /// The checksum of `padded`.
    pub(crate) checksum: u64,
}

/// Returns the length in the log of a record with `payload` bytes of payload.
pub(crate) fn record_len(payload: usize) -> usize {
    RECORD_HEADER_BYTES + payload.next_multiple_of(ALIGN)
}

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum RecordType {
    /// A commit.
    Commit = 1,
    /// The last record of a full segment; it names the next segment.
    RotationSeal = 2,
    /// The end mark of a log that was closed cleanly.
    ClosingSeal = 3,
}

/// The frame of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: RecordType,
    /// The length of the payload without padding; never 0.
    pub(crate) length: u32,
    pub(crate) lsn: Lsn,
    /// The commit timestamp; in a seal, the timestamp of the last commit before it.
    pub(crate) ts: Timestamp,
    /// The position that was known to be durable when this record was appended.
    pub(crate) durable: Lsn,
    pub(crate) payload_checksum: u64,
    /// The frame checksum of the record before this one, which chains the records.
    pub(crate) previous: u64,
}

const FRAME_BODY_BYTES: usize = RECORD_HEADER_BYTES - 8;

/// Computes the checksum of a frame. It also covers store and segment, which the frame does not contain.
fn frame_checksum(store: StoreId, segment: FileId, body: &[u8; FRAME_BODY_BYTES]) -> u64 {
    let mut scope = [0; 24 + FRAME_BODY_BYTES];
    scope[..16].copy_from_slice(&store.0);
    scope[16..24].copy_from_slice(&segment.0.to_le_bytes());
    scope[24..].copy_from_slice(body);
    checksum64(&scope)
}

impl Frame {
    /// Appends the frame to `out` and returns its checksum.
    pub(crate) fn encode(&self, store: StoreId, segment: FileId, out: &mut Vec<u8>) -> u64 {
        let mut body = [0; FRAME_BODY_BYTES];
        body[0..4].copy_from_slice(&self.length.to_le_bytes());
        body[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        body[8..16].copy_from_slice(&self.lsn.0.to_le_bytes());
        body[16..24].copy_from_slice(&self.ts.0.to_le_bytes());
        body[24..32].copy_from_slice(&self.durable.0.to_le_bytes());
        body[32..40].copy_from_slice(&self.payload_checksum.to_le_bytes());
        body[40..48].copy_from_slice(&self.previous.to_le_bytes());
        let checksum = frame_checksum(store, segment, &body);
        out.extend_from_slice(&body);
        out.put_u64(checksum);
        checksum
    }

    /// Reads a frame and its checksum; `None` unless it is valid and belongs to this store and segment.
    pub(crate) fn decode(
        bytes: &[u8; RECORD_HEADER_BYTES],
        store: StoreId,
        segment: FileId,
    ) -> Option<(Frame, u64)> {
        let (stored, checksum) = Frame::checksums(bytes, store, segment)?;
        if stored != checksum {
            return None;
        }
        Frame::decode_body(bytes).ok()?.map(|frame| (frame, checksum))
    }

    /// Returns the checksum that is stored in a frame, and the computed checksum of its bytes.
    pub(crate) fn checksums(
        bytes: &[u8; RECORD_HEADER_BYTES],
        store: StoreId,
        segment: FileId,
    ) -> Option<(u64, u64)> {
        let (body, stored) = bytes.split_first_chunk::<FRAME_BODY_BYTES>()?;
        Some((u64::from_le_bytes(stored.try_into().ok()?), frame_checksum(store, segment, body)))
    }

    fn decode_body(body: &[u8]) -> Result<Option<Frame>, OutOfBytes> {
        let mut r = Reader::new(body);
        let length = r.u32()?;
        let kind = match r.u32()? {
            1 => RecordType::Commit,
            2 => RecordType::RotationSeal,
            3 => RecordType::ClosingSeal,
            _ => return Ok(None),
        };
        let lsn = Lsn(r.u64()?);
        let ts = Timestamp(r.u64()?);
        let durable = Lsn(r.u64()?);
        let frame = Frame { kind, length, lsn, ts, durable, payload_checksum: r.u64()?, previous: r.u64()? };
        Ok((length > 0).then_some(frame))
    }
}

/// The payload of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    /// The id of the next segment; 0 in a closing seal.
    pub(crate) next: FileId,
    /// The number of commits in the segment.
    pub(crate) records: u64,
}

/// The length of a seal's payload.
pub(crate) const SEAL_PAYLOAD_BYTES: usize = 16;
/// The length of a seal in the log.
pub(crate) const SEAL_BYTES: u64 = (RECORD_HEADER_BYTES + SEAL_PAYLOAD_BYTES) as u64;

impl Seal {
    pub(crate) fn encode(&self) -> [u8; SEAL_PAYLOAD_BYTES] {
        let mut bytes = [0; SEAL_PAYLOAD_BYTES];
        bytes[..8].copy_from_slice(&self.next.0.to_le_bytes());
        bytes[8..].copy_from_slice(&self.records.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Seal, OutOfBytes> {
        let mut r = Reader::new(payload);
        Ok(Seal { next: FileId(r.u64()?), records: r.u64()? })
    }
}
