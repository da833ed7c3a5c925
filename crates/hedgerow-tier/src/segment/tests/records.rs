//! Tests of records with arbitrary bytes.

use proptest::sample::Index;

use super::images::list_image;
use super::*;
use crate::bytes::{Bytes, Fault};
use crate::segment::assemble::{decode_columns, finish};
use crate::segment::columns;
use crate::segment::encode;
use crate::segment::keys::{decode_key_record, encode_key_record};
use crate::segment::testing::{rich_image, weighted_image};
use crate::segment::topology;

/// The records of an image.
#[derive(Clone, Debug, PartialEq)]
struct Records {
    topology: Vec<u8>,
    pieces: Vec<Vec<u8>>,
    keys: Option<Vec<u8>>,
    columns: Vec<u8>,
}

impl Records {
    fn of(image: &SubgraphImage, config: &GraphConfig) -> Records {
        let (mut topology, mut pieces, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        image.with_ref(|image| {
            if encode::encode(image, &mut topology) {
                let put = |piece: &[u8]| {
                    pieces.push(piece.to_vec());
                    Ok::<(), ()>(())
                };
                encode::encode_pieces(image, &mut scratch, put).unwrap();
            }
        });
        let has_keys =
            image.id.label == LabelId::DEFAULT && config.keys != KeyKind::Dense && image.present != 0;
        let keys = has_keys.then(|| {
            let mut out = Vec::new();
            encode_key_record(image.id.subgraph, image.keys.as_ref(), &mut out);
            out
        });
        let mut columns = Vec::new();
        for part in image.parts.iter().filter(|part| !part.columns.is_empty()) {
            columns::encode(&part.columns, &mut columns);
        }
        if !columns.is_empty() {
            columns.splice(0..0, image.id.subgraph.0.to_le_bytes());
        }
        Records { topology, pieces, keys, columns }
    }

    fn decode(&self, config: &GraphConfig) -> Result<SubgraphImage, &'static str> {
        let mut topology = whole(&self.topology, topology::decode)?;
        self.pieces.iter().try_for_each(|piece| topology.add_piece(piece)).map_err(|fault| fault.what)?;
        let keys = self.keys.as_ref().map(|keys| {
            whole(keys, |bytes| decode_key_record(bytes, topology.id.subgraph, topology.present))
        });
        let keys = keys.transpose()?;
        if topology.needs_columns() || !self.columns.is_empty() {
            whole(&self.columns, |bytes| decode_columns(bytes, &mut topology))?;
        }
        finish(topology, keys, config)?.into_image().ok_or("a delta")
    }

    /// Returns the bytes of each record that is not empty.
    fn all(&mut self) -> Vec<&mut Vec<u8>> {
        let Records { topology, pieces, keys, columns } = self;
        let all = std::iter::once(topology).chain(pieces).chain(keys).chain([columns]);
        all.filter(|record| !record.is_empty()).collect()
    }
}

