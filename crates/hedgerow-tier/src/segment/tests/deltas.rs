//! Tests of deltas: they come back as they were written, beside images, and each of their rules is checked.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::{KindId, LocalVertex, VertexId, VertexKeyRef};

use super::*;
use crate::bytes::Bytes;
use crate::segment::block::MOST_PAYLOAD;
use crate::segment::delta::DeltaRef;
use crate::segment::encode::encode_delta;
use crate::segment::read_damaged;
use crate::segment::testing::{keys_strategy, part_strategy};
use crate::segment::topology::{self, MOST_OPERATIONS};
use crate::{Extent, FoundList, ListQuery, ReadCache, SubgraphDelta, SubgraphRecord};

/// Writes the records into the segment [`FILE`].
fn write_records(fs: &SimFs, config: GraphConfig, records: &[SubgraphRecord]) -> SegmentInfo {
    let mut writer = SegmentWriter::create_with(fs.handle(), (FILE, STORE), config, true).unwrap();
    for record in records {
        match record {
            SubgraphRecord::Image(image) => drop(image.with_ref(|image| writer.write(image)).unwrap()),
            SubgraphRecord::Delta(delta) => {
                let bytes = delta.with_ref(|delta| writer.write_delta(delta)).unwrap();
                assert!(bytes.is_some(), "{delta:?} fits");
            }
        }
    }
    writer.finish().unwrap()
}

fn read_records(reader: &SegmentReader) -> Result<Vec<SubgraphRecord>, TierError> {
    let mut found = Vec::new();
    for page in 0..reader.page_count() {
        reader.read_records(
            page,
            |_| true,
            &mut |_| true,
            |record| {
                found.push(record);
                Ok::<(), TierError>(())
            },
        )?;
    }
    Ok(found)
}

/// Returns a small delta: a vertex gets two edges and loses one, and another vertex loses one.
fn small_delta(id: u32) -> SubgraphDelta {
    SubgraphDelta {
        id: id_of(0, id),
        as_of: Timestamp(40),
        present: 0b1011,
        edges: 9,
        put: vec![part(Direction::Out, &[(1, &[5, 90])]), part(Direction::In, &[(0, &[7])])],
        removed: vec![part(Direction::Out, &[(1, &[6]), (3, &[5])])],
    }
}

/// Any delta of subgraph `id`: what an arbitrary part has is put, if `put` selects it, else removed.
fn delta_strategy(id: u32, weighted: bool) -> impl Strategy<Value = SubgraphDelta> {
    let present = any::<u64>().prop_map(|present| present | 1);
    present.prop_flat_map(move |present| {
        let of = move |direction| {
            let plain = part_strategy(direction, present, weighted);
            (plain, any::<u64>()).prop_map(move |(part, put)| split(&part, put))
        };
        let parts = (of(Direction::Out), of(Direction::In), any::<u64>(), 0u64..1 << 48);
        parts.prop_map(move |((put, removed), (put_in, removed_in), as_of, edges)| SubgraphDelta {
            id: id_of(0, id),
            as_of: Timestamp(as_of),
            present,
            edges,
            put: put.into_iter().chain(put_in).collect(),
            removed: removed.into_iter().chain(removed_in).collect(),
        })
    })
}

fn split(part: &AdjacencyPart, put: u64) -> (Option<AdjacencyPart>, Option<AdjacencyPart>) {
    let take = |is_put: bool| {
        let (mut offsets, mut neighbors, mut weights) = ([0; 65], Vec::new(), Vec::new());
        for local in 0..64 {
            let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
            for at in range.filter(|at| (put >> (at % 64) & 1 == 1) == is_put) {
                neighbors.push(part.neighbors[at]);
                weights.extend(part.weights.as_ref().map(|weights| weights[at]));
            }
            offsets[local + 1] = neighbors.len() as u32;
        }
        let weights = part.weights.as_ref().filter(|_| is_put).map(|_| weights);
        let columns = Default::default();
        let made =
            AdjacencyPart { direction: part.direction, offsets, neighbors, weights, ranks: None, columns };
        (!made.neighbors.is_empty()).then_some(made)
    };
    (take(true), take(false))
}

