//! A snapshot is a moment: its answers do not change, whatever is written and removed after it was opened.
//!
//! ```sh
//! cargo run --release --example as_of
//! ```

use hedgerow::{Direction, KeyKind, Options};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let graph = Options::new().keys(KeyKind::Str).directed(false).in_memory()?;
    let mut txn = graph.write()?;
    for (a, b) in [("ann", "bob"), ("bob", "cem"), ("cem", "ann")] {
        txn.put_edge((a, b))?;
    }
    txn.commit()?;

    let then = graph.snapshot()?;
    graph.remove_edge(("ann", "bob"))?;
    graph.insert_edge(("bob", "dee"))?;
    let now = graph.snapshot()?;

    assert!(then.contains_edge(("ann", "bob"))? && !now.contains_edge(("ann", "bob"))?);
    assert_eq!(then.degree("bob", Direction::Out)?, Some(2));
    assert_eq!(now.degree("dee", Direction::Out)?, Some(1));
    println!(
        "at {:?}: {} edges; at {:?}: {} edges",
        then.timestamp(),
        then.edge_count()?,
        now.timestamp(),
        now.edge_count()?
    );
    Ok(())
}
