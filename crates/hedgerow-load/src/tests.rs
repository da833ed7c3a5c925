//! Tests of failures after the check of the files. From outside, they would need a file that changes between
//! two reads.

use std::path::Path;

use hedgerow::{Graph, KeyKind};

use crate::item::Rules;
use crate::kinds::Kinds;
use crate::target::{Ending, Target};
use crate::watch::{Course, Watch};
use crate::{LoadOptions, OnError, StoreOptions, input, settle, write};

/// Runs a load of one file up to its second reading, without the first one.
fn unchecked(store: &Path, file: &Path, batch: usize, existing: Option<Graph>) -> Result<(), String> {
    let options = LoadOptions { files: vec![file.to_owned()], batch, ..LoadOptions::default() };
    let mut inputs = input::inputs(&options).expect("the files are there");
    let kinds = Kinds::of(None, KeyKind::U64);
    for input in &mut inputs {
        settle::settle(input, &options, &kinds, false).expect("nothing is open");
    }
    let course = Course::new(Watch::default());
    let rules = Rules { kinds: &kinds, finite: false, on_error: OnError::Raise, course: &course };
    let of_store = StoreOptions::default();
    let target = Target::At(store, &of_store);
    let loaded = match existing {
        Some(graph) => write::into_existing(graph, Ending::Checkpoint, &options, &inputs, &rules),
        None => write::into_new(target.options(&inputs, &options), &target, &options, &inputs, &rules, None),
    };
    loaded.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_late_failure_removes_a_new_store_and_owns_up_in_an_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, store) = (folder.path().join("a.csv"), folder.path().join("store"));
    std::fs::write(&file, "1,2\n2,3\nx,y\n").expect("written");

    let error = unchecked(&store, &file, 1, None).expect_err("a malformed row");
    assert!(
        error.ends_with(
            "a.csv:3: vertex id \"x\" is not a number from 0 to 18446744073709551615 (--keys str takes texts) in column 1; the file has changed"
        ),
        "{error}"
    );
    assert!(!store.exists());
    // A failed load does not remove a directory that existed before.
    std::fs::create_dir(&store).expect("created");
    unchecked(&store, &file, 1, None).expect_err("a malformed row");
    assert_eq!(std::fs::read_dir(&store).expect("there").count(), 0);

    let open = || Graph::open(&store).expect("opens");
    drop(open());
    let error = unchecked(&store, &file, 1, Some(open())).expect_err("a malformed row");
    assert!(error.ends_with("the file has changed (the first 2 rows are committed)"), "{error}");
    assert_eq!(open().snapshot().expect("open").edge_count().unwrap(), 2);
    let error = unchecked(&store, &file, 0, Some(open())).expect_err("a malformed row");
    assert!(error.ends_with("the file has changed"), "{error}");
}
