//! Tables of stores as batches and as files, and damaged files.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "tests write and damage files")]

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, RecordBatchReader};
use hedgerow::{Comparison, EdgeKey, EdgeSelection, Graph, KindId, LabelOptions, PropertyType, Value};
use hedgerow_arrow::files::{FileFormat, TableReader, TableWriter};
use hedgerow_arrow::{BATCH_ROWS, EdgeBatches, Error, TableOptions, VertexBatches};

const FORMATS: [FileFormat; 2] = [FileFormat::Parquet, FileFormat::Arrow];

fn batches(table: impl RecordBatchReader) -> Vec<RecordBatch> {
    table.map(|batch| batch.unwrap()).collect()
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

fn file_of(table: impl RecordBatchReader, format: FileFormat) -> Vec<u8> {
    let mut writer = TableWriter::new(Cursor::new(Vec::new()), format, &table.schema()).unwrap();
    table.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap().into_inner()
}

fn read(bytes: &[u8]) -> Result<Vec<RecordBatch>, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    let (mut reader, mut all) = (TableReader::open(file.reopen().unwrap(), file.path())?, Vec::new());
    while let Some(batch) = reader.next_batch()? {
        all.push(batch);
    }
    Ok(all)
}

fn small() -> Graph {
    let graph = Graph::in_memory().unwrap();
    let options = LabelOptions::new()
        .multi(true)
        .property("src", PropertyType::Utf8)
        .property("seen", PropertyType::Timestamp)
        .property("raw", PropertyType::Bytes);
    graph.define_label("calls", options).unwrap();
    let mut tx = graph.write().unwrap();
    for n in 0..40_u64 {
        let cells = [
            ("src", Value::from("x")),
            ("seen", Value::Timestamp(n as i64 - 7)),
            ("raw", Value::from(&b"\0\xff"[..])),
        ];
        let cells = cells.into_iter().skip(n as usize % 4);
        tx.put_edge_with(EdgeKey::new("calls", n, n * 7 % 40).rank(n % 3), cells).unwrap();
    }
    tx.commit().unwrap();
    graph
}

#[test]
fn a_hub_becomes_several_batches() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edges((0..200_000_u64).map(|n| (3, 10 + n))).unwrap();
    tx.put_edges((0..1_000_u64).map(|n| (10 + n, 3))).unwrap();
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    let all = batches(EdgeBatches::new(&snapshot, &EdgeSelection::of(""), &TableOptions::new()).unwrap());
    assert_eq!(rows(&all), 201_000);
    assert!(all.iter().all(|batch| (1..=BATCH_ROWS).contains(&batch.num_rows())));
    let mut found: Vec<(u64, u64)> = Vec::new();
    for batch in &all {
        let [src, dst] = [0, 1].map(|at| batch.column(at).as_primitive::<UInt64Type>());
        found.extend(src.values().iter().copied().zip(dst.values().iter().copied()));
    }
    found.sort_unstable();
    let expected = (0..200_000).map(|n| (3, 10 + n)).chain((0..1_000).map(|n| (10 + n, 3)));
    assert!(found.iter().copied().eq(expected));
    let vertices = batches(VertexBatches::new(&snapshot, KindId::DEFAULT, &TableOptions::new()).unwrap());
    assert_eq!((rows(&vertices), vertices.len()), (200_001, 4));
}

#[test]
fn a_property_with_the_name_of_a_column_has_its_type_in_its_name() {
    let graph = small();
    let table =
        EdgeBatches::new(&graph.snapshot().unwrap(), &EdgeSelection::of("calls"), &TableOptions::new())
            .unwrap();
    let names: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["src", "dst", "rank", "src:utf8", "seen", "raw"]);
    let plain = EdgeBatches::new(
        &graph.snapshot().unwrap(),
        &EdgeSelection::of("calls"),
        &TableOptions::new().without_properties(),
    )
    .unwrap();
    assert_eq!(plain.schema().fields().len(), 3);
    assert!(
        EdgeBatches::new(&graph.snapshot().unwrap(), &EdgeSelection::of("roads"), &TableOptions::new())
            .is_err()
    );
}

