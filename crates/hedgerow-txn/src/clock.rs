//! The commit clock: draws timestamps in one order and publishes completed commits as a prefix of it.
//!
//! # Protocol
//! * **Draw** (rule R1): a committer draws its timestamp inside the ordering section, [`Clock::order`], while
//!   it holds the latches of all subgraphs that it writes. So in each subgraph, commits are applied in the
//!   order of their timestamps. A commit that needs the section for nothing else draws in one step while the
//!   section is empty, [`Clock::draw_outside`].
//! * **Complete**: once its commit is applied, the committer marks its slot of the ring and tries to advance.
//! * **Advance**: the thread that takes the word of `t_read` moves it over every marked slot up to the gate.
//!   A committer leaves if the slot after `t_read` is not marked, since the thread that marks that slot also
//!   publishes this commit. It also leaves if the word is taken, since the holder looks again after it gives
//!   the word back. Sequentially consistent fences on both sides separate the mark and the look, so one of
//!   the two threads sees the other.
//! * **Gate**: nothing past the gate is published. Under `sync` durability the gate is the last durable
//!   timestamp; otherwise it is infinite.

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicI64, AtomicU64, Mutex, MutexGuard, Ordering, fence};

use crate::apart::Apart;

const RING: u64 = if cfg!(feature = "model-checking") { 4 } else { 4096 };

/// Returns the place of a timestamp in the ring.
#[inline]
fn place(ts: u64) -> usize {
    (ts % RING) as usize
}

/// The numbers of pauses before each check of an occupied ordering section, after which a committer sleeps. A
/// section takes less than a microsecond. The numbers grow, since each check takes the cache line from the
/// committer in the section.
#[cfg(not(feature = "model-checking"))]
const ORDER_PAUSES: [usize; 8] = [1, 2, 4, 8, 16, 16, 16, 32];

/// The number of vertices and edges in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live vertices.
    pub vertices: u64,
    /// Edges; an undirected edge counts once.
    pub edges: u64,
}

/// The mark of a completed commit, which waits here until all earlier commits are complete too. It shares a
/// cache line with the counts that its publisher stores: in most cases the publisher is the committer, which
/// has the line already.
#[repr(align(64))]
struct Slot {
    ts: AtomicU64,
    vertices: AtomicI64,
    edges: AtomicI64,
    counts: CountSlot,
}

/// The counts at one published timestamp, readable while `ts` stays the same.
struct CountSlot {
    ts: AtomicU64,
    vertices: AtomicU64,
    edges: AtomicU64,
}

/// The state that the ordering section guards.
struct Drawn {
    last: u64,
    /// True if all timestamps must be drawn in the section from now on.
    only_here: bool,
}

/// The bit in the word of a timestamp that is set while only one thread may change it. No timestamp has this
/// bit.
const HELD: u64 = 1 << 63;

/// The last timestamp drawn, and the section in which timestamps are drawn.
struct Order {
    section: Mutex<Drawn>,
    /// The last timestamp drawn, and [`HELD`] while a thread is in the section.
    drawn: AtomicU64,
    /// The timestamp below which the ring had room at the last check. A committer checks the publication
    /// again only when it reaches this timestamp, since other cores change `t_read` all the time.
    room: AtomicU64,
}

/// The progress of publication. Its fields share a cache line, because the same thread uses them: after it
/// has marked a commit it reads `t_read`, sets [`HELD`] there if it can publish, and then changes the counts.
struct Publication {
    /// `t_read`, and [`HELD`] while a publisher is at work.
    t_read: AtomicU64,
    /// The counts at `t_read`. Only the active publisher accesses them.
    vertices: AtomicU64,
    edges: AtomicU64,
}

/// The commit clock of a store. Words that committers write, words that publishers write, and words that all
/// threads only read are on separate cache lines.
pub struct Clock {
    order: Apart<Order>,
    publication: Apart<Publication>,
    gate: AtomicU64,
    ring: Box<[Slot]>,
}

/// The ordering section, entered. Only its holder draws timestamps in it; keep it only briefly.
pub struct OrderGuard<'a> {
    state: MutexGuard<'a, Drawn>,
    clock: &'a Clock,
}

