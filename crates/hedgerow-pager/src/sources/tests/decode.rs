//! Tests of the reader of delta records: it decodes or refuses any bytes.

use hedgerow_core::{Direction, LocalVertex, PropertyId, Row, Timestamp, Value, VertexId};
use hedgerow_tier::TierError;
use proptest::prelude::*;

use crate::sources::testing::operations::Operations;
use crate::sources::testing::records::{DeltaRecords, encode};
use crate::sources::testing::{Change, Edge, image, sound};
use crate::sources::{ChainId, Extent, Identity, Query, WordKind, merge};

/// Returns records of two chains, with words of all kinds, and two vertices.
fn records() -> Vec<u8> {
    let kinds = [WordKind::Put, WordKind::PutIfAbsent, WordKind::Remove];
    let mut operations = Operations::default();
    for (kind, other) in kinds.into_iter().zip(1..) {
        for direction in [Direction::Out, Direction::In] {
            let chain = ChainId::new(image(1, 3), direction);
            let at = Identity { local: LocalVertex(5), other: VertexId(other), rank: 6 };
            let row = Row::new(vec![(PropertyId(2), Value::from("text")), (PropertyId(4), Value::I64(-1))]);
            let change = Change::Edge { chain, at, kind, edge: Edge { weight: 0.5, row } };
            operations.entries.push((Timestamp(u64::from(other)), change));
        }
    }
    for (local, exists) in [(1, true), (2, false)] {
        let change = Change::Vertex { image: image(0, 3), local: LocalVertex(local), exists };
        operations.entries.push((Timestamp(9), change));
    }
    encode(&operations).unwrap()
}

/// Decodes the bytes; returns true if the decoder accepts them. Then both chains of one image must merge. If
/// the decoder refuses the bytes, the error must be damage.
fn read(bytes: &[u8]) -> bool {
    let decoded = DeltaRecords::decode("records", bytes);
    match &decoded {
        Ok(records) => {
            for direction in [Direction::Out, Direction::In] {
                let chain = ChainId::new(image(1, 3), direction);
                let query = Query { chain, extent: Extent::Chain, rows: true };
                merge([records], &query, &mut |_| true).unwrap().for_each(|_, _| ());
            }
        }
        Err(error) => {
            let damage = error.corruption().unwrap_or_else(|| panic!("{error}"));
            assert!(damage.to_string().contains("records"), "{damage}");
        }
    }
    decoded.is_ok()
}

#[test]
fn records_come_back() {
    let _sound = sound();
    let bytes = records();
    let decoded = DeltaRecords::decode("records", &bytes).unwrap();
    let chain = ChainId::new(image(1, 3), Direction::In);
    let query = Query { chain, extent: Extent::Chain, rows: true };
    let merged = merge([&decoded], &query, &mut |_| true).unwrap();
    let kinds: Vec<WordKind> = merged.words().iter().map(|word| word.kind).collect();
    assert_eq!(kinds, [WordKind::Put, WordKind::PutIfAbsent, WordKind::Remove]);
    assert_eq!(merged.degree(LocalVertex(5)), 2);
}

#[test]
fn records_that_are_cut_or_too_long_are_refused() {
    let _sound = sound();
    let bytes = records();
    assert!(read(&bytes));
    assert!((0..bytes.len()).all(|len| !read(&bytes[..len])));
    assert!(!read(&[bytes, vec![0]].concat()));
}

#[test]
fn a_number_of_parts_beyond_the_bytes_is_refused_before_memory_is_taken() {
    let error = DeltaRecords::decode("records", &[0xFF; 40]).err();
    let is_refused = |error: &TierError| error.to_string().contains("more parts than bytes");
    assert!(error.as_ref().is_some_and(is_refused), "{error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _sound = sound();
        read(&bytes);
    }

    #[test]
    fn changed_records_are_decoded_or_refused(changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6)) {
        let _sound = sound();
        let mut bytes = records();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        read(&bytes);
    }
}
