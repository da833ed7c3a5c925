//! The commit clock: draws timestamps in one order and publishes completed commits as a prefix of it.
//!
//! # Protocol
//! * **Draw** (rule R1): a timestamp is drawn inside the ordering section, [`Clock::order`], while the committer holds
//!   the latches of everything it writes. So per subgraph the order of application and of timestamps agree. A commit that
//!   has nothing to do in the section draws in one step while nobody is in it, [`Clock::draw_outside`].
//! * **Complete**: once applied, the committer marks its slot of the ring and tries to advance.
//! * **Advance**: whoever takes the word of `t_read` moves it over every marked slot up to the gate. A committer
//!   leaves where the slot after `t_read` is not marked, since whoever marks that one publishes its own too, and where
//!   it finds the word taken, since its holder looks again after giving it back. Marking and looking are separated by
//!   sequentially consistent fences on both sides, so one of the two sees the other.
//! * **Gate**: nothing past the gate is published. Under `sync` durability the gate is the last durable timestamp;
//!   otherwise it is infinite.

use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicI64, AtomicU64, Mutex, MutexGuard, Ordering, fence};

use crate::apart::Apart;

const RING: u64 = if cfg!(feature = "model-checking") { 4 } else { 4096 };

/// The place of a timestamp in the ring.
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

/// A completed commit waits here until all before it are complete too. On a cache line with the counts that its publisher leaves: mostly
/// its own committer, which has the line.
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

/// What the holder of the ordering section knows.
struct Drawn {
    last: u64,
    /// Whether all timestamps are drawn in the section from now on.
    only_here: bool,
}

/// Set in the word of a timestamp while one thread alone may change it. No timestamp has this bit.
const HELD: u64 = 1 << 63;

/// The last timestamp drawn, and the section that draws.
struct Order {
    section: Mutex<Drawn>,
    /// The last timestamp drawn, and [`HELD`] while somebody is in the section.
    drawn: AtomicU64,
    /// Below this there was room in the ring when somebody looked. Publication is looked at again only where it is reached: `t_read`
    /// changes in other caches all the time.
    room: AtomicU64,
}

/// How far commits are published. In one line, since whoever marks a commit looks at the word, and takes it to publish.
struct Publication {
    /// `t_read`, and [`HELD`] while a publisher is at work.
    t_read: AtomicU64,
    /// The counts at `t_read`. Only the publisher at work looks at them.
    vertices: AtomicU64,
    edges: AtomicU64,
}

/// The commit clock of a store. What committers write, publishers write, and everybody only reads lies apart.
pub struct Clock {
    order: Apart<Order>,
    publication: Apart<Publication>,
    gate: AtomicU64,
    ring: Box<[Slot]>,
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
        self.clock.has_room(self.state.last + 1)
    }

    /// Lets no timestamp be drawn [outside](Clock::draw_outside) of the section any more.
    pub fn forbid_outside(&mut self) {
        self.state.only_here = true;
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
    /// The bytes of the clock and its ring: the same from the beginning to the end.
    pub fn bytes(&self) -> usize {
        size_of::<Clock>() + size_of_val(&*self.ring)
    }

    /// A clock whose last commit was `last`, with `counts` at that time. `gate` is the last timestamp that may be
    /// published without being raised: [`Timestamp::INFINITY`] where publication does not wait for durability.
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

    /// Enters the ordering section, waiting for another committer in it.
    pub fn order(&self) -> OrderGuard<'_> {
        // Under the model checkers one way to wait is enough.
        let free = if cfg!(feature = "model-checking") { None } else { self.order.0.section.try_lock() };
        let mut state = free.unwrap_or_else(|| self.wait_for_order());
        if !state.only_here {
            state.last = self.order.0.drawn.fetch_or(HELD, Ordering::AcqRel);
        }
        OrderGuard { state, clock: self }
    }

    /// Draws the next timestamp as [`OrderGuard::draw`] does, in one step while nobody is in the section; for commits that look at
    /// nothing and write nothing there. `None` where somebody stays in the section, or has [forbidden](OrderGuard::forbid_outside) this, or
    /// the ring has no room.
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

    /// Waits a little until nobody is in the section; the last timestamp drawn then.
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

    /// Whether the ring has room for the commit `next`.
    #[inline]
    fn has_room(&self, next: u64) -> bool {
        let room = &self.order.0.room;
        // Acquires what the thread that stored this had seen published: a slot is marked again only after its publisher has read it.
        next < room.load(Ordering::Acquire) || {
            let now = self.published().0 + RING;
            // An earlier value that another thread stores over it only has somebody look once more.
            room.store(now, Ordering::Release);
            next < now
        }
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
        Timestamp(self.publication.0.t_read.load(Ordering::SeqCst) & !HELD)
    }

    /// The last timestamp drawn, seen from outside the ordering section.
    #[inline]
    pub fn drawn(&self) -> Timestamp {
        Timestamp(self.order.0.drawn.load(Ordering::Acquire) & !HELD)
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
            // Orders our mark, or the raised gate, or the release of the word, before looking at the marks of others; and
            // `t_read`, where it moved, before the caller looks who waits for it.
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

    /// Counts what is complete after `t`, of which the next is; the last timestamp that may be published.
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
