//! The check of a graph for which the memory limit has no room. It reads every list by the page: once, and
//! again if copies of edges differ.

use std::collections::BTreeMap;

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LabelId, VertexId};
use hedgerow_mem::{Hold, ItemRef};

use super::labels::{Listed, difference, list_shown, misplaced};
use super::lists::{Lists, Met};
use super::sides::{Copied, Sides};
use super::{CheckReport, MAX_PROBLEMS};
use crate::error::Result;
use crate::graph::Graph;
use crate::read::snapshot::Snapshot;
use crate::state::schema::Label;

/// The divisor of the memory limit that gives the approximate share for copies of edges that are compared one
/// by one. Without a limit the share is [`BYTES`].
const SHARE: u64 = 32;
const BYTES: u64 = 64 << 20;

impl Graph {
    /// Checks the graph by the page, even if the memory limit has room for it. For tests.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[doc(hidden)]
    pub fn check_by_page(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        self.check_graph_by_page(&mut report)?;
        self.verify_files(&mut report)?;
        Ok(report)
    }

    pub(super) fn check_graph_by_page(&self, report: &mut CheckReport) -> Result<()> {
        let snapshot = self.snapshot()?;
        snapshot.set_views_by_reads(false);
        let (schema, census) = (snapshot.schema(), snapshot.census()?.clone());
        let lists = Lists { core: &self.engine, ts: snapshot.timestamp(), census: &census };
        report.vertices += census.vertices().count() as u64;
        self.check_keys(&census, &snapshot, report)?;
        for (label, _) in self.engine.tables() {
            match schema.label_by_id(label) {
                Some(defined) => LabelCheck::new(self, lists, &snapshot, defined).run(report)?,
                // The label was defined after the snapshot, which must not see an edge of it.
                None if snapshot.count_edges(label)? > 0 => {
                    report.problem(format!("edges of label {}, which is not defined", label.0));
                }
                None => {}
            }
        }
        self.check_definitions(&schema, report);
        self.check_counts(&snapshot, report)
    }
}

/// The check of one label.
struct LabelCheck<'a> {
    graph: &'a Graph,
    lists: Lists<'a>,
    snapshot: &'a Snapshot,
    label: &'a Label,
    /// Edges into vertices that do not exist, in a graph without incoming lists.
    into_nothing: BTreeMap<VertexId, u64>,
    edges: u64,
    reversed: u64,
    /// The state of the list that is read.
    list: ListSoFar,
}

#[derive(Default)]
struct ListSoFar {
    entries: u64,
    last: Option<(VertexId, u64)>,
    out_of_order: bool,
}

