//! The Rust examples of the guides for Rust and for kept answers, in their order. Their text in the guides is
//! the text between the lines that end in dashes.

use hedgerow::kernels::{Cancel, PageRankConfig, SsspConfig};
use hedgerow::{
    Column, CommitError, Comparison, Direction, EdgeDirection, EdgeKey, EdgeSelection, Error, Graph,
    GraphRead, KHopOptions, KeyKind, LabelOptions, PropertyType, Snapshot, Value, ValueRef, WriteTxn,
};

pub(super) fn opening() -> Result<(), Box<dyn std::error::Error>> {
    // ---
    use hedgerow::{Durability, Graph, Options};

    let durable = Options::new().directed(false).weighted(true).open("friends.hedgerow")?;
    let scratch = Graph::in_memory()?; // no files; gone with its last handle
    let fast = Options::new().durability(Durability::Manual).open("events.hedgerow")?;
    // ---
    assert!(!durable.snapshot()?.contains_vertex(1)?);
    drop((scratch, fast));
    Ok(())
}

pub(super) fn transactions(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let mut txn = graph.write()?;
    txn.insert_edge(("ann", "bob"))?;
    assert!(txn.contains_edge(("bob", "ann"))?); // own writes are seen (an undirected graph here)
    let timestamp = txn.commit()?;
    // ---
    assert_eq!(graph.snapshot()?.timestamp(), timestamp);
    Ok(())
}

pub(super) fn retries(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let (is_new, timestamp) = graph.transact(10, |txn| {
        if txn.degree("ann", Direction::Out)?.unwrap_or(0) >= 100 {
            return Ok(false);
        }
        txn.insert_edge(("ann", "cem"))
    })?;
    // ---
    assert!(is_new && graph.snapshot()?.timestamp() == timestamp);
    Ok(())
}

pub(super) fn labels(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    let (source, config) = (hedgerow::VertexId(0), SsspConfig::default());
    // ---
    graph.define_label("calls", LabelOptions::new().multi(true).property("seconds", PropertyType::I64))?;
    let mut txn = graph.write()?;
    txn.put_edge_with(EdgeKey::new("knows", "ann", "bob"), [("since", 2001)])?; // defines label and property
    txn.put_edge_with(EdgeKey::new("calls", "ann", "bob").rank(1700000000), [("seconds", 30)])?;
    txn.put_edges_with("knows", &["since"], [("bob", "cem", [2003]), ("cem", "ann", [2004])])?; // many at once: looked up once
    txn.put_vertex_with("ann", [("age", 30)])?;
    let ticket = txn.submit()?; // ordered; `ticket.wait()` returns once it is visible and durable
    ticket.wait()?;
    let snapshot = graph.snapshot()?;
    assert_eq!(snapshot.edge_property(EdgeKey::new("knows", "ann", "bob"), "since")?, Some(Value::I64(2001)));
    let calls = snapshot.edges("ann", ("calls", Direction::Out))?;
    let by_seconds = EdgeSelection::of("calls").weighted_by("seconds", None);
    let distances = hedgerow::kernels::sssp(&*snapshot.view(&by_seconds)?, source, &config)?;
    // ---
    assert_eq!((calls.map(|edges| edges.len()), distances.len()), (Some(1), 3));
    Ok(())
}

pub(super) fn kinds() -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let wiki = Graph::in_memory()?;
    let user = wiki.define_kind("user", KeyKind::Str)?;
    let page = wiki.define_kind("page", KeyKind::U64)?;
    wiki.define_label("edited", LabelOptions::new().ends(user, page))?;
    wiki.put_edge_with(EdgeKey::new("edited", "ann", 7), [("minor", true)])?;
    let now = wiki.snapshot()?;
    assert_eq!(now.neighbors(page.key(7), ("", Direction::In))?, Some(vec![])); // the default label has none
    assert_eq!(
        now.neighbors(page.key(7), ("edited", Direction::In))?,
        Some(vec![user.key("ann").to_owned()])
    );
    assert_eq!((now.scan_vertices()?.count_of(page)?, now.scan_vertices()?.count_of(user)?), (1, 1));
    // ---
    Ok(())
}

pub(super) fn columns() -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let shop = Graph::in_memory()?;
    let customer = shop.define_kind("customer", KeyKind::U64)?;
    let names = ["Ann", "Bob"].map(ValueRef::Utf8);
    let names = Column::of_values(PropertyType::Utf8, names).expect("all are texts");
    let since = Column::from(vec![1999, 2024]);
    let mut tx = shop.write()?;
    tx.put_vertex_columns(customer, [1, 2], &[("name", &names), ("since", &since)], 0)?;
    tx.commit()?;
    assert_eq!(shop.snapshot()?.vertex_property(customer.key(2), "name")?, Some("Bob".into()));
    // ---
    Ok(())
}

