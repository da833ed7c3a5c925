use super::*;
use crate::record::{Frame, RecordType, Seal};
use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{KindId, PropertyId, PropertyType};
use proptest::prelude::*;

fn payload(record: &mut RecordBuilder) -> Vec<u8> {
    let finished = record.finished();
    finished.padded[..finished.len].to_vec()
}

#[test]
fn runs_share_a_header() {
    let mut record = RecordBuilder::new();
    for n in 0..100 {
        let (label, src, dst) = (LabelId(3), VertexId(n), VertexId(n + 1));
        record.push(Op::PutEdge { label, src, dst, weight: None }).unwrap();
    }
    assert_eq!(payload(&mut record).len(), 8 + 100 * 8);
    assert_eq!(record.encoded_len(), 56 + 808);
    assert_eq!(record.op_count(), 100);
    record.push(Op::RemoveVertex { id: VertexId(1) }).unwrap();
    assert_eq!(payload(&mut record).len(), 808 + 8 + 4);
    assert_eq!(record.encoded_len(), 56 + 824, "padded");
    record.push(Op::RemoveVertex { id: VertexId(2) }).unwrap();
    assert_eq!(payload(&mut record).len(), 808 + 8 + 4 + 8 + 4, "padding gives way to a new run");
    record.clear();
    assert!(record.is_empty() && payload(&mut record).is_empty());
}

#[test]
fn limits_leave_the_builder_as_it_was() {
    let mut record = RecordBuilder::new();
    let long = "x".repeat(MAX_KEY_BYTES + 1);
    let insert = |key| Op::InsertVertex { id: VertexId(0), key: VertexKeyRef::Str(key) };
    assert_eq!(record.push(insert(&long)), Err(RecordError::KeyTooLong { bytes: MAX_KEY_BYTES + 1 }));
    assert!(record.is_empty());
    let mut pushed = 0;
    while record.push(insert(&long[1..])).is_ok() {
        pushed += 1;
    }
    assert_eq!(record.push(insert(&long[1..])), Err(RecordError::TooLarge));
    assert_eq!(record.op_count(), pushed);
    assert!(record.encoded_len() <= MAX_RECORD_BYTES as u64);
    assert_eq!(Ops::new(&payload(&mut record)).unwrap().count() as u64, pushed);
}

#[test]
fn frames_and_seals_come_back_only_whole_and_in_their_place() {
    let seal = Seal { next: FileId(7), records: 3 };
    assert_eq!(Seal::decode(&seal.encode()), Ok(seal));
    let frame = Frame {
        kind: RecordType::RotationSeal,
        length: 16,
        lsn: Lsn(8),
        ts: Timestamp(5),
        durable: Lsn(8),
        payload_checksum: 1,
        previous: 2,
    };
    let mut bytes = Vec::new();
    let checksum = frame.encode(STORE, FileId(1), &mut bytes);
    let bytes: [u8; RECORD_HEADER_BYTES] = bytes.try_into().unwrap();
    assert_eq!(Frame::decode(&bytes, STORE, FileId(1)), Some((frame, checksum)));
    assert_eq!(Frame::decode(&bytes, STORE, FileId(2)), None);
    assert_eq!(Frame::decode(&bytes, StoreId([8; 16]), FileId(1)), None);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Frame::decode(&flipped, STORE, FileId(1)), None, "bit {bit}");
    }
}

