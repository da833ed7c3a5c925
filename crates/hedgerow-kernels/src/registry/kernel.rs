//! The description of a kernel.

use super::memory::Memory;
use super::outcome::{ResultColumn, ResultKind};
use super::parameter::Parameter;

/// The description of a kernel.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kernel {
    /// The name in this list and on the command line.
    pub name: &'static str,
    /// The name of its function in Rust and its method in Python.
    pub function: &'static str,
    /// The name in the figures of benchmarks. It never changes, so figures of different years can be
    /// compared.
    pub metric: &'static str,
    /// Its result, in one sentence without a full stop.
    pub summary: &'static str,
    /// The graphs that it takes.
    pub input: &'static str,
    /// True if it needs all edges in memory at once: a [`Resident`](hedgerow_core::Resident) graph. Other
    /// kernels also take a graph that is partly in files.
    pub needs_resident: bool,
    /// True if it reads the weights of edges.
    pub reads_weights: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its result column.
    pub result: ResultColumn,
    /// The steps that its [progress](crate::Cancel::progress) counts, in the plural; empty if it counts none.
    pub steps: &'static str,
    /// Its time.
    pub cost: &'static str,
    /// Its memory.
    pub memory: Memory,
    /// The papers on which it is based.
    pub cited: &'static str,
}

impl Kernel {
    /// Returns the base of an entry: a kernel of any graph, without parameters, that reads no weights.
    pub(crate) const fn named(name: &'static str, function: &'static str) -> Kernel {
        Kernel {
            name,
            function,
            metric: name,
            summary: "",
            input: "any graph",
            needs_resident: false,
            reads_weights: false,
            parameters: &[],
            result: ResultColumn { name: "", kind: ResultKind::Count },
            steps: "",
            cost: "",
            memory: Memory::per_id(0),
            cited: "",
        }
    }

    /// Returns a parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
