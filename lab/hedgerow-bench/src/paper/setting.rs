//! The setting of a report: the command, the program, the machine, the graph.

use std::time::Instant;

use hedgerow_subjects::Engine;

use super::bench::Bench;
use crate::system::{command, has_event_counters};
use hedgerow_report::today;

/// The facts that a reader needs to make the report again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Setting {
    /// The facts, each with its subject.
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Setting {
    /// Describes a run that began at `begun` and ends now.
    pub(super) fn of(bench: &Bench<'_>, begun: Instant) -> Setting {
        let (options, graph) = (bench.work.options, &bench.work.graph);
        let engines: Vec<&str> = options.engines.iter().copied().map(Engine::name).collect();
        let doubled = if bench.form.directed { "" } else { ", each counted twice" };
        let optimised =
            if cfg!(debug_assertions) { ", built for tests: its figures mean nothing" } else { "" };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let counters = if has_event_counters() { "offers" } else { "does not offer" };
        let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
        Setting {
            facts: vec![
                ("command", command(std::env::args())),
                ("program", format!("hedgerow-bench {}{optimised}", env!("CARGO_PKG_VERSION"))),
                ("day", format!("{} (UTC)", today())),
                (
                    "machine",
                    format!(
                        "{cores} cores, {processor}, {system}, which {counters} counters of the processor's events; this program reads none"
                    ),
                ),
                (
                    "graph",
                    format!(
                        "{}: {} vertices, {} edges{doubled}",
                        graph.name,
                        graph.vertices,
                        bench.edges.len()
                    ),
                ),
                ("threads", format!("{} at most", bench.threads())),
                ("rounds", options.repeat().to_string()),
                ("engines", engines.join(", ")),
                ("time", format!("{:.0} s", begun.elapsed().as_secs_f64())),
            ],
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.facts.iter().try_for_each(|(what, fact)| writeln!(f, "{what:<8} {fact}"))
    }
}
