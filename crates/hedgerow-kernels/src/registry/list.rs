//! The list of all kernels, and calling one by its name.

use hedgerow_core::{Resident, WeightedTopology};

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

/// The list: each name is that of a folder.
macro_rules! registered {
    ($($module:ident),*) => {
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
    };
}

registered!(bfs, pagerank, sssp, wcc, tc);

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
