//! Checks of the arrows between the modules of a crate. Only known cycles are permitted. Between module
//! rooms, only the arrows in a table are permitted.

mod cycles;
pub(super) mod known;
mod parse;
mod product;
mod resolve;
mod rooms;
mod tree;
mod uses;

#[cfg(test)]
mod tests;

use super::report::{File, Report};
use known::{KnownCycle, Rooms};
use tree::Tree;
use uses::Graph;

/// Checks the modules of every crate, and adds their number to the report.
pub(super) fn check(files: &[File], known: &[KnownCycle], rooms: &[Rooms], report: &mut Report) {
    let trees = tree::trees(files, report);
    for tree in &trees {
        let graph = Graph::of(tree);
        report.modules.push(summary(tree, &graph));
        cycles::check(tree, &graph, known, report);
        rooms::check(tree, &graph, rooms, report);
    }
    let tabled = known.iter().map(|entry| entry.krate).chain(rooms.iter().map(|table| table.krate));
    for krate in tabled.filter(|krate| trees.iter().all(|tree| tree.krate != *krate)) {
        report
            .errors
            .push(format!("{krate}: there is no such crate; remove it from xtask/src/tidy/modules/known.rs"));
    }
}

fn summary(tree: &Tree, graph: &Graph) -> String {
    let sizes: Vec<usize> = cycles::cycles(tree, graph).iter().map(Vec::len).collect();
    let cycles = if sizes.is_empty() {
        "no cycle".to_owned()
    } else {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        format!("{} (modules: {})", counted(sizes.len(), "cycle"), sizes.join(", "))
    };
    format!(
        "{}: {}, {}, {cycles}, {} of another module's type",
        tree.krate,
        counted(tree.nodes.len(), "module"),
        counted(graph.arrows.len(), "arrow"),
        counted(graph.foreign_impls, "impl block")
    )
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns every arrow of a crate, sorted, each with its items and with a line that makes it. The cycles of
/// the crate follow.
pub(super) fn list(files: &[File], krate: &str) -> Result<Vec<String>, String> {
    let mut report = Report::default();
    let trees = tree::trees(files, &mut report);
    let tree = trees.iter().find(|tree| tree.krate == krate).ok_or_else(|| {
        let names: Vec<&str> = trees.iter().map(|tree| tree.krate.as_str()).collect();
        format!("there is no crate `{krate}`, only {}", names.join(", "))
    })?;
    let graph = Graph::of(tree);
    let mut lines: Vec<String> = graph.arrows.keys().map(|&(from, to)| graph.line(tree, from, to)).collect();
    lines.sort();
    for cycle in cycles::cycles(tree, &graph) {
        let mut names: Vec<&str> = cycle.iter().map(|&node| tree.nodes[node].name.as_str()).collect();
        names.sort_unstable();
        lines.push(format!("cycle: {}", names.join(", ")));
    }
    for cycle in rooms::cycles(tree, &graph) {
        lines.push(format!("cycle of top-level modules: {}", cycle.join(", ")));
    }
    for (node, line, path) in &graph.unknown {
        lines.push(format!("not followed: {path}  {}:{line}", tree.nodes[*node].path));
    }
    lines.push(summary(tree, &graph));
    Ok(lines)
}