fn whole<T>(record: &[u8], read: impl FnOnce(&mut Bytes<'_>) -> Result<T, Fault>) -> Result<T, &'static str> {
    let mut bytes = Bytes::new(record);
    let value = read(&mut bytes).map_err(|fault| fault.what)?;
    if bytes.is_empty() { Ok(value) } else { Err("bytes left over in a record") }
}

#[test]
fn hostile_lengths_in_a_record_are_refused() {
    let cut = SubgraphImage { keys: ImageKeys::U64(vec![9]), ..list_image(1, 9000, 40, true, true) };
    for image in [weighted_image(), rich_image(), cut] {
        let config = config(KeyKind::U64, true);
        let records = Records::of(&image, &config);
        assert_eq!(records.decode(&config).unwrap(), image);
        for number in 0..records.clone().all().len() {
            hostile_lengths_are_refused(&records, number, &config);
        }
    }
}

fn hostile_lengths_are_refused(records: &Records, number: usize, config: &GraphConfig) {
    let len = records.clone().all()[number].len();
    let edges = if len > 2000 { (0..100).chain(len - 60..len) } else { (0..len).chain(0..0) };
    for at in edges.clone().filter(|at| at + 4 <= len) {
        for value in [u32::MAX, 1 << 31, 1 << 24] {
            let mut hostile = records.clone();
            hostile.all()[number][at..at + 4].copy_from_slice(&value.to_le_bytes());
            if let Ok(image) = hostile.decode(config) {
                assert_eq!(image.with_ref(|image| image.fault(config)), None);
            }
        }
    }
    for cut in edges {
        let mut shorter = records.clone();
        shorter.all()[number].truncate(cut);
        assert!(shorter.decode(config).is_err(), "record {number} cut at {cut}");
    }
    let mut longer = records.clone();
    longer.all()[number].push(0);
    let what = longer.decode(config).unwrap_err();
    assert!(what.starts_with("bytes left over in a "), "{what}");
}

/// For lists whose neighbors take no bits, the decoder takes memory for at most 64 neighbors per byte,
/// whatever the degrees are.
#[test]
fn degrees_alone_take_no_memory() {
    let config = config(KeyKind::Dense, false);
    let records = Records::of(&list_image(1, 50_000, 1, false, false), &config);
    assert!(records.pieces.is_empty() && records.topology.len() < 50_000 / 60);
    let mut hostile = records.clone();
    // Forges the number of neighbors and the only degree, whose two bytes become four.
    hostile.topology[25] = 4;
    hostile.topology[28..32].fill(0xff);
    hostile.topology.splice(40..42, [0xff; 4]);
    assert_eq!(hostile.decode(&config), Err("bytes missing"));
    // Forges a record without neighbors: it announces more pieces than the image has.
    hostile.topology[6] = 1;
    hostile.topology.truncate(44);
    let topology = whole(&hostile.topology, topology::decode).unwrap();
    assert_eq!(topology.pieces(), u64::from(u32::MAX.div_ceil(13_104)));
    assert!(topology.parts[0].adjacency.neighbors.capacity() == 0);
}

#[test]
fn pieces_too_many_and_too_few_are_refused() {
    let config = config(KeyKind::Dense, false);
    let records = Records::of(&list_image(1, 60_000, 300, false, false), &config);
    assert_eq!(records.pieces.len(), 5);
    let mut fewer = records.clone();
    fewer.pieces.pop();
    assert_eq!(fewer.decode(&config), Err("offsets do not span the neighbors"));
    let mut more = records.clone();
    more.pieces.push(records.pieces[0].clone());
    assert_eq!(more.decode(&config), Err("a piece too many"));
    let mut twice = records;
    twice.pieces[2] = twice.pieces[1].clone();
    assert_eq!(twice.decode(&config), Err("neighbors not strictly ascending"));
}

#[test]
fn keys_and_properties_of_another_subgraph_are_refused() {
    let config = config(KeyKind::U64, false);
    let records = Records::of(&rich_image(), &config);
    let mut keys = records.clone();
    keys.keys.as_mut().unwrap()[0] ^= 1;
    assert_eq!(keys.decode(&config), Err("keys of another subgraph"));
    let mut columns = records;
    columns.columns[3] ^= 1;
    assert_eq!(columns.decode(&config), Err("properties of another subgraph"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// If bytes pass every rule, they are an image that could have been written. Otherwise decoding fails.
    #[test]
    fn records_of_any_bytes_are_an_image_or_an_error(
        (config, images) in segment_strategy(),
        edits in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 1..4),
    ) {
        for image in &images {
            let mut records = Records::of(image, &config);
            prop_assert_eq!(&records.decode(&config).unwrap(), image);
            for (number, at, value) in &edits {
                let mut all = records.all();
                let number = number.index(all.len());
                let at = at.index(all[number].len());
                all[number][at] = *value;
            }
            if let Ok(found) = records.decode(&config) {
                prop_assert_eq!(found.with_ref(|found| found.fault(&config)), None);
                let again = Records::of(&found, &config);
                prop_assert_eq!(again.decode(&config).unwrap(), found);
            }
        }
    }
}
