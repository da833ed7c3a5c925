//! Child processes: this module shows their output line by line, and reads counts from it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::Value;

use super::count::Counts;
use super::outcome::Failure;
use super::processor;

/// The number of seconds of a deep run, and its first seed. It is unset in `make test`.
static DEEP: OnceLock<(u64, u64)> = OnceLock::new();

/// Makes every later step explore for `seconds`, with seeds that begin with `seed`.
pub(super) fn set_deep(seconds: u64, seed: u64) {
    println!("HEDGEROW_DEEP_SECONDS={seconds} HEDGEROW_SEED={seed}");
    // A second call cannot happen, because the command line is read once.
    let _ = DEEP.set((seconds, seed));
}

/// True if steps explore for a given time.
pub(super) fn is_deep() -> bool {
    DEEP.get().is_some()
}

/// Returns the environment variables of a deep run.
fn deep_variables() -> Vec<(&'static str, String)> {
    let both = |(seconds, seed): &(u64, u64)| {
        [("HEDGEROW_DEEP_SECONDS", seconds.to_string()), ("HEDGEROW_SEED", seed.to_string())]
    };
    DEEP.get().map(both).into_iter().flatten().collect()
}

/// The form in which the output of a child is shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output<'s> {
    /// Line by line, as the child writes it.
    AsItComes,
    /// The whole output after the end of the child, because the output of another child is shown meanwhile.
    /// Once the flag is set, the child is killed at its next line.
    Together(&'s AtomicBool),
}

/// The result of a child that has ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) counts: Counts,
    /// The test programs that cargo reports as built.
    pub(super) programs: Vec<TestProgram>,
    /// The processor time of the child and its children.
    pub(super) processor: Duration,
    /// The failure, or `None` if the exit status is 0.
    pub(super) failure: Option<Failure>,
}

/// A test program that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestProgram {
    path: PathBuf,
    /// The folder of the program's package, in which cargo would run it.
    folder: PathBuf,
    /// The option of `cargo test` that selects the program, within the packages that have it.
    target: String,
}

impl TestProgram {
    /// Reads a line of `cargo test --no-run --message-format=json`.
    pub(super) fn parse(line: &str) -> Option<TestProgram> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let path = message["executable"].as_str().filter(|_| is_test)?.into();
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let target = match message["target"]["kind"][0].as_str() {
            Some("test") => format!("--test {name}"),
            Some("bin") => format!("--bin {name}"),
            _ => "--lib".to_owned(),
        };
        Some(TestProgram { path, folder, target })
    }

    /// Returns the size of the file, or 0 if it is absent. The run reports an absent file.
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
    /// The arguments with which cargo built a test program and selects it.
    built_by: Option<String>,
}

impl Step {
    pub(super) fn new(program: impl Into<OsString>, folder: &Path, arguments: &[&str]) -> Step {
        Step {
            program: program.into(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
            folder: folder.to_path_buf(),
            variables: Vec::new(),
            advice: None,
            built_by: None,
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

    /// Sets a variable of the child, unless the environment of the caller has it.
    pub(super) fn env_unless_set(self, name: &str, value: &str) -> Step {
        if std::env::var_os(name).is_some() { self } else { self.env(name, value) }
    }

    /// Adds a hint that is shown if the command fails.
    pub(super) fn advice(mut self, advice: &str) -> Step {
        self.advice = Some(advice.to_owned());
        self
    }

    /// Splits a `cargo test` into two steps. The first step builds the test programs and lists them. The
    /// second step runs one of them, through [`of`](Self::of).
    pub(super) fn built_and_run(self) -> (Step, Step) {
        let mut build = self.clone();
        let to_cargo = build.arguments.iter().position(|a| a == "--").unwrap_or(build.arguments.len());
        build.arguments.truncate(to_cargo);
        // The selection of targets is left out, because the failed program has an option that selects it.
        let selects = |a: &str| a.starts_with("--lib") || a.starts_with("--bins") || a == "--test";
        let mut kept = Vec::new();
        let mut arguments = build.arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--test" {
                arguments.next();
            } else if !selects(argument) {
                kept.push(argument.as_str());
            }
        }
        let built_by = Some(kept.join(" "));
        build.arguments.extend(["--no-run", "--message-format=json-render-diagnostics"].map(str::to_owned));
        let arguments = self.arguments.iter().skip(to_cargo + 1).cloned().collect();
        (build, Step { arguments, built_by, ..self })
    }

    /// Returns the step that runs a test program, with the arguments and variables of this step.
    pub(super) fn of(&self, program: &TestProgram) -> Step {
        let TestProgram { path, folder, target } = program.clone();
        let built_by = self.built_by.as_ref().map(|built_by| format!("{built_by} {target}"));
        Step { program: path.into(), folder, built_by, ..self.clone() }
    }

    /// Runs the step until it ends, and shows its output.
    pub(super) fn execute(&self, output: Output<'_>) -> Ended {
        let shown = self.shown();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).envs(deep_variables());
        let mut ended = Ended::default();
        let status = match output {
            Output::AsItComes => {
                println!("{shown}");
                follow(&mut command, &mut ended, None, |line| println!("{line}"))
            }
            Output::Together(stop) => {
                let mut text = format!("\n(meanwhile) {shown}\n");
                let status = follow(&mut command, &mut ended, Some(stop), |line| {
                    text += line;
                    text.push('\n');
                });
                // One call prints the whole text, because another thread also prints lines.
                print!("{text}");
                status
            }
        };
        ended.failure = match status {
            Ok(status) if status.success() => None,
            Ok(status) => Some(self.failure(&shown, &status.to_string(), &ended.counts.failed_tests)),
            Err(error) => Some(self.failure(&shown, &format!("cannot run: {error}"), &[])),
        };
        ended
    }

