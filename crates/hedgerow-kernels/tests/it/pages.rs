//! Tests that texts about kernels agree with the registry: the page of the guide, which a test writes from
//! the registry, the table of the crate's documentation, and the signatures of the Python package.
//!
//! `HEDGEROW_BLESS=1 cargo test -p hedgerow-kernels --test it pages` writes the page again.
// The guide is not a file of a store.
#![allow(clippy::disallowed_methods)]

use std::fmt::Write;
use std::path::Path;

use hedgerow_kernels::registry::{Absent, KERNELS, Kernel, Parameter, ParameterKind, Value};

const PAGE: &str = "docs/guide/kernels.md";

/// The text before the kernels.
const INTRODUCTION: &str = "\
# Kernels

The algorithms on whole graphs, each with its parameters, result, time, memory and source. A test writes this
page from the registry in `hedgerow-kernels`: `HEDGEROW_BLESS=1 cargo test -p hedgerow-kernels --test it
pages`. The guides for [the command line](cli.md#algorithms), [Python](python.md#analytics) and
[Rust](rust.md#snapshots) show the calls.

A Python program can also call each kernel as `Snapshot.run(NAME, ...)`, and a Rust program by its name:
`registry::find(NAME)?.arguments()`, then `set` and `run`.

In the formulas of memory, *vertices* counts vertex ids, also those of removed vertices; an undirected edge is
one edge.

";

#[test]
fn the_page_of_the_guide_is_written_from_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let expected = page();
    if std::env::var_os("HEDGEROW_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the guide can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = expected.lines().chain([""]).zip(found.lines().chain([""])).zip(1..);
    for ((expected, found), line) in lines {
        assert_eq!(expected, found, "{PAGE}:{line}: set HEDGEROW_BLESS=1 to write it anew");
    }
    assert_eq!(expected, found, "{PAGE}: set HEDGEROW_BLESS=1 to write it anew");
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str(
        "| command line | Rust and Python | figures of benchmarks | finds |\n| --- | --- | --- | --- |\n",
    );
    for k in KERNELS {
        let _ = writeln!(page, "| `run {}` | `{}` | `{}` | {} |", k.name, k.function, k.metric, k.summary);
    }
    KERNELS.iter().for_each(|kernel| describe(kernel, &mut page));
    page
}

fn describe(kernel: &Kernel, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n{}.\n\n", kernel.name, kernel.summary);
    let _ = writeln!(page, "- **Takes** {}.", kernel.input);
    let _ = writeln!(page, "- **Gives** `{}`: {}.", kernel.result.name, kernel.result.kind.text());
    let _ = writeln!(page, "- **Time**: {}.", kernel.cost);
    if !kernel.steps.is_empty() {
        let _ = writeln!(page, "- **Progress** counts {}.", kernel.steps);
    }
    let provided = match kernel.memory.provided {
        "" => String::new(),
        provided => format!(" ({provided})"),
    };
    let _ = writeln!(page, "- **Memory** besides the graph, at most, in bytes: {}{provided}.", kernel.memory);
    if kernel.needs_resident {
        page.push_str("- **Needs** all edges in memory at once. Other kernels read data that does not fit the memory limit by the page.\n");
    }
    let _ = writeln!(page, "- **From** {}.", kernel.cited);
    if kernel.parameters.is_empty() {
        return;
    }
    page.push_str("\n| parameter | command line | takes | default | |\n| --- | --- | --- | --- | --- |\n");
    for parameter in kernel.parameters {
        let (name, option) = (parameter.name, option(parameter));
        let (takes, default) = (takes(parameter), default(parameter));
        let _ = writeln!(page, "| `{name}` | `{option}` | {takes} | {default} | {} |", parameter.summary);
    }
}

fn option(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Direction => "--in".to_owned(),
        _ => format!("--{}", parameter.name),
    }
}

fn takes(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Vertex => "a vertex".to_owned(),
        ParameterKind::Direction => "`out` or `in`".to_owned(),
        ParameterKind::Vertices => "vertices".to_owned(),
        ParameterKind::Count(range) => format!("a whole number, {}", range.text),
        ParameterKind::Number(range) => format!("a number {}", range.text),
        ParameterKind::Flag => "`true` or `false`".to_owned(),
    }
}

