//! Counts of recent cold reads of chains, so that a chain that is read again soon is loaded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_tier::ImageId;

/// The greatest number of chains whose touches are counted.
const PLACES: usize = 4096;
/// The greatest count of touches, in the low bits of a place.
const MOST: u32 = 0xff;

/// The target of a touch: a chain, or the existence of one of its vertices, which many reads check first.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub image: ImageId,
    pub of_vertex: bool,
}

/// Counts of the touches of chains. Each chain has one place, and another chain with the same place replaces
/// it there. So the table remembers about as many touches as it has places, and needs no lock. A chain that
/// was replaced counts as not touched, which does no harm.
pub(crate) struct Recent {
    places: Box<[AtomicU32; PLACES]>,
    _charge: Charge,
}

impl Recent {
    /// Makes a table without touches.
    pub(crate) fn new(account: &Arc<Account>) -> Recent {
        let charge = Charge::new(account, Purpose::Reads, PLACES * size_of::<AtomicU32>());
        Recent { places: Box::new(std::array::from_fn(|_| AtomicU32::new(0))), _charge: charge }
    }

    /// Notes a touch of a chain; returns the number of recent touches, with this one. O(1).
    pub(crate) fn touch(&self, id: Touched) -> u32 {
        let (place, mark) = self.place(id);
        // Relaxed: it publishes nothing, and a missed touch costs only a read.
        let noted = place.load(Ordering::Relaxed);
        let before = if noted & !MOST == mark { noted & MOST } else { 0 };
        let touches = MOST.min(before + 1);
        place.store(mark | touches, Ordering::Relaxed);
        touches
    }

    /// Drops the count of a chain that is loaded. O(1).
    pub(crate) fn forget(&self, id: Touched) {
        let (place, mark) = self.place(id);
        if place.load(Ordering::Relaxed) & !MOST == mark {
            place.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the place that counts touches of a chain, and the mark of the chain. Two chains with the same
    /// place and mark share a count: one pair in 2^24.
    fn place(&self, id: Touched) -> (&AtomicU32, u32) {
        let Touched { image, of_vertex } = id;
        let name = u64::from(of_vertex) << 48 | u64::from(image.label.0) << 32 | u64::from(image.subgraph.0);
        let hash = name.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The highest bits depend on the whole name.
        (&self.places[(hash >> 52) as usize % PLACES], (hash >> 20) as u32 & !MOST)
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use hedgerow_core::{LabelId, SubgraphId};

    use super::*;

    #[test]
    fn touches_of_late_are_counted() {
        let account = Arc::new(Account::default());
        let recent = Recent::new(&account);
        let id = |label, subgraph| Touched {
            image: ImageId { label: LabelId(label), subgraph: SubgraphId(subgraph) },
            of_vertex: false,
        };
        let vertex = Touched { of_vertex: true, ..id(0, 5) };
        for touches in 1..300 {
            assert!([id(0, 5), id(1, 5), vertex].map(|id| recent.touch(id)) == [touches.min(255); 3]);
        }
        recent.forget(id(0, 5));
        recent.forget(id(7, 7));
        assert_eq!([id(0, 5), id(1, 5), vertex].map(|id| recent.touch(id)), [1, 255, 255]);
        let touched = |label, range: std::ops::Range<u32>, wanted| {
            range.filter(|&at| recent.touch(id(label, at)) == wanted).count()
        };
        assert!(touched(2, 0..400, 1) == 400 && touched(2, 0..400, 2) > 300);
        touched(3, 0..40_000, 1);
        assert!(touched(3, 0..400, 1) > 360, "what is long ago is forgotten");
        assert!(account.used() > 0);
        drop(recent);
        assert_eq!(account.used(), 0);
    }
}
