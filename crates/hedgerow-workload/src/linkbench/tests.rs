use std::path::Path;

use super::degrees::degrees_of;
use super::graph::Skews;
use super::properties::Properties;
use super::shuffle::Shuffle;
use super::zipf::Zipf;
use super::{FOLDER, LinkBench, LinkBenchError, Mix, Request, Requests};
use crate::require_data;
use crate::rng::Rng;

fn lines(text: &str) -> impl Iterator<Item = std::io::Result<String>> {
    text.lines().map(|line| Ok(line.to_owned()))
}

fn degrees(text: &str, nodes: u64) -> Result<Vec<u32>, LinkBenchError> {
    degrees_of(lines(text), Path::new("degrees"), nodes)
}

#[test]
fn a_shuffle_is_a_permutation_and_its_inverse() {
    for bound in [2, 3, 64, 65, 1000] {
        let shuffle = Shuffle::new(bound, 7);
        let mut seen = vec![false; bound as usize];
        for place in 0..bound {
            let number = shuffle.at(place);
            assert_eq!(shuffle.place_of(number), place);
            assert!(!std::mem::replace(&mut seen[number as usize], true), "{number} of {bound} twice");
        }
    }
}

/// The counts of the first twenty numbers, and of all other numbers together, are within five standard
/// deviations of a binomial distribution.
#[test]
fn zipf_draws_numbers_as_often_as_it_says() {
    const DRAWS: u32 = 100_000;
    for exponent in [0.0, 0.606, 0.8, 1.0, 1.5] {
        let (bound, mut rng) = (1000u64, Rng::new(3));
        let zipf = Zipf::new(bound, exponent);
        let density: Vec<f64> = (1..=bound).map(|k| (k as f64).powf(-exponent)).collect();
        let all: f64 = density.iter().sum();
        let mut counts = vec![0u32; bound as usize];
        (0..DRAWS).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1);
        let is_near = |found: u32, share: f64| {
            let (mean, deviation) =
                (share * f64::from(DRAWS), (f64::from(DRAWS) * share * (1.0 - share)).sqrt());
            assert!(
                (f64::from(found) - mean).abs() < 5.0 * deviation + 1.0,
                "{found}, expected {mean}, by {exponent}"
            );
        };
        (0..20).for_each(|k| is_near(counts[k], density[k] / all));
        is_near(counts[20..].iter().sum(), density[20..].iter().sum::<f64>() / all);
    }
}

#[test]
fn degrees_follow_the_percentages() {
    let text = "other\n5 10\nnlinks\n0 50\n1 75.0\n9 100\nmore\n3 20\n";
    assert_eq!(degrees(text, 4).unwrap(), [9, 1, 0, 0]);
    assert_eq!(degrees("nlinks\n2 90", 2).unwrap(), [2, 2], "what is left over has the last value");
}

#[test]
fn bad_descriptions_are_errors_that_name_the_line() {
    let error = |text| degrees(text, 10).unwrap_err().to_string();
    assert_eq!(error("nlinks\n0 50\n1 x\n"), "degrees, line 3: not a value and a percentage: 1 x");
    assert_eq!(
        error("nlinks\n3 50\n1 60\n"),
        "degrees, line 3: 1 60 after 3 50: values and percentages ascend"
    );
    assert_eq!(error("nlinks\n3 500\n"), "degrees, line 2: 3 500 after 0 0: values and percentages ascend");
    assert_eq!(error("others\n3 50\n"), "degrees: no section nlinks");
    let properties = Properties::of("# addlink = 1\na = 1\nb=-1\n", Path::new("properties"));
    assert_eq!(properties.number("addlink").unwrap_err().to_string(), "properties: no addlink");
    assert_eq!(
        properties.number("b").unwrap_err().to_string(),
        "properties, line 3: b is -1, not a number from 0 on"
    );
    assert_eq!(properties.number("a").unwrap(), 1.0);
    assert!(matches!(LinkBench::load(Path::new("/nowhere"), 10), Err(LinkBenchError::Io { .. })));
}

fn small() -> LinkBench {
    LinkBench {
        nodes: 100,
        types: 2,
        degrees: (0..100u32).rev().collect(),
        by_degree: Shuffle::new(100, 1),
        by_demand: Shuffle::new(100, 2),
        skews: Skews {
            link_reads: 0.8,
            link_writes: 0.7,
            node_reads: 0.6,
            node_updates: 0.6,
            unrelated_reads: 0.5,
            unrelated_writes: 0.5,
        },
        mix: Mix::tao(),
        link_bytes: 8.0,
        node_bytes: 128.0,
    }
}

#[test]
fn links_of_all_types_are_those_of_the_node() {
    let bench = small();
    let of = |node| bench.links_of(node, 0) + bench.links_of(node, 1);
    let mut all: Vec<u64> = (0..100).map(of).collect();
    all.sort_unstable();
    assert_eq!(all, (0..100).collect::<Vec<u64>>());
    assert_eq!(bench.links(), 99 * 100 / 2);
    assert_eq!(bench.target(99, 3), 2);
    assert_eq!(bench.node_data(4), bench.node_data(4));
}

#[test]
fn requests_are_in_range_and_their_kinds_as_often_as_the_mix_says() {
    const COUNT: usize = 50_000;
    let bench = small();
    let mut requests = Requests::new(&bench, Mix::tao(), 0);
    let (mut lists, mut reads) = (0, 0);
    for _ in 0..COUNT {
        let request = requests.next_request();
        match &request {
            Request::PutLink { link: (src, kind, dst), .. } | Request::DeleteLink((src, kind, dst)) => {
                assert!(*src < 100 && *kind < 2 && *dst < 100);
            }
            Request::GetLinks(src, kind, targets) => {
                assert!(
                    *src < 100 && *kind < 2 && !targets.is_empty() && targets.iter().all(|&dst| dst < 100)
                );
            }
            Request::CountLinks(src, kind) | Request::GetLinkList(src, kind) => {
                assert!(*src < 100 && *kind < 2)
            }
            Request::UpdateNode(node, _) | Request::DeleteNode(node) | Request::GetNode(node) => {
                assert!(*node < 100);
            }
            Request::AddNode(_) => {}
        }
        lists += usize::from(matches!(request, Request::GetLinkList(..)));
        reads += usize::from(matches!(
            request,
            Request::GetLinkList(..) | Request::GetLinks(..) | Request::CountLinks(..) | Request::GetNode(_)
        ));
    }
    let share = |count: usize| count as f64 / COUNT as f64;
    assert!((share(lists) - 0.436).abs() < 0.02 && (share(reads) - 0.998).abs() < 0.002, "{lists}, {reads}");
}

#[test]
fn the_measured_distributions_are_read() {
    let Some(folder) = require_data(FOLDER, "LinkBench").unwrap() else { return };
    let bench = LinkBench::load(&folder, 10_000).unwrap();
    assert_eq!((bench.nodes(), bench.types()), (10_000, 2));
    // 45.3 % of the nodes have no links.
    let without = (0..10_000).filter(|&node| bench.links_of(node, 0) == 0).count();
    assert_eq!(without, 4533);
    let mut requests = Requests::new(&bench, bench.mix(), 1);
    let writes = (0..10_000)
        .filter(|_| {
            !matches!(
                requests.next_request(),
                Request::GetLinkList(..)
                    | Request::GetLinks(..)
                    | Request::CountLinks(..)
                    | Request::GetNode(_)
            )
        })
        .count();
    assert!((2900..3300).contains(&writes), "LinkBench has 31 % writes, here {writes} of 10,000");
}
