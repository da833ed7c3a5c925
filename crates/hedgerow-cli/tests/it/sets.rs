//! Tests of the page on data sets: each set is loaded by the commands of the page. Its exports as CSV,
//! Parquet and Arrow, loaded again, have the same edges and the same properties.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow::{EdgeKey, Graph, Label, Options, Properties, Schema, Snapshot, VertexId, VertexKey};
use hedgerow_workload::require_data;

use crate::readme::{blocks, shell};
use crate::{Bench, field, hedgerow};

const PAGE: &str = include_str!("../../../../docs/guide/data-sets.md");

/// Makes a test for each set. Each row has the size, the store in the commands of the page, and the numbers
/// of vertices and edges, as the publishers state them.
macro_rules! sets {
    ($($size:ident $store:ident: $vertices:expr, $edges:expr;)*) => {
        const STORES: &[&str] = &[$(stringify!($store)),*];
        $(#[test]
        fn $store() {
            comes_back(stringify!($store), ($vertices, $edges), Size::$size);
        })*
    };
}

/// The tests that compare a set.
#[derive(PartialEq, Eq)]
enum Size {
    /// `make test` and `make test-deep`.
    Small,
    /// Only `make test-deep STAGE=unit`.
    Large,
}

sets! {
    Large college: 1_899, 59_835;
    Large email: 986, 332_334;
    Large overflow: 24_818, 506_550;
    Small bitcoin: 5_881, 35_592;
    Large uboot: 3_873 + 61_437, 540_764;
    Large facebook: 4_039, 88_234;
    Large slashdot: 82_168, 948_464;
    Large cnr: 325_557, 3_216_152;
    Small rome: 3_353, 8_870;
    Large ny: 264_346, 365_050;
    Large fla: 1_070_376, 1_343_951;
    Small air: 3_749, 57_645;
    // The file has 107,268 rows; six of them repeat an id.
    Large debian: 107_262, 414_689;
    // The publisher states 1,768,149 edges, 14 more than the files have.
    Large twitter: 81_307, 1_768_135;
    Small tinysnb: 14, 30;
    Small demo: 7, 8;
    Small example: 10, 17;
    Large lsqb: 28, 72;
    Large snb: 190_376, 787_074;
    Large gnutella: 62_586, 147_892;
}

/// Returns the commands that load sets, with the directory of the store of each.
fn commands() -> Vec<(&'static str, &'static str)> {
    let loads = blocks(PAGE, "sh").filter(|block| !block.contains("hedgerow export"));
    let store =
        |block: &'static str| block.split("hedgerow load ").nth(1).and_then(|rest| rest.split(' ').next());
    loads.map(|block| (store(block).expect("a load"), block)).collect()
}

#[test]
fn each_command_of_the_page_has_a_test() {
    let named: Vec<&str> = commands().iter().map(|(store, _)| *store).collect();
    assert_eq!(named, STORES);
}