impl<'a> LabelCheck<'a> {
    fn new(graph: &'a Graph, lists: Lists<'a>, snapshot: &'a Snapshot, label: &'a Label) -> LabelCheck<'a> {
        let (into_nothing, list) = Default::default();
        LabelCheck { graph, lists, snapshot, label, into_nothing, edges: 0, reversed: 0, list }
    }

    fn is_default(&self) -> bool {
        self.label.id() == LabelId::DEFAULT
    }

    /// True if each edge is compared with the schema. In the default label this is so only if its edges have
    /// properties.
    fn is_of_schema(&self) -> bool {
        !self.is_default() || !self.label.properties().is_empty()
    }

    fn exists(&self, v: VertexId) -> bool {
        self.lists.census.present(v.subgraph()) & v.local().bit() != 0
    }

    fn run(mut self, report: &mut CheckReport) -> Result<()> {
        let (lists, label, config) = (self.lists, self.label.id(), self.graph.engine.config);
        let has_two_sides = label != LabelId::VERTICES && !config.is_one_way();
        let edges = self.snapshot.edge_count()?;
        let mut sides = has_two_sides.then(|| Sides::new(&self.graph.engine, edges));
        lists.of_label(label, &mut |v, direction, met| match met {
            Met::Edge(item) => {
                if let Some(sides) = &mut sides {
                    sides.note(v, direction, &item);
                }
                self.edge(v, direction, item, report);
            }
            Met::End => self.end(v, direction, report),
        })?;
        for (v, edges) in &self.into_nothing {
            report.problem(format!("vertex {} does not exist and has {edges} edges", v.0));
        }
        if self.is_default() && has_two_sides && config.directed && self.reversed != self.edges {
            report.problem(format!("{} outgoing edges, but {} incoming edges", self.edges, self.reversed));
        }
        report.edges += self.edges;
        sides.map_or(Ok(()), |sides| self.name_differences(&sides, report))
    }

    fn edge(&mut self, v: VertexId, direction: Direction, item: ItemRef<'_>, report: &mut CheckReport) {
        let (label, placement) = (self.label.id(), self.graph.engine.placement());
        let here = Some((item.dst, item.rank));
        self.list.out_of_order |= self.list.last >= here;
        (self.list.last, self.list.entries) = (here, self.list.entries + 1);
        let counts = label != LabelId::VERTICES && placement.counts_at(direction, v, item.dst);
        self.edges += u64::from(counts);
        self.reversed += u64::from(direction == Direction::In);
        if self.is_default() && direction == Direction::Out && !self.exists(item.dst) {
            report.problem(format!("edge from {} to {}, which does not exist", v.0, item.dst.0));
            self.note_end_that_is_not(item.dst);
        }
        if self.is_of_schema() {
            let edge = Listed::of(item);
            let directed = placement.is_directed();
            let what = self.own_fault(v, direction, &edge).or_else(|| misplaced(&edge, v, directed));
            if let Some(what) = what {
                report.problem(edge.shown(self.label, v, direction, what));
            }
        }
    }

    /// Notes an edge into a vertex that does not exist. In a graph with incoming lists the other copy reports
    /// it.
    fn note_end_that_is_not(&mut self, dst: VertexId) {
        let core = &self.graph.engine;
        let known = self.into_nothing.contains_key(&dst) || self.into_nothing.len() < MAX_PROBLEMS;
        let has_place = core.subgraphs.get(dst.subgraph(), Hold::none()).is_some()
            || core.is_unloaded(LabelId::DEFAULT, dst.subgraph());
        if core.config.is_one_way() && known && has_place {
            *self.into_nothing.entry(dst).or_insert(0) += 1;
        }
    }

    fn own_fault(&self, v: VertexId, direction: Direction, edge: &Listed) -> Option<&'static str> {
        let exists = |id| Ok(self.exists(id));
        self.graph.own_fault(self.label, v, direction, edge, exists).unwrap_or_default()
    }

    fn end(&mut self, v: VertexId, direction: Direction, report: &mut CheckReport) {
        let ListSoFar { entries, out_of_order, .. } = std::mem::take(&mut self.list);
        if entries == 0 {
            return;
        }
        let shown = || list_shown(self.label, v, direction);
        if self.is_default() && out_of_order {
            report.problem(format!("the neighbors of vertex {} are out of order", v.0));
        }
        if self.is_of_schema() && out_of_order {
            report.problem(format!("{}: edges out of order", shown()));
        }
        if self.exists(v) {
            return;
        }
        if self.is_default() {
            report.problem(format!("vertex {} does not exist and has {entries} edges", v.0));
        }
        if self.is_of_schema() {
            report.problem(format!("{}: {entries} edges, and no vertex", shown()));
        }
    }

    /// Reads the lists again for the edges of sums that are not zero, and names edges whose copies differ.
    fn name_differences(&self, sides: &Sides, report: &mut CheckReport) -> Result<()> {
        let core = &self.graph.engine;
        let differing = sides.differing();
        let (looked_at, others) = differing.split_at(differing.len().min(MAX_PROBLEMS));
        let at_once = sides.at_once(core.memory_limit.map_or(BYTES, |limit| limit / SHARE));
        for chosen in looked_at.chunks(at_once) {
            if report.problems.len() >= MAX_PROBLEMS {
                report.more = true;
                break;
            }
            let mut charge = Charge::new(core.account(), Purpose::Views, 0);
            let mut copies: Vec<Copied> = Vec::new();
            self.lists.of_label(self.label.id(), &mut |v, direction, met| {
                let Met::Edge(item) = met else { return };
                let Some(mut copy) = sides.chosen(chosen, v, direction, item) else { return };
                copy.has_fault = self.is_of_schema() && self.own_fault(v, direction, &copy.listed).is_some();
                copies.push(copy);
                charge.set(copies.capacity() * size_of::<Copied>());
            })?;
            copies.sort_by_key(|copy| (copy.edge, copy.second));
            copies.chunk_by(|a, b| a.edge == b.edge).for_each(|copies| self.compare(copies, report));
        }
        if !others.is_empty() {
            report.problem(format!(
                "{}: more edges have copies that differ; the report omits them",
                self.label.shown()
            ));
        }
        Ok(())
    }

    /// Compares the copies of one edge, as far as they exist.
    fn compare(&self, copies: &[Copied], report: &mut CheckReport) {
        let of = |second: bool| copies.iter().find(|copy| copy.second == second);
        let placement = self.graph.engine.placement();
        let (directed, turned) = (placement.is_directed(), placement.second_direction());
        for (copy, other) in [(of(false), of(true)), (of(true), of(false))] {
            let Some(Copied { edge: (src, dst, _), second, has_fault, listed }) = copy else { continue };
            let (at, direction) = if *second { (*dst, turned) } else { (*src, Direction::Out) };
            let other = other.map(|other| &other.listed);
            let back = other.map(|other| other.weight);
            let same = back.map(f64::to_bits) == Some(listed.weight.to_bits());
            // Entries of an incoming list of the default label are counted, and not compared.
            if self.is_default() && direction == Direction::Out && !same {
                let (u, weight) = (listed.dst, listed.weight);
                report.problem(format!(
                    "edge from {} to {}: weight {weight} outgoing, {back:?} incoming",
                    at.0, u.0
                ));
            }
            if !self.is_of_schema() || *has_fault {
                continue;
            }
            if let Some(what) = difference(listed, other, directed) {
                report.problem(listed.shown(self.label, at, direction, what));
            }
        }
    }
}
