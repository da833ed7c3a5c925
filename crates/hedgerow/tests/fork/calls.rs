//! Every public call of every handle, and its required answer in a child process.

use std::path::Path;

use hedgerow::{
    Ack, Column, Direction, EdgeKey, EdgeLimit, EdgeSelection, Error, Graph, KernelView, KeyKind, KindId,
    LabelId, LabelOptions, LabelSnapshot, Lent, Pipeline, PropertyType, Snapshot, StateError, Ticket,
    TieredView, Timestamp, Value, WriteTxn,
};

/// The number of edges `0 -> 1..=EDGES`. They exist before any snapshot.
pub(crate) const EDGES: u64 = 5;
/// The label of the edges with a property.
pub(crate) const LABEL: &str = "knows";

/// The handles that a child inherits.
pub(crate) struct Handles {
    pub(crate) graph: Graph,
    pub(crate) with_view: Snapshot,
    pub(crate) without_view: Snapshot,
    pub(crate) txns: [WriteTxn; 3],
    pub(crate) pipeline: Pipeline<Box<dyn FnMut(Ack) + Send>>,
    pub(crate) ticket: Ticket,
}

impl Handles {
    pub(crate) fn new(graph: &Graph) -> hedgerow::Result<Handles> {
        let with_view = graph.snapshot()?;
        with_view.default_label().view()?;
        let txn = || {
            let mut txn = graph.write()?;
            txn.put_edge((70, 71))?;
            txn.contains_edge((0, 1))?;
            Ok::<_, Error>(txn)
        };
        let mut submitted = graph.write()?;
        submitted.put_edge((72, 73))?;
        let on_ack: Box<dyn FnMut(Ack) + Send> = Box::new(|_| ());
        let mut pipeline = graph.pipeline(on_ack)?;
        for i in 0..20 {
            pipeline.put_edge(80 + i, 81)?;
        }
        Ok(Handles {
            graph: graph.clone(),
            with_view,
            without_view: graph.snapshot()?,
            txns: [txn()?, txn()?, graph.write()?],
            pipeline,
            ticket: submitted.submit()?,
        })
    }
}

/// Returns the names of the calls that do not answer as required in a child. Drops all handles.
pub(crate) fn wrong_answers(handles: Handles, aside: &Path) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    let Handles { graph, with_view, without_view, txns, mut pipeline, ticket } = handles;
    of_graph(&graph, aside, &mut wrong);
    for snapshot in [&with_view, &without_view] {
        if of_snapshot(snapshot, &mut wrong).is_err() {
            wrong.push("a point read failed");
        }
    }
    of_views(&with_view, &without_view, &mut wrong);
    let [mut txn, second, third] = txns;
    of_txn(&mut txn, &mut wrong);
    let mut refused = |name, refused: bool| {
        if !refused {
            wrong.push(name);
        }
    };
    macro_rules! refused {
        ($name:literal, $call:expr) => {
            refused($name, matches!($call, Err(Error::State(StateError::Forked))))
        };
    }
    refused!("WriteTxn::commit", txn.commit());
    refused!("WriteTxn::submit", second.submit());
    drop(third);
    refused!("Pipeline::insert_edge", pipeline.insert_edge(1, 2));
    refused!("Pipeline::insert_weighted_edge", pipeline.insert_weighted_edge(1, 2, 1.0));
    refused!("Pipeline::put_edge", pipeline.put_edge(1, 2));
    refused!("Pipeline::put_weighted_edge", pipeline.put_weighted_edge(1, 2, 1.0));
    refused!("Pipeline::remove_edge", pipeline.remove_edge(1, 2));
    refused!("Pipeline::flush", pipeline.flush());
    drop(pipeline.with_window(4)); // "Pipeline::with_window": sets a number
    let (_, _) = (ticket.timestamp(), ticket.is_done()); // "Ticket::timestamp", "Ticket::is_done": as at fork
    refused!("Ticket::wait", ticket.clone().wait());
    drop((ticket, with_view, without_view));
    refused!("Graph::close", graph.close());
    drop(graph);
    wrong
}