/// Returns the sources, as often as their rows say.
fn sources(batches: &[RecordBatch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| batch["src"].as_primitive::<UInt64Type>().values().to_vec()).collect()
}

#[test]
fn named_columns_alone_are_made_in_their_order() {
    let snapshot = small().snapshot().unwrap();
    let table = |columns: &[&str], selection: &EdgeSelection<'_>| {
        EdgeBatches::new(&snapshot, selection, &TableOptions::new().columns(columns.iter().copied()))
    };
    let calls = EdgeSelection::of("calls");
    let whole = batches(table(&["src", "dst", "rank", "src:utf8", "seen", "raw"], &calls).unwrap());
    let some = batches(table(&["raw", "dst", "src:utf8"], &calls).unwrap());
    assert_eq!(some[0].columns(), ["raw", "dst", "src:utf8"].map(|name| whole[0][name].clone()));
    let none = batches(table(&[], &calls).unwrap());
    assert_eq!((none[0].num_columns(), rows(&none)), (0, 40));
    for (columns, why) in [
        (
            &["seen", "roads"][..],
            "column roads: there is none; the columns are src, dst, rank, src:utf8, seen, raw",
        ),
        (&["seen", "seen"], "column seen: is named twice"),
    ] {
        assert_eq!(table(columns, &calls).err().map(|error| error.to_string()).as_deref(), Some(why));
    }
    let vertices = |columns: &[&str]| {
        let options = TableOptions::new().columns(columns.iter().copied());
        VertexBatches::new(&snapshot, KindId::DEFAULT, &options).map(batches)
    };
    assert_eq!(rows(&vertices(&["id"]).unwrap()), 40);
    assert!(vertices(&["name"]).is_err());
}

#[test]
fn a_table_has_only_the_rows_of_its_selection() {
    let graph = small();
    let snapshot = graph.snapshot().unwrap();
    let calls = || EdgeSelection::of("calls");
    let count = |selection: &EdgeSelection<'_>| {
        rows(&batches(EdgeBatches::new(&snapshot, selection, &TableOptions::new()).unwrap()))
    };
    assert_eq!(count(&calls().ranks(1..)), 26);
    let late = calls().filter("seen", Comparison::GreaterOrEqual, Value::Timestamp(20));
    let edges = (0..40).filter(|n| n % 4 <= 1 && n - 7 >= 20).count();
    assert_eq!((count(&late), count(&late.clone().ranks(3..))), (edges, 0));
    // The labels of the selection have one table: the only one with edges.
    assert_eq!(count(&EdgeSelection::all()), 40);
    assert_eq!(count(&EdgeSelection::of_labels(["", "calls"])), 40);
    graph.insert_edge((1, 2)).unwrap();
    let (snapshot, options) = (graph.snapshot().unwrap(), TableOptions::new());
    let refused = EdgeBatches::new(&snapshot, &EdgeSelection::all(), &options).err().unwrap();
    assert!(refused.to_string().contains("calls"), "{refused}");
    assert!(EdgeBatches::new(&snapshot, &calls().turned(), &options).is_err());
    let unknown = calls().filter("roads", Comparison::Equal, 1);
    assert!(EdgeBatches::new(&snapshot, &unknown, &options).is_err());
}

