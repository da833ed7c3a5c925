//! Lists of one length: the study's synthetic data, sets of uniform size. One sweep varies the length on all
//! engines. One varies the size of blocks on the containers with such a parameter. One varies the share of
//! neighbours with several versions.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hedgerow_core::{Capability, VertexId};
use hedgerow_lab::GraphForm;
use hedgerow_subjects::{Edge, Reader, Share, Subject, fixed, open};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions};

use super::super::bench::{Bench, ends, on, shown};
use super::forms::blocks;
use crate::record::Record;
use crate::suite::{Measured, check_count};
use hedgerow_report::failure::Result;

/// The time limit for one kind of reads.
const LIMIT: Duration = Duration::from_millis(300);
/// The number of reads between two looks at the clock.
const STRETCH: usize = 64;
/// The lengths of lists, as powers of two.
const LENGTHS: [u32; 5] = [4, 8, 10, 12, 16];
/// The length of lists in the sweeps of other parameters, as a power of two.
const LENGTH: u32 = 12;
/// The number of elements in all sets together, as a power of two: without `--quick`, and with it. It is
/// never more than the number of edges of the graph.
const ELEMENTS: (u32, u32) = (22, 18);
/// The percentages of neighbours with several versions.
const SHARES: [usize; 3] = [2, 8, 32];
/// The number of versions in addition to the newest one; a snapshot keeps each of them.
const VERSIONS: usize = 3;
/// A directed graph, so that reads do not include the lists of elements. All engines alike write these lists.
const FORM: GraphForm = GraphForm { directed: true, weighted: false };

/// Sets of `1 << length` elements each.
struct Sets {
    vertices: usize,
    owners: usize,
    length: usize,
    /// The edges, in random order.
    edges: Vec<Edge>,
    /// The edges to search for, and the lists to read.
    searched: Vec<(VertexId, VertexId)>,
    scanned: Vec<VertexId>,
    limit: Duration,
}

impl Sets {
    fn draw(bench: &Bench<'_>, length: u32) -> Sets {
        let most = bench.edges.len().max(2).ilog2();
        let power = most.min(if bench.quick { ELEMENTS.1 } else { ELEMENTS.0 });
        let (vertices, length): (usize, usize) = (1 << power, 1 << length.min(power));
        let owners = (vertices / length).max(1);
        let mut rng = Rng::part(17, length as u64);
        let mut edges = Vec::with_capacity(vertices);
        for owner in 0..owners as u32 {
            // One element from each of `length` equal ranges: the elements are distinct without a comparison.
            let range = (vertices / length) as u64;
            let element = |nth: usize| VertexId((nth as u64 * range + rng.below(range)) as u32);
            edges.extend((0..length).map(element).map(|element| (VertexId(owner), element, 1.0)));
        }
        hedgerow_workload::shuffle(&mut edges, 19);
        let searched = ends(&edges);
        let mut rng = Rng::new(23);
        let scanned = (0..owners).map(|_| VertexId(rng.below(owners as u64) as u32)).collect();
        let limit = bench.work.while_of(LIMIT);
        Sets { vertices, owners, length, edges, searched, scanned, limit }
    }

    fn name(&self) -> String {
        format!("{} sets of {}", self.owners, self.length)
    }

    fn csr(&self) -> Result<Box<dyn Subject>> {
        let edges: Vec<(u32, u32)> = self.edges.iter().map(|edge| (edge.0.0, edge.1.0)).collect();
        let options = CsrOptions { directed: true, ..CsrOptions::default() };
        Ok(fixed(Csr::from_edges(self.vertices, &edges, &options)?))
    }
}

/// Measures insertions, searches and scans by the length of lists.
pub(super) fn lengths(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let engines: Vec<_> = bench.work.options.engines.iter().map(|engine| (engine.name(), *engine)).collect();
    let mut records = Vec::new();
    for length in LENGTHS {
        let sets = Sets::draw(bench, length);
        let fixed = sets.csr()?;
        let (label, rounds) = (format!("|N|={}", sets.length), bench.work.options.repeat());
        let of_length = bench.rounds("sets", rounds, engines.clone(), |name, &engine, measured| {
            if name == "csr" {
                return reads(&sets, &*fixed.snapshot()?, name, &label, measured);
            }
            all(&sets, &*open(engine, FORM)?, name, &label, measured)
        })?;
        records.extend(on(&sets.name(), of_length));
    }
    Ok(records)
}