fn of_graph(graph: &Graph, aside: &Path, wrong: &mut Vec<&'static str>) {
    macro_rules! refused {
        ($name:literal, $call:expr) => {
            if !matches!($call, Err(Error::State(StateError::Forked))) {
                wrong.push($name);
            }
        };
    }
    let edge = || EdgeKey::new(LABEL, 0, 1);
    refused!("Graph::snapshot", graph.snapshot());
    refused!("Graph::write", graph.write());
    refused!("Graph::transact", graph.transact(3, |_| Ok(())));
    refused!(
        "Graph::wait_for_conflict",
        graph.internals().wait_for_conflict(hedgerow::Timestamp(1 << 40), 1)
    );
    refused!("Graph::insert_edge", graph.insert_edge((1, 2)));
    refused!("Graph::insert_edges", graph.insert_edges([(1, 2)]));
    refused!("Graph::put_edge", graph.put_edge((1, 2)));
    refused!("Graph::remove_edge", graph.remove_edge((0, 1)));
    refused!("Graph::put_edge_with", graph.put_edge_with(edge(), [("since", 1)]));
    refused!("Graph::insert_edge_with", graph.insert_edge_with(edge(), [("since", 1)]));
    refused!("Graph::update_edge", graph.update_edge(edge(), [("since", 1)]));
    refused!("Graph::remove_edge of an EdgeKey", graph.remove_edge(edge()));
    let removed = graph.remove_edges_where(&EdgeSelection::of(LABEL), hedgerow::RemoveOptions::new());
    refused!("Graph::remove_edges_where", removed);
    refused!("Graph::pipeline", graph.pipeline(|_| ()));
    refused!("Graph::settle", graph.settle());
    refused!("Graph::evict", graph.internals().evict());
    refused!("Graph::cool", graph.internals().cool());
    refused!("Graph::write_page_versions", graph.internals().write_page_versions());
    refused!("Graph::flush", graph.flush());
    refused!("Graph::check", graph.check());
    refused!("Graph::stats", graph.stats());
    refused!("Graph::checkpoint", graph.checkpoint());
    refused!("Graph::compact", graph.compact());
    refused!("Graph::backup", graph.backup(aside.join("backup")));
    let vfs = hedgerow::io::RealFs::open_dir(aside);
    refused!("Graph::backup_on", graph.backup_on(std::sync::Arc::new(vfs.expect("a directory"))));
    refused!("Graph::define_label", graph.define_label("other", LabelOptions::new()));
    refused!("Graph::define_edge_property", graph.define_edge_property(LABEL, "p", PropertyType::I64));
    refused!("Graph::define_kind", graph.define_kind("k", KeyKind::Str));
    refused!(
        "Graph::define_vertex_property",
        graph.define_vertex_property(KindId::DEFAULT, "p", PropertyType::I64)
    );
    graph.internals().skip_checkpoint_at_close(); // "Graph::internals": sets a flag in the child's memory
    graph.forget_views(); // "Graph::forget_views": does nothing
    // "Graph::config", "Graph::memory_bytes", "Graph::published_ts", "Graph::durable_ts", "Graph::schema":
    // unchanged since the fork.
    let as_at_the_fork = graph.config().weighted
        && graph.published_ts() > Timestamp::ZERO
        && graph.durable_ts() > Timestamp::ZERO
        && graph.schema().label(LABEL).is_some();
    if !as_at_the_fork || graph.checkpoint_error().is_some() {
        wrong.push("Graph::checkpoint_error");
    }
}

