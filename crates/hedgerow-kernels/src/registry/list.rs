//! The list of all kernels, and calls of a kernel by its name.

use hedgerow_core::{Resident, Topology, WeightedTopology};

use super::arguments::Arguments;
use super::kernel::Kernel;
use super::outcome::Outcome;
use crate::{Cancel, KernelError};

impl Arguments {
    /// Runs the kernel: the same compiled loops as a call of its function.
    ///
    /// # Errors
    /// [`KernelError::MissingArgument`] if a parameter without a default was not set, and the errors of the
    /// kernel's function.
    pub fn run<G: WeightedTopology + Resident>(
        &self,
        g: &G,
        cancel: &Cancel,
    ) -> Result<Outcome, KernelError> {
        let at = self.position()?;
        functions::<G>()[at](g, self, cancel)
    }

    /// Like [`run`](Self::run), but on a graph that is not all in memory: the same loops, compiled for it.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); [`KernelError::NotResident`] for a kernel that
    /// [needs](Kernel::needs_resident) all edges in memory; [`KernelError::Topology`] if the graph cannot be
    /// read.
    pub fn run_paged<G: WeightedTopology>(
        &self,
        g: &G,
        cancel: &Cancel,
    ) -> Result<Outcome, KernelError<G::Error>> {
        let at = self.position().map_err(KernelError::of_any)?;
        let kernel = self.kernel().name;
        let Some(run) = paged_functions::<G>()[at] else { return Err(KernelError::NotResident { kernel }) };
        run(g, self, cancel)
    }

    /// Returns the answer of the kernel's slow verifier, in one thread. For tests and benchmarks: a program
    /// that calls this compiles all verifiers.
    ///
    /// # Errors
    /// [`KernelError::MissingArgument`].
    pub fn verify<G: WeightedTopology + Resident>(&self, g: &G) -> Result<Outcome, KernelError> {
        let at = self.position()?;
        verifiers::<G>()[at](g, self)
    }

    /// Returns the kernel's place in the list.
    fn position(&self) -> Result<usize, KernelError> {
        let name = self.kernel().name;
        let at = KERNELS.iter().position(|kernel| kernel.name == name);
        at.ok_or_else(|| KernelError::NoSuchKernel { name: name.to_owned() })
    }
}

type Run<G> = fn(&G, &Arguments, &Cancel) -> Result<Outcome, KernelError>;
type Verify<G> = fn(&G, &Arguments) -> Result<Outcome, KernelError>;
type RunPaged<G> = fn(&G, &Arguments, &Cancel) -> Result<Outcome, KernelError<<G as Topology>::Error>>;

/// The function of a kernel for graphs that are not all in memory.
macro_rules! paged {
    ($($module:ident)::+, by page) => {
        Some(crate::$($module)::+::run_with::<G>)
    };
    ($($module:ident)::+, resident) => {
        None
    };
}

/// Makes the list from the path of each entry and the graphs on which its kernel runs.
macro_rules! registered {
    ($($($module:ident)::+, $($graphs:ident)+;)*) => {
        /// All kernels, in the order in which benchmarks run them. The order affects times, through the state
        /// of the caches. A new kernel goes to the end, so figures of different years can be compared.
        pub const KERNELS: &[&Kernel] = &[$(&crate::$($module)::+::KERNEL),*];

        // Three tables, so that a program compiles only those that it calls.
        fn functions<G: WeightedTopology + Resident>() -> [Run<G>; KERNELS.len()] {
            [$(crate::$($module)::+::run_with::<G>),*]
        }

        fn paged_functions<G: WeightedTopology>() -> [Option<RunPaged<G>>; KERNELS.len()] {
            [$(paged!($($module)::+, $($graphs)+)),*]
        }

        fn verifiers<G: WeightedTopology + Resident>() -> [Verify<G>; KERNELS.len()] {
            [$(crate::$($module)::+::verify_with::<G>),*]
        }
    };
}

registered!(
    bfs, by page;
    pagerank, by page;
    sssp, by page;
    wcc, by page;
    tc, resident;
    betweenness, by page;
    pagerank::personal, by page;
    path, by page;
    path::weighted, by page;
    kpaths, by page;
    bfs::khop, by page;
    cycles, by page;
    walks, by page;
    communities::louvain, by page;
    communities::leiden, by page;
    lcc, resident;
    cdlp, by page;
    scc, by page;
    kcore, by page;
    degrees, by page;
    msf, by page;
    closeness, by page;
    similarity::jaccard, by page;
    similarity::adamic_adar, by page;
    matching, by page;
    bfs::parents, by page;
    betweenness::weighted, by page;
    closeness::weighted, by page;
    pagerank::weighted, by page;
    walks::weighted, by page;
);

/// Returns a kernel by its name.
///
/// # Errors
/// [`KernelError::NoSuchKernel`].
pub fn find(name: &str) -> Result<&'static Kernel, KernelError> {
    let found = KERNELS.iter().copied().find(|kernel| kernel.name == name);
    found.ok_or_else(|| KernelError::NoSuchKernel { name: name.to_owned() })
}
