use super::super::message::Analysis;
use super::*;

/// Returns a run of `seconds` that starts at `from`, with a commit of ten events each `every` seconds. Every
/// fiftieth commit has ten times the latency.
fn run(from: f64, seconds: f64, every: f64) -> Ingested {
    let acks = (1..=(seconds / every).round() as u64).map(|i| Ack {
        at: (i as f64 * every * 1e6) as u64,
        events: 10,
        microseconds: if i.is_multiple_of(50) { 5_000 } else { 500 },
        ..Ack::default()
    });
    let sample = |at| Sample { at, resident_bytes: 4 << 20, store_bytes: 1 << 20, ..Sample::default() };
    let analyses = vec![Analysis { at: from + seconds / 2.0, taken: 0.01, ..Analysis::default() }];
    let samples = vec![sample(from), sample(from + seconds)];
    Ingested { from, to: from + seconds, acks: acks.collect(), samples, analyses, ..Ingested::default() }
}

#[test]
fn windows_share_out_all_commits() {
    for (from, seconds, every) in [(0.0, 20.0, 1e-3), (3.0, 0.3, 1e-3), (1.0, 0.05, 0.05)] {
        let run = run(from, seconds, every);
        let windows: Vec<Window<'_>> = windows(&run, 0.25).collect();
        assert_eq!(windows.iter().map(|w| w.acks.len()).sum::<usize>(), run.acks.len());
        assert!(windows.iter().all(|w| w.middle > from && w.middle < run.to && w.length <= 0.25));
    }
    assert_eq!(windows(&Ingested::default(), 0.25).map(|window| window.acks.len()).sum::<usize>(), 0);
}

#[test]
fn charts_show_both_runs_with_a_gap() {
    let (first, second) = (run(0.0, 10.0, 1e-3), run(12.0, 8.0, 1e-3));
    let runs = [&first, &second];
    let panels = [ingestion(&runs, 20.0), latency(&runs, 20.0), analyst(&runs), memory(&runs)];
    for Panel { title, curves, .. } in &panels {
        for Curve { stretches, .. } in curves {
            let points: Vec<_> = stretches.iter().flatten().collect();
            assert!(stretches.len() == 2 && stretches.iter().all(|s| !s.is_empty()), "{title}");
            assert!(points.iter().all(|(at, _)| *at <= 10.0 || *at >= 12.0), "{title}");
        }
    }
    let rates = panels[0].curves[0].stretches.iter().flatten();
    assert!(rates.clone().count() > 70 && rates.clone().all(|(_, rate)| (rate - 10_000.0).abs() < 100.0));
    let [slow, fast] = [1, 0].map(|i| panels[1].curves[i].stretches[0][3].1);
    assert_eq!((fast, slow), (0.5, 5.0), "p99 and p50 of a window, in ms");
    assert_eq!(
        panels[3].note,
        "At most 4.00 MiB in the process, and 1.00 MiB by the store's own accounting."
    );
}
