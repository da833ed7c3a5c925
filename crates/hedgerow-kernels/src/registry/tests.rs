//! Tests of the rules for every entry of the registry.

use std::collections::HashSet;
use std::ops::Bound;

use hedgerow_core::{Topology, VertexId};

use crate::testing::{graphs, plain_graph, sources};
use hedgerow_kernels::registry::{Absent, KERNELS, Kernel, Parameter, ParameterKind, Value, find};
use hedgerow_kernels::{Cancel, KernelError};

/// The permitted relative difference of scores, which may differ in rounding.
const RELATIVE: f64 = 1e-12;

#[test]
fn every_kernel_agrees_with_its_verifier() {
    for g in graphs() {
        let ends = sources(&g, 5);
        let (Some(&source), Some(&target)) = (ends.first(), ends.last()) else { continue };
        for kernel in KERNELS {
            // The time of the slow verifiers for triangles grows with the squares of the degrees.
            if ["tc", "lcc"].contains(&kernel.name) && g.edge_count() >= 50_000 {
                continue;
            }
            let arguments = kernel.trial(source, target);
            let found = arguments.run(&g, &Cancel::new()).expect(kernel.name);
            assert_eq!(found.kind(), kernel.result.kind, "{}", kernel.name);
            let expected = arguments.verify(&g).expect(kernel.name);
            assert!(found.agrees_with(&expected, RELATIVE), "{}: {found:?} {expected:?}", kernel.name);
        }
    }
}

/// A kernel states whether it needs all edges in memory. Such a kernel refuses a graph that is not in memory.
#[test]
fn kernels_run_on_graphs_that_are_read_or_say_that_they_do_not() {
    let g = plain_graph(4, &[(0, 1), (1, 2), (2, 0)], true);
    for kernel in KERNELS {
        let arguments = kernel.trial(VertexId(0), VertexId(3));
        let (whole, paged) = (arguments.run(&g, &Cancel::new()), arguments.run_paged(&g, &Cancel::new()));
        if kernel.needs_resident {
            assert_eq!(paged, Err(KernelError::NotResident { kernel: kernel.name }));
        } else {
            assert_eq!(paged, whole, "{}", kernel.name);
        }
    }
    let resident = KERNELS.iter().filter(|kernel| kernel.needs_resident).map(|kernel| kernel.name);
    assert_eq!(resident.collect::<Vec<_>>(), ["tc", "lcc"]);
}

#[test]
fn the_comparison_can_fail() {
    let (g, joined) =
        (plain_graph(4, &[(0, 1), (2, 3)], false), plain_graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3)], false));
    // Both graphs have a maximal matching of all vertices. This graph has none.
    let parted = plain_graph(4, &[(0, 1)], false);
    for kernel in KERNELS {
        let arguments = kernel.trial(VertexId(0), VertexId(3));
        let found = arguments.run(&g, &Cancel::new()).expect(kernel.name);
        let others = if kernel.name == "matching" { &parted } else { &joined };
        let other = arguments.verify(others).expect(kernel.name);
        assert!(!found.agrees_with(&other, RELATIVE), "{}", kernel.name);
    }
}

#[test]
fn names_are_unique_and_texts_are_there() {
    for name in [|k: &Kernel| k.name, |k: &Kernel| k.function, |k: &Kernel| k.metric] {
        assert_eq!(KERNELS.iter().map(|kernel| name(kernel)).collect::<HashSet<_>>().len(), KERNELS.len());
    }
    let metrics: Vec<&str> = KERNELS.iter().map(|kernel| kernel.metric).collect();
    assert!(
        metrics.starts_with(&["bfs", "pr", "sssp", "wcc", "tc"]),
        "figures would no longer be comparable"
    );
    for kernel in KERNELS {
        assert_eq!(find(kernel.name).expect("listed").name, kernel.name);
        for text in [kernel.summary, kernel.input, kernel.cost, kernel.cited] {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}", kernel.name);
        }
        for parameter in kernel.parameters {
            assert!(!parameter.summary.is_empty() && !parameter.summary.ends_with('.'), "{}", parameter.name);
        }
    }
    assert_eq!(find("walk").map(drop), Err(KernelError::NoSuchKernel { name: "walk".to_owned() }));
}

