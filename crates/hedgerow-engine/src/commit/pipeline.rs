//! Single operations with a window of them in flight (rule R10): while one operation is executed, the memory
//! of later ones is prefetched, step by step. Every operation stays a transaction of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use hedgerow_catalog::error::{CommitError, Result, StateError};
use hedgerow_core::{InterpolationHint, KeyKind, Timestamp, VertexKeyRef};
use hedgerow_mem::subgraph::prefetch::{self, End};

use super::autocommit;
use super::op::{Given, OpKind};
use super::request::Outcome;
use super::single::{self, Single};
use crate::state::reclaim::reclaim_due;
use crate::state::store::Engine;

/// The number of operations between two steps of loading, unless [`Pipeline::with_window`] sets another.
const STEP: u64 = 4;
/// The steps of loading: headers, head versions, deltas and lists, the places found in lists.
const STEPS: u64 = 4;
/// The number of places for operations in flight, and so the largest window.
const PLACES: u64 = 64;

/// The outcome of an operation of a [`Pipeline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The timestamp of the transaction. If it changed nothing, a timestamp at or after everything it saw.
    pub timestamp: Timestamp,
    /// The change of the number of edges: 1 for a new edge, -1 for a removed one, 0 if the operation found
    /// the edge already there, or already absent.
    pub edges: i64,
}

/// The acknowledgement of one operation: it is visible to every snapshot opened from now on, and durable as
/// the store's durability mode requires, or it failed.
#[derive(Debug)]
pub struct Ack {
    /// The number that the submitting call returned.
    pub ticket: u64,
    /// The outcome. After [`CommitError::OutcomeUnknown`] only reopening the store shows it. After any other
    /// error the operation had no effect, and later operations are executed nevertheless.
    pub result: Result<Applied>,
}

/// An operation that was submitted and not executed yet.
#[derive(Clone, Copy)]
struct Pending {
    kind: OpKind,
    src: u64,
    dst: u64,
    weight: f64,
    /// `None` if a key named no vertex when it was looked up.
    op: Option<Single>,
}

/// Single edge operations of one thread, each a transaction of its own, with several in flight. They are
/// faster than one wait for each: the memory of later operations is prefetched, and one sync serves many.
///
/// Operations take effect in the order of submission; a later one sees the earlier ones. When a call returns,
/// up to a window of operations are not executed yet: a snapshot sees all only after [`flush`](Self::flush).
/// Among threads the order is that of execution, and respects real time from acknowledgement to submission.
/// Acknowledgements come in the order of submission, to the function given at the beginning, on the
/// submitting thread.
///
/// Dropping the pipeline executes the remaining operations; it does not wait, so acknowledgements may stay
/// undelivered. In a forked child it executes nothing: the parent executes what was submitted.
///
/// If the function panics, the panic reaches the caller of the pipeline, and the function is never called
/// again. Operations submitted before are executed in order, at the latest when the pipeline is dropped, and
/// are not acknowledged. The pipeline takes no more operations ([`StateError::AckPanicked`]).
///
/// ```
/// use hedgerow::{Graph, KeyKind, Options};
/// let graph = Options::new().keys(KeyKind::Dense).in_memory()?;
/// let mut new = 0;
/// let mut pipeline = graph.pipeline(|ack| new += ack.result.map_or(0, |applied| applied.edges))?;
/// for v in 1..=100u64 {
///     pipeline.insert_edge(0, v % 10)?;
/// }
/// pipeline.flush()?;
/// drop(pipeline);
/// assert_eq!(new, 10);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub struct Pipeline<F: FnMut(Ack)> {
    engine: Arc<Engine>,
    places: Box<[Pending; PLACES as usize]>,
    step: u64,
    submitted: u64,
    executed: u64,
    /// The operations that are executed and not yet published.
    unacknowledged: VecDeque<(u64, Outcome)>,
    on_ack: F,
    /// Set while `on_ack` runs: if it is still set after a call, `on_ack` panicked.
    ack_panicked: bool,
}

impl<F: FnMut(Ack)> Pipeline<F> {
    pub(crate) fn new(engine: &Arc<Engine>, on_ack: F) -> Pipeline<F> {
        let empty = Pending { kind: OpKind::Insert, src: 0, dst: 0, weight: 0.0, op: None };
        Pipeline {
            engine: engine.clone(),
            places: Box::new([empty; PLACES as usize]),
            step: STEP,
            submitted: 0,
            executed: 0,
            unacknowledged: VecDeque::new(),
            on_ack,
            ack_panicked: false,
        }
    }

    /// Sets about how many operations are in flight: 1 to 64, by default 16. A number outside of this range
    /// counts as the nearest one in it. O(1).
    pub fn with_window(mut self, window: usize) -> Pipeline<F> {
        self.step = (window as u64).min(PLACES - 1) / STEPS;
        self
    }