pub(super) fn selections(snapshot: &Snapshot) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let recent = EdgeSelection::of_labels(["knows", "trusts"]).filter("since", Comparison::Greater, 2020);
    let components = hedgerow::kernels::wcc(&*snapshot.view(&recent)?)?;
    let around = snapshot.edge_list("ann", &EdgeSelection::all().direction(EdgeDirection::Both))?;
    let calls = EdgeSelection::of("calls").ranks(1_700_000_000..1_800_000_000);
    let twenties = recent.filter("since", Comparison::Less, 2030); // both must hold
    // ---
    assert!(snapshot.degree("ann", &twenties)?.is_some());
    assert_eq!(components.len(), 3);
    assert_eq!(around.map(|edges| edges.len()), Some(5));
    assert_eq!(snapshot.degree("ann", &calls)?, Some(1));
    Ok(())
}

pub(super) fn batches(snapshot: &Snapshot) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let known = snapshot.contains_edges(&[("ann", "bob"), ("bob", "ann"), ("ann", "zoe")], "knows")?;
    let near = snapshot.k_hop(&["ann"], &EdgeSelection::of("knows"), KHopOptions::new(2).limit(10_000))?;
    for (key, distance) in near.vertices.iter().zip(&near.distances) {
        println!("{key} is {distance} hops from ann");
    }
    // ---
    assert_eq!(known, [true, true, false]);
    assert_eq!(near.distances, [0, 1, 1]);
    Ok(())
}

pub(super) fn either(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    fn is_known(graph: &mut impl GraphRead, payer: u64, payee: u64) -> hedgerow::Result<bool> {
        Ok(graph.contains_edge((payer, payee))?
            || graph.contains_edge(EdgeKey::new("trusts", payer, payee))?)
    }
    let known = is_known(&mut graph.snapshot()?, 1, 2)?;
    let (still_known, _) = graph.transact(10, |txn| is_known(txn, 1, 2))?;
    // ---
    assert!(known && still_known);
    Ok(())
}

pub(super) fn kernels(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    let snapshot = graph.snapshot()?;
    let components = hedgerow::kernels::wcc(&*snapshot.view(Direction::Out)?)?;
    // ---
    assert_eq!(components.len(), 3);
    Ok(())
}

pub(super) fn cancelled(snapshot: &Snapshot) -> Result<(), Box<dyn std::error::Error>> {
    let config = PageRankConfig::default();
    // ---
    let cancel = Cancel::new();
    let other = cancel.clone(); // for the thread that may call `other.cancel()`
    let scores =
        hedgerow::kernels::pagerank_until::<f64, _>(&*snapshot.view(Direction::Out)?, &config, &cancel); // or Err(KernelError::Cancelled)
    // ---
    assert_eq!(scores?.len(), 3);
    drop(other);
    Ok(())
}

pub(super) fn errors(tx: WriteTxn) -> hedgerow::Result<()> {
    // ---
    match tx.commit() {
        Ok(ts) => println!("committed at {ts}"),
        Err(error) if error.is_conflict() => {} // run the transaction again, or let `Graph::transact` do it
        Err(Error::Commit(CommitError::DiskFull)) => {} // nothing was applied; make space and run it again
        Err(error) => return Err(error),        // `?` gives this type everywhere
    }
    // ---
    Ok(())
}

pub(super) fn kept(graph: &Graph) -> Result<(), Box<dyn std::error::Error>> {
    // ---
    use hedgerow::LabelSnapshot;
    use hedgerow::kernels::maintain::{Answer, Handle};

    let mut components = Handle::new("wcc")?;
    components.at(&LabelSnapshot::new(&graph.snapshot()?, "")?)?;
    graph.insert_edge((2, 3))?;
    let (answer, made) = components.at(&LabelSnapshot::new(&graph.snapshot()?, "")?)?;
    if let Answer::Components(kept) = answer {
        println!("{} names, {made:?}", kept.names().len()); // Made::FromChanges(1)
    }
    // ---
    assert_eq!(made, hedgerow::kernels::maintain::Made::FromChanges(1));
    graph.define_label("calls", hedgerow::LabelOptions::new())?;
    // ---
    let mut calls = Handle::new("wcc")?;
    calls.at(&LabelSnapshot::new(&graph.snapshot()?, "calls")?)?;
    // ---
    Ok(())
}