/// The first folder in the path of an entry has the kernel and related kernels.
#[test]
fn every_kernel_is_in_a_folder_with_all_its_parts() {
    let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let list = include_str!("list.rs");
    let (_, listed) = list.split_once("\nregistered!(\n").expect("the list");
    let lines = listed.lines().take_while(|line| *line != ");");
    let entries: Vec<&str> = lines.filter_map(|line| line.trim().split([':', ',']).next()).collect();
    assert_eq!(entries.len(), KERNELS.len());
    for (folder, kernel) in entries.into_iter().zip(KERNELS) {
        for part in ["mod.rs", "verify.rs", "tests.rs"] {
            assert!(folders.join(folder).join(part).exists(), "{} has no {part}", kernel.name);
        }
    }
}

/// A file of tests that is not listed would not be compiled.
#[test]
#[allow(clippy::disallowed_methods, reason = "the folders of the sources are listed")]
fn the_tests_of_every_folder_are_in_this_program() {
    let listed = include_str!("../../tests/it/kernels.rs");
    let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut count = 0;
    for folder in std::fs::read_dir(folders).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if folder.join("tests.rs").exists() {
            let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
            assert!(listed.contains(&format!("\"../../src/{name}/tests.rs\"")), "{name}");
            count += 1;
        }
    }
    assert!(count > 20, "{count} files of tests");
}

#[test]
fn defaults_lie_in_range_and_what_must_be_given_is_asked_for() {
    let g = plain_graph(3, &[(0, 1)], true);
    for kernel in KERNELS {
        let defaults = kernel.arguments();
        let mut refused = None;
        for parameter in kernel.parameters {
            match parameter.absent {
                Absent::Is(ref value) => parameter.check(value).expect(parameter.name),
                Absent::Without(_) => assert_eq!(defaults.value(parameter.name), None),
                Absent::Refused => refused = refused.or(Some(parameter.name)),
            }
        }
        match (refused, defaults.run(&g, &Cancel::new())) {
            (None, Ok(_)) => {}
            (Some(parameter), Err(error)) => assert_eq!(error, KernelError::MissingArgument { parameter }),
            (expected, found) => panic!("{}: {expected:?} {found:?}", kernel.name),
        }
    }
}

/// Returns a number on each side of a bound: the last one within it, and the first one outside of it.
fn around(bound: Bound<f64>, inwards: fn(f64) -> f64, outwards: fn(f64) -> f64) -> (f64, f64) {
    match bound {
        Bound::Included(at) => (at, outwards(at)),
        Bound::Excluded(at) => (inwards(at), at),
        Bound::Unbounded => (outwards(f64::INFINITY), f64::NAN),
    }
}

fn check_range(kernel: &'static Kernel, parameter: &Parameter) -> usize {
    let ParameterKind::Number(range) = parameter.kind else { return 0 };
    let mut arguments = kernel.arguments();
    for (inside, outside) in [
        around(range.least, f64::next_up, f64::next_down),
        around(range.most, f64::next_down, f64::next_up),
        (range_middle(parameter), f64::NAN),
    ] {
        arguments.set(parameter.name, inside).expect(parameter.name);
        let refused = arguments.set(parameter.name, outside).expect_err(parameter.name).to_string();
        assert_eq!(refused, format!("{} must be {}, found {outside}", parameter.name, range.text));
        assert_eq!(
            arguments.value(parameter.name),
            Some(&Value::Number(inside)),
            "what was set before stays"
        );
    }
    1
}

fn range_middle(parameter: &Parameter) -> f64 {
    let ParameterKind::Number(range) = parameter.kind else { return f64::NAN };
    assert!(range.contains(0.5), "{}", parameter.name);
    0.5
}

#[test]
fn ranges_refuse_what_lies_just_outside() {
    let ranges =
        KERNELS.iter().flat_map(|&kernel| kernel.parameters.iter().map(move |p| check_range(kernel, p)));
    assert!(ranges.sum::<usize>() >= 5, "damping and tolerance twice, delta");
}

#[test]
fn other_names_and_types_are_refused() {
    let mut arguments = find("pagerank").expect("listed").arguments();
    let refused = arguments.set("source", VertexId(0)).expect_err("it has none").to_string();
    assert_eq!(refused, "pagerank has no parameter \"source\"");
    let refused = arguments.set("iterations", 0.5).expect_err("no count").to_string();
    assert_eq!(refused, "iterations must be a whole number");
    assert_eq!(
        arguments.set("damping", 1),
        Err(KernelError::ArgumentType { parameter: "damping", expected: "a number" })
    );
}
