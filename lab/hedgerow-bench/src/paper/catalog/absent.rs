//! The tables and figures that the program does not run again, each with its reason.

use super::super::experiment::Absent;
use super::super::published::Paper;

const COUNTERS: &str = "It needs the counters of the processor, which this program does not read: that takes unsafe code or another program, and virtual machines rarely have them.";
const BANDWIDTH: &str = "It needs the bandwidth of the memory, which only counters of the memory controller tell; this program does not read them.";
const DATA: &str = "It states the graphs of the paper, and measures nothing.";

const fn absent(paper: Paper, place: &'static str, title: &'static str, reason: &'static str) -> Absent {
    Absent { paper, place, title, reason }
}

#[rustfmt::skip]
pub(super) const ABSENT: &[Absent] = &[
    absent(Paper::Dgs, "table 4", "Events of the processor while lists are scanned", COUNTERS),
    absent(Paper::Dgs, "table 6", "Events of the processor during PageRank and while triangles are counted", COUNTERS),
    absent(Paper::Dgs, "table 8", "Bandwidth of the memory while lists are scanned by more and more threads", BANDWIDTH),
    absent(Paper::Dgs, "figure 21", "The study's containers against the authors' own", "The authors' programs are no part of this one."),
    absent(Paper::Dgs, "table 14", "Memory of the study's containers against the authors' own", "The authors' programs are no part of this one."),
    absent(Paper::Dgs, "table 15", "Kernels on the study's containers against the authors' own", "The authors' programs are no part of this one."),
    absent(Paper::RapidStore, "table 3", "How full leaves of radix trees are", "Leaves here are as long as what they hold (docs/design/lab/rapidstore.md), and so always full."),
    absent(Paper::RapidStore, "figure 11", "Bandwidth of the memory beside writers", BANDWIDTH),
    absent(Paper::RapidStore, "supplement, |P|", "The number |P| of vertices in a subgraph", "It is 64 in this container, as subgraphs of all topologies here have 64 vertices: there is no parameter."),
    absent(Paper::Teseo, "table 2", "The CSR's kernels against two libraries of graph kernels", "These libraries are no part of this program."),
    absent(Paper::Teseo, "figure 8", "Kernels of the GAP suite against those of the systems' authors", "All engines here run the same kernels."),
    absent(Paper::LiveGraph, "table 5", "Latency of LinkBench, mix TAO, with little memory", "LinkBench here has no memory limit; the suite `disk` measures the store within one."),
    absent(Paper::LiveGraph, "table 6", "Latency of LinkBench, mix DFLT, with little memory", "LinkBench here has no memory limit; the suite `disk` measures the store within one."),
    absent(Paper::LiveGraph, "figure 7", "Scalability by clients, and the sizes of LiveGraph's blocks", "Figures 5 and 6 have the clients; the containers do not tell the sizes of their blocks."),
    absent(Paper::LiveGraph, "figure 8", "LinkBench by the share of writes", "LinkBench here has the mixes TAO and DFLT alone."),
    absent(Paper::LiveGraph, "table 7", "Throughput of LDBC's social network, interactive", "This program does not have that workload."),
    absent(Paper::LiveGraph, "table 8", "Latency of LDBC's social network, interactive", "This program does not have that workload."),
    absent(Paper::LiveGraph, "table 9", "Latency of LDBC's social network, interactive, by query", "This program does not have that workload."),
    absent(Paper::LsmGraph, "table 2", "How many edges vertices have in the buffer of an LSM tree", "Neither RocksDB, on which the program hedgerow-rivals runs LinkBench, nor lsmgraph tells how many edges each vertex has in its buffer."),
    absent(Paper::LsmGraph, "table 3", "The graphs", DATA),
    absent(Paper::LsmGraph, "figure 13", "Bytes read and written during kernels", "Of the engines that run kernels here lsmgraph alone has files; it does not count the bytes that it reads and writes, and without a memory limit the system answers most reads from its cache. The suite `disk` measures the store within a memory limit."),
];