#[test]
fn malformed_payloads_are_refused() {
    let cases: [(&str, &[u8]); 11] = [
        ("short run header", &[4, 0, 0, 0]),
        ("no rows", &[4, 0, 0, 0, 0, 0, 0, 0]),
        ("a kind beyond the largest", &[1, 0, 255, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("a definition of such a kind", &[8, 0, 255, 0, 1, 0, 0, 0, 1, b'x']),
        ("ends cut short", &[6, 2, 1, 0, 1, 0, 0, 0, 1]),
        ("unknown kind", &[9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("unknown flag", &[4, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("label on a vertex", &[3, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("huge count", &[4, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]),
        ("huge key", &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]),
        ("key not UTF-8", &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff]),
    ];
    for (what, bytes) in cases {
        assert!(matches!(Ops::new(bytes), Err(CorruptionKind::Invalid(_))), "{what}");
    }
}

#[derive(Clone, Debug)]
enum Owned {
    Insert(u32, KindId, u64),
    InsertStr(u32, KindId, String),
    Remove(u32),
    Put(u16, u32, u32, Option<f64>),
    Cut(u16, u32, u32),
    PutItem(u16, [u32; 2], u64, Option<f64>, Vec<u8>),
    CutItem(u16, [u32; 2], u64),
    Kind(KindId, bool, String),
    Label(u16, bool, Option<[u8; 2]>, String),
    Property(u16, u8, u16, PropertyType, String),
}

impl Owned {
    fn op(&self) -> Op<'_> {
        match self {
            Owned::Insert(id, kind, key) => Op::InsertVertex { id: VertexId(*id), key: kind.key(*key) },
            Owned::InsertStr(id, kind, key) => {
                Op::InsertVertex { id: VertexId(*id), key: kind.key(key.as_str()) }
            }
            Owned::Remove(id) => Op::RemoveVertex { id: VertexId(*id) },
            &Owned::Put(label, src, dst, weight) => {
                Op::PutEdge { label: LabelId(label), src: VertexId(src), dst: VertexId(dst), weight }
            }
            &Owned::Cut(label, src, dst) => {
                Op::RemoveEdge { label: LabelId(label), src: VertexId(src), dst: VertexId(dst) }
            }
            Owned::PutItem(label, ends, rank, weight, row) => {
                let (label, [src, dst]) = (LabelId(*label), ends.map(VertexId));
                Op::PutItem { label, src, dst, rank: *rank, weight: *weight, row }
            }
            Owned::CutItem(label, ends, rank) => {
                let (label, [src, dst]) = (LabelId(*label), ends.map(VertexId));
                Op::RemoveItem { label, src, dst, rank: *rank }
            }
            Owned::Kind(kind, text, name) => Op::DefineKind { kind: *kind, text: *text, name },
            Owned::Label(label, multi, ends, name) => {
                let ends = ends.map(|ends| ends.map(KindId));
                Op::DefineLabel { label: LabelId(*label), multi: *multi, ends, name }
            }
            Owned::Property(label, of, property, kind, name) => Op::DefineProperty {
                label: LabelId(*label),
                of: KindId(*of),
                property: PropertyId(*property),
                kind: *kind,
                name,
            },
        }
    }
}

fn any_op() -> impl Strategy<Value = Owned> {
    prop_oneof![
        (any::<u32>(), any_kind(), any::<u64>()).prop_map(|(id, kind, key)| Owned::Insert(id, kind, key)),
        (any::<u32>(), any_kind(), ".{0,9}").prop_map(|(id, kind, key)| Owned::InsertStr(id, kind, key)),
        any::<u32>().prop_map(Owned::Remove),
        (0..3u16, any::<u32>(), any::<u32>(), proptest::option::of(-1e300..1e300f64))
            .prop_map(|(l, s, d, w)| Owned::Put(l, s, d, w)),
        (0..3u16, any::<u32>(), any::<u32>()).prop_map(|(l, s, d)| Owned::Cut(l, s, d)),
        (0..3u16, any::<[u32; 2]>(), 0..3u64, proptest::option::of(-1e300..1e300f64), any_row())
            .prop_map(|(l, e, r, w, row)| Owned::PutItem(l, e, r, w, row)),
        // The rank is at least 1, because an edge with rank 0 is a plain operation.
        (0..3u16, any::<[u32; 2]>(), 1..u64::MAX).prop_map(|(l, e, r)| Owned::CutItem(l, e, r)),
        (any_kind(), any::<bool>(), ".{1,60}").prop_map(|(kind, text, name)| Owned::Kind(kind, text, name)),
        (any::<u16>(), any::<bool>(), any::<Option<[u8; 2]>>(), ".{1,60}")
            .prop_map(|(l, multi, ends, name)| Owned::Label(l, multi, ends, name)),
        (any::<u16>(), any::<u8>(), any::<u16>(), any_type(), ".{1,60}")
            .prop_map(|(l, of, p, t, name)| Owned::Property(l, of, p, t, name)),
    ]
}

fn any_kind() -> impl Strategy<Value = KindId> {
    prop_oneof![Just(KindId::DEFAULT), (1..=KindId::MAX.0).prop_map(KindId)]
}

fn any_type() -> impl Strategy<Value = PropertyType> {
    (1..=6u8).prop_map(|byte| PropertyType::from_byte(byte).unwrap())
}

/// Returns the bytes of a row. They are never empty, because an edge with neither rank nor row is a plain
/// operation.
fn any_row() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        any::<bool>().prop_map(hedgerow_core::Value::Bool),
        any::<i64>().prop_map(hedgerow_core::Value::I64),
        ".{0,9}".prop_map(hedgerow_core::Value::from),
    ];
    proptest::collection::vec((any::<u16>().prop_map(PropertyId), value), 1..5).prop_map(|cells| {
        let mut bytes = Vec::new();
        crate::encode_row(hedgerow_core::RowRef::Row(&hedgerow_core::Row::new(cells).unwrap()), &mut bytes);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_come_back(ops in proptest::collection::vec(any_op(), 1..80)) {
        let mut record = RecordBuilder::new();
        for (i, op) in ops.iter().enumerate() {
            record.push(op.op()).unwrap();
            if i % 5 == 0 {
                record.finish();
            }
        }
        let bytes = payload(&mut record);
        let back: Vec<_> = Ops::new(&bytes).unwrap().collect();
        prop_assert_eq!(back, ops.iter().map(Owned::op).collect::<Vec<_>>());
        prop_assert!(record.encoded_len().is_multiple_of(8));
    }

    #[test]
    fn hostile_payloads_end_in_an_error_or_an_iterator(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0..8u8, count in 0..9u8) {
        let mut bytes = bytes;
        if let [first, flags, label_low, label_high, n, high @ ..] = &mut bytes[..] {
            (*first, *flags, *label_low, *label_high, *n) = (kind, *flags & 7, 0, 0, count);
            high.iter_mut().take(3).for_each(|b| *b = 0);
        }
        if let Ok(ops) = Ops::new(&bytes) {
            prop_assert!(ops.count() <= bytes.len());
        }
    }
}
