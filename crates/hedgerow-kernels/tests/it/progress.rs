//! Tests that kernels report their progress.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use hedgerow_core::VertexId;
use hedgerow_kernels::registry::KERNELS;
use hedgerow_kernels::{Cancel, Progress};
use hedgerow_workload::{Csr, CsrOptions};

/// Returns a ring with chords, so that there are paths, cycles and communities.
fn graph() -> Csr {
    let edges: Vec<(u32, u32)> =
        (0..600).flat_map(|v| [(v, (v + 1) % 600), (v, (v * 7 + 3) % 600)]).collect();
    Csr::from_edges(600, &edges, &CsrOptions { directed: true, ..CsrOptions::default() })
        .expect("a sound graph")
}

#[test]
fn steps_grow_up_to_their_number_and_are_told_during_the_call() {
    let graph = graph();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for kernel in KERNELS {
        let arguments = kernel.trial(VertexId(3), VertexId(300));
        // Within a call, the steps that a poll sees never decrease, and never exceed the total.
        let (handle, most) = (Arc::new(OnceLock::<Cancel>::new()), Arc::new(AtomicU64::new(0)));
        let (seen, known) = (handle.clone(), most.clone());
        let cancel = Cancel::asking(move || {
            let told = seen.get().map(Cancel::progress).unwrap_or_default();
            assert!(told.done <= told.total, "{told:?}");
            let before = known.fetch_max(told.done, Relaxed);
            assert!(before <= told.done, "{}: {before} steps were done, then {told:?}", kernel.name);
            false
        });
        handle.set(cancel.clone()).expect("set once");
        // One thread, so that polls happen one after another.
        let run = || arguments.run(&graph, &cancel);
        alone.install(run).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
        let at_end = cancel.progress();
        assert!(most.load(Relaxed) <= at_end.done, "{}", kernel.name);
        assert_eq!(
            at_end.total > 0,
            !kernel.steps.is_empty(),
            "{}: the registry and the kernel agree",
            kernel.name
        );
        if at_end.total > 0 {
            // A kernel that ends early has completed at least one step.
            assert!(at_end.done > 0, "{}: {at_end:?}", kernel.name);
            assert!(at_end.fraction().is_some_and(|part| part > 0.0 && part <= 1.0));
        }
        // The closure refers to its own handle. Without this `drop` it would keep itself alive.
        drop(handle);
    }
}

#[test]
fn a_kernel_that_runs_to_its_end_has_done_all_and_the_next_call_begins_anew() {
    let (graph, cancel) = (graph(), Cancel::new());
    assert_eq!(cancel.progress(), Progress::default());
    assert_eq!(cancel.progress().fraction(), None);
    for iterations in [7, 4] {
        let mut arguments = hedgerow_kernels::registry::find("pagerank").expect("registered").arguments();
        arguments.set("iterations", iterations).expect("in range");
        arguments.run(&graph, &cancel).expect("runs");
        let told = cancel.progress();
        assert_eq!((told.done, told.total), (u64::from(iterations), u64::from(iterations)));
    }
}