/// Records of subgraphs with ids that ascend: images of the given keys, and deltas.
fn records_strategy() -> impl Strategy<Value = (GraphConfig, Vec<SubgraphRecord>)> {
    let kind = prop_oneof![Just(KeyKind::Dense), Just(KeyKind::U64), Just(KeyKind::Str)];
    (kind, any::<bool>()).prop_flat_map(|(kind, weighted)| {
        let record = move |at: u32| {
            let image = keys_strategy(kind, 3).prop_map(move |keys| {
                let mut image = dense_image(at * 29, 3);
                image.keys = keys;
                SubgraphRecord::Image(image)
            });
            let delta = delta_strategy(at * 29, weighted).prop_map(SubgraphRecord::Delta);
            prop_oneof![image.boxed(), delta.boxed()]
        };
        let records: Vec<_> = (0..6).map(record).collect();
        (Just(config(kind, weighted)), records)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn images_and_deltas_come_back((config, mut records) in records_strategy()) {
        // Keys of several images must differ, and only images of kinds may have random ones.
        let mut number = 0;
        for record in &mut records {
            if let SubgraphRecord::Image(image) = record {
                match &mut image.keys {
                    ImageKeys::Dense => {}
                    ImageKeys::U64(keys) => keys.iter_mut().for_each(|key| { number += 1; *key = number; }),
                    ImageKeys::Str(keys) => keys.iter_mut().for_each(|key| {
                        number += 1;
                        *key = number.to_string().into();
                    }),
                    ImageKeys::Kinds(keys) => keys.iter_mut().for_each(|key| {
                        number += 1;
                        *key = VertexKeyRef::U64(number).to_owned().with_kind(KindId(1));
                    }),
                }
            }
        }
        let fs = SimFs::new();
        let info = write_records(&fs, config, &records);
        prop_assert_eq!(info.subgraphs, records.len() as u64);
        prop_assert_eq!(info.edges, records.iter().map(SubgraphRecord::entries).sum::<u64>());
        let images = || records.iter().filter_map(|record| record.clone().into_image());
        prop_assert_eq!(info.vertices, images().map(|image| u64::from(image.vertex_count())).sum::<u64>());
        let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
        prop_assert_eq!(&read_records(&reader).unwrap(), &records);
        reader.verify_keys().unwrap();
        let mut only = Vec::new();
        reader.read_all(|image| { only.push(image); Ok::<(), TierError>(()) }).unwrap();
        prop_assert_eq!(only, images().collect::<Vec<_>>());
        let summaries = reader.summaries().unwrap();
        let told: Vec<_> = summaries.iter().map(|s| (s.id, s.is_delta, s.as_of, s.edges)).collect();
        let expected: Vec<_> = records.iter().map(|record| match record {
            SubgraphRecord::Image(image) => (image.id, false, image.as_of, image.edge_count()),
            SubgraphRecord::Delta(delta) => (delta.id, true, delta.as_of, delta.edges),
        }).collect();
        prop_assert_eq!(told, expected);
        let cache = ReadCache::new(&Arc::new(Account::new(None)), (1 << 20, 1 << 20), 0);
        for record in &records {
            let page = reader.find_page(record.id().page()).unwrap();
            let read = reader.read_record(page, record.id(), &cache, &mut |_| true).unwrap();
            prop_assert_eq!(read.as_ref(), Some(record));
            let (image, local) = (record.id(), LocalVertex(0));
            let query = ListQuery { image, local, direction: Direction::Out, extent: Extent::Whole, rows: false };
            let list = reader.read_list(page, &query, &cache, &mut |_| true).unwrap().unwrap();
            match (list, record) {
                (FoundList::Delta(found), SubgraphRecord::Delta(delta)) => prop_assert_eq!(&found, delta),
                (FoundList::Image(_), SubgraphRecord::Image(_)) => {}
                (found, _) => prop_assert!(false, "{:?}", found),
            }
            let is_image = matches!(record, SubgraphRecord::Image(_));
            prop_assert_eq!(reader.has_vertices_of(image.subgraph), is_image && reader.has_key_index());
        }
    }
}

/// Each rule of a delta has a delta that breaks only this rule.
#[test]
fn each_rule_of_a_delta_has_its_fault() {
    let config = config(KeyKind::Dense, false);
    let fault = |change: &dyn Fn(&mut SubgraphDelta)| {
        let mut delta = small_delta(3);
        change(&mut delta);
        let fs = SimFs::new();
        let mut writer = SegmentWriter::create_with(fs.handle(), (FILE, STORE), config, true).unwrap();
        match delta.with_ref(|delta| writer.write_delta(delta)) {
            Ok(_) => "none",
            Err(TierError::InvalidImage { reason, .. }) => reason,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(fault(&|_| ()), "none");
    assert_eq!(fault(&|it| it.id.label = LabelId(1)), "a delta in another label than the default one");
    assert_eq!(fault(&|it| (it.put, it.removed) = (vec![], vec![])), "a delta without operations");
    assert_eq!(fault(&|it| it.put[0].ranks = Some(vec![0, 1])), "ranks or properties in a delta");
    assert_eq!(fault(&|it| it.removed[0].weights = Some(vec![1.0, 2.0])), "weights of removed edges");
    let put_weighted = |it: &mut SubgraphDelta| {
        it.put[0].weights = Some(vec![1.0, 2.0]);
        it.put[1].weights = Some(vec![1.0]);
    };
    assert_eq!(fault(&put_weighted), "weights do not fit the graph");
    assert_eq!(fault(&|it| it.present = 0b11), "neighbors of a vertex that is not live");
    assert_eq!(fault(&|it| it.put.swap(0, 1)), "parts out of order");
    assert_eq!(
        fault(&|it| it.removed[0].neighbors[0] = VertexId(90)),
        "an edge that is both put and removed"
    );
    assert_eq!(fault(&|it| it.put[0].neighbors.swap(0, 1)), "neighbors not strictly ascending");
    let mut writer = SegmentWriter::create(SimFs::new().handle(), FILE, STORE, config).unwrap();
    let unannounced = small_delta(3).with_ref(|delta| writer.write_delta(delta));
    assert!(matches!(unannounced, Err(TierError::InvalidImage { .. })), "{unannounced:?}");
}

/// A delta has at most [`MOST_OPERATIONS`] operations, however few bytes they take.
#[test]
fn a_delta_of_too_many_operations_is_neither_written_nor_read() {
    let of = |count: usize| {
        let list: Vec<u32> = (0..count as u32).collect();
        let (put, removed) = (vec![part(Direction::Out, &[(1, &list[..])])], Vec::new());
        SubgraphDelta { put, removed, ..small_delta(2) }
    };
    let encoded = |count: usize| {
        let mut out = Vec::new();
        of(count).with_ref(|delta| encode_delta(delta, &mut out)).then_some(out)
    };
    assert!(encoded(MOST_OPERATIONS + 1).is_none());
    let mut raw = encoded(MOST_OPERATIONS).unwrap();
    assert!(topology::decode(&mut Bytes::new(&raw)).is_ok());
    // The number of neighbors of the first part.
    let at = 32 + 4;
    raw[at..at + 4].copy_from_slice(&(MOST_OPERATIONS as u32 + 1).to_le_bytes());
    // Its only degree, which comes after the mask.
    raw[at + 12..at + 14].copy_from_slice(&(MOST_OPERATIONS as u16 + 1).to_le_bytes());
    let fault = topology::decode(&mut Bytes::new(&raw)).unwrap_err();
    assert_eq!(fault.what, "more operations than a delta may have");
}

/// The longest delta fills a block; a longer one is not written, and the writer goes on.
#[test]
fn a_delta_longer_than_a_block_is_not_written() {
    let of = |count: u32| {
        let list: Vec<u32> = (0..count).map(|i| i * 65_537 % 0xfff_fff0).collect();
        let mut list: Vec<u32> = list.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        SubgraphDelta {
            put: vec![part(Direction::Out, &[(1, &list[..])])],
            removed: Vec::new(),
            ..small_delta(2)
        }
    };
    let len = |count: u32| {
        let mut out = Vec::new();
        let fits = of(count).with_ref(|delta: &DeltaRef<'_>| encode_delta(delta, &mut out));
        fits.then_some(out.len())
    };
    let (mut low, mut high) = (1_000, 60_000);
    assert!(len(low).is_some() && len(high).is_none());
    while high - low > 1 {
        let middle = (low + high) / 2;
        if len(middle).is_some() { low = middle } else { high = middle }
    }
    assert!((MOST_PAYLOAD - 200..=MOST_PAYLOAD).contains(&len(low).unwrap()), "{:?}", len(low));
    let (fs, config) = (SimFs::new(), config(KeyKind::Dense, false));
    let mut writer = SegmentWriter::create_with(fs.handle(), (FILE, STORE), config, true).unwrap();
    assert_eq!(of(high).with_ref(|delta| writer.write_delta(delta)).unwrap(), None);
    assert!(of(low).with_ref(|delta| writer.write_delta(delta)).unwrap().is_some());
    let info = writer.finish().unwrap();
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    assert_eq!(read_records(&reader).unwrap(), [SubgraphRecord::Delta(of(low))]);
}

fn mixed() -> Vec<SubgraphRecord> {
    let image = |id| {
        let keys = ImageKeys::U64((0..3).map(|key| u64::from(id) * 10 + key).collect());
        SubgraphRecord::Image(SubgraphImage { keys, ..dense_image(id, 3) })
    };
    let delta = |id| SubgraphRecord::Delta(small_delta(id));
    vec![delta(0), image(1), delta(2), image(70), delta(71), delta(200)]
}

/// If any byte of the file is damaged, a read returns the right records, or an error with the position;
/// salvage finds only records that were written.
#[test]
fn a_damaged_byte_of_a_segment_with_deltas_is_noticed() {
    let fs = SimFs::new();
    let (config, records) = (config(KeyKind::U64, false), mixed());
    let info = write_records(&fs, config, &records);
    let bytes = fs.file(&segment_name(FILE)).unwrap();
    let (mut refused, mut salvaged) = (0, 0);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs.overwrite(&segment_name(FILE), &damaged);
        let open = SegmentReader::open(fs.handle(), &info, STORE);
        match open.and_then(|reader| read_records(&reader)) {
            Ok(found) => assert_eq!(found, records, "byte {at}"),
            Err(error) => {
                assert!(error.corruption().is_some() || error.to_string().contains("format"), "{error}");
                refused += 1;
            }
        }
        let mut found = Vec::new();
        let mut take = |record| found.push(record);
        read_damaged(&fs.handle(), (FILE, STORE), Some(&info), Some(config), &mut take, &mut |_| {}).unwrap();
        assert!(found.iter().all(|record| records.contains(record)), "byte {at}");
        salvaged += found.len();
    }
    assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
    assert!(salvaged > bytes.len() * 4, "{salvaged} for {}", bytes.len());
}

/// Salvage without any directory reads deltas from their blocks.
#[test]
fn salvage_without_a_footer_finds_deltas() {
    let fs = SimFs::new();
    let (config, records) = (config(KeyKind::U64, false), mixed());
    write_records(&fs, config, &records);
    let mut bytes = fs.file(&segment_name(FILE)).unwrap();
    let len = bytes.len();
    bytes[len - 1] ^= 1;
    fs.overwrite(&segment_name(FILE), &bytes);
    let mut found = Vec::new();
    let mut take = |record| found.push(record);
    read_damaged(&fs.handle(), (FILE, STORE), None, Some(config), &mut take, &mut |_| {}).unwrap();
    assert_eq!(found, records);
}
