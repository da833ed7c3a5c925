//! Tests of stages: the lines that test programs print, failures, and concurrent programs and stages.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::count::{Counts, Explored};
use super::ledger;
use super::outcome::{Failure, Outcome};
use super::plan::Plan;
use super::processor;
use super::shell::{Output, Step, TestProgram};
use super::{Stage, Way};

fn read(lines: &[&str]) -> Counts {
    let mut counts = Counts::default();
    for line in lines {
        counts.read(line);
    }
    counts
}

#[test]
fn sums_cargo_and_pytest() {
    let counts = read(&[
        "test a ... ok",
        "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "===== 7 passed, 1 skipped in 0.52s =====",
        "1 failed, 4 passed, 2 errors in 3.10s",
        "a line that says 9 passed without being a summary",
    ]);
    assert_eq!((counts.passed, counts.failed), (26, 5));
}

#[test]
fn reads_explored_lines_in_any_place() {
    let counts = read(&[
        "explored: crash states 51,234 (floor 50000)",
        "test kill ... explored: kill cycles 200 (floor 200)",
        "explored: nothing to see",
    ]);
    let expected = |what: &str, count, floor| Explored { what: what.to_owned(), count, floor };
    assert_eq!(
        counts.explored,
        [expected("crash states", 51_234, 50_000), expected("kill cycles", 200, 200)]
    );
}

#[test]
fn a_count_below_its_floor_fails_the_stage() {
    let mut outcome = super::Outcome::default();
    outcome.counts.read("explored: crash states 49999 (floor 50000)");
    outcome.check_floors();
    assert_eq!(outcome.failures.len(), 1);
    let mut silent = super::Outcome::default();
    silent.require_explored();
    assert_eq!(silent.failures.len(), 1);
}

#[test]
fn a_child_that_fails_is_reported_with_the_advice() {
    let root = Path::new(".");
    let stop = AtomicBool::new(false);
    for output in [Output::AsItComes, Output::Together(&stop)] {
        let script = "echo 'explored: x 1 (floor 1)'; echo 'explored: x 2 (floor 1)' >&2; echo 'no line";
        let ended = Step::new("sh", root, &["-c", &format!("{script}'; exit 0")]).execute(output);
        assert!(ended.failure.is_none() && ended.counts.explored.len() == 2);
        let step = Step::new("sh", root, &["-c", "echo '3 passed in 1 s'; exit 3"]).env("A", "b c");
        let ended = step.advice("turn it off and on").execute(output);
        let failure = ended.failure.expect("exit status 3");
        assert!(failure.what.contains("exit status: 3; turn it off and on"), "{failure:?}");
        assert_eq!(failure.repeat, r"A='b c' sh -c 'echo '\''3 passed in 1 s'\''; exit 3'");
        assert_eq!(ended.counts.passed, 3, "what a child did before it failed counts");
        assert!(Step::new("there-is-no-such-program", root, &[]).execute(output).failure.is_some());
    }
}

#[test]
fn the_processor_time_of_a_child_counts_what_it_waited_for() {
    let line = |state: &str| format!("7 (a) b) {state} 1 2 3 4 5 6 7 8 9 10 100 20 3000 4 20 0");
    let time = std::time::Duration::from_millis(31_240);
    assert_eq!(processor::parse(&line("S")), Some((processor::State::Runs, time)));
    assert_eq!(processor::parse(&line("Z")), Some((processor::State::Ended, time)));
    assert_eq!(processor::parse("7 (a) Z 1"), None);
    let busy = "n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done";
    let ended = Step::new("sh", Path::new("."), &["-c", &format!("sh -c '{busy}'; {busy}")]);
    let ended = ended.execute(Output::AsItComes);
    assert!(!cfg!(target_os = "linux") || ended.processor > std::time::Duration::ZERO);
}

#[test]
fn what_is_built_beside_tests_ends_when_one_of_them_has_failed() {
    let stop = AtomicBool::new(true);
    let endless = Step::new("sh", Path::new("."), &["-c", "echo begun; exec sleep 1000"]);
    assert!(endless.execute(Output::Together(&stop)).failure.is_some());
}

