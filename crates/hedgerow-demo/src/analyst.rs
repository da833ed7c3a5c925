//! The analyst: asks whole-graph questions on one snapshot after another, while the writers continue.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use hedgerow_kernels::{PageRankConfig, count_components, pagerank, top_k, wcc};

use super::ingestion::Ingestion;
use super::message::{Analysis, Message};
use hedgerow_report::failure::Result;

/// The pause between two rounds, because two writers and the analyst share two cores.
const PAUSE: Duration = Duration::from_secs(1);
/// The number of rounds for a stream that takes only seconds: one round per tenth of the stream.
const ROUNDS: u64 = 10;
/// The number of top vertices that a round reports.
const TOP: usize = 3;

/// Runs rounds until the writers have ended.
pub(crate) fn run(one: &Ingestion, messages: &Sender<Message>) -> Result<()> {
    while !one.is_done() {
        one.sleep_unless_ahead(PAUSE, ROUNDS);
        messages.send(Message::Analysis(analyse(one)?))?;
    }
    Ok(())
}

fn analyse(one: &Ingestion) -> Result<Analysis> {
    let begun = Instant::now();
    let snapshot = one.graph.snapshot()?;
    let opened = begun.elapsed().as_secs_f64();
    let view = snapshot.default_label().view()?;
    let components = count_components(&wcc(view)?) as u64;
    let scores = pagerank(view, &PageRankConfig { iterations: 10, ..PageRankConfig::default() })?;
    let mut top = Vec::with_capacity(TOP);
    for (id, score) in top_k(view, &scores, TOP) {
        top.extend(snapshot.vertex_key(id)?.map(|key| (key.to_string(), score)));
    }
    Ok(Analysis {
        at: one.now(),
        taken: begun.elapsed().as_secs_f64(),
        opened,
        behind: one.graph.published_ts().0 - snapshot.timestamp().0,
        vertices: snapshot.vertex_count(),
        edges: snapshot.edge_count()?,
        components,
        top,
    })
}
