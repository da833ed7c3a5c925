//! All kernels in one list: what each is called, what it can be told, what it gives, what it takes and where it comes
//! from. The command line, Python, the benchmarks and the guide read it, so that a new kernel is added here alone.
//!
//! **Adding a kernel.** A folder with `mod.rs` (what it computes, its trick, the paper, the code), `entry.rs` (its
//! [`Kernel`], and how [`Arguments`] become its own), `verify.rs` (a slow answer that shares no code with it) and
//! `tests.rs`; its name in the list below. If what it gives is of no [`ResultKind`] yet, those who show results need to
//! learn the new kind too, and the compiler names them.
//!
//! A call through the list costs a look-up by name and one indirect call more than a call of the kernel's function: the
//! loops are compiled for the graph's type in both.

mod arguments;
mod memory;
mod outcome;
mod parameter;
#[cfg(test)]
mod tests;

use hedgerow_core::WeightedTopology;

pub use arguments::Arguments;
pub use memory::{Memory, Size};
pub use outcome::{Outcome, ResultColumn, ResultKind};
pub use parameter::{Absent, NumberRange, Parameter, ParameterKind, Value};

use crate::{Cancel, KernelError};

/// What is to be known of a kernel.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kernel {
    /// What the command line and this list call it.
    pub name: &'static str,
    /// What its function in Rust and its method in Python are called.
    pub function: &'static str,
    /// What the figures of benchmarks call it. Never changes: figures of years are compared.
    pub metric: &'static str,
    /// What it finds, in one sentence without a full stop.
    pub summary: &'static str,
    /// What graphs it takes.
    pub input: &'static str,
    /// Whether it reads the weights of edges.
    pub reads_weights: bool,
    /// What it can be told.
    pub parameters: &'static [Parameter],
    /// What it gives.
    pub result: ResultColumn,
    /// Its time.
    pub cost: &'static str,
    /// Its memory.
    pub memory: Memory,
    /// The papers that it comes from.
    pub cited: &'static str,
}

impl Kernel {
    /// Its arguments, all as they are by default.
    pub fn arguments(&'static self) -> Arguments {
        Arguments::new(self)
    }

    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
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

        fn entries<G: WeightedTopology>() -> [Entry<G>; KERNELS.len()] {
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

fn entry<G: WeightedTopology>(kernel: &Kernel) -> Result<Entry<G>, KernelError> {
    let found = entries::<G>().into_iter().find(|entry| entry.name == kernel.name);
    found.ok_or_else(|| KernelError::NoSuchKernel { name: kernel.name.to_owned() })
}