    /// Submits the insertion of an edge and its absent endpoints; an existing edge stays as it is. Returns
    /// the ticket of the operation: tickets count up from 0. Executes an operation that was submitted a
    /// window ago: O(log degree), now and then O(edges of 64 vertices) for a merge. Blocks for other
    /// committers of its subgraphs, and while too much waits for the disk.
    ///
    /// # Errors
    /// Those of [`Graph::insert_edge`](crate::Graph::insert_edge) that concern its arguments or the store as
    /// a whole, and [`StateError::AckPanicked`]: nothing was submitted.
    #[inline]
    pub fn insert_edge<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<u64> {
        self.submit(OpKind::Insert, src.into(), dst.into(), 1.0)
    }

    /// Like [`insert_edge`](Self::insert_edge), but with a weight.
    ///
    /// # Errors
    /// Those of [`insert_edge`](Self::insert_edge); [`ArgumentError::Invalid`](crate::ArgumentError::Invalid)
    /// for a weight that is not a number, or in a graph without weights.
    #[inline]
    pub fn insert_weighted_edge<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<u64> {
        self.engine.check_weight(weight)?;
        self.submit(OpKind::Insert, src.into(), dst.into(), weight)
    }

    /// Submits a put of the edge, with weight 1 in a weighted graph. Otherwise like
    /// [`insert_edge`](Self::insert_edge).
    ///
    /// # Errors
    /// Those of [`insert_edge`](Self::insert_edge).
    #[inline]
    pub fn put_edge<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<u64> {
        self.submit(OpKind::Put, src.into(), dst.into(), 1.0)
    }

    /// Like [`put_edge`](Self::put_edge), but with a weight.
    ///
    /// # Errors
    /// Those of [`insert_weighted_edge`](Self::insert_weighted_edge).
    #[inline]
    pub fn put_weighted_edge<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<u64> {
        self.engine.check_weight(weight)?;
        self.submit(OpKind::Put, src.into(), dst.into(), weight)
    }

    /// Submits the removal of the edge, if it exists. Otherwise like [`insert_edge`](Self::insert_edge).
    ///
    /// # Errors
    /// Those of [`insert_edge`](Self::insert_edge).
    #[inline]
    pub fn remove_edge<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<u64> {
        self.submit(OpKind::Remove, src.into(), dst.into(), 0.0)
    }

    /// Executes everything submitted and waits until all of it is acknowledged. O(operations in flight).
    /// Blocks for a sync if the store is durable under [`Durability::Sync`](crate::Durability::Sync).
    ///
    /// # Errors
    /// [`CommitError::OutcomeUnknown`]: the log failed; the affected operations were acknowledged with the
    /// same error. [`StateError::AckPanicked`]: all is executed, and as durable as after `Ok`, but was not
    /// acknowledged. [`StateError::Forked`]: nothing is executed.
    pub fn flush(&mut self) -> Result<()> {
        self.engine.check_owner_by_id()?;
        while self.executed < self.submitted {
            self.execute_next();
        }
        self.wait_for_earlier()?;
        // The function of the caller may have forked the process.
        self.engine.check_owner()?;
        self.check_acks()
    }

    fn check_acks(&self) -> Result<()> {
        if self.ack_panicked { Err(StateError::AckPanicked.into()) } else { Ok(()) }
    }

    #[inline]
    fn submit(
        &mut self,
        kind: OpKind,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        weight: f64,
    ) -> Result<u64> {
        self.engine.check_writable()?;
        self.engine.check_room(1)?;
        self.check_acks()?;
        self.engine.check_key(src)?;
        self.engine.check_key(dst)?;
        let (VertexKeyRef::U64(a), VertexKeyRef::U64(b)) = (src, dst) else {
            // In the order of submission: a graph may have keys of both forms.
            while self.executed < self.submitted {
                self.execute_next();
            }
            return Ok(self.execute_named(kind, src, dst, weight));
        };
        let op = Single::resolve(&self.engine, kind, src, dst, weight);
        for end in op.as_ref().and_then(|op| op.ends(&self.engine)).iter().flatten() {
            end.subgraph.prefetch_header();
        }
        let ticket = self.submitted;
        self.places[(ticket % PLACES) as usize] = Pending { kind, src: a, dst: b, weight, op };
        self.submitted += 1;
        self.advance(ticket);
        Ok(ticket)
    }

    /// Takes the next step of each operation in flight that is due for one.
    #[inline]
    fn advance(&mut self, newest: u64) {
        self.prefetch(newest, 1, prefetch::prefetch_heads);
        let hint = InterpolationHint::over(self.engine.keys.ids.bound());
        self.prefetch(newest, 2, |ends| prefetch::prefetch_edges(ends, hint));
        self.prefetch(newest, 3, |ends| prefetch::prefetch_search(ends, hint));
        while self.submitted - self.executed > self.step * STEPS {
            self.execute_next();
        }
    }

