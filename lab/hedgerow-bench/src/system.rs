//! The facts of the operating system about this process.

use std::path::Path;
use std::process::Command;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time of the calling thread in seconds.
pub(crate) fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// True if the system offers counters of the processor's events.
pub(crate) fn has_event_counters() -> bool {
    std::path::Path::new("/sys/bus/event_source/devices/cpu").exists()
}

/// Returns arguments as a command line, with the program's name alone instead of its path.
pub(crate) fn command(mut arguments: impl Iterator<Item = String>) -> String {
    let path = arguments.next().unwrap_or_default();
    let name = Path::new(&path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into_owned());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    let quoted = arguments.map(|argument| match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument,
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    });
    std::iter::once(name).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// Returns the class of this machine: its cores, the family of its processor, and its memory; never its name.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| family_in(&text));
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let gibibytes = |bytes: u64| format!(", {} GiB", (bytes as f64 / f64::from(1 << 30)).round());
    let memory = hedgerow_io::machine::memory_bytes().map(gibibytes).unwrap_or_default();
    format!("{cores} cores, {model}{memory}")
}

/// Returns the family of the processor in `/proc/cpuinfo`: the words of its model before the first number.
fn family_in(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let model = line.split_once(':')?.1.replace("(R)", "").replace("(TM)", "");
    let is_of_family = |word: &&str| {
        !word.contains(|c: char| c.is_ascii_digit() || c == '@') && !["CPU", "Processor"].contains(word)
    };
    let words: Vec<&str> = model.split_whitespace().take_while(is_of_family).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns the commit of the checkout with the working directory of the process. A plus means that files
/// differ from the commit. `None` outside of a checkout.
pub(crate) fn commit() -> Option<String> {
    let describe = ["describe", "--always", "--exclude", "*", "--abbrev=8", "--dirty=+"];
    let output = Command::new("git").args(describe).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests;
