//! The [kernels](hedgerow_kernels), compiled for the graphs of a store.
//!
//! A kernel is generic over graphs, so each program that calls one compiles it for the type of its graph. A
//! program that calls kernels by their names compiles all of them. This crate compiles all kernels once, for
//! both forms in which a store gives its edges: all in memory ([`View`]), or by the page ([`TieredView`]).
//!
//! The command line, Python, the benchmarks and the tests of the store call these functions, which are not
//! generic. Users call them as `hedgerow::kernels`, with the feature `kernels` of the facade.
//!
//! ```
//! use hedgerow_engine::{EdgeSelection, Graph};
//! use hedgerow_kernels::{Cancel, registry};
//!
//! let graph = Graph::in_memory()?;
//! graph.insert_edge((1, 2))?;
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

/// Returns the graph of the chosen edges on which `kernel` runs. All its edges are in memory if the kernel
/// [needs](Kernel::needs_resident) that, or if the memory limit leaves room; else they are read by the page.
/// For a kernel that reads weights, each edge has the weight of its label, unless the selection names a
/// property ([`EdgeSelection::weighted`]). Costs as much as [`KernelView::new`] or
/// [`Snapshot::view`].
///
/// # Errors
/// The errors of these two methods. If the kernel needs all edges in memory, `MemoryLimit` has the number of
/// bytes that they take.
pub fn view(
    snapshot: &Snapshot,
    kernel: &Kernel,
    selection: &EdgeSelection<'_>,
) -> hedgerow_engine::Result<KernelView> {
    let selection = if kernel.reads_weights { selection.clone().weighted() } else { selection.clone() };
    match kernel.needs_resident {
        true => snapshot.view(&selection).map(KernelView::Resident),
        false => KernelView::new(snapshot, &selection),
    }
}

/// Runs a kernel on a graph of a store. Blocks until it is done or `cancel` ends it; the loops run in the
/// current pool of threads.
///
/// # Errors
/// The errors of the kernel's function; [`KernelError::NotResident`] if the kernel needs all edges in memory
/// and they are not; [`KernelError::Topology`] if the store cannot be read.
pub fn run(arguments: &Arguments, view: &KernelView, cancel: &Cancel) -> Result<Outcome, KernelError<Error>> {
    match view {
        KernelView::Resident(view) => run_resident(arguments, view, cancel).map_err(KernelError::of_any),
        KernelView::Tiered(view) => run_by_page(arguments, view, cancel),
    }
}

/// Runs a kernel like [`run`], but on edges in memory: no read can fail.
///
/// # Errors
/// The errors of the kernel's function.
pub fn run_resident(arguments: &Arguments, view: &View, cancel: &Cancel) -> Result<Outcome, KernelError> {
    arguments.run(view, cancel)
}

/// Runs a kernel like [`run`], but on edges that are read by the page.
///
/// # Errors
/// The errors of [`run`].
pub fn run_by_page(
    arguments: &Arguments,
    view: &TieredView,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<Error>> {
    arguments.run_paged(view, cancel)
}
