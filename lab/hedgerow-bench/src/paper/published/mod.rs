//! Figures that the papers published about their evaluations, to print next to the figures of this program.
//!
//! Each paper has a table of tab-separated figures in this folder. Each figure was compared with the text of
//! its paper twice. The text comes from PDF files. The tables leave out the figures that the text leaves
//! uncertain, and the head of each table lists them. A figure of a plot is included only if a sentence states
//! it.

use std::sync::LazyLock;

#[cfg(test)]
mod tests;

/// A figure that a paper states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Published {
    /// The table, figure or section that states the figure: "table 10".
    pub(crate) place: &'static str,
    /// The name of the engine, or of its form ("adjlst plain"), in this program. A system without a name here
    /// has the paper's name, in lower case. `all` and `others` mean the engines of the place; `fine-grained`
    /// means the engines that keep versions of each edge.
    pub(crate) system: &'static str,
    /// The measure, such as "insert" or "pr". It includes the parameters that distinguish it from other rows
    /// of the place: "search degrees=low".
    pub(crate) row: &'static str,
    /// The graph, by its short name in the paper; empty if the figure is not about one graph.
    pub(crate) graph: &'static str,
    /// The threads and the parameters; the divisor of a ratio; for a bound, the word that it is a bound. May
    /// be empty.
    pub(crate) setting: &'static str,
    pub(crate) value: f64,
    /// The unit. `x` means a ratio, which the setting explains.
    pub(crate) unit: &'static str,
}

/// The setting of a ratio to the time of the CSR on the same graph.
pub(crate) const AGAINST_CSR: &str = "time against csr's";

/// A graph of a paper: its short name, its full name, and the prefix that names of graphs of the same
/// generator have in this program.
pub(crate) type PaperGraph = (&'static str, &'static str, Option<&'static str>);

/// A paper whose evaluation is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Paper {
    Dgs,
    RapidStore,
    Teseo,
    LiveGraph,
    LsmGraph,
}

/// The facts of a paper in addition to its figures.
struct Facts {
    /// The name on the command line.
    name: &'static str,
    title: &'static str,
    /// The authors, the journal and the year.
    citation: &'static str,
    /// The machine of its figures: processors, memory and disks.
    machine: &'static str,
    /// The graphs of its tables; empty if the paper states figures of only one graph.
    graphs: &'static [PaperGraph],
}

impl Paper {
    pub(crate) const ALL: [Paper; 5] =
        [Paper::Dgs, Paper::RapidStore, Paper::Teseo, Paper::LiveGraph, Paper::LsmGraph];

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// Returns the name of the paper on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the paper of this name; `None` if there is none.
    pub(crate) fn parse(name: &str) -> Option<Paper> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name)
    }

    pub(crate) fn title(self) -> &'static str {
        self.facts().title
    }

    /// Returns the authors, the journal and the year.
    pub(crate) fn citation(self) -> &'static str {
        self.facts().citation
    }

    /// Returns the graphs of the paper's tables; empty if the paper states figures of only one graph.
    pub(crate) fn graphs(self) -> &'static [PaperGraph] {
        self.facts().graphs
    }

    /// Returns the machine of the paper's figures: processors, memory and disks.
    pub(crate) fn machine(self) -> &'static str {
        self.facts().machine
    }
}