fn default(parameter: &Parameter) -> String {
    match &parameter.absent {
        Absent::Refused => "none, must be given".to_owned(),
        Absent::Without("") => "none".to_owned(),
        Absent::Without(instead) => (*instead).to_owned(),
        Absent::Is(value) => format!("`{value}`"),
    }
}

/// The design page has the rule and the oracle of each kernel in a row of one table.
#[test]
fn the_design_page_has_a_row_for_every_kernel() {
    let page = include_str!("../../../../docs/design/analytics.md");
    let (_, from_kernels) = page.split_once("\n## Kernels\n").expect("a section of kernels");
    let (table, _) = from_kernels.split_once("\n## ").expect("a section after it");
    let names: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('|'))
        .flat_map(|(names, _)| names.split('`').step_by(2))
        .collect();
    for kernel in KERNELS {
        let rows = names.iter().filter(|name| name.trim() == kernel.name).count();
        assert_eq!(rows, 1, "{} in docs/design/analytics.md", kernel.name);
    }
}

#[test]
fn the_table_of_the_crate_is_that_of_the_registry() {
    let source = include_str!("../../src/lib.rs");
    let rows: Vec<&str> = source.lines().filter(|line| line.starts_with("//! | [`")).collect();
    let row = |k: &&Kernel| format!("//! | [`{}()`] | {} | {} |", k.function, k.summary, k.cost);
    assert_eq!(rows, KERNELS.iter().map(row).collect::<Vec<_>>());
}

/// Returns the parameters of a method of `Snapshot` in the stubs, each with its default, or "".
fn stub_parameters(stubs: &str, method: &str) -> Option<Vec<(String, String)>> {
    let (_, snapshot) = stubs.split_once("\nclass Snapshot")?;
    let (_, rest) = snapshot.split_once(&format!("\n    def {method}("))?;
    let (inside, _) = rest.split_once(") ->")?;
    let parameters = inside.split(',').map(str::trim).filter(|p| !["self", "*", ""].contains(p));
    let parts = parameters.map(|parameter| {
        let (name, kind) = parameter.split_once(':').expect(parameter);
        let default = kind.split_once('=').map_or("", |(_, default)| default.trim());
        (name.trim().to_owned(), default.to_owned())
    });
    Some(parts.collect())
}

/// Returns a default as Python writes it.
fn python_default(parameter: &Parameter) -> String {
    match &parameter.absent {
        Absent::Refused => String::new(),
        Absent::Without(_) => "None".to_owned(),
        Absent::Is(value @ Value::Direction(_)) => format!("\"{value}\""),
        Absent::Is(Value::Flag(flag)) => if *flag { "True" } else { "False" }.to_owned(),
        Absent::Is(value) => value.to_string(),
    }
}

/// Programs call kernels without a method of their own by `Snapshot.run`. The tests of the package check that
/// methods take the parameters of the stubs.
#[test]
fn methods_in_python_take_what_the_registry_says() {
    let stubs = include_str!("../../../../python/src/hedgerow/_native.pyi");
    let mut methods = 0;
    for kernel in KERNELS {
        let Some(mut found) = stub_parameters(stubs, kernel.function) else { continue };
        // The parameters that choose the graph. A kernel without a direction has a parameter that turns the
        // graph.
        let chosen = ["kinds", "label", "rank_range", "where"]
            .into_iter()
            .chain(kernel.reads_weights.then_some("weight"));
        let turned = kernel.name == "pagerank";
        let graph = chosen.map(|name| (name.to_owned(), "None".to_owned()));
        let graph = graph.chain(turned.then(|| ("direction".to_owned(), "\"out\"".to_owned())));
        let own =
            kernel.parameters.iter().map(|parameter| (parameter.name.to_owned(), python_default(parameter)));
        let mut expected: Vec<(String, String)> = own.chain(graph).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", kernel.function);
        methods += 1;
    }
    assert!(methods >= 5, "methods are no longer found: {methods}");
}
