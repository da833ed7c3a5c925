//! Ending a kernel early: a flag that its threads look at as they go.
//!
//! A look at the flag is a *poll*. Kernels poll once for each item of work that they share, and again within an item
//! when the edges visited since the last poll add up to [`Cancel::EDGES_BETWEEN_POLLS`]; the list of a hub is read in
//! parts of that length. So the distance between two polls does not depend on degrees, and what it costs is a
//! subtraction per list, or a poll per subgraph, and nothing per edge. `docs/design/cancellation.md` says what is not polled.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hedgerow_core::SUBGRAPH_VERTICES;

use crate::KernelError;
use crate::progress::{Progress, Steps};

/// A handle to end kernels with. Clones are handles to the same flag, which stays raised.
///
/// ```
/// use hedgerow_kernels::{Cancel, KernelError, PageRankConfig, pagerank_until};
///
/// let graph = hedgerow_workload::Csr::from_edges(3, &[(0, 1), (1, 2)], &Default::default()).unwrap();
/// let cancel = Cancel::new();
/// let other = cancel.clone();
/// // Would take days.
/// let config = PageRankConfig { iterations: u32::MAX, ..PageRankConfig::default() };
/// let impatient = std::thread::spawn(move || other.cancel());
/// assert_eq!(pagerank_until::<f64, _>(&graph, &config, &cancel), Err(KernelError::Cancelled));
/// impatient.join().unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

type Ask = Box<dyn Fn() -> bool + Send + Sync>;

#[derive(Default)]
struct Inner {
    raised: AtomicBool,
    ask: Option<Ask>,
    steps: Steps,
}

impl Cancel {
    /// A thread of a kernel visits at most so many edges between two polls: some milliseconds of work.
    pub const EDGES_BETWEEN_POLLS: usize = 1 << 18;

    /// Lists of at most so many edges need no account where the thread polls once for each subgraph: those of all its
    /// vertices are half of what may be visited between two polls. A subtraction for each list cost PageRank and the
    /// bottom-up levels of BFS a tenth and a fifth on settled graphs.
    pub(crate) const SHORT_LIST: usize = Cancel::EDGES_BETWEEN_POLLS / 2 / SUBGRAPH_VERTICES;

    /// A flag that is not raised.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// A flag that raises itself once `ask` says `true`, which every poll calls until then: on any thread of the kernel,
    /// several at a time, and often, so that it should take nanoseconds.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Cancel {
        Cancel { inner: Arc::new(Inner { ask: Some(Box::new(ask)), ..Inner::default() }) }
    }

    /// Has kernels that were given this handle end with [`KernelError::Cancelled`], those under way and those to come.
    /// Returns at once; a kernel under way has ended when its call returns.
    pub fn cancel(&self) {
        self.inner.raised.store(true, Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.inner.raised.load(Relaxed)
    }

    /// Whether to stop: asks, if the flag [asks](Self::asking). For loops that are no kernels and end with the same flag.
    #[inline]
    pub fn poll(&self) -> bool {
        self.is_cancelled() || (self.inner.ask.is_some() && self.poll_asking())
    }

    #[cold]
    fn poll_asking(&self) -> bool {
        if self.inner.ask.as_ref().is_some_and(|ask| ask()) {
            self.cancel();
        }
        self.is_cancelled()
    }

    /// A handle for a kernel that is a part of another: it ends with this one, and the steps of the part are no steps of the whole.
    pub(crate) fn of_part(&self) -> Cancel {
        let whole = self.clone();
        Cancel::asking(move || whole.poll())
    }

    /// How far the kernel is that was given this handle, from any thread, in two loads. A kernel that ends early, since a tolerance is met for
    /// instance, has not done all its steps. A handle that several kernels were given at once tells of the one that began last, with the steps of all.
    pub fn progress(&self) -> Progress {
        self.inner.steps.progress()
    }

    /// Begins to count a kernel's steps.
    pub(crate) fn begin(&self, steps: u64) {
        self.inner.steps.begin(steps);
    }

    /// Counts steps that are done.
    #[inline]
    pub(crate) fn step(&self, steps: u64) {
        self.inner.steps.add(steps);
    }

    /// Polls between two steps of a kernel.
    pub(crate) fn check<E>(&self) -> Result<(), KernelError<E>> {
        if self.poll() { Err(KernelError::Cancelled) } else { Ok(()) }
    }

    /// Polls, and begins an item of work; `None` if there is to be none.
    #[inline]
    pub(crate) fn meter(&self) -> Option<Meter<'_>> {
        self.meter_of(Cancel::EDGES_BETWEEN_POLLS)
    }

    /// As [`meter`](Self::meter), of an item that goes from subgraph to subgraph: each begins with
    /// [`Meter::next_subgraph`], and its [short](Self::SHORT_LIST) lists are read without asking the meter, which leaves
    /// room for all of them.
    #[inline]
    pub(crate) fn meter_of_subgraphs(&self) -> Option<Meter<'_>> {
        self.meter_of(Cancel::EDGES_BETWEEN_POLLS - SUBGRAPH_VERTICES * Cancel::SHORT_LIST)
    }

    #[inline]
    fn meter_of(&self, budget: usize) -> Option<Meter<'_>> {
        (!self.poll()).then_some(Meter { cancel: self, left: budget, budget })
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// What one item of work may still visit before the next poll. Once that found the flag raised, nothing more, and the
/// result is thrown away.
pub(crate) struct Meter<'c> {
    cancel: &'c Cancel,
    left: usize,
    /// What there is after a poll.
    budget: usize,
}

