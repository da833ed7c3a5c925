//! All kernels in one list: their names, parameters, results, memory and sources. The command line, Python,
//! the benchmarks and the guide read it, so that a new kernel is added here alone.
//!
//! **Adding a kernel.** It takes a folder with `mod.rs` (its result, its trick, the paper, its [`Kernel`],
//! the conversion of [`Arguments`] into its own parameters, the code), `verify.rs` (a slow answer that shares
//! no code with it) and `tests.rs`, with a line in `tests/it/kernels.rs`; and its module in the list
//! (`list.rs`). A kernel that is like another one is a module of the other one's folder. If its result needs
//! a new [`ResultKind`], the compiler names the places in other programs that must show it.
//!
//! A call through the list costs one look-up by name and one indirect call more than a call of the kernel's
//! function: the loops are compiled for the graph's type in both.

mod arguments;
mod functions;
mod kernel;
mod list;
mod memory;
mod outcome;
mod parameter;

pub use arguments::Arguments;
pub use kernel::Kernel;
pub use list::{KERNELS, find};
pub use memory::{Memory, Size};
pub use outcome::{Outcome, ResultColumn, ResultKind};
pub use parameter::{Absent, CountRange, NumberRange, Parameter, ParameterKind, Value};

/// The parts of an entry and of the functions of a kernel.
pub(crate) mod prelude {
    pub(crate) use super::functions::functions;
    pub(crate) use super::{
        Absent, Arguments, CountRange, Kernel, Memory, NumberRange, Outcome, Parameter, ParameterKind,
        ResultColumn, ResultKind, Value,
    };
    pub(crate) use crate::kernel::kernel;
    pub(crate) use crate::{Cancel, KernelError};
}
