//! Module rooms: the permitted uses between the top-level modules of a crate.

use std::collections::BTreeSet;

use super::super::report::Report;
use super::cycles::components;
use super::known::{Room, Rooms};
use super::tree::Tree;
use super::uses::Graph;

/// Reports every arrow between top-level modules that the table of the crate does not permit, and mistakes in
/// the table.
pub(super) fn check(tree: &Tree, graph: &Graph, tables: &[Rooms], report: &mut Report) {
    let Some(table) = tables.iter().find(|table| table.krate == tree.krate) else { return };
    check_table(tree, table, report);
    let mut refused = BTreeSet::new();
    for &(from, to) in graph.arrows.keys() {
        let (user, used) = (top(tree, from), top(tree, to));
        let permitted = user == used
            || room(table, user).is_some_and(|room| room.may_use.contains(&used))
            // A missing room is reported once, and not again for each of its arrows.
            || room(table, user).is_none();
        if !permitted && refused.insert((from, to)) {
            report.errors.push(format!(
                "{}: {user} may not use {used}: {}; move the item, or permit the arrow in ROOMS \
                 (xtask/src/tidy/modules/known.rs)",
                tree.krate,
                graph.line(tree, from, to)
            ));
        }
    }
}

fn check_table(tree: &Tree, table: &Rooms, report: &mut Report) {
    let modules: BTreeSet<&str> = (0..tree.nodes.len()).map(|node| top(tree, node)).collect();
    let mut error = |message: String| report.errors.push(format!("{}: ROOMS: {message}", table.krate));
    for module in modules.iter().filter(|module| room(table, module).is_none()) {
        error(format!("there is no room for the module `{module}`; say what it may use"));
    }
    for (at, row) in table.rooms.iter().enumerate() {
        if !modules.contains(row.name) {
            error(format!("there is no module `{}`; remove its room", row.name));
        }
        for used in row.may_use {
            // If rooms use only rooms above them in the list, they cannot form a cycle.
            if !table.rooms[..at].iter().any(|above| above.name == *used) {
                error(format!(
                    "`{}` may use `{used}`, which is not above it; a room uses rooms above it",
                    row.name
                ));
            }
        }
    }
}

fn room<'a>(table: &'a Rooms, name: &str) -> Option<&'a Room> {
    table.rooms.iter().find(|room| room.name == name)
}

/// Returns the sets of top-level modules that use each other in a cycle. The cycle may lead through different
/// modules below them.
pub(super) fn cycles<'a>(tree: &'a Tree, graph: &Graph) -> Vec<Vec<&'a str>> {
    let tops: Vec<&str> = (0..tree.nodes.len()).map(|node| top(tree, node)).collect();
    let first = |node: usize| tops.iter().position(|name| *name == tops[node]).unwrap_or(node);
    let arrows = graph.arrows.keys().map(|&(from, to)| (first(from), first(to)));
    let cycles = components(tops.len(), arrows);
    cycles.into_iter().map(|cycle| cycle.into_iter().map(|node| tops[node]).collect()).collect()
}

/// Returns the first word of a module's path.
fn top(tree: &Tree, node: usize) -> &str {
    let name = tree.nodes[node].name.as_str();
    name.split_once("::").map_or(name, |(top, _)| top)
}
