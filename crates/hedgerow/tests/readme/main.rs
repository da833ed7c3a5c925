//! The Rust example of the README: it is the one beside this file, and runs.
#![allow(missing_docs, reason = "a test program")]

mod example {
    include!("example.rs");

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

/// This program has no other test: the example makes its store in the current directory.
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