/// Measures insertions, searches and scans by the size of blocks, on containers with such a parameter.
pub(super) fn block_sizes(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let sets = Sets::draw(bench, LENGTH);
    let forms = blocks(bench)?.into_iter().map(|form| (form.container, form)).collect();
    let records = bench.rounds("blocks", bench.work.options.repeat(), forms, |name, form, measured| {
        all(&sets, &*(form.new)(FORM), name, &format!("|B|={}", form.block()), measured)
    })?;
    Ok(on(&sets.name(), records))
}

/// Measures searches and scans by the share of neighbours with several versions.
pub(super) fn versions(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let sets = Sets::draw(bench, LENGTH);
    let engines = bench.engines().into_iter().map(|engine| (engine.name(), engine)).collect();
    let rounds = bench.work.options.repeat();
    let records = bench.rounds("versions", rounds, engines, |name, &engine, measured| {
        for share in [0].into_iter().chain(SHARES) {
            let subject = open(engine, FORM)?;
            if !bench.is_able("versions", name, &*subject, Capability::Versions) {
                return Ok(());
            }
            subject.insert_vertices(sets.vertices)?;
            subject.insert(Share::all(&sets.edges))?;
            let changed = &sets.edges[..sets.edges.len() * share / 100];
            let mut held = Vec::new();
            for _ in 0..VERSIONS {
                held.push(subject.snapshot()?);
                subject.remove(Share::all(changed))?;
                subject.insert(Share::all(changed))?;
            }
            reads(&sets, &*subject.snapshot()?, name, &format!("versions={share}"), measured)?;
            drop(held);
        }
        Ok(())
    })?;
    Ok(on(&sets.name(), records))
}

fn all(
    sets: &Sets,
    subject: &dyn Subject,
    name: &'static str,
    label: &str,
    measured: &mut Measured,
) -> Result<()> {
    subject.insert_vertices(sets.vertices)?;
    let begun = Instant::now();
    subject.insert(Share::all(&sets.edges))?;
    let seconds = begun.elapsed().as_secs_f64();
    let bytes = subject.memory_bytes() as f64 / sets.edges.len() as f64;
    let rate = sets.edges.len() as f64 / (seconds + shown(subject)?);
    measured.add(name, format!("insert {label}"), "edges/s", 1, rate);
    measured.add(name, format!("memory {label}"), "bytes/edge", 1, bytes);
    check_count(subject, sets.edges.len(), name)?;
    reads(sets, &*subject.snapshot()?, name, label, measured)
}

fn reads(
    sets: &Sets,
    snapshot: &dyn Reader,
    name: &'static str,
    label: &str,
    measured: &mut Measured,
) -> Result<()> {
    let searches =
        for_a_while(sets.limit, &sets.searched, |asked| match snapshot.search(asked) == asked.len() {
            true => Ok(asked.len()),
            false => Err(format!("{name} does not find all edges").into()),
        })?;
    measured.add(name, format!("search {label}"), "edges/s", 1, searches);
    let scans = for_a_while(sets.limit, &sets.scanned, |owners| {
        let (read, sum) = snapshot.visit(owners)?;
        black_box(sum);
        match read == owners.len() * sets.length {
            true => Ok(read),
            false => Err(format!("{name} reads {read} neighbours of {} lists", owners.len()).into()),
        }
    })?;
    measured.add(name, format!("scan {label}"), "edges/s", 1, scans);
    Ok(())
}

/// Calls `read` with one stretch at a time, over and over until the limit. Returns the number of items that
/// it reads in a second.
fn for_a_while<T>(limit: Duration, asked: &[T], read: impl Fn(&[T]) -> Result<usize>) -> Result<f64> {
    let begun = Instant::now();
    let mut done = 0;
    for stretch in asked.chunks(STRETCH).cycle() {
        done += read(stretch)?;
        if begun.elapsed() >= limit {
            break;
        }
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}