#[test]
fn parts_have_each_row_once() {
    for directed in [true, false] {
        let graph = hedgerow::Options::new().directed(directed).in_memory().unwrap();
        let mut tx = graph.write().unwrap();
        tx.put_edges((0..30_000_u64).map(|n| (n * n % 9_973, n % 5_000))).unwrap();
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        let all = EdgeSelection::of("");
        let mut whole = sources(&batches(EdgeBatches::new(&snapshot, &all, &TableOptions::new()).unwrap()));
        whole.sort_unstable();
        for parts in [1, 2, 7, 1_000] {
            let ranges = snapshot.partitions(parts).unwrap();
            assert!(ranges.len() <= parts && ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            let (mut found, mut vertices, mut most) = (Vec::new(), 0, 0);
            for range in ranges {
                let options = TableOptions::new().within(range);
                let edges = sources(&batches(EdgeBatches::new(&snapshot, &all, &options).unwrap()));
                most = most.max(edges.len());
                found.extend(edges);
                let part = VertexBatches::new(&snapshot, KindId::DEFAULT, &options).unwrap();
                vertices += rows(&batches(part));
            }
            found.sort_unstable();
            assert_eq!(found, whole, "{parts} parts");
            assert_eq!(vertices as u64, snapshot.vertex_count());
            assert!(parts > 7 || most < 2 * whole.len() / parts + 1_000, "{most} of {} edges", whole.len());
        }
        assert!(snapshot.partitions(0).is_err());
        // Vertices at the end are gone, and others came after the snapshot.
        let empty = hedgerow::Options::new().directed(directed).in_memory().unwrap();
        let before = empty.snapshot().unwrap();
        let mut tx = graph.write().unwrap();
        for key in 3_000..9_973_u64 {
            tx.remove_vertex(key).unwrap();
        }
        tx.commit().unwrap();
        empty.insert_edges((0..9_000).map(|n| (n, n + 1)).collect::<Vec<_>>()).unwrap();
        for (snapshot, parts) in [(graph.snapshot().unwrap(), 2), (snapshot.clone(), 3), (before, 2)] {
            let ranges = snapshot.partitions(parts).unwrap();
            assert!(ranges.len() <= parts, "{ranges:?}");
            assert!(snapshot.partitions(1).unwrap().len() <= 1);
            let rows_of = |range| {
                let table =
                    VertexBatches::new(&snapshot, KindId::DEFAULT, &TableOptions::new().within(range));
                rows(&batches(table.unwrap())) as u64
            };
            assert_eq!(ranges.into_iter().map(rows_of).sum::<u64>(), snapshot.vertex_count());
        }
        // An end within the vertices that share a subgraph.
        let part = TableOptions::new().within(hedgerow::VertexId(3)..hedgerow::VertexId(5));
        let few = sources(&batches(EdgeBatches::new(&snapshot, &all, &part).unwrap()));
        let keys = [3, 4].map(|id| snapshot.vertex_key(hedgerow::VertexId(id)).unwrap().unwrap());
        assert!(!few.is_empty() && few.iter().all(|&src| keys.contains(&src.into())));
    }
}

#[test]
fn files_give_the_same_batches_back() {
    let graph = small();
    let table = || {
        EdgeBatches::new(&graph.snapshot().unwrap(), &EdgeSelection::of("calls"), &TableOptions::new())
            .unwrap()
    };
    let expected = batches(table());
    for format in FORMATS {
        let found = read(&file_of(table(), format)).unwrap();
        assert_eq!(found, expected, "{format:?}");
    }
    let none = Graph::in_memory().unwrap();
    let table =
        || EdgeBatches::new(&none.snapshot().unwrap(), &EdgeSelection::of(""), &TableOptions::new()).unwrap();
    for format in FORMATS {
        assert_eq!(rows(&read(&file_of(table(), format)).unwrap()), 0, "{format:?}");
    }
}

/// Changes each byte of a file, and cuts the file at each byte. The reader ends in an error or in other rows;
/// it neither panics nor takes memory that the file does not have.
#[test]
fn damaged_files_are_errors() {
    let graph = small();
    std::panic::set_hook(Box::new(|info| {
        assert!(hedgerow_arrow::files::is_reading(), "{info}");
    }));
    for format in FORMATS {
        let sound = file_of(
            EdgeBatches::new(&graph.snapshot().unwrap(), &EdgeSelection::of("calls"), &TableOptions::new())
                .unwrap(),
            format,
        );
        let expected = read(&sound).unwrap();
        let mut refused = 0;
        for at in 0..sound.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = sound.clone();
                bytes[at] ^= flip;
                refused += usize::from(read(&bytes).is_err());
            }
            let cut = read(&sound[..at]);
            assert!(cut.is_err() || cut.is_ok_and(|found| found != expected), "{format:?} cut at {at}");
        }
        assert!(refused > 100, "{format:?}: {refused}");
        println!("explored: {refused} refused of {} damaged {format:?} files", sound.len() * 4);
    }
    drop(std::panic::take_hook());
    let error = read(b"src,dst\n1,2\n").unwrap_err().to_string();
    assert!(error.ends_with("neither Parquet nor an Arrow file"), "{error}");
}
