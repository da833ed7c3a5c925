//! Events into a store on disk: a pipeline commits each edge as a transaction, and one sync serves many of
//! them. All acknowledged edges are found when the store is opened again.
//!
//! ```sh
//! cargo run --release --example durable_events -- events.hedgerow
//! ```

use hedgerow::{Applied, Graph};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "events.hedgerow".to_owned());
    run(path.as_ref())
}

/// Writes 10,000 events, closes the store, opens it again and counts the events.
fn run(path: &std::path::Path) -> Outcome<()> {
    let graph = Graph::open(path)?;
    let before = graph.snapshot()?.edge_count()?;
    let mut new = 0;
    let mut failed = None;
    {
        let mut pipeline = graph.pipeline(|ack| match ack.result {
            Ok(Applied { edges, .. }) => new += u64::from(edges > 0),
            Err(error) => failed = Some(error),
        })?;
        for event in 0..10_000u64 {
            pipeline.insert_edge(event % 97, event * 31 % 1_009)?;
        }
        pipeline.flush()?;
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    graph.close()?;

    let again = Graph::open(path)?;
    assert_eq!(again.snapshot()?.edge_count()?, before + new);
    println!("{new} new edges, {} in all", before + new);
    Ok(())
}
