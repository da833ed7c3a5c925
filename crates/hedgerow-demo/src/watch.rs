//! The parent's part of an ingestion: starts the child, follows its acknowledgements, shows its progress, and
//! kills it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hedgerow_workload::Totals;
use indicatif::{ProgressBar, ProgressStyle};

use super::acks::{Ack, AckFollower};
use super::message::{Analysis, Message, Sample};
use super::setting::{DemoOptions, Places};
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::{grouped, mebibytes, seconds};

/// The interval at which the acknowledgement file is read.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The interval between two progress lines, used if there is no terminal for a bar.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The state that ingestions share.
pub(super) struct Watch<'a> {
    pub(super) options: &'a DemoOptions,
    pub(super) places: &'a Places,
    pub(super) totals: Totals,
    /// The start of the first child, from which all moments of the story are measured.
    pub(super) clock: Instant,
}

/// The facts that the parent learned from one child. Moments are seconds on the demo's clock.
#[derive(Debug, Default)]
pub(super) struct Ingested {
    /// The moments at which the process started and ended.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The commits acknowledged by this child, in the order of their acknowledgements.
    pub(super) acks: Vec<Ack>,
    pub(super) samples: Vec<Sample>,
    pub(super) analyses: Vec<Analysis>,
    pub(super) checkpoints: u64,
    pub(super) figures: Vec<(String, f64, String)>,
}

impl Ingested {
    /// Returns the moments of the first sample and of the last acknowledgement.
    pub(super) fn ingesting(&self) -> (f64, f64) {
        let begun = self.samples.first().map_or(self.from, |sample| sample.at);
        (begun, self.acks.last().map_or(begun, |ack| self.moment(ack)))
    }

    /// Returns the moment of an acknowledgement.
    pub(super) fn moment(&self, ack: &Ack) -> f64 {
        self.from + ack.at as f64 * 1e-6
    }

    /// Returns the number of acknowledged events.
    pub(super) fn events(&self) -> u64 {
        self.acks.iter().map(|ack| ack.events).sum()
    }

    /// Returns the number of acknowledged events per second of ingestion.
    pub(super) fn rate(&self) -> f64 {
        let (begun, ended) = self.ingesting();
        self.events() as f64 / (ended - begun)
    }

    /// Returns a figure that the child measured at the end of the stream.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(n, _, _)| n == name).map(|(_, value, _)| *value)
    }
}