#[test]
fn the_build_of_a_test_step_leaves_the_arguments_of_the_tests_away() {
    let step =
        Step::cargo(Path::new("."), &["test", "--locked", "--lib", "--test", "it", "--", "--nocapture"]);
    let (build, run) = step.built_and_run();
    assert_eq!(format!("{build:?}").matches("--no-run").count(), 1);
    assert!(!format!("{build:?}").contains("nocapture"));
    let line = r#"{"reason":"compiler-artifact","manifest_path":"/a/b/Cargo.toml","target":{"kind":["test"],"name":"it"},"profile":{"test":TEST},"executable":"/t/it-0"}"#;
    let program = TestProgram::parse(&line.replace("TEST", "true")).expect("a test program");
    assert!(
        format!("{:?}", run.of(&program))
            .contains(r#"program: "/t/it-0", arguments: ["--nocapture"], folder: "/a/b""#)
    );
    assert_eq!(TestProgram::parse(&line.replace("TEST", "false")), None);
    assert_eq!(TestProgram::parse("{}"), None);
}

/// One program fails like the test harness, another one like pytest.
#[test]
fn a_failure_names_its_tests_and_the_command_that_repeats_them() {
    let root = Path::new(".");
    let failing = |output: &str| format!("printf '{output}'; exit 101");
    let line = r#"{"reason":"compiler-artifact","manifest_path":"/Cargo.toml","target":{"kind":["test"],"name":"it"},"profile":{"test":true},"executable":"/bin/sh"}"#;
    let ends = r"failures:\n\n---- a::b stdout ----\n    x\n\nfailures:\n    a::b\n    c\n\ntest result: FAILED. 3 passed; 2 failed;";
    let step = Step::new("sh", root, &["-c", &format!("echo '{line}'; : "), "--", "-c", &failing(ends)]);
    let outcome = Plan::default().test(step).built(Output::AsItComes).outcome(Output::AsItComes);
    let [failure] = outcome.failures.as_slice() else { panic!("{outcome:?}") };
    assert!(failure.what.ends_with(": a::b, c"), "{failure:?}");
    assert!(failure.repeat.ends_with("--test it -- --nocapture --exact a::b c"), "{failure:?}");
    let ends = r"FAILED python/tests/a.py::b[c] - KeyError: 1\nSKIPPED [1] python/tests/a.py:3: no cc\n";
    let ended = Step::new("sh", root, &["-c", &failing(ends), "pytest"]).execute(Output::AsItComes);
    let repeat = ended.failure.expect("it fails").repeat;
    assert_eq!(repeat, ".venv/bin/python -m pytest 'python/tests/a.py::b[c]'");
    assert_eq!(ended.counts.skipped, ["[1] python/tests/a.py:3: no cc"]);
}

#[test]
fn skipped_tests_and_stages_are_failures_where_skips_are_refused() {
    let mut outcome = Outcome { absent: Some("no target".to_owned()), ..Outcome::default() };
    outcome.counts.read("skipped: crash images of ext4 (no loop device)");
    super::refuse_skips(&mut outcome);
    let failures: Vec<&str> = outcome.failures.iter().map(|failure| failure.what.as_str()).collect();
    assert!(failures[0].ends_with("crash images of ext4 (no loop device)"), "{failures:?}");
    assert!(failures[1].ends_with("no target") && failures.len() == 2, "{failures:?}");
}

#[test]
fn the_summary_says_in_words_what_was_explored_skipped_and_failed() {
    let mut crash = Outcome::default();
    crash.counts.read("explored: crash states 54677 (floor 50000)");
    crash.counts.read("skipped: crash images of ext4 (no loop device)");
    crash.counts.read("test result: ok. 7 passed; 0 failed;");
    let mut unit = Outcome::default();
    unit.failures.push(Failure { what: "it: a::b".to_owned(), repeat: "cargo test -- a::b".to_owned() });
    unit.failures.push(Failure::of_stage("nothing was explored"));
    let text = super::summary::text(&[("crash", crash), ("unit", unit)]);
    for part in [
        "crash: 54,677 crash states (at least 50,000)",
        "crash: crash images of ext4 (no loop device)",
        "passed, 1 SKIPPED",
        "unit: it: a::b\n    repeat it: cargo test -- a::b",
        "unit: nothing was explored\n    repeat it: make test STAGE=unit",
        "\n7 passed, 2 failed, 1 skipped\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn a_stage_runs_what_it_built_and_is_judged() {
    let sh = |script: &str| Step::new("sh", Path::new("."), &["-c", script]);
    let ran = |plan: Plan| plan.built(Output::AsItComes).outcome(Output::AsItComes);
    let line = r#"{"reason":"compiler-artifact","manifest_path":"/Cargo.toml","profile":{"test":true},"executable":"/bin/echo"}"#;
    let tests = || Plan::default().test(sh(&format!("echo '{line}'; : ")));
    assert!(ran(tests()).failures.is_empty());
    let judged = ran(tests().judged_by(Outcome::require_explored));
    assert_eq!(judged.failures.len(), 1, "nothing was explored");
    let nothing_built = ran(Plan::default().test(sh(": ")));
    assert_eq!(nothing_built.failures, [Failure::of_stage("there is no test program")]);
    let failed = ran(Plan::default().build(sh("exit 1")).call(|| panic!("not after a failed build")));
    assert_eq!(failed.failures.len(), 1);
    let both = ran(Plan::default().run(sh("exit 1")).run(sh("exit 2")));
    assert_eq!(both.failures.len(), 2, "a run that failed keeps no other from running");
    let low = ran(Plan::default().run(sh("echo 'explored: x 1 (floor 2)'")));
    assert_eq!(low.failures.len(), 1);
}

/// Two programs each wait until the other one begins, and there is a third one. If programs ran one after
/// another, the first would wait for ever.
#[test]
fn the_programs_of_a_stage_run_two_at_a_time() {
    let folder = std::env::temp_dir().join(format!("hedgerow-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ran = |names: &[&str], script: &str| {
        let line = |name: &&str| {
            let (manifest, program) = (folder.join(name).join("Cargo.toml"), "/bin/sh");
            std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":{manifest:?},"profile":{{"test":true}},"executable":{program:?}}}"#
            )
        };
        let lines = names.iter().map(line).collect::<Vec<_>>().join("\n");
        // `sh` also runs the build: it prints the messages, and ignores the options for cargo.
        let step = Step::new("sh", &folder, &["-c", &format!("echo '{lines}'; : "), "--", "-c", script]);
        Plan::default().test(step).built(Output::AsItComes).outcome(Output::AsItComes)
    };
    let meet = "touch ../begun-${PWD##*/}; n=0; until [ -e ../begun-a ] && [ -e ../begun-b ]; do n=$((n+1)); \
                [ $n -lt 6000 ] || exit 1; sleep 0.1; done; echo 'explored: programs 1 (floor 1)'";
    let met = ran(&["a", "b", "c"], meet);
    assert_eq!((met.failures, met.counts.explored.len()), (Vec::new(), 3));
    let failed = ran(&["d", "e", "f"], "touch ../begun-${PWD##*/}; exit 7");
    assert_eq!(failed.failures.len(), 3, "all programs run, whatever fails");
    assert!(failed.failures[0].what.contains("exit status: 7"), "{:?}", failed.failures);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Two stages each wait until the other one begins. One stage fails, one would run for long, and there is a
/// last one.
#[test]
fn stages_run_two_at_a_time_and_the_first_failure_ends_them_if_asked() {
    static FOLDER: std::sync::LazyLock<std::path::PathBuf> = std::sync::LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("hedgerow-stages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    fn sh(script: &str) -> Plan {
        Plan::default().run(Step::new("sh", &FOLDER, &["-c", script]))
    }
    const MEET: &str =
        "n=0; until [ -e a ] && [ -e b ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 1; sleep 0.1; done";
    const FIRST: [Stage; 3] = [
        Stage { name: "a", plan: |_, _| sh(&format!("touch a; {MEET}")) },
        Stage { name: "b", plan: |_, _| sh(&format!("touch b; {MEET}")) },
        Stage { name: "c", plan: |_, _| sh("until [ -e d ]; do sleep 0.1; done; exit 7") },
    ];
    const LONG: Stage =
        Stage { name: "d", plan: |_, _| sh("touch d; while true; do echo waiting; sleep 0.1; done") };
    const SHORT: Stage = Stage { name: "d", plan: |_, _| sh("touch d") };
    const LAST: Stage = Stage { name: "e", plan: |_, _| sh("touch e") };
    let workspace = crate::metadata::load(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let run = |fourth: &Stage, fail_fast: bool| -> Vec<String> {
        let mut told = Vec::new();
        let mut ended = |name: &str, outcome: &Outcome| {
            let failed = if outcome.failures.is_empty() { "" } else { " failed" };
            told.push(format!("{name}{failed}"));
            Ok(())
        };
        let stages: Vec<&Stage> = FIRST.iter().chain([fourth, &LAST]).collect();
        let way = Way { at_once: 2, fail_fast };
        let done = super::perform(&FOLDER, &workspace, &stages, &way, &mut ended).unwrap();
        assert_eq!(done.len(), told.len());
        told.sort();
        told
    };
    assert_eq!(run(&LONG, true), ["a", "b", "c failed"]);
    assert!(!FOLDER.join("e").exists(), "a stage began after another had failed");
    std::fs::remove_file(FOLDER.join("d")).unwrap();
    assert_eq!(run(&SHORT, false), ["a", "b", "c failed", "d", "e"]);
    std::fs::remove_dir_all(&*FOLDER).unwrap();
}

#[test]
fn unknown_stages_and_options_are_refused() {
    let root = Path::new(".");
    assert!(super::run(root, &["nonsense"]).is_err());
    assert!(super::run(root, &["--nonsense"]).is_err());
    assert!(super::run_deep(root, &["--stage", "fmt"]).is_err());
    assert!(super::run_deep(root, &["--stage"]).is_err());
    assert!(super::run_deep(root, &["--seconds", "soon"]).is_err());
    assert!(super::run_deep(root, &["--minutes", "3"]).is_err());
}

#[test]
fn the_ledger_sums_what_passed_and_gives_every_run_a_new_seed() {
    let root = std::env::temp_dir().join(format!("hedgerow-ledger-{}", std::process::id()));
    std::fs::create_dir_all(root.join("docs")).unwrap();
    assert_eq!(ledger::read(&root), Ok(Vec::new()));
    let mut outcome = super::Outcome::default();
    outcome.counts.read("explored: crash states 500 (floor 1)");
    outcome.counts.read("explored: kills 3 (floor 1)");
    for seed in [7, 8] {
        ledger::append(&root, "crash", seed, &outcome).unwrap();
    }
    outcome.failures.push(Failure::of_stage("planted"));
    ledger::append(&root, "crash", 20, &outcome).unwrap();
    let entries = ledger::read(&root).unwrap();
    assert_eq!(entries.len(), 6);
    let of = |what: &str| ("crash".to_owned(), what.to_owned());
    let totals = ledger::totals(&entries);
    assert_eq!(totals.get(&of("crash states")), Some(&(1_000, 2)));
    assert_eq!(totals.get(&of("kills")), Some(&(6, 2)));
    assert_eq!((ledger::unused_seed(&entries, 5), ledger::unused_seed(&entries, 90)), (21, 90));
    std::fs::write(root.join(ledger::LEDGER), "no table\n").unwrap();
    assert!(ledger::read(&root).is_err());
    std::fs::remove_dir_all(&root).unwrap();
}
