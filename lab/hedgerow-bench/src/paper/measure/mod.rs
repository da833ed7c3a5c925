//! The measurements. Each runs once in a process, for all tables and figures that show a part of it.

mod forms;
mod ingest;
mod kernels;
mod latency;
mod links;
mod mixed;
mod operations;
mod scales;
mod sets;
mod traces;
mod updates;
mod vertices;

use super::bench::Bench;
use crate::record::Record;
use hedgerow_report::failure::Result;

/// A measurement of all engines, in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measurement {
    /// Single edges and batches into empty engines, and memory.
    Ingest,
    /// Edges that are removed and inserted again, and temporary edges.
    Updates,
    /// Insertions of the last fifth of the edges, searches and scans; latencies with all three at the same
    /// time.
    Operations,
    /// Lists of graphs with more and more vertices.
    Scales,
    /// Lists of one length.
    Sets,
    /// Lists of one length, by the size of blocks.
    Blocks,
    /// Lists whose neighbours have several versions.
    Versions,
    /// Kernels.
    Kernels,
    /// Readers concurrent with writers.
    Mixed,
    /// Containers without versions and locks, and with parts switched off.
    Forms,
    /// Indexes of vertices.
    Vertices,
    /// Edges in the order of their timestamps.
    Traces,
    /// LinkBench.
    Links,
}

impl Measurement {
    /// Returns the name that distinguishes the rows of this measurement.
    pub(super) fn name(self) -> &'static str {
        match self {
            Measurement::Ingest => "ingestion",
            Measurement::Updates => "updates",
            Measurement::Operations => "operations",
            Measurement::Scales => "graphs of more and more vertices",
            Measurement::Sets => "lists of one length",
            Measurement::Blocks => "sizes of blocks",
            Measurement::Versions => "neighbours with versions",
            Measurement::Kernels => "kernels",
            Measurement::Mixed => "readers beside writers",
            Measurement::Forms => "forms",
            Measurement::Vertices => "indexes of vertices",
            Measurement::Traces => "edges by time",
            Measurement::Links => "LinkBench",
        }
    }

    /// Runs the measurement.
    pub(super) fn make(self, bench: &Bench<'_>) -> Result<Vec<Record>> {
        match self {
            Measurement::Ingest => ingest::measure(bench),
            Measurement::Updates => updates::measure(bench),
            Measurement::Operations => operations::measure(bench),
            Measurement::Scales => scales::measure(bench),
            Measurement::Sets => sets::lengths(bench),
            Measurement::Blocks => sets::block_sizes(bench),
            Measurement::Versions => sets::versions(bench),
            Measurement::Kernels => kernels::measure(bench),
            Measurement::Mixed => mixed::measure(bench),
            Measurement::Forms => forms::measure(bench),
            Measurement::Vertices => vertices::measure(bench),
            Measurement::Traces => traces::measure(bench),
            Measurement::Links => links::measure(bench),
        }
    }
}
