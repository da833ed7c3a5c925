//! The containers in all their forms: the structure alone, the structure with versions, and the whole. The
//! cost model of the study divides the cost of an operation among these. The switches of ablations are forms
//! too.

use std::time::Instant;

use hedgerow_core::{Capability, VertexId};
use hedgerow_lab::forms::FormKind;
use hedgerow_subjects::{Edge, Engine, Form, Kernel, Share, Subject, forms};
use hedgerow_workload::rng::Rng;

use super::super::bench::{Bench, ends};
use super::kernels::{must_agree, once};
use crate::record::Record;
use crate::suite::{Measured, check_count, sources, timed};
use hedgerow_report::failure::Result;

/// The number of kernels to run on forms.
const KERNELS: usize = 5;

/// Returns the forms of the requested engines that differ in the size of their blocks.
pub(super) fn blocks(bench: &Bench<'_>) -> Result<Vec<Form>> {
    of_engines(bench, |form| form.block() > 0)
}

fn of_engines(bench: &Bench<'_>, is_wanted: impl Fn(&Form) -> bool) -> Result<Vec<Form>> {
    let engines: Vec<&str> = bench.engines().into_iter().map(Engine::name).collect();
    Ok(forms()?.into_iter().filter(|form| engines.contains(&form.container) && is_wanted(form)).collect())
}

/// Measures the forms of the requested engines, except the forms with another size of blocks.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Record>> {
    let sources = sources(&bench.work.csr()?);
    let fixed = bench.csr()?;
    let kernels = &Kernel::ALL[..KERNELS];
    let expected = once(&*fixed, "csr", kernels, &sources, 1, &mut Measured::default())?;
    let mut forms: Vec<(&'static str, Option<Form>)> = vec![("csr", None)];
    let others = of_engines(bench, |form| form.block() == 0)?.into_iter();
    forms.extend(others.map(|form| (form.name, Some(form))));
    let searched = searched(bench);
    let count = bench.directed(bench.edges.len());
    bench.rounds("forms", bench.work.options.repeat(), forms, |name, form, measured| {
        let made;
        let subject = match form {
            None => &*fixed,
            Some(form) => {
                made = (form.new)(bench.form);
                insert(bench, &*made, (name, form.kind), measured)?;
                &*made
            }
        };
        measured.add(name, "memory", "bytes/edge", 1, subject.memory_bytes() as f64 / count);
        reads(subject, &searched, name, measured)?;
        let answers = once(subject, name, kernels, &sources, 1, measured)?;
        must_agree(name, &expected, &answers)
    })
}

fn searched(bench: &Bench<'_>) -> Vec<(VertexId, VertexId)> {
    let mut rng = Rng::new(29);
    let edge = |_| bench.edges[rng.below(bench.edges.len() as u64) as usize];
    ends(&(0..bench.edges.len()).map(edge).collect::<Vec<Edge>>())
}

fn insert(
    bench: &Bench<'_>,
    subject: &dyn Subject,
    (name, kind): (&'static str, FormKind),
    measured: &mut Measured,
) -> Result<()> {
    subject.insert_vertices(bench.work.graph.vertices)?;
    let is_shared = kind == FormKind::Whole && !subject.lacks(Capability::ParallelWriters);
    let writers = if is_shared { bench.threads() } else { 1 };
    // One writer inserts the first half: all forms have this rate.
    let (first, second) = bench.edges.split_at(bench.edges.len() / 2);
    let seconds = timed(1, |_| subject.insert(Share::all(first)))?;
    measured.add(name, "insert", "edges/s", 1, bench.directed(first.len()) / seconds);
    let seconds = timed(writers, |nth| subject.insert(Share::of(second, nth, writers)))?;
    if writers > 1 {
        measured.add(name, "insert", "edges/s", writers, bench.directed(second.len()) / seconds);
    }
    check_count(subject, bench.edges.len(), name)
}

fn reads(
    subject: &dyn Subject,
    searched: &[(VertexId, VertexId)],
    name: &'static str,
    measured: &mut Measured,
) -> Result<()> {
    let snapshot = subject.snapshot()?;
    let begun = Instant::now();
    let found = snapshot.search(searched);
    measured.add(name, "search", "edges/s", 1, found as f64 / begun.elapsed().as_secs_f64());
    if found != searched.len() {
        return Err(format!("{name} finds {found} of {} edges", searched.len()).into());
    }
    let begun = Instant::now();
    let (read, _) = snapshot.scan()?;
    measured.add(name, "scan", "edges/s", 1, read as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}