impl OrderGuard<'_> {
    /// Returns the last timestamp drawn.
    pub fn last_drawn(&self) -> Timestamp {
        Timestamp(self.state.last)
    }

    /// True if a timestamp can be drawn now. If not, 4096 commits wait to be published: leave the section and
    /// wait until [`published`](Clock::published) has moved.
    pub fn has_room(&mut self) -> bool {
        self.clock.has_room(self.state.last + 1)
    }

    /// Forbids drawing timestamps [outside](Clock::draw_outside) of the section from now on.
    pub fn forbid_outside(&mut self) {
        self.state.only_here = true;
    }

    /// Returns the timestamp that [`draw`](Self::draw) will give.
    pub fn next(&self) -> Timestamp {
        Timestamp(self.state.last + 1)
    }

    /// Draws the next timestamp. Its owner must call [`Clock::complete`] for it in any case: publication
    /// stops at a timestamp that is never completed.
    ///
    /// # Panics
    /// If [`has_room`](Self::has_room) is false.
    pub fn draw(&mut self) -> Timestamp {
        assert!(self.has_room(), "the ring of completed commits is full");
        self.state.last += 1;
        self.clock.order.0.drawn.store(self.state.last | HELD, Ordering::Release);
        Timestamp(self.state.last)
    }
}

impl Drop for OrderGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.only_here {
            self.clock.order.0.drawn.store(self.state.last, Ordering::Release);
        }
    }
}

impl Clock {
    /// Returns the bytes of the clock and its ring, a constant number.
    pub fn bytes(&self) -> usize {
        size_of::<Clock>() + size_of_val(&*self.ring)
    }

    /// Makes a clock whose last commit was `last`, with `counts` at that time. `gate` is the last timestamp
    /// that may be published before the gate is raised. It is [`Timestamp::INFINITY`] if publication does not
    /// wait for durability.
    pub fn new(last: Timestamp, counts: Counts, gate: Timestamp) -> Clock {
        let ring = (0..RING as usize).map(|i| Slot {
            ts: AtomicU64::new(0),
            vertices: AtomicI64::new(0),
            edges: AtomicI64::new(0),
            counts: CountSlot {
                ts: AtomicU64::new(if i == place(last.0) { last.0 } else { u64::MAX }),
                vertices: AtomicU64::new(counts.vertices),
                edges: AtomicU64::new(counts.edges),
            },
        });
        Clock {
            order: Apart(Order {
                section: Mutex::new(Drawn { last: last.0, only_here: false }),
                drawn: AtomicU64::new(last.0),
                room: AtomicU64::new(last.0 + RING),
            }),
            publication: Apart(Publication {
                t_read: AtomicU64::new(last.0),
                vertices: AtomicU64::new(counts.vertices),
                edges: AtomicU64::new(counts.edges),
            }),
            gate: AtomicU64::new(gate.0),
            ring: ring.collect(),
        }
    }