/// The facts of the papers, in the order of [`Paper::ALL`].
const FACTS: [Facts; 5] = [
    Facts {
        name: "dgs",
        title: "Revisiting the Design of In-Memory Dynamic Graph Storage",
        citation: "Su et al., Proc. ACM Manag. Data 3(1), article 70, 2025",
        machine: "AMD EPYC 7543, 32 cores, 128 GB of memory, 60 GB/s",
        graphs: &[
            ("lj", "LiveJournal", None),
            ("dl", "DotaLeague", None),
            ("ldbc", "LDBC SNB", None),
            ("g5", "Graph500", Some("kron:")),
            ("wk", "Wiki", None),
            ("ct", "Cit", None),
            ("tw", "Twitter", None),
            ("nft", "NFT trades", None),
        ],
    },
    Facts {
        name: "rapidstore",
        title: "RapidStore: An Efficient Dynamic Graph Storage System for Concurrent Queries",
        citation: "Hao et al., PVLDB 18(10), 3587-3600, 2025",
        machine: "Intel Xeon Gold 6430, 32 cores, 256 GB of memory, 61.2 GB/s",
        graphs: &[
            ("lj", "LiveJournal", None),
            ("ot", "Orkut", None),
            ("ldbc", "LDBC SNB", None),
            ("g5", "Graph500", Some("kron:")),
            ("tw", "Twitter", None),
            ("fr", "Friendster", None),
        ],
    },
    Facts {
        name: "teseo",
        title: "Teseo and the Analysis of Structural Dynamic Graphs",
        citation: "De Leo and Boncz, PVLDB 14(6), 1053-1066, 2021",
        machine: "2 Intel Xeon Gold 5115, 20 cores in all, 384 GB of memory",
        graphs: &[
            ("dota-league", "DotaLeague", None),
            ("uniform-24", "a random graph of equal degrees, as large as graph500-24", Some("uniform:")),
            ("graph500-24", "Graph500 of scale 24", Some("kron:")),
            ("uniform-26", "a random graph of equal degrees, as large as graph500-26", Some("uniform:")),
            ("graph500-26", "Graph500 of scale 26", Some("kron:")),
        ],
    },
    Facts {
        name: "livegraph",
        title: "LiveGraph: A Transactional Graph Storage System with Purely Sequential Adjacency List Scans",
        citation: "Zhu et al., PVLDB 13(7), 1020-1034, 2020",
        machine: "2 Intel Xeon Gold 6126, 24 cores in all, 192 GB of memory, Intel Optane P4800X and Dell PM1725a",
        graphs: &[],
    },
    Facts {
        name: "lsmgraph",
        title: "LSMGraph: A High-Performance Dynamic Graph Storage System with Multi-Level CSR",
        citation: "Yu et al., Proc. ACM Manag. Data 2(6), article 243, 2024",
        machine: "AliCloud ecs.i2.4xlarge, 16 hyperthreads, 128 GB of memory of which 16 GB were used, 2 SSDs of 1.7 TB at 500 MB/s",
        graphs: &[
            ("it", "IT-2004", None),
            ("uk", "UK-2007", None),
            ("tw", "Twitter", None),
            ("fs", "Friendster", None),
        ],
    },
];

/// Returns the figures that `paper` states, by table and figure.
pub(crate) fn published(paper: Paper) -> &'static [Published] {
    static FIGURES: [LazyLock<Vec<Published>>; 5] = [
        LazyLock::new(|| figures(include_str!("dgs.tsv"))),
        LazyLock::new(|| figures(include_str!("rapidstore.tsv"))),
        LazyLock::new(|| figures(include_str!("teseo.tsv"))),
        LazyLock::new(|| figures(include_str!("livegraph.tsv"))),
        LazyLock::new(|| figures(include_str!("lsmgraph.tsv"))),
    ];
    &FIGURES[paper as usize]
}

/// Reads a table: remarks, a head, and one figure per line. The table is part of the program, and the tests
/// read all tables: a bad line is a defect.
fn figures(table: &'static str) -> Vec<Published> {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let figure = |line: &'static str| {
        let mut cells = line.split('\t');
        let [place, system, row, graph, setting, value, unit] =
            std::array::from_fn(|_| cells.next().expect("seven cells"));
        assert_eq!(cells.next(), None, "a line of more than seven cells: {line}");
        let value = value.parse().expect("a number");
        Published { place, system, row, graph, setting, value, unit }
    };
    lines.map(figure).collect()
}
