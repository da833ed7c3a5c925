//! The child process: opens the store, and replays the stream with two writers while an analyst works. It may
//! be killed at any moment.

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

/// The number of retries of a conflicting transaction. Scheduled transactions share no vertex, so few are
/// needed.
const RETRIES: u32 = 1000;
/// The longest interval between two reports of the state.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);
/// The number of equal parts of the stream after each of which the state is also reported. So a stream that
/// ends within a second has a curve too.
const SAMPLES: u64 = 100;

/// Options of the child process.
#[derive(Clone, Debug)]
pub struct ChildOptions {
    /// The stream.
    pub stream: StreamSpec,
    /// The store's directory.
    pub store: PathBuf,
    /// The acknowledgement file. Transactions that the store contains according to this file are skipped.
    pub acks: PathBuf,
    /// The number of events of the whole stream. A checkpoint is taken after every tenth of them.
    pub total_events: u64,
}

/// Runs the child, which writes its reports to standard output.
///
/// # Errors
/// The errors of the store, of the stream and of the acknowledgement file.
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
            Ok(tx.operation_count() > 0)
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

/// Takes checkpoints at 5 %, 15 %, 25 % and so on of the stream. So a kill at a multiple of 10 % finds both a
/// checkpoint and a log.
fn checkpoint(one: &Ingestion, first_event: u64, total: u64, messages: &Sender<Message>) -> Result<()> {
    // Cutting the log would lose nothing that a checkpoint contains, so this fault permits no checkpoint.
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
