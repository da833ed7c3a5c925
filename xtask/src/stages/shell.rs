//! Child processes: their output is passed on line by line and read for counts on the way.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::count::Counts;

/// How long deep stages run and the seed that they begin with; unset in `make test`.
static DEEP: OnceLock<(u64, u64)> = OnceLock::new();

/// Makes every later step explore for `seconds`, with the seeds that follow from `seed`.
pub(super) fn set_deep(seconds: u64, seed: u64) {
    println!("HEDGEROW_DEEP_SECONDS={seconds} HEDGEROW_SEED={seed}");
    // A second call cannot happen: the command line is read once.
    let _ = DEEP.set((seconds, seed));
}

/// One command of a stage.
#[derive(Clone, Debug)]
pub(super) struct Step {
    program: OsString,
    arguments: Vec<String>,
    folder: PathBuf,
    variables: Vec<(String, String)>,
    advice: Option<String>,
    build_first: bool,
    only_build: bool,
}

impl Step {
    pub(super) fn new(program: impl Into<OsString>, folder: &Path, arguments: &[&str]) -> Step {
        Step {
            program: program.into(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
            folder: folder.to_path_buf(),
            variables: Vec::new(),
            advice: None,
            build_first: false,
            only_build: false,
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

    /// `cargo test` that is to be built on its own before, so that building and testing are timed apart.
    pub(super) fn built_first(mut self) -> Step {
        self.build_first = true;
        self
    }

    /// Nothing but a build: its time counts as such.
    pub(super) fn build_only(mut self) -> Step {
        self.only_build = true;
        self
    }

    pub(super) fn is_build(&self) -> bool {
        self.only_build
    }

    /// The step that builds what this one runs, if it is to be built first.
    pub(super) fn building(&self) -> Option<Step> {
        if !self.build_first {
            return None;
        }
        let mut build = self.clone();
        let to_cargo = build.arguments.iter().position(|a| a == "--").unwrap_or(build.arguments.len());
        build.arguments.truncate(to_cargo);
        build.arguments.push("--no-run".to_owned());
        Some(build)
    }

    /// Runs it to its end, showing its output, and returns the counts found in the standard output.
    pub(super) fn execute(&self) -> Result<Counts, String> {
        let shown = self.shown();
        println!("$ {shown}");
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).stdout(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some((seconds, seed)) = DEEP.get() {
            command.env("HEDGEROW_DEEP_SECONDS", seconds.to_string()).env("HEDGEROW_SEED", seed.to_string());
        }
        let mut child = command.spawn().map_err(|e| format!("cannot run `{shown}`: {e}"))?;
        let mut counts = Counts::default();
        let output = child.stdout.take().map(BufReader::new);
        for line in output.into_iter().flat_map(|reader| reader.split(b'\n')) {
            let line = line.map_err(|e| format!("cannot read the output of `{shown}`: {e}"))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            counts.read(&line);
        }
        let status = child.wait().map_err(|e| format!("cannot wait for `{shown}`: {e}"))?;
        if status.success() {
            return Ok(counts);
        }
        let advice = self.advice.as_ref().map_or(String::new(), |advice| format!("; {advice}"));
        Err(format!("`{shown}`: {status}{advice}"))
    }

    fn shown(&self) -> String {
        let program = Path::new(&self.program).file_name().unwrap_or(&self.program).to_string_lossy();
        let variables = self.variables.iter().map(|(name, value)| format!("{name}='{value}' "));
        variables.collect::<String>() + &program + " " + &self.arguments.join(" ")
    }
}
