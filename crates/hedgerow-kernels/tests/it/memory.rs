//! A test that the memory stated in the registry is an upper bound on the allocations of a kernel. It counts
//! the allocations of the whole process, so it runs in a process of its own. This process runs the same
//! program, because compiling all kernels again takes half a minute.

use std::process::Command;

use hedgerow_core::{Topology, VertexId};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{KERNELS, Kernel, Size};
use hedgerow_workload::Csr;
use hedgerow_workload::kron;
use peak_alloc::PeakAlloc;

use crate::testing::{plain_graph, random_graph, weighted_graph, with_threads};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Returns several graphs. In each, another part of a formula determines the memory.
fn graphs() -> Vec<(&'static str, Csr)> {
    // A little more than a power of two, so that growing lists have twice the capacity that they need.
    let many = (1 << 17) + 30;
    let path: Vec<(u32, u32)> = (1..many).map(|v| (v - 1, v)).collect();
    let star: Vec<(u32, u32)> = (1..many).map(|v| (0, v)).collect();
    // So many edges are elsewhere that a search continues top-down from the hub, to all vertices at once.
    let ring = (1..many).flat_map(|v| (1..12).map(move |step| (v, (v + step) % many)));
    let hub: Vec<(u32, u32)> = star.iter().copied().chain(ring).collect();
    // A vertex has edges from and to two other ones, and a ring is not connected with them.
    let ring = (3..many).map(|v| (v, if v + 1 < many { v + 1 } else { 3 }));
    let long_ring: Vec<(u32, u32)> = [(0, 1), (1, 0), (0, 2), (2, 0)].into_iter().chain(ring).collect();
    let skewed = kron(15, 16, 5);
    let complete: Vec<(u32, u32)> = (0..1200).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let seven = |rng: &mut hedgerow_workload::rng::Rng| (1 + rng.below(1 << 20)) as f64 / 7.0;
    vec![
        ("no edges", plain_graph(many as usize, &[], true)),
        ("path", plain_graph(many as usize, &path, true)),
        ("path with weights", weighted_graph(many as usize, &path, false, seven)),
        ("star", plain_graph(many as usize, &star, false)),
        ("star with weights", weighted_graph(many as usize, &star, true, seven)),
        ("long ring", plain_graph(many as usize, &long_ring, true)),
        ("hub", plain_graph(many as usize, &hub, false)),
        ("complete", plain_graph(1200, &complete, false)),
        ("complete with weights", weighted_graph(1200, &complete, false, seven)),
        ("skewed", plain_graph(skewed.vertices, &skewed.edges, false)),
        ("skewed with weights", weighted_graph(skewed.vertices, &skewed.edges, true, seven)),
        ("random", random_graph(100_000, 1_000_000, true, 0.2, 1)),
    ]
}

/// Returns the largest number of bytes that a call has allocated at one moment.
fn peak(kernel: &'static Kernel, g: &Csr, threads: usize) -> u64 {
    let mut live = (0..g.vertex_bound() as u32).map(VertexId).filter(|&v| g.contains(v));
    let (source, target) = (live.next().expect("one is live"), live.next_back().expect("and another"));
    let mut arguments = kernel.trial(source, target);
    // A maximum matching takes the most memory, but not every graph has one.
    if kernel.name == "matching" {
        arguments.set("maximum", 1).expect("a parameter");
        if arguments.run(g, &Cancel::new()).is_err() {
            arguments = kernel.trial(source, target);
        }
    }
    // Two sources at a time take the most memory.
    if ["jaccard", "adamic_adar"].contains(&kernel.name) {
        arguments.set("sources", vec![source, source]).expect("vertices");
    }
    // The first vertex is a hub. In a search from it, most vertices wait at once.
    if kernel.name == "wcloseness" {
        arguments.set("sources", vec![source]).expect("a parameter");
    }
    let small = weighted_graph(3, &[(0, 1), (1, 2)], g.is_directed(), |_| 1.0);
    with_threads(threads, || {
        // The threads allocate their own memory before the measurement.
        rayon::broadcast(|_| ());
        drop(kernel.trial(VertexId(0), VertexId(2)).run(&small, &Cancel::new()).expect(kernel.name));
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let outcome = arguments.run(g, &Cancel::new()).expect(kernel.name);
        let peak = ALLOCATOR.peak_usage();
        drop(outcome);
        peak.saturating_sub(before) as u64
    })
}

#[test]
fn formulas_are_upper_bounds_and_not_far_off() {
    const ALONE: &str = "HEDGEROW_TEST_ALONE_IN_A_PROCESS";
    if std::env::var_os(ALONE).is_some() {
        return compare_with_formulas();
    }
    let name = "memory::formulas_are_upper_bounds_and_not_far_off";
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    let output = again.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().expect("run");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{}", output.status);
}

fn compare_with_formulas() {
    // The largest share of the stated bytes that a kernel takes, over all graphs.
    let mut nearest = vec![0.0f64; KERNELS.len()];
    for (name, g) in graphs() {
        for (kernel, nearest) in KERNELS.iter().zip(&mut nearest) {
            // Kernels without memory for each thread compute in one thread.
            for &threads in if kernel.memory.per_thread == 0 { &[1][..] } else { &[1, 4] } {
                let size =
                    Size { ids: g.vertex_bound() as u64, edges: g.edge_count(), threads: threads as u64 };
                let (taken, stated) = (peak(kernel, &g, threads), kernel.memory.bytes(size));
                println!("{}, {name}, {threads} threads: {taken} bytes of {stated}", kernel.name);
                assert!(taken <= stated, "{}, {name}: {taken} bytes, {stated} stated", kernel.name);
                *nearest = nearest.max(taken as f64 / stated as f64);
            }
        }
    }
    for (kernel, nearest) in KERNELS.iter().zip(nearest) {
        assert!(nearest > 0.5, "{}: at most {nearest} of what is stated is taken", kernel.name);
    }
}
