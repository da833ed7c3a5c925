//! The child process: opens the store, replays the stream with two writers beside an analyst, and may be
//! killed at any moment.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use hedgerow_workload::scheduler::DEFAULT_WINDOW;
use hedgerow_workload::{Scheduler, StreamError, StreamSpec, Transaction};

use super::acks::{Ack, AckWriter, Acks};
use super::fault::Fault;
use super::ingestion::Ingestion;
use super::message::Message;
use super::setting::WRITERS;
use super::{analyst, measure, store};
use hedgerow_report::failure::{Context, Result};

/// The retries of a conflicting transaction. Scheduled transactions share no vertex, so a few would do.
const RETRIES: u32 = 1000;
/// The longest interval between two reports of the state.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);
/// The state is also reported at each hundredth of the stream, so that a stream that ends within a second has
/// a curve.
const SAMPLES: u64 = 100;

/// Options of the child process.
#[derive(Clone, Debug)]
pub struct ChildOptions {
    /// The stream.
    pub stream: StreamSpec,
    /// The store's directory.
    pub store: PathBuf,
    /// The acknowledgement file; transactions that it records as held are skipped.
    pub acks: PathBuf,
    /// The events of the whole stream: a checkpoint is taken at every tenth of them.
    pub total_events: u64,
}

/// Runs the child, which reports on the standard output.
///
/// # Errors
/// Those of the store, of the stream and of the acknowledgement file.
pub fn run(options: &ChildOptions) -> Result<()> {
    let (sender, receiver) = channel();
    let printer = std::thread::spawn(move || print(&receiver));
    let outcome = ingest(options, &sender);
    drop(sender);
    printer.join().map_err(|_| "the printing thread panicked")??;
    outcome
}

fn print(messages: &Receiver<Message>) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    for message in messages {
        writeln!(out, "{}", message.to_line()).and_then(|()| out.flush()).context("standard output")?;
    }
    Ok(())
}

fn ingest(options: &ChildOptions, messages: &Sender<Message>) -> Result<()> {
    let start = Instant::now();
    let held = Acks::read(&options.acks)?;
    let (graph, counters) = store::open(&options.store, options.stream.key_kind()?)?;
    let ingestion = Ingestion {
        graph,
        start,
        counters,
        commits: AtomicU64::new(0),
        events: AtomicU64::new(0),
        total_events: options.total_events,
        conflicts: AtomicU64::new(0),
        done: AtomicBool::new(false),
    };
    let first_event = held.events;
    let rest = options.stream.open()?.filter(move |t| !t.as_ref().is_ok_and(|t| held.holds(t.index)));
    let scheduler = Scheduler::new(rest, DEFAULT_WINDOW);
    let acks = AckWriter::open(&options.acks)?;
    std::thread::scope(|scope| {
        let one = &ingestion;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (scheduler, acks) = (&scheduler, &acks);
                scope.spawn(move || {
                    let outcome = write(one, scheduler, acks, writer);
                    if outcome.is_err() {
                        scheduler.stop();
                    }
                    outcome
                })
            })
            .collect();
        let analyst = scope.spawn(|| analyst::run(one, messages));
        let checkpoints = scope.spawn(|| checkpoint(one, first_event, options.total_events, messages));
        scope.spawn(|| report(one, messages));
        let written: Result<Vec<()>> = writers
            .into_iter()
            .map(|w| w.join().unwrap_or_else(|_| Err("a writer panicked".into())))
            .collect();
        ingestion.done.store(true, Ordering::Release);
        analyst.join().map_err(|_| "the analyst panicked")??;
        checkpoints.join().map_err(|_| "the checkpointing thread panicked")??;
        written.map(|_| ())
    })?;
    messages.send(Message::Sample(ingestion.sample()))?;
    messages.send(Message::Final(measure::live(&ingestion.graph)?))?;
    ingestion.graph.close()?;
    Ok(())
}

fn write<I>(one: &Ingestion, scheduler: &Scheduler<I>, acks: &AckWriter, writer: usize) -> Result<()>
where
    I: Iterator<Item = std::result::Result<Transaction, StreamError>>,
{
    while let Some(transaction) = scheduler.next() {
        let transaction = transaction?;
        acks.begin(writer, transaction.index)?;
        let begun = Instant::now();
        let mut attempts = 0;
        let (wrote, timestamp) = one.graph.transact(RETRIES, |tx| {
            attempts += 1;
            store::apply(tx, &transaction)?;
            Ok(!tx.is_empty())
        })?;
        let events = transaction.events.len() as u64;
        let (at, microseconds) = (one.start.elapsed().as_micros() as u64, begun.elapsed().as_micros() as u64);
        let ack = Ack { timestamp: timestamp.0, events, wrote, at, microseconds };
        acks.acknowledge(writer, transaction.index, &ack)?;
        one.commits.fetch_add(u64::from(wrote), Ordering::SeqCst);
        one.events.fetch_add(events, Ordering::SeqCst);
        one.conflicts.fetch_add(attempts - 1, Ordering::Relaxed);
        scheduler.acknowledge(transaction.index);
    }
    Ok(())
}

/// Takes checkpoints at 5 %, 15 %, 25 % and so on of the stream: a kill at a round share finds a checkpoint
/// and a log.
fn checkpoint(one: &Ingestion, first_event: u64, total: u64, messages: &Sender<Message>) -> Result<()> {
    // A cut of the log loses nothing that a checkpoint holds, so there is none with that fault.
    if Fault::from_environment()? == Fault::CutLog {
        return Ok(());
    }
    let tenths = |events: u64| (events * 10 + total / 2) / total.max(1);
    let mut last = tenths(first_event);
    while !one.is_done() {
        let now = tenths(first_event + one.events.load(Ordering::Relaxed));
        if now > last {
            last = now;
            let begun = Instant::now();
            let written = one.graph.checkpoint()?;
            messages.send(Message::Checkpoint {
                taken: begun.elapsed().as_secs_f64(),
                timestamp: written.timestamp.0,
                bytes: written.bytes,
            })?;
        }
        one.sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn report(one: &Ingestion, messages: &Sender<Message>) {
    while !one.is_done() && messages.send(Message::Sample(one.sample())).is_ok() {
        one.sleep_unless_ahead(SAMPLE_EVERY, SAMPLES);
    }
}
