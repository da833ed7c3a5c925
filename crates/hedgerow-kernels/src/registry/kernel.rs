//! What is to be known of a kernel.

use super::memory::Memory;
use super::outcome::ResultColumn;
use super::parameter::Parameter;

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
    /// Whether it needs all edges in memory at once: a [`Resident`](hedgerow_core::Resident) graph. The others read a graph of which a part is
    /// in files too.
    pub needs_resident: bool,
    /// Whether it reads the weights of edges.
    pub reads_weights: bool,
    /// What it can be told.
    pub parameters: &'static [Parameter],
    /// What it gives.
    pub result: ResultColumn,
    /// What the steps are that its [progress](crate::Cancel::progress) counts, in the plural; empty where it tells none.
    pub steps: &'static str,
    /// Its time.
    pub cost: &'static str,
    /// Its memory.
    pub memory: Memory,
    /// The papers that it comes from.
    pub cited: &'static str,
}

impl Kernel {
    /// Returns a parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
