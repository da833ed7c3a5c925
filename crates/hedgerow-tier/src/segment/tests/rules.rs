//! Tests of refused images, and of the state after a failure.

use hedgerow_core::VertexId;
use hedgerow_io::FileId;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};

use super::*;
use crate::segment::testing::weighted_image;

#[test]
fn order_is_enforced_and_the_writer_survives() {
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false)).unwrap();
    let of_label = |label: u16, id: u32| {
        let mut image = dense_image(id, 2);
        image.id.label = LabelId(label);
        image
    };
    of_label(3, 4).with_ref(|image| writer.write(image)).unwrap();
    for (label, id) in [(3, 4), (3, 3), (2, 9), (0, 1000)] {
        let refused = of_label(label, id).with_ref(|image| writer.write(image));
        let previous = ImageId { label: LabelId(3), subgraph: SubgraphId(4) };
        match refused {
            Err(TierError::OutOfOrder { previous: told, .. }) => assert_eq!(told, previous),
            other => panic!("{other:?}"),
        }
    }
    of_label(3, 5).with_ref(|image| writer.write(image)).unwrap();
    of_label(4, 0).with_ref(|image| writer.write(image)).unwrap();
    let info = writer.finish().unwrap();
    assert_eq!(read_all(&fs, &info).unwrap(), [of_label(3, 4), of_label(3, 5), of_label(4, 0)]);
}

type Break = fn(&mut SubgraphImage);

const BREAKS: [(&str, Break); 16] = [
    ("subgraph id out of range", |i| i.id.subgraph = SubgraphId(1 << 26)),
    ("live vertex beyond the largest id", |i| (i.id, i.present) = (id_of(0, (1 << 26) - 1), !0)),
    ("keys of another type than the graph's", |i| i.keys = ImageKeys::Dense),
    ("keys of another type than the graph's", |i| i.id.label = LabelId(1)),
    ("key count differs from live vertex count", |i| i.present |= 1 << 40),
    ("parts out of order", |i| i.parts.push(i.parts[0].clone())),
    ("parts out of order", |i| i.parts[0].direction = Direction::In),
    ("offsets do not span the neighbors", |i| i.parts[0].offsets[0] = 1),
    ("offsets do not span the neighbors", |i| i.parts[0].neighbors.push(VertexId(9))),
    ("offsets not ascending", |i| i.parts[0].offsets[3] = 99),
    ("neighbors of a vertex that is not live", |i| i.parts[0].offsets[..63].fill(0)),
    ("neighbors not strictly ascending", |i| i.parts[0].neighbors[1] = i.parts[0].neighbors[0]),
    ("neighbor id out of range", |i| *i.parts[0].neighbors.last_mut().unwrap() = VertexId(u32::MAX)),
    ("weight count differs from neighbor count", |i| i.parts[0].weights = Some(vec![0.5])),
    ("weight is NaN", |i| i.parts[0].weights.as_mut().unwrap()[1] = f64::NAN),
    ("vertices without neighbors in the image of a label", |i| {
        (i.id.label, i.keys) = (LabelId(1), ImageKeys::Dense);
    }),
];

#[test]
fn images_that_break_a_rule_are_not_written() {
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::U64, true)).unwrap();
    for (rule, break_it) in BREAKS {
        let mut image = weighted_image();
        if rule == "parts out of order" {
            let incoming = AdjacencyPart { direction: Direction::In, ..image.parts[0].clone() };
            image.parts.push(incoming);
        }
        break_it(&mut image);
        match image.with_ref(|image| writer.write(image)) {
            Err(TierError::InvalidImage { reason, .. }) => assert_eq!(reason, rule),
            other => panic!("{rule}: {other:?}"),
        }
    }
    weighted_image().with_ref(|image| writer.write(image)).unwrap();
    let info = writer.finish().unwrap();
    assert_eq!(read_all(&fs, &info).unwrap(), [weighted_image()]);
}

#[test]
fn weights_and_keys_follow_the_configuration() {
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::U64, false)).unwrap();
    let refused = weighted_image().with_ref(|image| writer.write(image));
    assert!(matches!(
        refused,
        Err(TierError::InvalidImage { reason: "weights in a graph without weights", .. })
    ));
    let mut long = dense_image(0, 1);
    long.keys = ImageKeys::Str(vec!["k".repeat(65_537).into()]);
    let mut writer =
        SegmentWriter::create(fs.handle(), FileId(8), STORE, config(KeyKind::Str, false)).unwrap();
    let refused = long.with_ref(|image| writer.write(image));
    assert!(matches!(refused, Err(TierError::InvalidImage { reason: "key too long", .. })));
}

#[test]
fn a_file_id_is_used_once() {
    let fs = SimFs::new();
    write(&fs, config(KeyKind::Dense, false), &[]);
    let again = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false));
    assert!(again.is_err());
}

/// Returns an image of so many bytes that the writer writes and syncs the file before the end.
fn large() -> SubgraphImage {
    let mut image = star_image(1, 100_000);
    image.parts.truncate(1);
    image.parts[0].ranks = Some((0..100_000).collect());
    image
}

#[test]
fn a_failed_write_or_sync_fails_the_segment() {
    let operations = {
        let fs = SimFs::new();
        fs.operations_of(|| {
            let large = [large(), SubgraphImage { id: id_of(0, 2), ..large() }];
            let large = [&large[..], &[SubgraphImage { id: id_of(0, 3), ..large[0].clone() }]].concat();
            write(&fs, config(KeyKind::Dense, false), &large);
        })
    };
    assert!(operations.len() > 4, "{operations:?}");
    for fail_at in 0..operations.len() as u64 {
        for repeat in [Repeat::Once, Repeat::Forever] {
            let fs = SimFs::new();
            let class = FaultClass::Change;
            fs.plan_fault(Fault { class, at: fail_at, site: None, repeat, errno: errno::ENOSPC });
            let created = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false));
            let finished = created.and_then(|mut writer| {
                let mut failed = false;
                for id in 1..4 {
                    let image = SubgraphImage { id: id_of(0, id), ..large() };
                    let written = image.with_ref(|image| writer.write(image));
                    assert!(!failed || written.is_err(), "an error must stick");
                    failed |= written.is_err();
                }
                // The image is too small to cause a write to the file.
                let small = dense_image(4, 1).with_ref(|image| writer.write(image));
                assert_eq!(small.is_err(), failed, "an error must stick");
                writer.finish()
            });
            assert!(finished.is_err(), "operation {fail_at}");
        }
    }
}

#[test]
fn an_image_reads_back_only_after_the_file_was_synced() {
    let fs = SimFs::new();
    let operations = fs.operations_of(|| _ = write(&fs, config(KeyKind::Dense, false), &[dense_image(0, 4)]));
    let sites: Vec<&str> = operations.iter().map(|(_, site)| &**site).collect();
    assert_eq!(sites, ["create:csr", "write:csr", "sync_all:csr"]);
}
