//! Tests of loads that a signal ends: a new store is removed, and for an existing store the load reports its
//! commits.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::{Bench, field, hedgerow, program};

/// The limit of each wait. It is much longer than any wait of these tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a load in many transactions.
fn begin(store: &Path, file: &Path) -> Child {
    let mut call = program();
    call.args(["load", "--batch", "10"]).arg(store).arg(file);
    call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send(child: &Child, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

fn end(mut child: Child) -> (Option<i32>, String) {
    let mut err = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
    (child.wait().expect("it ends").code(), err)
}

#[test]
fn an_interrupted_load_leaves_no_new_store() {
    let bench = Bench::new();
    // Enough rows that a signal arrives before the last row is loaded.
    let rows: String = (0..400_000_u64).map(|i| format!("{i},{}\n", i * 7919 % 100_003)).collect();
    let file = bench.file("a.csv", rows);
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let child = begin(&bench.store(), &file);
        wait_until("the load begins", || bench.store().exists());
        send(&child, signal);
        let (found, err) = end(child);
        assert_eq!(found, Some(status), "{err}");
        assert!(err.starts_with("error: interrupted by signal "), "{err}");
        assert_eq!(bench.names(), ["a.csv"]);
    }
    // The existing store remains sound, with whole transactions.
    hedgerow("load @ @", &[&bench.store(), &bench.file("b.csv", "4000000,4000001\n")]).ok();
    let edges = || field(&hedgerow("stats @ --json", &[&bench.store()]).ok(), "edges");
    let child = begin(&bench.store(), &file);
    std::thread::sleep(Duration::from_millis(300));
    send(&child, "-INT");
    let (found, err) = end(child);
    assert_eq!(found, Some(130), "{err}");
    let committed = err.split_whitespace().find_map(|word| word.parse::<u64>().ok().filter(|n| n % 10 == 0));
    assert_eq!(edges(), committed.unwrap_or(0) + 1, "{err}");
    assert_eq!(field(&hedgerow("check @ --json", &[&bench.store()]).ok(), "sound"), true);
}
