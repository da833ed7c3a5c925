//! The [kernels](hedgerow_kernels), compiled for the graphs of a store.
//!
//! A kernel is generic over graphs, so each program that calls one compiles it for the type of its graph. A
//! program that calls kernels by their names compiles all of them. This crate does so once, for both forms in
//! which a store gives its edges: all in memory ([`View`]), or by the page ([`TieredView`]).
//!
//! The command line, Python, the benchmarks and the tests of the store call these functions, which are not
//! generic. Users reach them as `hedgerow::kernels`, by the feature `kernels` of the facade.
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

/// Returns the graph of the chosen edges on which `kernel` runs. A kernel that
/// [needs](Kernel::needs_resident) all edges in memory gets them so; other kernels get them so if the memory
/// limit leaves room. For a kernel that reads weights each edge has the weight of its label, unless the
/// selection names a property ([`EdgeSelection::weighted`]). Costs what [`Snapshot::kernel_view`] and
/// [`Snapshot::view_selected`] cost.
///
/// # Errors
/// Those of these two methods. `MemoryLimit` says how much memory the edges take if a kernel needs all of
/// them.
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

/// Runs a kernel on a graph of a store. Blocks until it is done or `cancel` ends it; the loops run in the
/// current pool of threads.
///
/// # Errors
/// Those of the kernel's function; [`KernelError::NotResident`] for a kernel that needs all edges in memory
/// if they are not; [`KernelError::Topology`] if the store cannot be read.
pub fn run(arguments: &Arguments, view: &KernelView, cancel: &Cancel) -> Result<Outcome, KernelError<Error>> {
    match view {
        KernelView::Resident(view) => run_resident(arguments, view, cancel).map_err(KernelError::of_any),
        KernelView::Tiered(view) => run_by_page(arguments, view, cancel),
    }
}

/// Runs a kernel like [`run`], but on edges in memory: no read can fail.
///
/// # Errors
/// Those of the kernel's function.
pub fn run_resident(arguments: &Arguments, view: &View, cancel: &Cancel) -> Result<Outcome, KernelError> {
    arguments.run(view, cancel)
}

/// Runs a kernel like [`run`], but on edges that are read by the page.
///
/// # Errors
/// Those of [`run`].
pub fn run_by_page(
    arguments: &Arguments,
    view: &TieredView,
    cancel: &Cancel,
) -> Result<Outcome, KernelError<Error>> {
    arguments.run_paged(view, cancel)
}
