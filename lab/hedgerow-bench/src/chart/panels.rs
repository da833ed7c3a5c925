//! Figures as panels: one for each suite, graph and unit, with a group for each metric and a bar for each
//! engine.

use super::words;
use crate::record::Record;
use hedgerow_report::sheet::{Bar, Group, Panel, Tone};

/// The states of a store that metrics of kernels name.
const STATES: [&str; 2] = ["unsettled", "settled"];

/// Returns the panels of the figures. A panel comes at the place of its first figure.
pub(super) fn of(records: &[&Record]) -> Vec<Panel> {
    let mut panels: Vec<Vec<&Record>> = Vec::new();
    for &record in records {
        match panels.iter_mut().find(|panel| is_alike(panel[0], record)) {
            Some(panel) => panel.push(record),
            None => panels.push(vec![record]),
        }
    }
    panels.iter().filter_map(|records| panel(records)).collect()
}

/// True if two figures share an axis.
fn is_alike(a: &Record, b: &Record) -> bool {
    (&a.suite, &a.graph, &a.unit, by_csr(a).is_some()) == (&b.suite, &b.graph, &b.unit, by_csr(b).is_some())
}

/// Returns the ratio to the CSR of a time or a read rate. The times of kernels differ by a factor of a
/// hundred, their ratios by a small factor.
fn by_csr(record: &Record) -> Option<f64> {
    let (to, ratio) = record.ratio.as_ref()?;
    (to == "csr" && ["s", "1/s"].contains(&record.unit.as_str())).then_some(*ratio)
}

fn panel(records: &[&Record]) -> Option<Panel> {
    let is_ratio = by_csr(records[0]).is_some();
    // The ratios of the CSR are 1, and the axis marks this value.
    let shown = || records.iter().filter(|record| !is_ratio || record.engine != "csr");
    let has_threads = shown().any(|record| record.threads != records[0].threads);
    let has_states =
        STATES.iter().all(|state| shown().any(|record| words::split(&record.metric).1 == *state));
    let mut groups: Vec<Group> = Vec::new();
    for record in shown() {
        let label = words::label(record, has_threads);
        let at = groups.iter().position(|group| group.label == label).unwrap_or_else(|| {
            groups.push(Group { label, bars: Vec::new() });
            groups.len() - 1
        });
        groups[at].bars.push(bar(record, has_states));
    }
    let mut what = words::suite(&records[0].suite).to_owned();
    match &mut groups[..] {
        [] => return None,
        [group] => what = std::mem::take(&mut group.label),
        // No group has a second bar: each bar takes the label of its group as its name.
        groups if groups.iter().all(|group| group.bars.len() == 1) => {
            for group in groups {
                group.bars[0].name = std::mem::take(&mut group.label);
            }
        }
        _ => {}
    }
    Some(Panel {
        heading: words::heading(&what, records[0], is_ratio),
        mark: is_ratio.then(|| (1.0, "the static CSR".to_owned())),
        groups,
    })
}

fn bar(record: &Record, has_states: bool) -> Bar {
    let state = words::split(&record.metric).1;
    let is_store = record.engine.starts_with("hedgerow");
    let name = match has_states {
        true => format!("{}, {state}", record.engine),
        false => record.engine.clone(),
    };
    let tone = match (is_store, has_states && state == STATES[0]) {
        (true, false) => Tone::Main,
        (true, true) => Tone::Second,
        (false, _) => Tone::Other,
    };
    let value = by_csr(record).unwrap_or(record.value);
    let text = by_csr(record).map_or_else(|| record.brief(), |ratio| format!("{ratio:.2}"));
    Bar { name, value, text, tone }
}