/// Checks that point reads answer as in the parent.
fn of_snapshot(snapshot: &Snapshot, wrong: &mut Vec<&'static str>) -> hedgerow::Result<()> {
    let mut answers = |name, right: bool| {
        if !right {
            wrong.push(name);
        }
    };
    let (id, one) = (snapshot.vertex_id(0)?, snapshot.vertex_id(1)?);
    let (Some(id), Some(one)) = (id, one) else {
        answers("Snapshot::vertex_id", false);
        return Ok(());
    };
    answers("Snapshot::config", snapshot.config() == snapshot.config());
    answers("Snapshot::timestamp", snapshot.timestamp() > Timestamp::ZERO);
    answers("Snapshot::vertex_count", snapshot.vertex_count() > EDGES);
    answers("Snapshot::edge_count", snapshot.edge_count()? >= EDGES);
    answers("Snapshot::edge_count_bounds", snapshot.edge_count_bounds().contains(&snapshot.edge_count()?));
    answers("Snapshot::vertex_key", snapshot.vertex_key(id)? == Some(0.into()));
    answers("Snapshot::vertex_keys", snapshot.vertex_keys(&[one, id])?.to_vec() == [1.into(), 0.into()]);
    answers("Snapshot::contains_vertex", snapshot.contains_vertex(0)?);
    answers("Snapshot::contains_edge", snapshot.contains_edge((0, 1))?);
    answers("DefaultLabel::weight_between", snapshot.default_label().weight_between(0, 1)? == Some(1.0));
    answers("DefaultLabel::weight", snapshot.default_label().weight(id, one)? == Some(1.0));
    answers("DefaultLabel::contains_edge", snapshot.default_label().contains_edge(id, one)?);
    answers("DefaultLabel::degree", snapshot.default_label().degree(id, Direction::Out)? as u64 == EDGES);
    // "Snapshot::default_label" reads nothing.
    let neighbors = snapshot.neighbors(0, Direction::Out)?.map(|found| found.len() as u64);
    answers("Snapshot::neighbors", neighbors > Some(EDGES));
    let weighted =
        snapshot.default_label().weighted_neighbors(0, Direction::Out)?.map(|found| found.len() as u64);
    answers("DefaultLabel::weighted_neighbors", weighted == Some(EDGES));
    let mut met = 0;
    snapshot.default_label().for_each_neighbor(id, Direction::Out, |_, _| met += 1)?;
    answers("DefaultLabel::for_each_neighbor", met == EDGES);
    met = 0;
    snapshot.default_label().visit_neighbors(id, Direction::Out, |run, _| met += run.len() as u64)?;
    answers("DefaultLabel::visit_neighbors", met == EDGES);
    let mut cursor = snapshot.default_label().neighbor_cursor(Direction::Out);
    for _ in 0..2 {
        met = 0;
        cursor.visit(id, |run, _| met += run.len() as u64)?;
        answers("DefaultLabel::neighbor_cursor", met == EDGES);
    }
    drop(cursor);
    // "DefaultLabel::set_views_by_reads": sets a flag in the child's copy. Reads make no view in a child,
    // even after many reads.
    snapshot.default_label().set_views_by_reads(true);
    for _ in 0..2000 {
        met = 0;
        snapshot.default_label().visit_neighbors(id, Direction::Out, |run, _| met += run.len() as u64)?;
        answers("DefaultLabel::set_views_by_reads", met == EDGES);
    }
    let all = snapshot.edge_list(0, Direction::Out)?.map(|found| found.len() as u64);
    answers("Snapshot::edge_list", all >= Some(EDGES));
    let degree = snapshot.degree(0, Direction::Out)?.map(|n| n as u64);
    answers("Snapshot::degree", degree == all);
    let edges = snapshot.edges(0, Direction::Out)?.map(|found| found.len() as u64);
    answers("Snapshot::edges", edges == all);
    let first = snapshot.first_edges(0, Direction::Out, EdgeLimit::first(1))?.map(|first| first.found.len());
    answers("Snapshot::first_edges", first == Some(1));
    answers("Snapshot::contains_edge", snapshot.contains_edge((0, 1))?);
    answers(
        "EdgeSelection::labels_with_edges",
        EdgeSelection::all().labels_with_edges(snapshot)?.contains(&LabelId::DEFAULT),
    );
    answers("Snapshot::schema", snapshot.schema().label(LABEL).is_some());
    answers("Snapshot::vertex_properties", snapshot.vertex_properties(0)? == Some(Vec::new()));
    answers("Snapshot::vertex_property", snapshot.vertex_property(0, "p")? == Some(Value::Null));
    let of_vertex = Lent::new(snapshot).vertex_property(0, "p", |value| value.is_null())?;
    answers("Lent::vertex_property", of_vertex == Some(true));
    let edge = || EdgeKey::new(LABEL, 0, 1);
    macro_rules! refused {
        ($name:literal, $call:expr) => {
            answers($name, matches!($call, Err(Error::State(StateError::Forked))))
        };
    }
    refused!("Snapshot::contains_edge of an EdgeKey", snapshot.contains_edge(edge()));
    refused!("EdgeSelection::only_label", EdgeSelection::all().only_label(snapshot));
    refused!("Snapshot::edge_properties", snapshot.edge_properties(edge()));
    refused!("Snapshot::edge_property", snapshot.edge_property(edge(), "since"));
    refused!("Snapshot::edge_list of a label", snapshot.edge_list(0, (LABEL, Direction::Out)));
    refused!("Snapshot::edges of a label", snapshot.edges(0, (LABEL, Direction::Out)));
    refused!(
        "Snapshot::first_edges of a label",
        snapshot.first_edges(0, (LABEL, Direction::Out), EdgeLimit::newest(1))
    );
    let visited = Lent::new(snapshot).newest_edges(0, (LABEL, Direction::Out), 1, |_| ());
    refused!("Lent::newest_edges", visited);
    refused!("Snapshot::ranks_between", snapshot.ranks_between(LABEL, 0, 1));
    refused!("Snapshot::degree of a label", snapshot.degree(0, (LABEL, Direction::Out)));
    refused!("Snapshot::edge_count_of", snapshot.edge_count_of(LABEL));
    refused!("Snapshot::for_each_edge", snapshot.for_each_edge(LABEL, |_| ()));
    refused!("Snapshot::for_each_edge of all labels", snapshot.for_each_edge(Direction::Out, |_| ()));
    refused!(
        "Snapshot::expand",
        snapshot.expand(&[0u64], Direction::Out, hedgerow::MissingVertex::Empty).map(drop)
    );
    refused!("Snapshot::partitions", snapshot.partitions(2).map(drop));
    refused!("Snapshot::scan_edges", snapshot.scan_edges(&EdgeSelection::of(LABEL)).map(drop));
    let (out, empty) = (Direction::Out, hedgerow::MissingVertex::Empty);
    refused!("Snapshot::degrees of a label", snapshot.degrees(&[0u64], ("", out), empty));
    refused!("Snapshot::degrees", snapshot.degrees(&[0u64], out, empty));
    refused!("Snapshot::contains_edges of a label", snapshot.contains_edges(&[(0u64, 1u64)], ""));
    refused!("Snapshot::contains_edges", snapshot.contains_edges(&[(0u64, 1u64)], Direction::Out));
    let near = hedgerow::KHopOptions::new(1);
    refused!("Snapshot::k_hop", snapshot.k_hop(&[0u64], &EdgeSelection::all(), near));
    refused!("Snapshot::neighbor_lists of a label", snapshot.neighbor_lists(&[0u64], ("", out), empty));
    refused!("Snapshot::neighbor_lists", snapshot.neighbor_lists(&[0u64], out, empty));
    refused!("Snapshot::csr", snapshot.csr("", hedgerow::CsrOptions::new()));
    refused!("Snapshot::changes_since", snapshot.changes_since(snapshot, LABEL));
    refused!("LabelSnapshot::new", LabelSnapshot::new(snapshot, LABEL));
    refused!("Snapshot::view", snapshot.view(LABEL));
    let chosen = EdgeSelection::of_labels([LABEL, ""]);
    refused!("Snapshot::view of a selection", snapshot.view(&chosen));
    refused!("KernelView::new", KernelView::new(snapshot, &chosen));
    refused!("TieredView::new", TieredView::new(snapshot, LABEL));
    refused!("TieredView::new of a selection", TieredView::new(snapshot, &chosen));
    refused!("EdgeSelection::kernel_vertex", chosen.kernel_vertex(snapshot, 0));
    refused!("Snapshot::edge_list of a selection", snapshot.edge_list(0, &chosen));
    refused!("Snapshot::degree of a selection", snapshot.degree(0, &chosen));
    refused!("Snapshot::first_edges of a selection", snapshot.first_edges(0, &chosen, EdgeLimit::first(1)));
    refused!("Snapshot::edges of a selection", snapshot.edges(0, &chosen));
    refused!("Snapshot::edge_count_of a selection", snapshot.edge_count_of(&chosen));
    refused!("Snapshot::for_each_edge of a selection", snapshot.for_each_edge(&chosen, |_| ()));
    Ok(())
}

