//! Which chains were read from files of late, so that who is read again soon is taken into memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_tier::ImageId;

/// As many chains are noted at most.
const PLACES: usize = 4096;

/// Chains that were touched once. Each has one place, from which the next one with the same place drives it: so the history is about
/// as long as there are places, and costs no lock. Who is driven out counts as not touched, and no harm is done.
pub(crate) struct Recent {
    places: Box<[AtomicU32]>,
    _charge: Charge,
}

impl Recent {
    /// Nothing touched yet.
    pub(super) fn new(account: &Arc<Account>) -> Recent {
        let charge = Charge::new(account, Purpose::Files, PLACES * size_of::<AtomicU32>());
        Recent { places: (0..PLACES).map(|_| AtomicU32::new(0)).collect(), _charge: charge }
    }

    /// Whether the chain was touched before, of late: then it is forgotten, else noted. Looks whether a vertex exists, which many reads
    /// begin with, are a history of their own. O(1).
    pub(crate) fn was_touched(&self, id: ImageId, of_vertex: bool) -> bool {
        let name = u64::from(of_vertex) << 48 | u64::from(id.label.0) << 32 | u64::from(id.subgraph.0);
        let hash = name.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let Some(place) = self.places.get((hash >> 32) as usize % PLACES) else { return false };
        // 0 stands for no chain. Two chains with one place and one mark are taken for each other: one in 2^32.
        let mark = (hash as u32 ^ (hash >> 40) as u32).max(1);
        // Relaxed: nothing is published by it, and a touch that is missed costs a read.
        if place.load(Ordering::Relaxed) == mark {
            place.store(0, Ordering::Relaxed);
            return true;
        }
        place.store(mark, Ordering::Relaxed);
        false
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use hedgerow_core::{LabelId, SubgraphId};

    use super::*;

    #[test]
    fn the_second_touch_of_late_is_told_from_the_first() {
        let account = Arc::new(Account::default());
        let recent = Recent::new(&account);
        let id = |label, subgraph| ImageId { label: LabelId(label), subgraph: SubgraphId(subgraph) };
        assert!(!recent.was_touched(id(0, 5), false) && !recent.was_touched(id(1, 5), false));
        assert!(recent.was_touched(id(0, 5), false) && recent.was_touched(id(1, 5), false));
        assert!(!recent.was_touched(id(0, 5), true) && recent.was_touched(id(0, 5), true));
        assert!(!recent.was_touched(id(0, 5), false), "counted from the beginning");
        let few = (0..400).filter(|&at| recent.was_touched(id(2, at), false)).count();
        let again = (0..400).filter(|&at| recent.was_touched(id(2, at), false)).count();
        assert!(few == 0 && again > 300, "{again}");
        (0..40_000).for_each(|at| _ = recent.was_touched(id(3, at), false));
        let old = (0..400).filter(|&at| recent.was_touched(id(3, at), false)).count();
        assert!(old < 40, "{old} are remembered for too long");
        assert!(account.used() > 0);
        drop(recent);
        assert_eq!(account.used(), 0);
    }
}
