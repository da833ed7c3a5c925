//! Cancellation: a flag that ends a kernel early, which its threads read while they work.
//!
//! A read of the flag is a *poll*. Kernels poll once for each item of work that their threads share. Within
//! an item they poll again when the edges visited since the last poll add up to
//! [`Cancel::EDGES_BETWEEN_POLLS`]; the list of a hub is read in parts of that length. So the distance
//! between two polls does not depend on degrees. Polling costs a subtraction per list, or a poll per
//! subgraph, and nothing per edge. `docs/design/cancellation.md` lists the steps that are not polled.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hedgerow_core::SUBGRAPH_VERTICES;

use crate::KernelError;
use crate::progress::{Progress, Steps};

/// A handle that ends kernels. Clones are handles to the same flag, which stays raised.
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
    /// The most edges that a thread of a kernel visits between two polls: some milliseconds of work.
    pub const EDGES_BETWEEN_POLLS: usize = 1 << 18;

    /// The longest list that is not counted if the thread polls once for each subgraph. If all lists of a
    /// subgraph are as long, they are half of the edges that may be visited between two polls. On settled
    /// graphs, counting each list made PageRank a tenth slower, and the bottom-up levels of BFS a fifth.
    pub(crate) const SHORT_LIST: usize = Cancel::EDGES_BETWEEN_POLLS / 2 / SUBGRAPH_VERTICES;

    /// Returns a flag that is not raised.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Returns a flag that raises itself once `ask` returns `true`. Every poll calls `ask` until then: on any
    /// thread of the kernel, several at a time, and often, so `ask` should take nanoseconds.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Cancel {
        Cancel { inner: Arc::new(Inner { ask: Some(Box::new(ask)), ..Inner::default() }) }
    }

    /// Ends all kernels with this handle with [`KernelError::Cancelled`], also those that begin later.
    /// Returns at once; a running kernel has ended when its own call returns.
    pub fn cancel(&self) {
        self.inner.raised.store(true, Relaxed);
    }

    /// True if the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.inner.raised.load(Relaxed)
    }

    /// True if the caller must stop. Calls `ask` if the flag [asks](Self::asking). Loops outside of kernels
    /// use it to end with the same flag.
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

    /// Returns a handle for a kernel that another kernel calls. The flag is the same, but the steps of the
    /// inner kernel do not count as steps of the outer one.
    pub(crate) fn of_part(&self) -> Cancel {
        let whole = self.clone();
        Cancel::asking(move || whole.poll())
    }

    /// Returns the progress of the kernel that was given this handle, from any thread, in two loads. A kernel
    /// that ends early, for instance because a tolerance is met, has not done all its steps. If several
    /// kernels have the handle at once, the result has the total of the kernel that began last, and the steps
    /// of all of them.
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

    /// Polls, and begins an item of work; `None` if the flag is raised.
    #[inline]
    pub(crate) fn meter(&self) -> Option<Meter<'_>> {
        self.meter_of(Cancel::EDGES_BETWEEN_POLLS)
    }

    /// Like [`meter`](Self::meter), but for an item that visits one subgraph after another and calls
    /// [`Meter::next_subgraph`] before each. The [short](Self::SHORT_LIST) lists of a subgraph are read
    /// without asking the meter, so its budget is smaller by the most edges that they can have.
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

/// The edges that one item of work may still visit before the next poll. There are none after a poll that
/// found the flag raised: then the result is discarded.
pub(crate) struct Meter<'c> {
    cancel: &'c Cancel,
    left: usize,
    /// The edges that the item may visit after a poll.
    budget: usize,
}

impl Meter<'_> {
    /// Takes a list of `edges` edges from the budget if that needs no poll; else returns false. A list longer
    /// than the budget always needs one.
    #[inline]
    pub(crate) fn takes(&mut self, edges: usize) -> bool {
        // A list counts one more than its edges, so that empty ones are not free.
        let fits = edges < self.left;
        if fits {
            self.left -= edges + 1;
        }
        fits
    }

    /// Takes a part of a list, after a poll if it needs one; `false` if the flag is raised.
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

    /// True if a poll found the flag raised: the kernel must skip the rest of the item.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 && self.cancel.is_cancelled()
    }

    /// Calls `f` with `list`, in parts if it is long, and stops between two parts once the flag is raised.
    #[inline]
    pub(crate) fn parts<'a, T>(&mut self, list: &'a [T], mut f: impl FnMut(&'a [T])) {
        if self.takes(list.len()) { f(list) } else { self.parts_polling(list, &mut f) }
    }

    /// Reads a list in parts, with polls. Not inlined, since most lists need no poll, and dividing a list
    /// into parts costs a division.
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
