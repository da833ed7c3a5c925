//! The tables and figures of the papers, as data.

mod absent;
mod dgs;
mod factors;
mod livegraph;
mod lsmgraph;
mod rapidstore;
mod select;
mod teseo;

use super::experiment::{Absent, Experiment};
use super::published::Paper;

/// Returns the tables and figures of a paper that are run again, in the order of their numbers.
pub(super) fn experiments(paper: Paper) -> &'static [Experiment] {
    match paper {
        Paper::Dgs => dgs::EXPERIMENTS,
        Paper::RapidStore => rapidstore::EXPERIMENTS,
        Paper::Teseo => teseo::EXPERIMENTS,
        Paper::LiveGraph => livegraph::EXPERIMENTS,
        Paper::LsmGraph => lsmgraph::EXPERIMENTS,
    }
}

/// Returns a description of the paper.
pub(super) fn about(paper: Paper) -> &'static str {
    match paper {
        Paper::Dgs => {
            "A study of how graphs that change can be stored in memory. It puts five published systems behind one interface, measures what \
             their structures cost by themselves and what versions and locks add, and compares all with compressed rows that cannot change (CSR)."
        }
        Paper::RapidStore => {
            "A store that keeps versions of groups of 64 vertices instead of versions of edges, so that readers take no locks; long lists are \
             radix trees, short ones lie together."
        }
        Paper::Teseo => {
            "A store that keeps all edges in one sorted array with gaps, cut into the leaves of a tree, and spreads them anew in the background."
        }
        Paper::LiveGraph => {
            "A store that appends edges to a log for each vertex, with two times for each edge, so that a list is read from one end to the other."
        }
        Paper::LsmGraph => {
            "A store on disks: changes are collected in memory, written as compressed rows, and merged level by level."
        }
    }
}

/// Returns the tables and figures of a paper that are not run again.
pub(super) fn absent(paper: Paper) -> impl Iterator<Item = &'static Absent> {
    absent::ABSENT.iter().filter(move |absent| absent.paper == paper)
}
