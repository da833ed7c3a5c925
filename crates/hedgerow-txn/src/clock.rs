//! The commit clock: draws timestamps in one order and publishes completed commits as a prefix of it.
//!
//! # Protocol
//! * **Draw** (rule R1): a timestamp is drawn inside the ordering section, [`Clock::order`], while the committer holds
//!   the latches of everything it writes. So per subgraph the order of application and of timestamps agree.
//! * **Complete**: once applied, the committer marks its slot of the ring and tries to advance.
//! * **Advance**: whoever gets the publisher lock moves `t_read` over every marked slot up to the gate. A committer
//!   leaves where the slot after `t_read` is not marked, since whoever marks that one publishes its own too, and where
//!   it finds the lock taken, since the holder looks again after releasing it. Marking and looking are separated by
//!   sequentially consistent fences on both sides, so one of the two sees the other.
//! * **Gate**: nothing past the gate is published. Under `sync` durability the gate is the last durable timestamp;
//!   otherwise it is infinite.

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicI64, AtomicU64, Mutex, MutexGuard, Ordering, fence};

use crate::apart::Apart;

const RING: u64 = if cfg!(feature = "model-checking") { 4 } else { 4096 };

/// The place of a timestamp in a ring. Timestamps that follow each other share cache lines: a publisher of several commits reads few
/// lines. With a line for each, two writers on distant cores were 6 % slower.
#[inline]
fn place(ts: u64) -> usize {
    (ts % RING) as usize
}

/// How often a committer that finds another one in the ordering section pauses before each look, until it sleeps. A section takes less than
/// a microsecond; the pauses grow, since each look takes the cache line from the committer in the section.
#[cfg(not(feature = "model-checking"))]
const ORDER_PAUSES: [usize; 8] = [1, 2, 4, 8, 16, 16, 16, 32];

/// How many vertices and edges a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live vertices.
    pub vertices: u64,
    /// Edges; an undirected edge counts once.
    pub edges: u64,
}

/// A completed commit waits here until all before it are complete too.
struct Completed {
    ts: AtomicU64,
    vertices: AtomicI64,
    edges: AtomicI64,
}

/// The counts at one published timestamp, readable while `ts` stays the same.
struct CountSlot {
    ts: AtomicU64,
    vertices: AtomicU64,
    edges: AtomicU64,
}

/// What the holder of the ordering section knows.
struct Drawn {
    last: u64,
    /// Below this there was room in the ring when somebody looked. Publication is looked at again only where it is reached: `t_read`
    /// changes in other caches all the time.
    room: u64,
}

/// The last timestamp drawn, and the section that draws.
struct Order {
    section: Mutex<Drawn>,
    drawn: AtomicU64,
}

/// The commit clock of a store. What committers write, publishers write, and everybody only reads lies apart.
pub struct Clock {
    order: Apart<Order>,
    t_read: Apart<AtomicU64>,
    publisher: Apart<Mutex<Counts>>,
    gate: AtomicU64,
    ring: Box<[Completed]>,
    counts: Box<[CountSlot]>,
}

/// The ordering section, entered. Only its holder draws timestamps; keep it short.
pub struct OrderGuard<'a> {
    state: MutexGuard<'a, Drawn>,
    clock: &'a Clock,
}

impl OrderGuard<'_> {
    /// The last timestamp drawn.
    pub fn last_drawn(&self) -> Timestamp {
        Timestamp(self.state.last)
    }

    /// Whether a timestamp can be drawn now. If not, leave the section and wait until
    /// [`published`](Clock::published) has moved: 4096 commits are waiting to be published.
    pub fn has_room(&mut self) -> bool {
        let next = self.state.last + 1;
        if next >= self.state.room {
            self.state.room = self.clock.t_read.0.load(Ordering::Acquire) + RING;
        }
        next < self.state.room
    }

    /// The timestamp that [`draw`](Self::draw) will give.
    pub fn next(&self) -> Timestamp {
        Timestamp(self.state.last + 1)
    }

    /// Draws the next timestamp. Its owner must call [`Clock::complete`] for it, whatever happens: publication stops
    /// at a timestamp that is never completed.
    ///
    /// # Panics
    /// If [`has_room`](Self::has_room) does not hold.
    pub fn draw(&mut self) -> Timestamp {
        assert!(self.has_room(), "the ring of completed commits is full");
        self.state.last += 1;
        self.clock.order.0.drawn.store(self.state.last, Ordering::Release);
        Timestamp(self.state.last)
    }
}

impl Clock {
    /// The bytes of the clock and its rings: the same from the beginning to the end.
    pub fn bytes(&self) -> usize {
        size_of::<Clock>() + size_of_val(&*self.ring) + size_of_val(&*self.counts)
    }