    fn failure(&self, shown: &str, status: &str, tests: &[String]) -> Failure {
        let advice = self.advice.as_ref().map_or(String::new(), |advice| format!("; {advice}"));
        let what = match tests {
            [] => format!("`{shown}`: {status}{advice}"),
            tests => format!("{}: {}{advice}", self.name(), tests.join(", ")),
        };
        Failure { what, repeat: self.repeat(tests) }
    }

    /// Returns the name of the program with the folder in which it runs, because programs of several packages
    /// have equal names.
    fn name(&self) -> String {
        let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = last(Path::new(&self.program));
        // Cargo's hash in the name does not help a reader.
        let program = match (program.rsplit_once('-'), &self.built_by) {
            (Some((name, _)), Some(_)) => name.to_owned(),
            _ => program,
        };
        format!("{}$ {program}", last(&self.folder))
    }

    fn shown(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}='{value}' "));
        format!("{}{} {}", variables.collect::<String>(), self.name(), self.arguments.join(" "))
    }

    /// Returns a shell command, from the root of the repository, that repeats the tests with these names.
    /// Without names, it repeats all tests.
    fn repeat(&self, tests: &[String]) -> String {
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let mut words: Vec<String> = variables
            .chain(deep_variables())
            .map(|(name, value)| format!("{name}={}", quoted(&value)))
            .collect();
        if let Some(built_by) = &self.built_by {
            words.push(format!("cargo {built_by} --"));
            match tests {
                [] => words.extend(self.arguments.iter().map(|argument| quoted(argument))),
                tests => words.extend(
                    ["--nocapture --exact".to_owned()]
                        .into_iter()
                        .chain(tests.iter().map(|test| quoted(test))),
                ),
            }
        } else if self.arguments.iter().any(|argument| argument == "pytest") && !tests.is_empty() {
            words.push(".venv/bin/python -m pytest".to_owned());
            words.extend(tests.iter().map(|test| quoted(test)));
        } else {
            let program = Path::new(&self.program);
            let program = program.strip_prefix(&self.folder).unwrap_or(program).to_string_lossy();
            // The program may be the path of a toolchain's cargo. The shell command uses the plain name.
            words.push(if program.ends_with("/cargo") { "cargo".to_owned() } else { program.into_owned() });
            words.extend(self.arguments.iter().map(|argument| quoted(argument)));
        }
        words.join(" ")
    }
}

/// Returns a word, in quotes if a shell needs them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=/.,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Ended {
    /// Reads a line of output. Returns false if the line is only for this program.
    fn read(&mut self, line: &str) -> bool {
        self.counts.read(line);
        let is_message = line.starts_with("{\"reason\":");
        self.programs.extend(is_message.then(|| TestProgram::parse(line)).flatten());
        !is_message
    }
}

/// Runs a command until it ends, and calls `show` with each line of its output. After `stop` is set, kills
/// the command at its next line.
fn follow(
    command: &mut Command,
    ended: &mut Ended,
    stop: Option<&AtomicBool>,
    mut show: impl FnMut(&str),
) -> std::io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let (to, lines) = channel();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let also_to = to.clone();
        scope.spawn(move || send_lines(output, &to));
        scope.spawn(move || send_lines(errors, &also_to));
        for line in lines {
            if ended.read(&line) {
                show(&line);
            }
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                child.kill()?;
            }
        }
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
