//! Modules that use each other in a cycle, and the known ones among them.

use std::collections::BTreeSet;

use super::super::report::Report;
use super::known::KnownCycle;
use super::tree::Tree;
use super::uses::Graph;

/// The sets of more than one module that reach each other.
pub(super) fn cycles(tree: &Tree, graph: &Graph) -> Vec<Vec<usize>> {
    components(tree.nodes.len(), graph.arrows.keys().copied())
}

/// The sets of more than one node that reach each other, each sorted (Tarjan's strongly connected components).
pub(super) fn components(nodes: usize, arrows: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); nodes];
    for (from, to) in arrows {
        after[from].push(to);
    }
    let mut search = Search {
        after,
        index: vec![None; nodes],
        low: vec![0; nodes],
        open: Vec::new(),
        visited: 0,
        found: Vec::new(),
    };
    for node in 0..nodes {
        if search.index[node].is_none() {
            search.visit(node);
        }
    }
    search.found.sort();
    search.found
}

struct Search {
    after: Vec<Vec<usize>>,
    /// When a node was visited first.
    index: Vec<Option<usize>>,
    /// The oldest open node that a node reaches.
    low: Vec<usize>,
    /// Visited nodes whose component is not complete.
    open: Vec<usize>,
    visited: usize,
    found: Vec<Vec<usize>>,
}

impl Search {
    fn visit(&mut self, node: usize) {
        let index = self.visited;
        self.visited += 1;
        self.index[node] = Some(index);
        self.low[node] = index;
        self.open.push(node);
        for to in self.after[node].clone() {
            match self.index[to] {
                None => {
                    self.visit(to);
                    self.low[node] = self.low[node].min(self.low[to]);
                }
                Some(seen) if self.open.contains(&to) => self.low[node] = self.low[node].min(seen),
                Some(_) => {}
            }
        }
        if self.low[node] == index {
            let start = self.open.iter().position(|&open| open == node).unwrap_or_default();
            let mut component = self.open.split_off(start);
            component.sort_unstable();
            if component.len() > 1 {
                self.found.push(component);
            }
        }
    }
}

/// Reports the cycles of a crate that no entry of `known` permits, and the entries that permit more than there is.
pub(super) fn check(tree: &Tree, graph: &Graph, known: &[KnownCycle], report: &mut Report) {
    let cycles = cycles(tree, graph);
    let entries: Vec<(&KnownCycle, BTreeSet<&str>)> = known
        .iter()
        .filter(|entry| entry.krate == tree.krate)
        .map(|entry| (entry, entry.modules.iter().copied().collect()))
        .collect();
    let names = |cycle: &[usize]| -> BTreeSet<&str> {
        cycle.iter().map(|&node| tree.nodes[node].name.as_str()).collect()
    };
    for cycle in &cycles {
        let modules = names(cycle);
        if !entries.iter().any(|(_, entry)| modules.is_subset(entry)) {
            report.errors.push(refusal(tree, graph, cycle, &modules, &entries));
        }
    }
    for (entry, modules) in &entries {
        let left: Vec<BTreeSet<&str>> =
            cycles.iter().map(|cycle| names(cycle)).filter(|cycle| !cycle.is_disjoint(modules)).collect();
        let covers_more = left.iter().all(|cycle| cycle.is_subset(modules) && cycle != modules);
        if covers_more {
            report.errors.push(stale(entry, &left));
        }
    }
}

fn refusal(
    tree: &Tree,
    graph: &Graph,
    cycle: &[usize],
    modules: &BTreeSet<&str>,
    entries: &[(&KnownCycle, BTreeSet<&str>)],
) -> String {
    let mut message =
        format!("{}: {} modules use each other in a cycle: {}", tree.krate, cycle.len(), list(modules));
    for (known, entry) in entries.iter().filter(|(_, entry)| !entry.is_disjoint(modules)) {
        let new: BTreeSet<&str> = modules.difference(entry).copied().collect();
        message.push_str(&format!("; the known cycle is without {} (its plan: {})", list(&new), known.plan));
    }
    message.push_str("; cut one of its arrows, as by moving an item to where both sides may use it:");
    for &(from, to) in graph.arrows.keys() {
        if cycle.contains(&from) && cycle.contains(&to) {
            message.push_str(&format!("\n  {}", graph.line(tree, from, to)));
        }
    }
    message
}

fn stale(entry: &KnownCycle, left: &[BTreeSet<&str>]) -> String {
    let left: Vec<String> = left.iter().map(list).collect();
    let (state, advice) = if left.is_empty() {
        ("gone", "remove its entry".to_owned())
    } else {
        ("smaller", format!("shorten its entry to {}", left.join(" and to ")))
    };
    format!(
        "{}: the cycle of {} is {state}; {advice} in KNOWN_CYCLES (xtask/src/tidy/modules/known.rs)",
        entry.krate,
        list(&entry.modules.iter().copied().collect())
    )
}

fn list(modules: &BTreeSet<&str>) -> String {
    modules.iter().copied().collect::<Vec<_>>().join(", ")
}
