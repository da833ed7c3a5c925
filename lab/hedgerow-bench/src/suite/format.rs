//! The suite `format`: the lists of the graph's CSR, packed as in segments of a format to come, compared with
//! the plain form of 4 bytes per neighbor, in turns. It measures bytes, encoding, decoding and skipping. For
//! a directed graph these are the outgoing lists; for an undirected graph they have each edge twice.
//!
//! A part has the content of one record of a segment, the lists of 64 vertices. Its neighbors are decoded
//! into a buffer that the next part uses again. The buffer stays in the cache while the bytes come from
//! memory, as from a block just read. The plain form is decoded like today's segments: one copy per part. The
//! encoding of a part includes the choice of its form. A ratio is of times or bytes: less than 1 is better
//! than plain.

use std::hint::black_box;
use std::time::Instant;

use hedgerow::{Direction, Resident, Topology, VertexId};
use hedgerow_core::SUBGRAPH_VERTICES;
use hedgerow_tier::packed::{Bytes, Form, decode_list, encode_list, first_len, skip_list};
use hedgerow_workload::Csr;

use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The lists of one part, for the vertices that have neighbors.
type Part<'a> = Vec<(VertexId, &'a [VertexId])>;

/// The metrics of time, in the order of [`Times`].
const METRICS: [&str; 3] = ["encode.ns_per_edge", "decode.ns_per_edge", "skip.ns_per_edge"];

/// The measurements of each of [`METRICS`].
type Times = [Vec<f64>; 3];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let csr = work.csr()?;
    let parts = parts(&csr);
    let edges = parts.iter().flatten().map(|(_, list)| list.len()).sum::<usize>() as f64;
    let (mut packed, mut plain, mut forms) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of_packed, mut of_plain) = (Times::default(), Times::default());
    // The first round warms up, and its answers are compared.
    for round in 0..=work.options.repeat() {
        let measured = [
            timed(|| write_plain(&parts, &mut plain)),
            timed(|| pack(&parts, &mut packed, &mut forms)),
            timed(|| read_plain(&parts, &plain, used)),
            timed_result(|| unpack(&parts, &packed, &forms, used))?,
            timed_result(|| skip(&parts, &packed))?,
        ];
        if round == 0 {
            compare(&parts, &packed, &plain, &forms)?;
            continue;
        }
        let [write_plain, pack, read_plain, unpack, skip] = measured.map(|seconds| seconds * 1e9 / edges);
        of_packed.iter_mut().zip([pack, unpack, skip]).for_each(|(times, time)| times.push(time));
        of_plain.iter_mut().zip([write_plain, read_plain]).for_each(|(times, time)| times.push(time));
    }
    let bytes = Metric { name: "bytes_per_edge", unit: "bytes", threads: 1 };
    let [packed, plain] = [&packed, &plain].map(|bytes| [bytes.len() as f64 / edges]);
    recorder.add_beside("packed", bytes, &packed, Some(("plain", &plain)))?;
    for ((name, packed), plain) in METRICS.into_iter().zip(&of_packed).zip(&of_plain) {
        let metric = Metric { name, unit: "ns", threads: 1 };
        if !plain.is_empty() {
            recorder.add_beside("plain", metric, plain, Some(("plain", plain)))?;
        }
        let beside = (!plain.is_empty()).then_some(("plain", plain.as_slice()));
        recorder.add_beside("packed", metric, packed, beside)?;
    }
    Ok(())
}

fn parts(csr: &Csr) -> Vec<Part<'_>> {
    let bound = csr.vertex_bound();
    let list = |v: usize| (VertexId(v as u32), csr.neighbors(VertexId(v as u32), Direction::Out).main);
    let part = |from: usize| {
        let lists = (from..bound.min(from + SUBGRAPH_VERTICES)).map(list);
        lists.filter(|(_, list)| !list.is_empty()).collect()
    };
    (0..bound).step_by(SUBGRAPH_VERTICES).map(part).collect()
}

/// Uses decoded lists while time runs, in a way that the compiler does not know.
fn used(lists: &[VertexId]) {
    black_box(lists);
}

fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn timed_result(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn write_plain(parts: &[Part<'_>], out: &mut Vec<u8>) {
    out.clear();
    for (_, list) in parts.iter().flatten() {
        out.extend(list.iter().flat_map(|id| id.0.to_le_bytes()));
    }
}

/// Packs each part in its shorter form.
fn pack(parts: &[Part<'_>], out: &mut Vec<u8>, forms: &mut Vec<Form>) {
    out.clear();
    forms.clear();
    for part in parts {
        let firsts = |form| part.iter().map(|(v, list)| first_len(list[0], *v, form)).sum::<usize>();
        let [absolute, relative] = [false, true].map(|relative| Form { relative, repeats: false });
        let form = if firsts(relative) < firsts(absolute) { relative } else { absolute };
        part.iter().for_each(|(v, list)| encode_list(list, *v, form, out));
        forms.push(form);
    }
}

fn read_plain(parts: &[Part<'_>], bytes: &[u8], mut use_lists: impl FnMut(&[VertexId])) {
    let (mut chunks, _) = bytes.as_chunks();
    let mut lists = Vec::new();
    for part in parts {
        let (own, behind) = chunks.split_at(part.iter().map(|(_, list)| list.len()).sum());
        chunks = behind;
        lists.clear();
        lists.extend(own.iter().map(|id| VertexId(u32::from_le_bytes(*id))));
        use_lists(&lists);
    }
}

fn unpack(
    parts: &[Part<'_>],
    bytes: &[u8],
    forms: &[Form],
    mut use_lists: impl FnMut(&[VertexId]),
) -> Result<()> {
    let mut bytes = Bytes::new(bytes);
    let mut lists = Vec::new();
    for (part, form) in parts.iter().zip(forms) {
        lists.clear();
        for (v, list) in part {
            decode_list(&mut bytes, list.len(), *v, *form, &mut lists)?;
        }
        use_lists(&lists);
    }
    Ok(())
}

fn skip(parts: &[Part<'_>], bytes: &[u8]) -> Result<()> {
    let mut bytes = Bytes::new(bytes);
    for (_, list) in parts.iter().flatten() {
        skip_list(&mut bytes, list.len())?;
    }
    match bytes.remaining() {
        0 => Ok(()),
        left => Err(format!("{left} bytes are left behind the last list").into()),
    }
}

/// Checks that both forms hold the lists of the CSR.
fn compare(parts: &[Part<'_>], packed: &[u8], plain: &[u8], forms: &[Form]) -> Result<()> {
    let mut wrong = 0;
    let expected = parts.iter().map(|part| part.iter().flat_map(|(_, list)| *list));
    let (mut of_packed, mut of_plain) = (expected.clone(), expected);
    let mut check = |list: &[VertexId], expected: Option<_>| {
        wrong += usize::from(!expected.is_some_and(|expected| list.iter().eq::<_>(expected)));
    };
    unpack(parts, packed, forms, |list| check(list, of_packed.next()))?;
    read_plain(parts, plain, |list| check(list, of_plain.next()));
    match wrong {
        0 => Ok(()),
        wrong => Err(format!("{wrong} parts do not come back").into()),
    }
}
