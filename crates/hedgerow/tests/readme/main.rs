//! The Rust examples of the README and of the guides. They have the same text as the files in this folder,
//! and they run.
#![allow(missing_docs, reason = "a test program")]

mod example {
    include!("example.rs");

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod guide;

use std::sync::Mutex;

use hedgerow::{Graph, KeyKind, LabelOptions, Options, PropertyType};

/// A lock for tests that change the current directory, where the examples make their stores. All tests share
/// this directory.
static CURRENT_DIRECTORY: Mutex<()> = Mutex::new(());

/// Returns the text without spaces and line breaks. Also removes the comma that a line break in a list of
/// arguments adds.
fn words(text: &str) -> String {
    let words: String = text.split_whitespace().collect();
    words.replace(",)", ")").replace(",]", "]").replace(",}", "}")
}

#[test]
fn the_examples_of_the_guide_run_as_printed() {
    let guides = [
        include_str!("../../../../docs/guide/rust.md"),
        include_str!("../../../../docs/guide/kept-answers.md"),
    ];
    let blocks = guides.into_iter().flat_map(|guide| guide.split("```rust\n").skip(1));
    let printed = blocks.filter_map(|rest| rest.split("```\n").next());
    let run = include_str!("guide.rs").split("// ---\n").skip(1).step_by(2);
    assert_eq!(printed.map(words).collect::<Vec<_>>(), run.map(words).collect::<Vec<_>>());
    let _current = CURRENT_DIRECTORY.lock();
    let dir = tempfile::tempdir().expect("a directory");
    std::env::set_current_dir(dir.path()).expect("entered");
    guide::opening().expect("opening");
    assert!(dir.path().join("events.hedgerow").is_dir());
    let friends = Options::new().directed(false).keys(KeyKind::Str).in_memory().expect("a graph");
    guide::transactions(&friends).expect("transactions");
    guide::retries(&friends).expect("retries");
    guide::labels(&friends).expect("labels");
    guide::kinds().expect("kinds");
    guide::columns().expect("columns");
    let trusts = LabelOptions::new().property("since", PropertyType::I64);
    friends.define_label("trusts", trusts.clone()).expect("a label");
    let snapshot = friends.snapshot().expect("a snapshot");
    guide::selections(&snapshot).expect("selections");
    guide::batches(&snapshot).expect("batches");
    guide::kernels(&friends).expect("kernels");
    guide::cancelled(&snapshot).expect("a kernel");
    let payments = Graph::in_memory().expect("a graph");
    payments.define_label("trusts", trusts).expect("a label");
    payments.insert_edge((1, 2)).expect("an edge");
    guide::either(&payments).expect("reads of both");
    guide::kept(&payments).expect("an answer that is kept");
    guide::errors(payments.write().expect("a transaction")).expect("committed");
}

#[test]
fn the_example_of_the_readme_runs_as_printed() {
    let readme = include_str!("../../../../README.md");
    let printed = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```\n").next());
    assert_eq!(printed, Some(include_str!("example.rs")));
    let _current = CURRENT_DIRECTORY.lock();
    let dir = tempfile::tempdir().expect("a directory");
    std::env::set_current_dir(dir.path()).expect("entered");
    example::run().expect("the example");
    assert!(dir.path().join("friends.hedgerow").is_dir());
}
