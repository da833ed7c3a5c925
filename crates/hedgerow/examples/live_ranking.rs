//! PageRank while a writer works: each snapshot is the graph of one moment, costs nothing to open, and is
//! read at the speed of a static graph while edges are added.
//!
//! ```sh
//! cargo run --release --features kernels --example live_ranking
//! ```

use hedgerow::kernels::{PageRankConfig, pagerank, top_k};
use hedgerow::{KeyKind, Options};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let graph = Options::new().keys(KeyKind::Dense).in_memory()?;
    std::thread::scope(|scope| {
        let writer = scope.spawn({
            let graph = graph.clone();
            move || (0..200u64).try_for_each(|batch| graph.insert_edges(links(batch)).map(drop))
        });
        while !writer.is_finished() {
            rank(&graph)?;
        }
        writer.join().expect("the writer ends")?;
        rank(&graph)
    })
}

/// Returns a thousand links of a growing web, in which few pages are linked to often.
fn links(batch: u64) -> Vec<(u64, u64)> {
    let pages = 100 + batch * 10;
    let link = |n: u64| {
        let hash = (batch * 1_000 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        (hash % pages, (hash / pages) % pages % (1 + hash % 50))
    };
    (0..1_000).map(link).collect()
}

fn rank(graph: &hedgerow::Graph) -> Outcome<()> {
    let snapshot = graph.snapshot()?;
    let view = snapshot.default_label().view()?;
    let scores = pagerank(view, &PageRankConfig::default())?;
    let best = top_k(view, &scores, 1).into_iter().next();
    if let Some((page, score)) = best {
        println!("{:>7} links: page {} has {score:.4}", snapshot.edge_count()?, page.0);
    }
    Ok(())
}
