//! A function that reads both snapshots and transactions.

use hedgerow::{
    ArgumentError, Direction, EdgeKey, EdgePattern, Error, Graph, GraphRead, Isolation, Options, Result,
    Value, WriteTxn,
};

/// Returns the answers of every read of the trait about the vertices of [`graph`].
fn answers(graph: &mut impl GraphRead) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let mut say = |answer: &dyn std::fmt::Debug| all.push(format!("{answer:?}"));
    for v in 0..5u64 {
        say(&graph.contains_vertex(v)?);
        say(&graph.vertex_properties(v)?);
        say(&graph.vertex_property(v, "name")?);
        for direction in [Direction::Out, Direction::In] {
            say(&graph.degree(v, direction)?);
            say(&graph.neighbors(v, direction)?);
            say(&graph.degree(v, ("knows", direction))?);
            say(&graph.edge_list(v, ("knows", direction))?);
            say(&graph.degree(v, direction)?);
            say(&graph.edge_list(v, direction)?);
        }
        for w in 0..5u64 {
            say(&graph.contains_edge((v, w))?);
            say(&graph.edge_property((v, w), "weight")?);
            say(&graph.contains_edge(EdgePattern::between(v, w))?);
            say(&graph.contains_edge(EdgeKey::new("knows", v, w))?);
            say(&graph.edge_properties(EdgeKey::new("knows", v, w))?);
            say(&graph.edge_property(EdgeKey::new("knows", v, w), "since")?);
        }
    }
    Ok(all)
}

fn fill(tx: &mut WriteTxn) -> Result<()> {
    tx.put_edge((0, 1, 2.5))?;
    tx.put_edge((1, 2, 0.5))?;
    tx.put_edge_with(EdgeKey::new("knows", 0, 2), [("since", 1999)])?;
    tx.put_edge_with(EdgeKey::new("knows", 2, 3), [("since", 2004)])?;
    tx.update_vertex(0, [("name", Value::from("a"))])?;
    Ok(())
}

#[test]
fn snapshots_and_transactions_answer_alike() {
    let graph = Options::new().weighted(true).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    fill(&mut tx).unwrap();
    let own = answers(&mut tx).unwrap();
    let before = graph.snapshot().unwrap();
    tx.commit().unwrap();
    let mut snapshot = graph.snapshot().unwrap();
    let committed = answers(&mut snapshot).unwrap();
    assert_eq!(own, committed, "own writes and the same writes, committed");
    assert_eq!(answers(&mut &snapshot).unwrap(), committed, "a shared snapshot");
    assert_eq!(answers(&mut graph.write().unwrap()).unwrap(), committed, "the snapshot of a transaction");
    assert!(committed.iter().any(|answer| answer.contains("1999")), "{committed:?}");
    let unknown = answers(&mut &before);
    assert!(unknown.is_ok_and(|answers| answers.len() == committed.len() && answers != committed));
}

#[test]
fn what_a_transaction_reads_by_the_trait_is_validated() {
    fn reads(graph: &mut impl GraphRead) -> Result<usize> {
        Ok(graph.degree(1, Direction::Out)?.unwrap_or(0))
    }
    let graph = Options::new().isolation(Isolation::Serializable).in_memory().unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let mut tx = graph.write().unwrap();
    let degree = reads(&mut tx).unwrap();
    tx.put_edge((9, degree as u64)).unwrap();
    graph.insert_edge((1, 3)).unwrap();
    assert!(tx.commit().unwrap_err().is_conflict());
}

#[test]
fn a_label_that_is_not_defined_is_an_error_of_both() {
    fn asks(graph: &mut impl GraphRead) -> bool {
        let answer = graph.degree(1, ("nothing", Direction::Out));
        matches!(answer, Err(Error::Argument(ArgumentError::NoSuchLabel { .. })))
    }
    let graph = Graph::in_memory().unwrap();
    assert!(asks(&mut graph.snapshot().unwrap()) && asks(&mut graph.write().unwrap()));
}
