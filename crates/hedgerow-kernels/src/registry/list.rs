//! The list of all kernels, and calling one by its name.

use hedgerow_core::{Resident, Topology, WeightedTopology};

use super::arguments::Arguments;
use super::kernel::Kernel;
use super::outcome::Outcome;
use crate::{Cancel, KernelError};

impl Arguments {
    /// Runs the kernel: the same compiled loops as a call of its function.
    ///
    /// # Errors
    /// [`KernelError::MissingArgument`] where a parameter without a default was not set, and what the kernel's function
    /// returns.
    pub fn run<G: WeightedTopology + Resident>(
        &self,
        g: &G,
        cancel: &Cancel,
    ) -> Result<Outcome, KernelError> {
        (entry::<G>(self.kernel())?.run)(g, self, cancel)
    }

    /// As [`run`](Self::run), on a graph of which not all is in memory: the same loops, compiled for it.
    ///
    /// # Errors
    /// As of that; [`KernelError::NotResident`] for a kernel that [needs](Kernel::needs_resident) all edges in memory;
    /// [`KernelError::Topology`] where the graph cannot be read.
    pub fn run_paged<G: WeightedTopology>(
        &self,
        g: &G,
        cancel: &Cancel,
    ) -> Result<Outcome, KernelError<G::Error>> {
        let name = self.kernel().name;
        let Some(found) = paged_entries::<G>().into_iter().find(|entry| entry.name == name) else {
            return Err(KernelError::NoSuchKernel { name: name.to_owned() });
        };
        let Some(run) = found.run else { return Err(KernelError::NotResident { kernel: name }) };
        run(g, self, cancel)
    }

    /// What the kernel's slow verifier says, in one thread.
    ///
    /// # Errors
    /// [`KernelError::MissingArgument`].
    pub fn verify<G: WeightedTopology + Resident>(&self, g: &G) -> Result<Outcome, KernelError> {
        (entry::<G>(self.kernel())?.verify)(g, self)
    }
}

/// A kernel for graphs of one type.
struct Entry<G> {
    name: &'static str,
    run: fn(&G, &Arguments, &Cancel) -> Result<Outcome, KernelError>,
    verify: fn(&G, &Arguments) -> Result<Outcome, KernelError>,
}

/// A kernel for graphs of one type of which not all is in memory, if it runs on them.
struct PagedEntry<G: WeightedTopology> {
    name: &'static str,
    run: Option<RunPaged<G>>,
}

type RunPaged<G> = fn(&G, &Arguments, &Cancel) -> Result<Outcome, KernelError<<G as Topology>::Error>>;

/// The function of a kernel for graphs of which not all is in memory.
macro_rules! paged {
    ($module:ident by page) => {
        Some(crate::$module::entry::run::<G>)
    };
    ($module:ident resident) => {
        None
    };
}

/// The list: each name is that of a folder, with what graphs the kernel runs on.
macro_rules! registered {
    ($($module:ident $($graphs:ident)+),*) => {
        /// All kernels, in the order in which benchmarks run them: what one leaves in the caches is part of the next one's
        /// time, and figures of years are compared. A new kernel goes to the end.
        pub const KERNELS: &[&Kernel] = &[$(&crate::$module::entry::KERNEL),*];

        fn entries<G: WeightedTopology + Resident>() -> [Entry<G>; KERNELS.len()] {
            [$(Entry {
                name: crate::$module::entry::KERNEL.name,
                run: crate::$module::entry::run::<G>,
                verify: crate::$module::entry::verify::<G>,
            }),*]
        }

        fn paged_entries<G: WeightedTopology>() -> [PagedEntry<G>; KERNELS.len()] {
            [$(PagedEntry {
                name: crate::$module::entry::KERNEL.name,
                run: paged!($module $($graphs)+),
            }),*]
        }
    };
}

registered!(
    bfs by page,
    pagerank by page,
    sssp by page,
    wcc by page,
    tc resident,
    betweenness by page,
    ppr by page,
    path by page,
    wpath by page,
    kpaths by page,
    khop by page,
    cycles by page,
    walks by page,
    louvain by page,
    leiden by page,
    lcc resident,
    cdlp by page,
    scc by page,
    kcore by page,
    degrees by page,
    msf by page,
    closeness by page,
    jaccard by page,
    adamic_adar by page,
    matching by page,
    bfs_parents by page,
    wbetweenness by page,
    wcloseness by page,
    wpagerank by page,
    wwalks by page
);

/// A kernel by its name.
///
/// # Errors
/// [`KernelError::NoSuchKernel`].
pub fn find(name: &str) -> Result<&'static Kernel, KernelError> {
    let found = KERNELS.iter().copied().find(|kernel| kernel.name == name);
    found.ok_or_else(|| KernelError::NoSuchKernel { name: name.to_owned() })
}

fn entry<G: WeightedTopology + Resident>(kernel: &Kernel) -> Result<Entry<G>, KernelError> {
    let found = entries::<G>().into_iter().find(|entry| entry.name == kernel.name);
    found.ok_or_else(|| KernelError::NoSuchKernel { name: kernel.name.to_owned() })
}
