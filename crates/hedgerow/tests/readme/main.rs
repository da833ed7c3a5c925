//! The Rust example of the README: it is the one beside this file, and runs.
#![allow(missing_docs, reason = "a test program")]

mod example {
    include!("example.rs");

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod guide;

/// Words, however lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn the_examples_of_the_guide_about_kinds_run_as_printed() {
    let guide = include_str!("../../../../docs/guide/rust.md");
    let (_, section) = guide.split_once("## Kinds of vertices\n").expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let printed = section.split("```rust\n").skip(1).filter_map(|rest| rest.split("```\n").next());
    let run = include_str!("guide.rs").split("// ---\n").skip(1).step_by(2);
    assert_eq!(printed.map(words).collect::<Vec<_>>(), run.map(words).collect::<Vec<_>>());
    guide::kinds().expect("kinds");
    guide::columns().expect("columns");
}

/// Alone the example makes its store in the current directory: no other test uses that.
#[test]
fn the_example_of_the_readme_runs_as_printed() {
    let readme = include_str!("../../../../README.md");
    let printed = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```\n").next());
    assert_eq!(printed, Some(include_str!("example.rs")));
    let dir = tempfile::tempdir().expect("a directory");
    std::env::set_current_dir(dir.path()).expect("entered");
    example::run().expect("the example");
    assert!(dir.path().join("friends.hedgerow").is_dir());
}
