//! Exports whose tables are divided into several files.

use serde_json::json;

use crate::tables::{exported, rich};
use crate::{Bench, hedgerow, names};

#[test]
fn a_directory_in_parts_gives_an_equal_store() {
    let bench = Bench::new();
    let store = rich(&bench);
    let rows: String = (0..4000).map(|n| format!("{},{}\n", 100 + n, 100 + n * 13 % 4000)).collect();
    let many = bench.file("many.csv", format!("src,dst\n{rows}"));
    hedgerow("load @ @ --label many", &[&store, &many]).ok();
    let expected = exported(&bench, &store);
    for (parts, format) in [(2, "arrow"), (5, "parquet")] {
        let directory = bench.path(&format!("{format}-{parts}"));
        hedgerow(&format!("export @ @ --format {format} --partitions {parts}"), &[&store, &directory]).ok();
        let of_label = |name: &&String| name.contains("many");
        assert_eq!(names(&directory).iter().filter(of_label).count(), parts, "{:?}", names(&directory));
        let other = bench.path(&format!("of-{format}-{parts}"));
        hedgerow("load @ @", &[&other, &directory]).ok();
        assert_eq!(exported(&bench, &other), expected, "{format}");
    }
    // A part that is missing, or has other rows than the description says, is no complete export.
    let directory = bench.path("parquet-5");
    let part = names(&directory).into_iter().find(|name| name.contains("many")).expect("a part");
    let other = names(&directory).into_iter().rfind(|name| name.contains("many")).expect("another part");
    let bytes = std::fs::read(directory.join(&part)).expect("read");
    std::fs::copy(directory.join(&other), directory.join(&part)).expect("copied");
    let error = hedgerow("load @ @", &[&bench.path("never"), &directory]).fails(1);
    assert!(error.contains("the number of rows is") && error.contains(&part), "{error}");
    std::fs::remove_file(directory.join(&part)).expect("removed");
    let error = hedgerow("load @ @", &[&bench.path("never"), &directory]).fails(1);
    assert!(error.contains("no such file"), "{error}");
    std::fs::write(directory.join(&part), bytes).expect("written");
    let schema = std::fs::read_to_string(directory.join("schema.json")).expect("read");
    let none = serde_json::from_str::<serde_json::Value>(&schema).map(|mut schema| {
        schema["vertices"]["parts"] = json!([]);
        schema.to_string()
    });
    std::fs::write(directory.join("schema.json"), none.expect("a description")).expect("written");
    let error = hedgerow("load @ @", &[&bench.path("never"), &directory]).fails(1);
    assert!(error.contains("vertices.parts: expected at least one file"), "{error}");
    let error = hedgerow("export @ @ --partitions 2", &[&store, &bench.path("csv")]).fails(2);
    assert!(error.contains("--partitions: say --format parquet or arrow"), "{error}");
    hedgerow("export @ @ --partitions 0", &[&store, &bench.path("csv")]).fails(2);
    hedgerow("export @ --partitions 2", &[&store]).fails(2);
}
