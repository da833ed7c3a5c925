//! Cycles of modules that use each other, except the known ones.

use std::collections::BTreeSet;

use super::super::report::Report;
use super::known::KnownCycle;
use super::tree::Tree;
use super::uses::Graph;

/// Returns the sets of two or more modules that can reach each other.
pub(super) fn cycles(tree: &Tree, graph: &Graph) -> Vec<Vec<usize>> {
    components(tree.nodes.len(), graph.arrows.keys().copied())
}

/// Returns the sets of two or more nodes that can reach each other, each sorted.
pub(super) fn components(nodes: usize, arrows: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    // Computes the transitive closure by Warshall's algorithm.
    let mut reaches = vec![vec![false; nodes]; nodes];
    arrows.for_each(|(from, to)| reaches[from][to] = true);
    for via in 0..nodes {
        let beyond = reaches[via].clone();
        for from in reaches.iter_mut().filter(|from| from[via]) {
            from.iter_mut().zip(&beyond).for_each(|(reached, beyond)| *reached |= beyond);
        }
    }
    let mutual = |node: usize| (0..nodes).filter(|&to| reaches[node][to] && reaches[to][node]).collect();
    let components: BTreeSet<Vec<usize>> = (0..nodes).map(mutual).collect();
    components.into_iter().filter(|component| component.len() > 1).collect()
}

/// Reports the cycles of a crate that no entry of `known` permits, and the entries that permit more than the
/// existing cycles.
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
