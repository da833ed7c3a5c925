//! Tests of streams: each ends in the state that its data set reports, and the generator keeps its promises.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use hedgerow_core::{KeyKind, VertexKey, VertexKeyRef};

use super::{Event, GeneratedConfig, MAX_EVENTS, StreamError, StreamSpec, Totals, Transaction};
use crate::replay::State;
use crate::require_data;

fn replay(spec: &StreamSpec) -> (State, Totals) {
    let mut state = State::new();
    let mut totals = Totals::default();
    for transaction in spec.open().expect("opens") {
        let transaction = transaction.expect("readable");
        assert_eq!(transaction.index, totals.transactions);
        assert!(!transaction.events.is_empty());
        totals.transactions += 1;
        totals.events += transaction.events.len() as u64;
        state.apply(&transaction);
    }
    (state, totals)
}

#[test]
fn math_overflow_ends_as_published() {
    let name = "temporal/snap-sx-mathoverflow/sx-mathoverflow.txt.zst";
    let Some(path) = require_data(name, "end state of sx-mathoverflow").expect("data") else { return };
    let spec = StreamSpec::File(path);
    assert_eq!(spec.key_kind().expect("opens"), KeyKind::U64);
    let (state, totals) = replay(&spec);
    assert_eq!(totals, Totals { transactions: 506_550u64.div_ceil(64), events: 506_550 });
    assert_eq!((state.vertex_count(), state.edge_count()), (24_818, 239_978));
    assert_eq!(state.weight_sum(), 506_550.0);
}

#[test]
fn u_boot_ends_as_published() {
    let name = "temporal/git-u-boot/events.csv.zst";
    let Some(path) = require_data(name, "end state of git-u-boot").expect("data") else { return };
    let spec = StreamSpec::File(path);
    assert_eq!(spec.key_kind().expect("opens"), KeyKind::Str);
    let (state, totals) = replay(&spec);
    assert_eq!(totals, Totals { transactions: 99_906, events: 540_764 });
    let authors = state.vertices().filter(|k| matches!(k, VertexKey::Str(s) if s.starts_with("a:"))).count();
    assert_eq!((authors, state.vertex_count() - authors), (3_873, 38_593));
    assert_eq!(state.edge_count(), 130_325);
    assert_eq!(state.weight_sum(), 334_130.0);
    assert_eq!(spec.totals().expect("readable"), totals);
}

fn transactions(config: &GeneratedConfig) -> Vec<Transaction> {
    let stream = StreamSpec::Generated(config.clone()).open().expect("opens");
    stream.collect::<Result<_, StreamError>>().expect("generated")
}

#[test]
fn generated_streams_keep_their_promises() {
    let config = GeneratedConfig { events: 300_000, ..GeneratedConfig::default() };
    let stream = transactions(&config);
    let sizes: Vec<u64> = stream.iter().map(|t| t.events.len() as u64).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 300_000);
    assert!(sizes.iter().all(|&n| (1..=MAX_EVENTS).contains(&n)));
    assert!(sizes.contains(&1) && sizes.iter().any(|&n| n > 900), "sizes do not span the range");
    let mean = 300_000.0 / sizes.len() as f64;
    assert!((40.0..60.0).contains(&mean), "mean size {mean}");
    let count =
        |wanted: fn(&Event) -> bool| stream.iter().flat_map(|t| &t.events).filter(|e| wanted(e)).count();
    let removed_edges = count(|e| matches!(e, Event::RemoveEdge { .. }));
    let removed_vertices = count(|e| matches!(e, Event::RemoveVertex { .. }));
    assert!((9_000..15_000).contains(&removed_edges), "{removed_edges} edges removed");
    assert!((450..750).contains(&removed_vertices), "{removed_vertices} vertices removed");
    let mut degrees: HashMap<&VertexKey, u64> = HashMap::new();
    stream
        .iter()
        .flat_map(|t| &t.events)
        .flat_map(Event::vertices)
        .for_each(|v| *degrees.entry(v).or_default() += 1);
    let highest = degrees.values().max().copied().unwrap_or(0);
    let mean_degree = 600_000.0 / degrees.len() as f64;
    assert!(highest as f64 > 100.0 * mean_degree, "no hubs: {highest} against a mean of {mean_degree}");
}

