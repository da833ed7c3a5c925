//! Commits in the order of timestamps, published in groups (section 5).
//!
//! A transaction that has done its work and holds all its locks draws a timestamp. It applies its changes at
//! once, and releases its locks. When a transaction finishes, it publishes a group: all finished transactions
//! before the first unfinished one. So no transaction waits for other transactions while it holds locks. A
//! finished transaction waits until all transactions before it have finished too.

use std::collections::VecDeque;
use std::sync::Arc;

use hedgerow_core::sync::Mutex;

use crate::change::More;
use crate::clock::Clock;
use crate::planted::{Planted, is_on};

/// The number of checks after which a transaction that waits for its publication lets other threads run.
const SPINS: u32 = 100;

/// The group commit of a container.
pub(super) struct Groups {
    /// The effects of the transactions from the first unpublished timestamp on; none for a transaction that
    /// is not yet applied.
    begun: Mutex<VecDeque<Option<More>>>,
    clock: Arc<Clock>,
}

impl Groups {
    pub(super) fn new(clock: Arc<Clock>) -> Groups {
        Groups { begun: Mutex::default(), clock }
    }

    /// Returns the timestamp of a transaction that holds all its locks. The transaction must apply its
    /// changes next, without waiting for other transactions.
    pub(super) fn join(&self) -> u64 {
        let mut begun = self.begun.lock();
        begun.push_back(None);
        let timestamp = self.clock.draw();
        drop(begun);
        if is_on(Planted::PublishedOutOfTurn) {
            // Gives other transactions enough time to finish, and readers enough time to read.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        timestamp
    }

    /// Records that a transaction is applied, and waits until it is published. The transaction holds no locks
    /// any more.
    pub(super) fn finish(&self, timestamp: u64, more: More) {
        let is_out_of_turn = is_on(Planted::PublishedOutOfTurn);
        let mut begun = self.begun.lock();
        // Transactions are published only under this lock.
        let mut next = self.clock.published() + 1;
        if is_out_of_turn && timestamp < next {
            return;
        }
        begun[(timestamp - next) as usize] = Some(more);
        while let Some(first) = begun.front()
            && (first.is_some() || is_out_of_turn && next < timestamp)
        {
            let more = first.unwrap_or_default();
            begun.pop_front();
            self.clock.publish(next, more.vertices, more.edges);
            next += 1;
        }
        drop(begun);
        wait_until(|| self.clock.published() >= timestamp);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    let mut asked = 0u32;
    while !is_so() {
        asked = asked.wrapping_add(1);
        if asked.is_multiple_of(SPINS) {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::sound;

    #[test]
    fn nobody_waits_for_others_to_be_applied_and_the_order_is_kept() {
        let _sound = sound();
        let clock = Arc::new(Clock::default());
        let groups = &Groups::new(clock.clone());
        let [first, second, third] = [(); 3].map(|()| groups.join());
        let more = |vertices| More { vertices, ..More::default() };
        std::thread::scope(|scope| {
            scope.spawn(move || groups.finish(third, more(4)));
            scope.spawn(move || groups.finish(second, more(2)));
            while clock.published() == 0 && groups.begun.lock().iter().flatten().count() < 2 {
                std::thread::yield_now();
            }
            assert_eq!(clock.published(), 0, "the first is not applied yet");
            groups.finish(first, more(1));
        });
        let reader = clock.register().expect("a free slot");
        assert_eq!((reader.timestamp().0, reader.vertices()), (third, 7));
    }
}