impl Meter<'_> {
    /// Takes a list of `edges`, if that needs no poll. Lists too long to be read without one always do.
    #[inline]
    pub(crate) fn takes(&mut self, edges: usize) -> bool {
        // A list counts one more, so that empty ones are not free.
        let fits = edges < self.left;
        if fits {
            self.left -= edges + 1;
        }
        fits
    }

    /// Takes a part of a list, after a poll if need be; `false` if the flag is raised.
    #[inline]
    pub(crate) fn spend(&mut self, edges: usize) -> bool {
        self.takes(edges) || self.refill(edges)
    }

    #[cold]
    fn refill(&mut self, edges: usize) -> bool {
        let goes_on = !self.cancel.poll();
        self.left = if goes_on { self.budget.saturating_sub(edges + 1) } else { 0 };
        goes_on
    }

    /// Polls, and begins a subgraph; `false` if the flag is raised.
    #[inline]
    pub(crate) fn next_subgraph(&mut self) -> bool {
        let goes_on = !self.cancel.poll();
        self.left = if goes_on { self.budget } else { 0 };
        goes_on
    }

    /// Whether a poll found the flag raised: the rest of the item is to be left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 && self.cancel.is_cancelled()
    }

    /// Calls `f` with `list`, in parts if it is long, and stops between two parts once the flag is raised.
    #[inline]
    pub(crate) fn parts<'a, T>(&mut self, list: &'a [T], mut f: impl FnMut(&'a [T])) {
        if self.takes(list.len()) { f(list) } else { self.parts_polling(list, &mut f) }
    }

    /// Not inlined, since cutting a list takes a division: most lists need no poll.
    #[cold]
    fn parts_polling<'a, T>(&mut self, list: &'a [T], f: &mut dyn FnMut(&'a [T])) {
        for part in list.chunks(self.budget) {
            if !self.spend(part.len()) {
                return;
            }
            f(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cancel;

    #[test]
    fn a_meter_polls_before_the_budget_is_exceeded_and_stops_for_good() {
        let budget = Cancel::EDGES_BETWEEN_POLLS;
        let cancel = Cancel::new();
        let mut meter = cancel.meter().expect("not raised");
        assert!(meter.takes(budget - 1) && !meter.takes(0), "a list counts one more than its edges");
        assert!(meter.spend(10) && meter.takes(budget - 12) && !meter.takes(0));
        assert!(meter.spend(budget) && !meter.is_over(), "the longest part");
        cancel.cancel();
        assert!(!meter.spend(0) && !meter.takes(0) && meter.is_over() && cancel.meter().is_none());
        let mut parts = 0;
        meter.parts(&[0; 3], |_| parts += 1);
        assert_eq!(parts, 0);
        let cancel = Cancel::asking(|| false);
        let mut meter = cancel.meter().expect("not raised");
        let list = vec![0u8; 2 * budget + 1];
        let mut lengths = Vec::new();
        meter.parts(&list, |part| lengths.push(part.len()));
        assert_eq!(lengths, [budget, budget, 1]);
        let mut meter = cancel.meter_of_subgraphs().expect("not raised");
        assert!(meter.next_subgraph() && meter.takes(budget / 2 - 1) && !meter.takes(0));
        assert!(meter.next_subgraph() && meter.takes(0), "a subgraph begins with a poll");
    }

    #[test]
    fn a_flag_that_asks_is_raised_by_the_answer() {
        let cancel = Cancel::asking(|| true);
        assert!(!cancel.is_cancelled());
        assert!(cancel.clone().check::<()>().is_err() && cancel.is_cancelled());
    }
}
