use hedgerow::kernels::{PageRankConfig, pagerank, top_k}; // feature `kernels`
use hedgerow::{Direction, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Options::new().directed(false).open("friends.hedgerow")?;

    let mut txn = graph.write()?;
    txn.insert_edge((1, 2))?; // endpoints are made where they are absent
    txn.insert_edge((2, 3))?;
    txn.commit()?; // returns once it is on stable media

    // Runs again after a conflict, at most 10 times.
    graph.transact(10, |txn| if txn.contains_edge((1, 3))? { Ok(false) } else { txn.insert_edge((1, 3)) })?;

    let snapshot = graph.snapshot()?; // stays as it is, whatever is written meanwhile
    assert_eq!(snapshot.degree(2, Direction::Out)?, Some(2));
    let view = snapshot.view(Direction::Out)?;
    let scores = pagerank(&*view, &PageRankConfig::default())?;
    for (vertex, score) in top_k(&*view, &scores, 3) {
        println!("{:?}: {score:.4}", snapshot.vertex_key(vertex)?);
    }
    Ok(())
}
