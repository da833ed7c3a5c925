//! Child processes: their output is passed on line by line and read for counts on the way.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::Value;

use super::count::Counts;
use super::processor;

/// How long deep stages run and the seed that they begin with; unset in `make test`.
static DEEP: OnceLock<(u64, u64)> = OnceLock::new();

/// Makes every later step explore for `seconds`, with the seeds that follow from `seed`.
pub(super) fn set_deep(seconds: u64, seed: u64) {
    println!("HEDGEROW_DEEP_SECONDS={seconds} HEDGEROW_SEED={seed}");
    // A second call cannot happen: the command line is read once.
    let _ = DEEP.set((seconds, seed));
}

/// Whether steps explore for a time that was given.
pub(super) fn is_deep() -> bool {
    DEEP.get().is_some()
}

/// Where the output of a child goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output<'s> {
    /// On, line by line.
    AsItComes,
    /// On as a whole when the child has ended, since another one's is shown meanwhile. The child is killed at its next line
    /// once this is set.
    Together(&'s AtomicBool),
}

/// What a child left.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) counts: Counts,
    /// The test programs that cargo says it has built.
    pub(super) programs: Vec<TestProgram>,
    /// What it and its children took of processors.
    pub(super) processor: Duration,
}

/// A test program that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestProgram {
    path: PathBuf,
    /// The folder of its package, in which cargo would run it.
    folder: PathBuf,
}

impl TestProgram {
    /// What a line of `cargo test --no-run --message-format=json` tells of.
    pub(super) fn parse(line: &str) -> Option<TestProgram> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let path = message["executable"].as_str().filter(|_| is_test)?.into();
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        Some(TestProgram { path, folder })
    }

    /// Bytes of its file; 0 if there is none, which running it reports.
    pub(super) fn size(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len())
    }
}

/// One command of a stage.
#[derive(Clone, Debug)]
pub(super) struct Step {
    program: OsString,
    arguments: Vec<String>,
    folder: PathBuf,
    variables: Vec<(String, String)>,
    advice: Option<String>,
}

impl Step {
    pub(super) fn new(program: impl Into<OsString>, folder: &Path, arguments: &[&str]) -> Step {
        Step {
            program: program.into(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
            folder: folder.to_path_buf(),
            variables: Vec::new(),
            advice: None,
        }
    }

    pub(super) fn cargo(root: &Path, arguments: &[&str]) -> Step {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Step::new(cargo, root, arguments)
    }

    /// Sets a variable of the child.
    pub(super) fn env(mut self, name: &str, value: &str) -> Step {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a variable of the child unless the caller's environment has it.
    pub(super) fn env_unless_set(self, name: &str, value: &str) -> Step {
        if std::env::var_os(name).is_some() { self } else { self.env(name, value) }
    }

    /// What to do when it fails.
    pub(super) fn advice(mut self, advice: &str) -> Step {
        self.advice = Some(advice.to_owned());
        self
    }

    /// Of a `cargo test`: the step that builds its test programs and says which they are, and one for [`of`](Self::of).
    pub(super) fn built_and_run(self) -> (Step, Step) {
        let mut build = self.clone();
        let to_cargo = build.arguments.iter().position(|a| a == "--").unwrap_or(build.arguments.len());
        build.arguments.truncate(to_cargo);
        build.arguments.extend(["--no-run", "--message-format=json-render-diagnostics"].map(str::to_owned));
        let arguments = self.arguments.iter().skip(to_cargo + 1).cloned().collect();
        (build, Step { arguments, ..self })
    }

    /// A test program, with the arguments and variables of this step.
    pub(super) fn of(&self, program: &TestProgram) -> Step {
        let TestProgram { path, folder } = program.clone();
        Step { program: path.into(), folder, ..self.clone() }
    }

    /// Runs it to its end, showing its output, and returns what is found in the standard output.
    pub(super) fn execute(&self, output: Output<'_>) -> Result<Ended, String> {
        let shown = self.shown();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).stdout(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some((seconds, seed)) = DEEP.get() {
            command.env("HEDGEROW_DEEP_SECONDS", seconds.to_string()).env("HEDGEROW_SEED", seed.to_string());
        }
        let mut ended = Ended::default();
        let status = match output {
            Output::AsItComes => {
                println!("{shown}");
                as_it_comes(&mut command, &mut ended)
            }
            Output::Together(stop) => together(&mut command, &shown, stop, &mut ended),
        };
        let status = status.map_err(|e| format!("cannot run `{shown}`: {e}"))?;
        if status.success() {
            return Ok(ended);
        }
        let advice = self.advice.as_ref().map_or(String::new(), |advice| format!("; {advice}"));
        Err(format!("`{shown}`: {status}{advice}"))
    }

    /// The command, with the folder in which it runs: programs of several packages have one name.
    fn shown(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let variables = self.variables.iter().map(|(name, value)| format!("{name}='{value}' "));
        let (folder, program) = (name(&self.folder), name(Path::new(&self.program)));
        format!("{folder}$ {}{program} {}", variables.collect::<String>(), self.arguments.join(" "))
    }
}

impl Ended {
    /// Reads a line of the standard output; `false` if it is for this program alone.
    fn read(&mut self, line: &str) -> bool {
        self.counts.read(line);
        let is_message = line.starts_with("{\"reason\":");
        self.programs.extend(is_message.then(|| TestProgram::parse(line)).flatten());
        !is_message
    }
}

fn as_it_comes(command: &mut Command, ended: &mut Ended) -> std::io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if ended.read(&line) {
            println!("{line}");
        }
    }
    ended.processor = processor::time_of_child(child.id());
    child.wait()
}

fn together(
    command: &mut Command,
    shown: &str,
    stop: &AtomicBool,
    ended: &mut Ended,
) -> std::io::Result<ExitStatus> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let (to, lines) = channel();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let also_to = to.clone();
        scope.spawn(move || send_lines(output, &to));
        scope.spawn(move || send_lines(errors, &also_to));
        let mut text = format!("\n(meanwhile) {shown}\n");
        for line in lines {
            if ended.read(&line) {
                text += &line;
                text.push('\n');
            }
            if stop.load(Ordering::Relaxed) {
                child.kill()?;
            }
        }
        // In one piece: another thread shows lines too.
        std::io::stdout().lock().write_all(text.as_bytes())?;
        ended.processor = processor::time_of_child(child.id());
        child.wait()
    })
}

fn send_lines(output: Option<impl Read>, to: &Sender<String>) {
    for line in output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
        let Ok(line) = line else { return };
        if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}
