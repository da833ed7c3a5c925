//! Threads that begin together.

use std::sync::Barrier;
use std::time::Instant;

use hedgerow_report::failure::Result;

/// Runs `body` on this number of threads at the same time, each with its number. Returns the seconds from the
/// first start to the last end.
pub(crate) fn timed(threads: usize, body: impl Fn(usize) -> Result<()> + Sync) -> Result<f64> {
    let (barrier, body) = (&Barrier::new(threads), &body);
    let made: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let begin = move |nth| {
            scope.spawn(move || -> Result<(Instant, Instant)> {
                barrier.wait();
                let begun = Instant::now();
                body(nth)?;
                Ok((begun, Instant::now()))
            })
        };
        let running: Vec<_> = (0..threads).map(begin).collect();
        running
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread of a measurement panicked")?)
            .collect::<Result<_>>()
    })?;
    let begun = made.iter().map(|(begun, _)| *begun).min();
    let ended = made.iter().map(|(_, ended)| *ended).max();
    Ok(begun.zip(ended).map_or(0.0, |(begun, ended)| (ended - begun).as_secs_f64()))
}
