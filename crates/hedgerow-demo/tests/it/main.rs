//! Tests of the program as users run it: on tiny streams, with and without planted faults.
#![allow(clippy::disallowed_methods, reason = "tests read what the program wrote")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

const EVENTS: &str = "20000";

fn demo(dir: &Path, arguments: &[&str], fault: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-demo"));
    command.args(["--dir", "out"]).args(arguments).current_dir(dir).env_remove("HEDGEROW_DEMO_FAULT");
    if let Some(fault) = fault {
        command.env("HEDGEROW_DEMO_FAULT", fault);
    }
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the last line of the output. Asserts that this line and the exit status agree about success.
fn last_line(output: &Output) -> String {
    let stdout = text(&output.stdout);
    let last = stdout.lines().last().unwrap_or_default().to_owned();
    let is_ok = last == "demo ok";
    assert_eq!(output.status.success(), is_ok, "{stdout}\n{}", text(&output.stderr));
    assert!(is_ok || last.starts_with("demo FAILED: "), "{stdout}");
    last
}

/// Returns the text of a page without tags, style and commands.
fn shown(page: &str) -> String {
    let (mut text, mut is_hidden) = (String::new(), false);
    for part in page.split('<').skip(1) {
        let (tag, content) = part.split_once('>').unwrap_or((part, ""));
        match tag {
            "style" | "code" => is_hidden = true,
            "/style" | "/code" => is_hidden = false,
            _ => {}
        }
        if !is_hidden {
            text += content;
            text += " ";
        }
    }
    text
}

#[test]
fn a_generated_stream_survives_the_kill() {
    let dir = tempfile::tempdir().unwrap();
    let output = demo(dir.path(), &["--events", EVENTS, "--seed", "5"], None);
    let stdout = text(&output.stdout);
    assert_eq!(last_line(&output), "demo ok", "{stdout}");
    for part in [
        "killed with SIGKILL after",
        "acknowledged transactions plus one subset of",
        "analyst  ",
        "checkpoint  at commit",
        "PageRank equal within",
        "no problems",
        "fsyncs before the kill",
        "recovery after the kill",
    ] {
        assert!(stdout.contains(part), "no {part:?} in\n{stdout}");
    }
    let page = std::fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), 4);
    assert_eq!(page.matches("class=\"mark ").count(), 2, "the kill and the recovery, through all charts");
    for part in
        ["<b>Killed.</b>", "<b>Recovered.</b>", "<td data-head=\"good\">", "make demo DATA=PATH", " cores, "]
    {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    assert!(!page.contains("http") && !page.contains("url("), "the page refers to something outside");
    assert!(shown(&page).contains("20,000"));
    let digits = |text: &str| text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 4);
    assert!(!digits(&shown(&page)), "digits without groups in {}", shown(&page));
    // A second run in the same folder begins a new demo.
    assert_eq!(last_line(&demo(dir.path(), &["--events", EVENTS], None)), "demo ok");
}

#[test]
fn a_lost_commit_is_noticed() {
    for fault in ["extra-ack", "cut-log"] {
        let dir = tempfile::tempdir().unwrap();
        let output = demo(dir.path(), &["--events", EVENTS], Some(fault));
        let last = last_line(&output);
        assert!(last.starts_with("demo FAILED: "), "{fault}: {}", text(&output.stdout));
        assert!(text(&output.stdout).contains("killed with SIGKILL"), "{fault}: {last}");
    }
}

#[test]
fn an_event_log_with_removals_has_string_keys() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = String::from("commit_time,author_id,file_id,op,commit_id\n");
    let mut random = 1u64;
    for commit in 0..1500u64 {
        for _ in 0..=commit % 7 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (author, file) = ((random >> 33) % 40, (random >> 40) % 300);
            let op = if random >> 60 == 0 { 'D' } else { 'M' };
            writeln!(log, "{},{author},{file},{op},{commit}", 1_000 + commit).unwrap();
        }
    }
    let path = dir.path().join("events.csv");
    std::fs::write(&path, log).unwrap();
    let output = demo(dir.path(), &["--data", path.to_str().unwrap()], None);
    assert_eq!(last_line(&output), "demo ok");
    assert!(text(&output.stdout).contains("40 with a:"), "{}", text(&output.stdout));
}

#[test]
fn bad_streams_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let last = last_line(&demo(dir.path(), &["--data", "absent.txt"], None));
    assert!(last.contains("absent.txt"), "{last}");
    std::fs::write(dir.path().join("bad.txt"), "1 2 3\n4 x\n".repeat(40)).unwrap();
    let last = last_line(&demo(dir.path(), &["--data", "bad.txt"], None));
    assert!(last.contains("bad.txt:2"), "{last}");
    let last = last_line(&demo(dir.path(), &["--events", "5"], None));
    assert!(last.contains("too short"), "{last}");
}
