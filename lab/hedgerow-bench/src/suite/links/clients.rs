//! Clients that make requests one after another, and the time of each request.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hedgerow_workload::linkbench::{LinkBench, Mix, Request, Requests};

use super::requests::{Answer, execute};
use super::store::LinkStore;
use hedgerow_report::failure::Result;

/// An engine with the graph, and the time of the next request.
pub(super) struct Loaded {
    pub(super) name: &'static str,
    pub(super) store: Box<dyn LinkStore>,
    pub(super) time: AtomicU64,
}

/// The result of the requests of all clients.
pub(super) struct Round {
    /// The latencies in nanoseconds, ascending.
    pub(super) latencies: Vec<u32>,
    /// The seconds from the first request of any client to the end of the last request.
    pub(super) seconds: f64,
}

/// Runs one round with this number of requests for each client. Makes the requests before the clock runs.
pub(super) fn round(
    bench: &LinkBench,
    mix: Mix,
    loaded: &Loaded,
    clients: usize,
    requests: u64,
    round: u64,
) -> Result<Round> {
    let lists: Vec<Vec<Request>> = (0..clients as u64)
        .map(|client| {
            let mut stream = Requests::new(bench, mix, round << 16 | client);
            (0..requests).map(|_| stream.next_request()).collect()
        })
        .collect();
    let begin = &Barrier::new(clients);
    let made: Vec<Client> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for list in &lists {
            threads.push(scope.spawn(move || {
                begin.wait();
                client(loaded, list)
            }));
        }
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a client panicked")?)
            .collect::<Result<_>>()
    })?;
    let begun = made.iter().map(|(_, begun, _)| *begun).min();
    let ended = made.iter().map(|(_, _, ended)| *ended).max();
    let seconds = begun.zip(ended).map_or(0.0, |(begun, ended)| (ended - begun).as_secs_f64());
    let mut latencies: Vec<u32> = made.into_iter().flat_map(|(latencies, ..)| latencies).collect();
    latencies.sort_unstable();
    Ok(Round { latencies, seconds })
}

/// The nanoseconds of each request, the start of the first, and the end of the last.
type Client = (Vec<u32>, Instant, Instant);

fn client(loaded: &Loaded, requests: &[Request]) -> Result<Client> {
    let mut latencies = Vec::with_capacity(requests.len());
    let mut answer = Answer::default();
    let begun = Instant::now();
    let mut last = begun;
    for request in requests {
        let time = loaded.time.fetch_add(1, Ordering::Relaxed);
        execute(&*loaded.store, request, time, &mut answer)?;
        let now = Instant::now();
        latencies.push(u32::try_from((now - last).as_nanos()).unwrap_or(u32::MAX));
        last = now;
    }
    Ok((latencies, begun, last))
}