    /// A clock whose last commit was `last`, with `counts` at that time. `gate` is the last timestamp that may be
    /// published without being raised: [`Timestamp::INFINITY`] where publication does not wait for durability.
    pub fn new(last: Timestamp, counts: Counts, gate: Timestamp) -> Clock {
        let ring = (0..RING).map(|_| Completed {
            ts: AtomicU64::new(0),
            vertices: AtomicI64::new(0),
            edges: AtomicI64::new(0),
        });
        let count_slots = (0..RING as usize).map(|i| CountSlot {
            ts: AtomicU64::new(if i == place(last.0) { last.0 } else { u64::MAX }),
            vertices: AtomicU64::new(counts.vertices),
            edges: AtomicU64::new(counts.edges),
        });
        Clock {
            order: Apart(Order {
                section: Mutex::new(Drawn { last: last.0, room: last.0 + RING }),
                drawn: AtomicU64::new(last.0),
            }),
            t_read: Apart(AtomicU64::new(last.0)),
            gate: AtomicU64::new(gate.0),
            publisher: Apart(Mutex::new(counts)),
            ring: ring.collect(),
            counts: count_slots.collect(),
        }
    }

    /// Enters the ordering section, waiting for another committer in it.
    pub fn order(&self) -> OrderGuard<'_> {
        // Under the model checkers one way to wait is enough.
        let free = if cfg!(feature = "model-checking") { None } else { self.order.0.section.try_lock() };
        OrderGuard { state: free.unwrap_or_else(|| self.wait_for_order()), clock: self }
    }

    /// Waits a little without sleeping: to wake a thread takes longer than many sections.
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

    /// The published timestamp `t_read`: every commit at or before it is complete and visible.
    #[inline]
    pub fn published(&self) -> Timestamp {
        Timestamp(self.t_read.0.load(Ordering::SeqCst))
    }

    /// The last timestamp drawn, seen from outside the ordering section.
    #[inline]
    pub fn drawn(&self) -> Timestamp {
        Timestamp(self.order.0.drawn.load(Ordering::Acquire))
    }

    /// The last timestamp that may be published.
    #[inline]
    pub fn gate(&self) -> Timestamp {
        Timestamp(self.gate.load(Ordering::SeqCst))
    }

    /// Marks the commit `ts` as applied, with its changes of the counts, and publishes what can be. Returns whether
    /// the published timestamp moved.
    pub fn complete(&self, ts: Timestamp, vertices: i64, edges: i64) -> bool {
        let slot = &self.ring[place(ts.0)];
        slot.vertices.store(vertices, Ordering::Relaxed);
        slot.edges.store(edges, Ordering::Relaxed);
        slot.ts.store(ts.0, Ordering::Release);
        self.advance()
    }

    /// Raises the gate to `ts` and publishes what can be. Returns whether the published timestamp moved.
    pub fn raise_gate(&self, ts: Timestamp) -> bool {
        self.gate.fetch_max(ts.0, Ordering::SeqCst);
        self.advance()
    }

    /// The counts of the snapshot at `t`, or `None` if 4096 commits were published since: take a newer timestamp.
    #[inline]
    pub fn counts(&self, t: Timestamp) -> Option<Counts> {
        let slot = &self.counts[place(t.0)];
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
        let mut moved = false;
        loop {
            // Orders our mark, or the raised gate, or the release of the lock, before looking at the marks of others; and
            // `t_read`, where it moved, before the caller looks who waits for it.
            fence(Ordering::SeqCst);
            if !self.next_is_complete(self.t_read.0.load(Ordering::SeqCst)) {
                return moved;
            }
            let Some(mut totals) = self.publisher.0.try_lock() else { return moved };
            moved |= self.drain(&mut totals);
            drop(totals);
            if faults::is_on(PlantedFault::CompletedCommitForgotten) {
                return moved;
            }
        }
    }

    fn drain(&self, totals: &mut Counts) -> bool {
        let from = self.t_read.0.load(Ordering::Relaxed);
        let mut t = from;
        while self.next_is_complete(t) {
            t += 1;
            let slot = &self.ring[place(t)];
            totals.vertices = totals.vertices.wrapping_add_signed(slot.vertices.load(Ordering::Relaxed));
            totals.edges = totals.edges.wrapping_add_signed(slot.edges.load(Ordering::Relaxed));
        }
        if t == from {
            return false;
        }
        let slot = &self.counts[place(t)];
        slot.ts.store(u64::MAX, Ordering::Relaxed);
        fence(Ordering::Release);
        slot.vertices.store(totals.vertices, Ordering::Relaxed);
        slot.edges.store(totals.edges, Ordering::Relaxed);
        slot.ts.store(t, Ordering::Release);
        self.t_read.0.store(t, Ordering::SeqCst);
        true
    }
}
