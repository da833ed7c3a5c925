//! The [kernels](hedgerow_kernels), compiled for the graphs of a store.
//!
//! A kernel is generic over graphs, so each program that calls one compiles it for the type of its graph, and one that calls kernels by
//! their names compiles all of them. This crate does so once, for both forms in which a store gives its edges: all in memory ([`View`]), or
//! by the page ([`TieredView`]). The command line, Python, the benchmarks and the tests of the store call these functions, which are not generic.
//! Users reach them as `hedgerow::kernels`, by the feature `kernels` of the facade.
//!
//! ```
//! use hedgerow_engine::{EdgeSelection, Graph};
//! use hedgerow_kernels::{Cancel, registry};
//!
//! let graph = Graph::in_memory()?;
//! graph.insert_edge(1, 2)?;
//! let (snapshot, kernel) = (graph.snapshot()?, registry::find("degrees")?);
//! let view = hedgerow_analytics::view(&snapshot, kernel, &EdgeSelection::all())?;
//! let outcome = hedgerow_analytics::run(&kernel.arguments(), &view, &Cancel::new())?;
//! # let _ = outcome;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

use hedgerow_engine::{EdgeSelection, Error, KernelView, Snapshot, TieredView, View};
use hedgerow_kernels::registry::{Arguments, Kernel, Outcome};
use hedgerow_kernels::{Cancel, KernelError};

/// The graph of the chosen edges on which `kernel` runs: all of it in memory for a kernel that [needs](Kernel::needs_resident) that, and for
/// others where the memory limit leaves room. For a kernel that reads weights each edge weighs what its label says, unless the selection names a
/// property ([`EdgeSelection::weighted`]). Costs what [`Snapshot::kernel_view`] and [`Snapshot::view_selected`] cost.
///
/// # Errors
/// As of these two: for a kernel that needs all edges in memory, `MemoryLimit` says how much they take.
pub fn view(
    snapshot: &Snapshot,
    kernel: &Kernel,
    selection: &EdgeSelection<'_>,
) -> hedgerow_engine::Result<KernelView> {
    let selection = if kernel.reads_weights { selection.clone().weighted() } else { selection.clone() };
    match kernel.needs_resident {
        true => snapshot.view_selected(&selection).map(KernelView::Resident),
        false => snapshot.kernel_view(&selection),
    }
}

/// Runs a kernel on a graph of a store. Blocks until it is done or `cancel` ends it; the loops run in the current pool of threads.
///
/// # Errors
/// What the kernel's function returns; [`KernelError::NotResident`] for a kernel that needs all edges in memory, where they are not;
/// [`KernelError::Topology`] where the store cannot be read.
pub fn run(arguments: &Arguments, view: &KernelView, cancel: &Cancel) -> Result<Outcome, KernelError<Error>> {
    match view {
        KernelView::Resident(view) => run_resident(arguments, view, cancel).map_err(KernelError::of_any),
        KernelView::Tiered(view) => run_by_page(arguments, view, cancel),
    }
}

/// As [`run`], on edges in memory: no read can fail.
///
/// # Errors
/// What the kernel's function returns.
pub fn run_resident(arguments: &Arguments, view: &View, cancel: &Cancel) -> Result<Outcome, KernelError> {
    arguments.run(view, cancel)
}

/// As [`run`], on edges that are read by the page.
///
/// # Errors
/// As of [`run`].
pub fn run_by_page(
    arguments: &Arguments,
    view: &TieredView,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<Error>> {
    arguments.run_paged(view, cancel)
}