/// Checks that a view from before the fork answers, and that a child cannot make another view.
fn of_views(with: &Snapshot, without: &Snapshot, wrong: &mut Vec<&'static str>) {
    let vertices = with.vertices().map(|vertices| vertices.filter(|vertex| vertex.is_ok()).count() as u64);
    let mut met = 0;
    let edges = with.default_label().for_each_edge(|_, _, _| met += 1);
    if vertices.ok() != Some(with.vertex_count()) || edges.is_err() || met < EDGES {
        wrong.push("DefaultLabel::for_each_edge");
    }
    macro_rules! refused {
        ($name:literal, $call:expr) => {
            if !matches!($call, Err(Error::State(StateError::Forked))) {
                wrong.push($name);
            }
        };
    }
    refused!("DefaultLabel::view", without.default_label().view());
    refused!("Snapshot::vertices", without.vertices());
    refused!("Snapshot::scan_vertices", without.scan_vertices().map(drop));
    // A child that gets no scan calls none of its methods.
    refused!("DefaultLabel::for_each_edge", without.default_label().for_each_edge(|_, _, _| ()));
}

fn of_txn(txn: &mut WriteTxn, wrong: &mut Vec<&'static str>) {
    macro_rules! refused {
        ($name:literal, $call:expr) => {
            if !matches!($call, Err(Error::State(StateError::Forked))) {
                wrong.push($name);
            }
        };
    }
    let edge = || EdgeKey::new(LABEL, 0, 1);
    let one = [(1u64, 2u64)];
    refused!("WriteTxn::create_endpoints", txn.create_endpoints(true));
    refused!("WriteTxn::insert_vertex", txn.insert_vertex(1));
    refused!("WriteTxn::remove_vertex", txn.remove_vertex(1));
    refused!("WriteTxn::put_edge", txn.put_edge((1, 2)));
    refused!("WriteTxn::put_edges", txn.put_edges(one));
    refused!("WriteTxn::insert_edges", txn.insert_edges(one));
    refused!("WriteTxn::remove_edges", txn.remove_edges(one));
    refused!("WriteTxn::insert_edge", txn.insert_edge((1, 2)));
    refused!("WriteTxn::remove_edge", txn.remove_edge((0, 1)));
    refused!("WriteTxn::remove_edges_of", txn.remove_edges_of(0, 1));
    refused!("WriteTxn::contains_vertex", txn.contains_vertex(0));
    refused!("WriteTxn::contains_edge", txn.contains_edge((0, 1)));
    refused!("WriteTxn::degree", txn.degree(0, Direction::Out));
    refused!("WriteTxn::neighbors", txn.neighbors(0, Direction::Out));
    refused!("WriteTxn::put_vertices_with", txn.put_vertices_with(KindId::DEFAULT, &["since"], [(1, [1])]));
    let column = Column::from(vec![1]);
    let columns = [("since", &column)];
    refused!("WriteTxn::put_vertex_columns", txn.put_vertex_columns(KindId::DEFAULT, [1], &columns, 0));
    refused!("WriteTxn::put_edges_with", txn.put_edges_with("", &["since"], [(1, 2, [1])]));
    refused!("WriteTxn::put_edge_with", txn.put_edge_with(edge(), [("since", 1)]));
    refused!("WriteTxn::insert_edge_with", txn.insert_edge_with(edge(), [("since", 1)]));
    refused!("WriteTxn::update_edge", txn.update_edge(edge(), [("since", 1)]));
    refused!("WriteTxn::remove_edge of an EdgeKey", txn.remove_edge(edge()));
    refused!("WriteTxn::put_vertex_with", txn.put_vertex_with(0, [("p", 1)]));
    refused!("WriteTxn::update_vertex", txn.update_vertex(0, [("p", 1)]));
    refused!("WriteTxn::contains_edge of an EdgeKey", txn.contains_edge(edge()));
    refused!("WriteTxn::edge_list", txn.edge_list(0, Direction::Out));
    let chosen = EdgeSelection::of_labels([LABEL, ""]);
    refused!("WriteTxn::edge_list of a selection", txn.edge_list(0, &chosen));
    refused!("WriteTxn::edge_properties", txn.edge_properties(edge()));
    refused!("WriteTxn::edge_property", txn.edge_property(edge(), "since"));
    refused!("WriteTxn::vertex_properties", txn.vertex_properties(0));
    refused!("WriteTxn::vertex_property", txn.vertex_property(0, "p"));
    refused!("WriteTxn::ranks_between", txn.ranks_between("none of this name", 0, 1));
    refused!("WriteTxn::edge_list of a label", txn.edge_list(0, ("none of this name", Direction::Out)));
    refused!("WriteTxn::degree of a label", txn.degree(0, (LABEL, Direction::Out)));
    refused!("WriteTxn::snapshot", txn.snapshot());
    // Counts the operations of the child's copy.
    if txn.operation_count() != 1 {
        wrong.push("WriteTxn::operation_count");
    }
}