#[test]
fn generated_streams_never_change() {
    let config = GeneratedConfig { events: 50_000, seed: 7, ..GeneratedConfig::default() };
    let (state, totals) = replay(&StreamSpec::Generated(config.clone()));
    assert_eq!(transactions(&config), transactions(&config));
    let found = (totals.transactions, state.vertex_count(), state.edge_count(), state.digest());
    assert_eq!(found, FIXED, "a seed must give the same stream in every version");
    let other = replay(&StreamSpec::Generated(GeneratedConfig { seed: 8, ..config })).0;
    assert_ne!(other.digest(), state.digest());
}

/// The numbers of transactions, vertices and edges, and the digest, of 50,000 events with seed 7.
const FIXED: (u64, usize, usize, u64) = (1093, 10_393, 19_908, 15_594_314_053_743_682_029);

#[test]
fn default_stream_is_large_enough() {
    let totals = StreamSpec::Generated(GeneratedConfig::default()).totals().expect("generated");
    assert!(totals.events >= 2_000_000);
    let mean = totals.events as f64 / totals.transactions as f64;
    assert!((45.0..55.0).contains(&mean), "mean size {mean}");
}

#[test]
fn transactions_without_common_vertices_are_frequent() {
    // Two writers can only work in parallel if many pairs of consecutive transactions share no vertex.
    let stream = transactions(&GeneratedConfig { events: 100_000, ..GeneratedConfig::default() });
    let sets: Vec<HashSet<&VertexKey>> =
        stream.iter().map(|t| t.events.iter().flat_map(Event::vertices).collect()).collect();
    let apart = sets.windows(2).filter(|w| w[0].is_disjoint(&w[1])).count();
    assert!(apart * 10 > sets.len() * 8, "{apart} of {} neighbours are apart", sets.len());
}

fn file(name: &str, text: &str) -> (tempfile::TempDir, StreamSpec) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::File::create(&path).and_then(|mut f| f.write_all(text.as_bytes())).expect("written");
    (folder, StreamSpec::File(path))
}

#[test]
fn event_log_rules() {
    let header = "commit_time,author_id,file_id,op,commit_id\n";
    let rows = "1,0,0,A,5\n1,0,1,A,5\n2,1,0,M,6\n3,0,0,M,7\n4,0,0,D,8\n4,0,9,D,8\n5,1,0,M,9\n6,3,8,D,10\n";
    let (_folder, spec) = file("events.csv", &format!("{header}{rows}"));
    let (state, totals) = replay(&spec);
    assert_eq!(totals, Totals { transactions: 6, events: 8 });
    let key = |text| VertexKeyRef::Str(text);
    // File 0 was removed with edges of total weight three, and inserted again. File 9 never existed.
    assert_eq!(state.sorted_vertices().len(), 5);
    assert!(!state.contains(key("f:9")) && !state.contains(key("f:8")));
    assert!(state.contains(key("a:3")), "an author who only deletes is a vertex");
    assert_eq!(state.weight(key("a:1"), key("f:0")), Some(1.0));
    assert_eq!(state.weight(key("a:0"), key("f:0")), None);
    assert_eq!(state.weight(key("a:0"), key("f:1")), Some(1.0));
    let (_folder, spec) = file("events.csv", &format!("{header}1,0,0,A,5\n1,0,0,X,5\n"));
    let results: Vec<_> = spec.open().expect("opens").collect();
    let error = results.into_iter().find_map(Result::err).expect("an error").to_string();
    assert!(error.ends_with("events.csv:3: expected operation A, M, T or D, found \"X\""), "{error}");
}

#[test]
fn plain_edge_files_are_grouped_by_64() {
    let text: String = (0..130).map(|n| format!("{} {} {n}\n", n % 3, n % 2)).collect();
    let (_folder, spec) = file("some.txt", &text);
    let sizes: Vec<usize> = spec.open().expect("opens").map(|t| t.expect("read").events.len()).collect();
    assert_eq!(sizes, [64, 64, 2]);
    let (state, _) = replay(&spec);
    assert_eq!((state.vertex_count(), state.edge_count(), state.weight_sum()), (3, 6, 130.0));
    let (_folder, spec) = file("names.csv", "source,target,weight\nann,bob,2\nbob,ann,1\nann,bob,1\n");
    assert_eq!(spec.key_kind().expect("opens"), KeyKind::Str);
    let (state, _) = replay(&spec);
    assert_eq!(state.weight(VertexKeyRef::Str("ann"), VertexKeyRef::Str("bob")), Some(2.0));
    let (_folder, spec) = file("mixed.txt", "1 2\n3 x\n");
    let error = spec.totals().expect_err("x is no number").to_string();
    assert!(error.ends_with("mixed.txt:2: vertex key is not a number: \"x\""), "{error}");
}
