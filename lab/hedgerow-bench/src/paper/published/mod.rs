//! What the papers published: the figures of their evaluations, to be printed beside those of this program.
//!
//! Each figure was compared with the text of its paper twice. The text comes from PDF files: what it leaves uncertain is left out, and each
//! paper's module says what. Figures of a plot are those that a sentence states.

mod block;
mod dgs;
mod livegraph;
mod lsmgraph;
mod rapidstore;
mod teseo;

#[cfg(test)]
mod tests;

pub(crate) use block::{AGAINST_CSR, PaperGraph, Published};

/// A paper whose evaluation is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Paper {
    Dgs,
    RapidStore,
    Teseo,
    LiveGraph,
    LsmGraph,
}

impl Paper {
    pub(crate) const ALL: [Paper; 5] =
        [Paper::Dgs, Paper::RapidStore, Paper::Teseo, Paper::LiveGraph, Paper::LsmGraph];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Paper::Dgs => "dgs",
            Paper::RapidStore => "rapidstore",
            Paper::Teseo => "teseo",
            Paper::LiveGraph => "livegraph",
            Paper::LsmGraph => "lsmgraph",
        }
    }

    /// The paper of this name; `None` where there is none.
    pub(crate) fn parse(name: &str) -> Option<Paper> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name)
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Paper::Dgs => "Revisiting the Design of In-Memory Dynamic Graph Storage",
            Paper::RapidStore => {
                "RapidStore: An Efficient Dynamic Graph Storage System for Concurrent Queries"
            }
            Paper::Teseo => "Teseo and the Analysis of Structural Dynamic Graphs",
            Paper::LiveGraph => {
                "LiveGraph: A Transactional Graph Storage System with Purely Sequential Adjacency List Scans"
            }
            Paper::LsmGraph => {
                "LSMGraph: A High-Performance Dynamic Graph Storage System with Multi-Level CSR"
            }
        }
    }

    /// Authors, and where and when it was published.
    pub(crate) fn citation(self) -> &'static str {
        match self {
            Paper::Dgs => "Su et al., Proc. ACM Manag. Data 3(1), article 70, 2025",
            Paper::RapidStore => "Hao et al., PVLDB 18(10), 3587-3600, 2025",
            Paper::Teseo => "De Leo and Boncz, PVLDB 14(6), 1053-1066, 2021",
            Paper::LiveGraph => "Zhu et al., PVLDB 13(7), 1020-1034, 2020",
            Paper::LsmGraph => "Yu et al., Proc. ACM Manag. Data 2(6), article 243, 2024",
        }
    }

    /// The graphs of its tables; none where figures of one graph alone are stated.
    pub(crate) fn graphs(self) -> &'static [PaperGraph] {
        match self {
            Paper::Dgs => dgs::GRAPHS,
            Paper::RapidStore => rapidstore::GRAPHS,
            Paper::Teseo => teseo::GRAPHS,
            Paper::LiveGraph => &[],
            Paper::LsmGraph => lsmgraph::GRAPHS,
        }
    }

    /// What its figures were measured on: processors, memory, disks.
    pub(crate) fn machine(self) -> &'static str {
        match self {
            Paper::Dgs => dgs::MACHINE,
            Paper::RapidStore => rapidstore::MACHINE,
            Paper::Teseo => teseo::MACHINE,
            Paper::LiveGraph => livegraph::MACHINE,
            Paper::LsmGraph => lsmgraph::MACHINE,
        }
    }
}

/// The figures that `paper` states, by table and figure.
pub(crate) fn published(paper: Paper) -> &'static [Published] {
    match paper {
        Paper::Dgs => &dgs::FIGURES,
        Paper::RapidStore => &rapidstore::FIGURES,
        Paper::Teseo => &teseo::FIGURES,
        Paper::LiveGraph => &livegraph::FIGURES,
        Paper::LsmGraph => &lsmgraph::FIGURES,
    }
}