impl Watch<'_> {
    /// Runs a child on the rest of the stream: all of it, or until `kill_at` events are acknowledged.
    pub(super) fn run(&self, kill_at: Option<u64>) -> Result<Ingested> {
        let from = self.clock.elapsed().as_secs_f64();
        let mut child = self.spawn()?;
        let outcome = self.follow(&mut child, kill_at, from);
        if outcome.is_err() {
            // The child must not survive an error.
            let _ = child.kill();
            let _ = child.wait();
        }
        outcome
    }

    fn spawn(&self) -> Result<Child> {
        let program = std::env::current_exe().context("own program")?;
        let mut command = Command::new(program);
        command.arg("demo-child").arg("--store").arg(&self.places.store).arg("--acks").arg(&self.places.acks);
        command.arg("--total-events").arg(self.totals.events.to_string());
        match &self.options.data {
            Some(path) => command.arg("--data").arg(path),
            None => command
                .arg("--events")
                .arg(self.options.events.to_string())
                .arg("--seed")
                .arg(self.options.seed.to_string()),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("child process")
    }

    fn follow(&self, child: &mut Child, kill_at: Option<u64>, from: f64) -> Result<Ingested> {
        let messages = receive(child)?;
        let mut acks = AckFollower::new(&self.places.acks);
        acks.poll()?;
        let before: BTreeSet<u64> = acks.acks.acknowledged.keys().copied().collect();
        let mut show = Show::new(self.totals.events, acks.acks.events);
        let mut run = Ingested { from, ..Ingested::default() };
        loop {
            acks.poll()?;
            show.progress(acks.acks.events);
            messages.try_iter().try_for_each(|message| run.take(message?, &show))?;
            if kill_at.is_some_and(|limit| acks.acks.events >= limit) {
                child.kill().context("kill")?;
            } else if child.try_wait().context("child process")?.is_none() {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            break;
        }
        let status = child.wait().context("child process")?;
        run.to = self.clock.elapsed().as_secs_f64();
        messages.iter().try_for_each(|message| run.take(message?, &show))?;
        acks.poll()?;
        show.end();
        let own = acks.acks.acknowledged.into_iter().filter(|(index, _)| !before.contains(index));
        run.acks = own.map(|(_, ack)| ack).collect();
        run.acks.sort_unstable_by_key(|ack| ack.at);
        judge(status, kill_at, &run)?;
        Ok(run)
    }
}

/// Checks the exit of a child. With `kill_at` it must have died of the kill, otherwise it must have
/// succeeded.
fn judge(status: std::process::ExitStatus, kill_at: Option<u64>, run: &Ingested) -> Result<()> {
    use std::os::unix::process::ExitStatusExt;
    let (transactions, events) = (grouped(run.acks.len() as u64), grouped(run.events()));
    let taken = seconds(run.to - run.from);
    match (kill_at, status.signal()) {
        (Some(_), Some(9)) => {
            println!("killed with SIGKILL after {transactions} transactions, {events} events, {taken}");
            Ok(())
        }
        (Some(_), _) if status.success() => Err("the child came to its end before it could be killed".into()),
        (None, _) if status.success() => {
            println!("acknowledged {transactions} transactions, {events} events in {taken}");
            Ok(())
        }
        _ => Err(format!("the child failed: {status}").into()),
    }
}

/// Starts a thread that reads the child's messages; the channel closes when the child exits. A killed child
/// may write an incomplete last line.
fn receive(child: &mut Child) -> Result<Receiver<Result<Message>>> {
    let stdout = child.stdout.take().ok_or("the child has no standard output")?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
            if sender.send(Message::parse(line.trim_end())).is_err() {
                break;
            }
            line.clear();
        }
    });
    Ok(receiver)
}

impl Ingested {
    fn take(&mut self, message: Message, show: &Show) -> Result<()> {
        match message {
            Message::Sample(sample) => self.samples.push(Sample { at: self.from + sample.at, ..sample }),
            Message::Analysis(a) => {
                show.line(&describe(&a));
                self.analyses.push(Analysis { at: self.from + a.at, ..a });
            }
            Message::Checkpoint { taken, timestamp, bytes } => {
                show.line(&format!(
                    "checkpoint  at commit {timestamp}, {} in {}",
                    mebibytes(bytes),
                    seconds(taken)
                ));
                self.checkpoints += 1;
            }
            Message::Final(figures) => self.figures = figures,
        }
        Ok(())
    }
}

fn describe(a: &Analysis) -> String {
    let top: Vec<String> = a.top.iter().map(|(key, score)| format!("{key} {score:.5}")).collect();
    format!(
        "analyst  {} vertices, {} edges, {} components, top {}; opened in {}, results after {}, by then {} commits old",
        grouped(a.vertices),
        grouped(a.edges),
        grouped(a.components),
        top.join(", "),
        seconds(a.opened),
        seconds(a.taken),
        grouped(a.behind)
    )
}

/// The progress display: a bar, or a line from time to time.
struct Show {
    bar: ProgressBar,
    total: u64,
    begun: Instant,
    before: u64,
    last_line: Instant,
}

impl Show {
    fn new(total: u64, before: u64) -> Show {
        let bar = ProgressBar::new(total).with_position(before);
        let template = "{wide_bar} {human_pos}/{human_len} events, {msg}, {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Show { bar, total, begun: now, before, last_line: now }
    }

    fn progress(&mut self, events: u64) {
        let rate = (events - self.before) as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_position(events);
        self.bar.set_message(format!("{} events/s", grouped(rate as u64)));
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            println!(
                "ingested {} of {} events, {} events/s",
                grouped(events),
                grouped(self.total),
                grouped(rate as u64)
            );
        }
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| println!("{text}"));
    }

    fn end(&self) {
        self.bar.abandon();
    }
}