    #[inline]
    fn prefetch(&self, newest: u64, steps: u64, load: impl FnOnce(&[End<'_>; 2])) {
        let due = newest.checked_sub(self.step * steps).filter(|&ticket| ticket >= self.executed);
        if let Some(ticket) = due
            && let Some(op) = &self.places[(ticket % PLACES) as usize].op
            && let Some(ends) = op.ends(&self.engine)
        {
            load(&ends);
        }
    }

    #[inline]
    fn execute_next(&mut self) {
        if self.engine.is_forked() {
            // The function of the caller forked, and returned in the child: the parent executes the remaining
            // operations.
            self.executed = self.submitted;
            return;
        }
        let ticket = self.executed;
        self.executed += 1;
        let Pending { kind, src, dst, weight, op } = self.places[(ticket % PLACES) as usize];
        let (src, dst) = (VertexKeyRef::U64(src), VertexKeyRef::U64(dst));
        let dense = self.engine.catalog.config.keys == KeyKind::Dense;
        let quick = match &op {
            Some(op) => {
                let named = || dense || op.is_named(&self.engine, src, dst);
                single::commit_unpublished(&self.engine, op, &Given::none, named)
            }
            None => Ok(None),
        };
        let result = match quick {
            Ok(None) => autocommit::edge_unpublished(&self.engine, kind, src, dst, weight, Given::none),
            Ok(Some(outcome)) => Ok(outcome),
            Err(error) => Err(error),
        };
        self.executed_one(ticket, result);
    }

    /// Looks up and uses at once keys that are texts, or of a kind other than the default one: the places in
    /// flight cannot hold such keys.
    fn execute_named(
        &mut self,
        kind: OpKind,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        weight: f64,
    ) -> u64 {
        let ticket = self.submitted;
        self.submitted += 1;
        self.executed += 1;
        let result = autocommit::edge_unpublished(&self.engine, kind, src, dst, weight, Given::none);
        self.executed_one(ticket, result);
        ticket
    }

    #[inline]
    fn executed_one(&mut self, ticket: u64, result: Result<Outcome>) {
        match result {
            Ok(outcome) => {
                self.engine.make_durable_soon(outcome.ts);
                reclaim_due(&self.engine);
                if self.unacknowledged.is_empty() && self.engine.order.clock.published() >= outcome.ts {
                    self.acknowledge(applied(ticket, outcome));
                } else {
                    self.unacknowledged.push_back((ticket, outcome));
                    self.acknowledge_published();
                }
            }
            Err(error) => {
                // In the order of submission: earlier operations are acknowledged first, or never.
                let _ = self.wait_for_earlier();
                self.acknowledge(Ack { ticket, result: Err(error) });
            }
        }
    }

    #[cold]
    fn wait_for_earlier(&mut self) -> Result<()> {
        if self.engine.is_forked() {
            self.unacknowledged.clear();
            return Err(StateError::Forked.into());
        }
        let last = self.unacknowledged.iter().map(|(_, outcome)| outcome.ts).max();
        let outcome = last.map_or(Ok(()), |last| self.engine.wait_published(last));
        self.acknowledge_published();
        for (ticket, _) in std::mem::take(&mut self.unacknowledged) {
            self.acknowledge(Ack { ticket, result: Err(CommitError::OutcomeUnknown.into()) });
        }
        outcome
    }

    fn acknowledge_published(&mut self) {
        let published = self.engine.order.clock.published();
        while let Some(&(ticket, outcome)) = self.unacknowledged.front()
            && outcome.ts <= published
        {
            self.unacknowledged.pop_front();
            self.acknowledge(applied(ticket, outcome));
        }
    }

    /// Calls the function of the caller, unless it panicked before. The function may panic: so all of `self`
    /// is consistent before the call.
    #[inline]
    fn acknowledge(&mut self, ack: Ack) {
        if !self.ack_panicked && !self.engine.is_forked() {
            self.ack_panicked = true;
            (self.on_ack)(ack);
            self.ack_panicked = false;
        }
    }
}

fn applied(ticket: u64, outcome: Outcome) -> Ack {
    Ack { ticket, result: Ok(Applied { timestamp: outcome.ts, edges: outcome.edges }) }
}

impl<F: FnMut(Ack)> Drop for Pipeline<F> {
    /// Executes the remaining operations. A panic, most likely of the caller's function, does not stop this,
    /// and is resumed afterwards. If this drop is part of another panic, it is not resumed: a second panic
    /// would end the process.
    fn drop(&mut self) {
        if !self.engine.pager.owner.is_current_by_id() {
            return;
        }
        let mut panic = None;
        while self.executed < self.submitted {
            let executed = catch_unwind(AssertUnwindSafe(|| self.execute_next()));
            panic = panic.or(executed.err());
        }
        if let Some(panic) = panic
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}