fn comes_back(store: &str, counts: (u64, u64), size: Size) {
    if size == Size::Large && std::env::var_os("HEDGEROW_DEEP_SECONDS").is_none() {
        return;
    }
    let (_, block) = commands().into_iter().find(|(name, _)| *name == store).expect("a block of the page");
    // The first path of the block is a file or the beginning of one; its folder is the set.
    let path = block.split("$DATA/").nth(1).and_then(|rest| rest.split(['"', '\n']).next()).expect("a path");
    let folder = path.split('/').take(2).collect::<Vec<_>>().join("/");
    let purpose = format!("the round trip of {store}");
    let Some(found) = require_data(&folder, &purpose).expect("data") else { return };
    if block.contains("zstdcat") && Command::new("zstdcat").arg("--version").output().is_err() {
        // Bypasses the capture of the test harness, like the message about absent data.
        let _ = writeln!(std::io::stderr(), "skipped: {purpose} (there is no zstdcat)");
        return;
    }
    let data = found.ancestors().nth(2).expect("the folder of all sets");
    let bench = Bench::new();
    let (succeeded, out) = shell(&bench, &format!("export DATA='{}'\n{block}", data.display()));
    assert!(succeeded, "{out}");
    let store = bench.path(store);
    let loaded = open(&store);
    assert_eq!((loaded.vertex_count(), loaded.edge_count().expect("read")), counts);
    for format in ["csv", "parquet", "arrow"] {
        let (directory, again) = (bench.path(format), bench.path("again"));
        let exported = hedgerow(&format!("export @ @ --format {format} --json"), &[&store, &directory]).ok();
        assert_eq!(field(&exported, "edges"), counts.1, "{format}");
        hedgerow("load @ @", &[&again, &directory]).ok();
        if let Err(difference) = compare(&loaded, &open(&again)) {
            panic!("{format}: {difference}");
        }
        std::fs::remove_dir_all(&again).expect("removed");
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}

fn open(store: &Path) -> Snapshot {
    let graph: Graph = Options::new().create(false).read_only(true).open(store).expect("opened");
    graph.snapshot().expect("a snapshot")
}

/// Compares two stores, vertex by vertex and edge by edge of the first one. Equal counts then show that the
/// second one has no others.
fn compare(first: &Snapshot, second: &Snapshot) -> Result<(), String> {
    let text = |error: hedgerow::Error| error.to_string();
    let equal = |what: &str, a: String, b: String| {
        if a == b { Ok(()) } else { Err(format!("{what}: {a} became {b}")) }
    };
    let (schema, other) = (first.schema(), second.schema());
    equal("configuration", format!("{:?}", first.config()), format!("{:?}", second.config()))?;
    equal("schema", described(&schema), described(&other))?;
    equal("vertices", first.vertex_count().to_string(), second.vertex_count().to_string())?;
    let mut keys: Vec<Option<VertexKey>> = Vec::new();
    for vertex in first.vertices().map_err(text)? {
        let (id, key) = vertex.map_err(text)?;
        let (a, b) = (first.vertex_properties(&key), second.vertex_properties(&key));
        let (a, b) = (a.map_err(text)?.map(sorted), b.map_err(text)?.map(sorted));
        if a.is_none() || a != b {
            return Err(format!("vertex {key:?}: {a:?} became {b:?}"));
        }
        keys.resize(id.index(), None);
        keys.push(Some(key));
    }
    let key = |id: VertexId| keys.get(id.index()).and_then(Option::as_ref).ok_or(format!("no vertex {id:?}"));
    for label in schema.labels() {
        let of_label = |snapshot: &Snapshot| snapshot.edge_count_of(&**label.name()).map_err(text);
        let name = label.name();
        equal(&format!("edges of {name:?}"), of_label(first)?.to_string(), of_label(second)?.to_string())?;
        let mut difference = Ok(());
        let scan = first.scan_edges(label.id()).map_err(text)?;
        scan.try_for_each(|edge| -> hedgerow::Result<()> {
            let (Ok(src), Ok(dst)) = (key(edge.src()), key(edge.dst())) else {
                difference = Err(format!("an edge of {name:?} has no vertex"));
                return Ok(());
            };
            let edge = EdgeKey::new(&**name, src, dst).rank(edge.rank());
            let (a, b) =
                (first.edge_properties(edge)?.map(sorted), second.edge_properties(edge)?.map(sorted));
            if a.is_none() || a != b {
                difference = Err(format!("edge {edge:?}: {a:?} became {b:?}"));
            }
            Ok(())
        })
        .map_err(text)?;
        difference?;
    }
    Ok(())
}

/// Returns properties in the order of their names: the order of the schema may be another one.
fn sorted(mut properties: Properties) -> Properties {
    properties.sort_by(|(a, _), (b, _)| a.cmp(b));
    properties
}

/// Describes the labels, kinds and properties of a schema by their names.
fn described(schema: &Schema) -> String {
    let named = |id| schema.kind_name(id);
    let label = |label: &Label| {
        let ends = label.ends().map(|ends| ends.map(named));
        let properties = label.properties().iter().map(hedgerow_export::text::header);
        format!("{:?} {} {ends:?} {:?}", label.name(), label.is_multi(), properties.collect::<Vec<_>>())
    };
    let kinds = schema.kinds().iter().map(|kind| {
        let properties = schema.vertex_properties_of(kind.id()).map(hedgerow_export::text::header);
        format!("{:?} {:?} {:?}", kind.name(), kind.keys(), properties.collect::<Vec<_>>())
    });
    let labels: Vec<String> = schema.labels().iter().map(label).collect();
    let vertices: Vec<String> =
        schema.vertex_properties().iter().map(hedgerow_export::text::header).collect();
    format!("{labels:?} {vertices:?} {:?}", kinds.collect::<Vec<_>>())
}

/// The comparison finds a lost vertex, another value of a property, another weight and a missing edge.
#[test]
fn the_comparison_finds_differences() {
    let bench = Bench::new();
    let people = bench.file("people.csv", "id,name:utf8\n1,Ann\n2,\n3,\n");
    let edges = bench.file("edges.csv", "src,dst,weight\n1,2,0.5\n2,3,1\n");
    let calls = bench.file("calls.csv", "src,dst,rank,text:utf8\n1,2,7,a\n1,2,8,b\n");
    let make = |name: &str, changes: &[&str]| -> PathBuf {
        let store = bench.path(name);
        hedgerow("load @ --vertices @ @ --weighted", &[&store, &people, &edges]).ok();
        hedgerow("load @ @ --label calls --rank rank --property text:utf8", &[&store, &calls]).ok();
        for change in changes {
            hedgerow(change, &[&store]).ok();
        }
        store
    };
    let first = open(&make("first", &[]));
    assert_eq!(compare(&first, &open(&make("equal", &[]))), Ok(()));
    for (name, changes, says) in [
        ("value", &["put vertex @ 1 --set name=Eve"][..], "vertex U64(1)"),
        ("none", &["put vertex @ 1 --unset name"], "vertex U64(1)"),
        ("empty", &["put vertex @ 2 --set name="], "vertex U64(2)"),
        ("vertex", &["put vertex @ 4"], "vertices: 3 became 4"),
        ("other", &["put vertex @ 4", "del vertex @ 3"], "vertex U64(3)"),
        ("weight", &["put edge @ 1 2 --set weight=0.25"], "edge"),
        ("edge", &["del edge @ 1 2", "put edge @ 2 1 --set weight=0.5"], "edge"),
        ("rank", &["del edge @ 1 2 --label calls --rank 8", "put edge @ 1 2 --label calls --rank 9"], "edge"),
        ("text", &["put edge @ 1 2 --label calls --rank 7 --set text=b"], "edge"),
        ("more", &["put edge @ 1 2 --label calls --rank 9"], "edges of \"calls\": 2 became 3"),
    ] {
        let difference = compare(&first, &open(&make(name, changes))).expect_err("a difference");
        assert!(difference.starts_with(says), "{name}: {difference}");
    }
}
