//! Tests of failures after the check of the files. From outside, they would need a file that changes between
//! two reads.

use clap::Parser;
use hedgerow::{Graph, KeyKind};

use super::args::OnError;
use super::interrupt::Interrupts;
use super::kinds::Kinds;
use super::{Rules, input, options, settle, write};
use crate::{Cli, Command};

/// Runs `load` with the arguments in `line` up to its second reading of the files, without the first one.
fn unchecked(line: &[&str], existing: Option<Graph>) -> Result<(), String> {
    let cli = Cli::try_parse_from([&["hedgerow", "load"], line].concat()).expect("well-formed");
    let Command::Load(args) = cli.command else { panic!("not a load") };
    let mut inputs = input::inputs(&args).expect("the files are there");
    let kinds = Kinds::of(None, KeyKind::U64);
    for input in &mut inputs {
        settle::settle(input, &args, &kinds, false).expect("nothing is open");
    }
    let interrupts = Interrupts::default();
    let rules = Rules { kinds: &kinds, finite: false, on_error: OnError::Raise, interrupts: &interrupts };
    let loaded = match existing {
        Some(graph) => write::into_existing(graph, &args, &inputs, &rules),
        None => write::into_new(options(&args, &inputs), &args, &inputs, &rules, None),
    };
    loaded.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_late_failure_removes_a_new_store_and_owns_up_in_an_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, store) = (folder.path().join("a.csv"), folder.path().join("store"));
    std::fs::write(&file, "1,2\n2,3\nx,y\n").expect("written");
    let line = [store.to_str().expect("text"), file.to_str().expect("text"), "--batch", "1"];

    let error = unchecked(&line, None).expect_err("a malformed row");
    assert!(
        error.ends_with(
            "a.csv:3: vertex id \"x\" is not a number from 0 to 18446744073709551615 (--keys str takes texts) in column 1; the file has changed"
        ),
        "{error}"
    );
    assert!(!store.exists());
    // A failed load does not remove a directory that existed before.
    std::fs::create_dir(&store).expect("created");
    unchecked(&line, None).expect_err("a malformed row");
    assert_eq!(std::fs::read_dir(&store).expect("there").count(), 0);

    let open = || Graph::open(&store).expect("opens");
    drop(open());
    let error = unchecked(&line, Some(open())).expect_err("a malformed row");
    assert!(error.ends_with("the file has changed (the first 2 rows are committed)"), "{error}");
    assert_eq!(open().snapshot().expect("open").edge_count().unwrap(), 2);
    let error = unchecked(&[line[0], line[1], "--batch", "0"], Some(open())).expect_err("a malformed row");
    assert!(error.ends_with("the file has changed"), "{error}");
}