    /// Enters the ordering section; waits while another committer is in it.
    pub fn order(&self) -> OrderGuard<'_> {
        // Under the model checkers, one way to wait is enough.
        let free = if cfg!(feature = "model-checking") { None } else { self.order.0.section.try_lock() };
        let mut state = free.unwrap_or_else(|| self.wait_for_order());
        if !state.only_here {
            state.last = self.order.0.drawn.fetch_or(HELD, Ordering::AcqRel);
        }
        OrderGuard { state, clock: self }
    }

    /// Draws the next timestamp like [`OrderGuard::draw`], but in one step while the section is empty. For
    /// commits that read and write no data of the section. `None` if a thread stays in the section or has
    /// [forbidden](OrderGuard::forbid_outside) this, or if the ring has no room.
    #[inline]
    pub fn draw_outside(&self) -> Option<Timestamp> {
        let drawn = &self.order.0.drawn;
        let mut last = drawn.load(Ordering::Relaxed);
        loop {
            if last & HELD != 0 && !faults::is_on(PlantedFault::DrawnDuringSection) {
                last = self.wait_for_section()?;
            }
            if !self.has_room((last & !HELD) + 1) {
                return None;
            }
            match drawn.compare_exchange_weak(last, last + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(Timestamp((last & !HELD) + 1)),
                Err(now) => last = now,
            }
        }
    }

    /// Waits a little until the section is empty, and returns the last timestamp drawn; `None` if the section
    /// stays occupied.
    #[cold]
    fn wait_for_section(&self) -> Option<u64> {
        #[cfg(not(feature = "model-checking"))]
        for pauses in ORDER_PAUSES {
            (0..pauses).for_each(|_| std::hint::spin_loop());
            let last = self.order.0.drawn.load(Ordering::Relaxed);
            if last & HELD == 0 {
                return Some(last);
            }
        }
        None
    }

    /// True if the ring has room for the commit `next`.
    #[inline]
    fn has_room(&self, next: u64) -> bool {
        let room = &self.order.0.room;
        // Acquires the publications that the thread which stored `room` had seen: a slot is marked again only
        // after its publisher has read it.
        next < room.load(Ordering::Acquire) || {
            let now = self.published().0 + RING;
            // If another thread overwrites it with an earlier value, a thread only checks once more.
            room.store(now, Ordering::Release);
            next < now
        }
    }

    /// Spins a little, then sleeps, since waking a thread takes longer than many sections.
    #[cold]
    fn wait_for_order(&self) -> MutexGuard<'_, Drawn> {
        let section = &self.order.0.section;
        #[cfg(not(feature = "model-checking"))]
        for pauses in ORDER_PAUSES {
            (0..pauses).for_each(|_| std::hint::spin_loop());
            if !section.is_locked()
                && let Some(state) = section.try_lock()
            {
                return state;
            }
        }
        section.lock()
    }

    /// Returns the published timestamp `t_read`: every commit at or before it is complete and visible.
    #[inline]
    pub fn published(&self) -> Timestamp {
        Timestamp(self.publication.0.t_read.load(Ordering::SeqCst) & !HELD)
    }

    /// Returns the last timestamp drawn, as known outside the ordering section.
    #[inline]
    pub fn drawn(&self) -> Timestamp {
        Timestamp(self.order.0.drawn.load(Ordering::Acquire) & !HELD)
    }

    /// Returns the last timestamp that may be published.
    #[inline]
    pub fn gate(&self) -> Timestamp {
        Timestamp(self.gate.load(Ordering::SeqCst))
    }

    /// Marks the commit `ts` as applied, with its changes of the counts, and publishes the commits that can
    /// be published. Returns true if the published timestamp moved.
    pub fn complete(&self, ts: Timestamp, vertices: i64, edges: i64) -> bool {
        let slot = &self.ring[place(ts.0)];
        slot.vertices.store(vertices, Ordering::Relaxed);
        slot.edges.store(edges, Ordering::Relaxed);
        slot.ts.store(ts.0, Ordering::Release);
        self.advance()
    }

    /// Raises the gate to `ts` and publishes the commits that can be published. Returns true if the published
    /// timestamp moved.
    pub fn raise_gate(&self, ts: Timestamp) -> bool {
        self.gate.fetch_max(ts.0, Ordering::SeqCst);
        self.advance()
    }

    /// Returns the counts of the snapshot at `t`. `None` if later publications have reused the place of these
    /// counts in the ring of 4096: take a newer timestamp.
    #[inline]
    pub fn counts(&self, t: Timestamp) -> Option<Counts> {
        let slot = &self.ring[place(t.0)].counts;
        if slot.ts.load(Ordering::Acquire) != t.0 {
            return None;
        }
        let vertices = slot.vertices.load(Ordering::Relaxed);
        let edges = slot.edges.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        (slot.ts.load(Ordering::Relaxed) == t.0).then_some(Counts { vertices, edges })
    }

    fn next_is_complete(&self, t: u64) -> bool {
        (t < self.gate.load(Ordering::SeqCst) || faults::is_on(PlantedFault::PublishedBeforeDurable))
            && self.ring[place(t + 1)].ts.load(Ordering::Acquire) == t + 1
    }

    fn advance(&self) -> bool {
        let word = &self.publication.0.t_read;
        let mut moved = false;
        loop {
            // Orders this thread's mark, the raised gate, or the release of the word before the check of
            // other threads' marks. Also orders a move of `t_read` before the caller's check for waiters.
            fence(Ordering::SeqCst);
            let t = word.load(Ordering::SeqCst);
            if t & HELD != 0 || !self.next_is_complete(t) {
                return moved;
            }
            if word.compare_exchange(t, t | HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            word.store(self.drain(t), Ordering::Release);
            moved = true;
            if faults::is_on(PlantedFault::CompletedCommitForgotten) {
                return true;
            }
        }
    }

    /// Adds up the changes of all complete commits after `t`; the next commit is complete. Returns the last
    /// timestamp that may be published.
    fn drain(&self, mut t: u64) -> u64 {
        let Publication { vertices: all_vertices, edges: all_edges, .. } = &self.publication.0;
        let mut vertices = all_vertices.load(Ordering::Relaxed);
        let mut edges = all_edges.load(Ordering::Relaxed);
        while self.next_is_complete(t) {
            t += 1;
            let slot = &self.ring[place(t)];
            vertices = vertices.wrapping_add_signed(slot.vertices.load(Ordering::Relaxed));
            edges = edges.wrapping_add_signed(slot.edges.load(Ordering::Relaxed));
        }
        all_vertices.store(vertices, Ordering::Relaxed);
        all_edges.store(edges, Ordering::Relaxed);
        let slot = &self.ring[place(t)].counts;
        slot.ts.store(u64::MAX, Ordering::Relaxed);
        fence(Ordering::Release);
        slot.vertices.store(vertices, Ordering::Relaxed);
        slot.edges.store(edges, Ordering::Relaxed);
        slot.ts.store(t, Ordering::Release);
        t
    }
}
