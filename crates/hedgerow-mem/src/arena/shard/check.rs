//! Checks of the invariants of a shard, for tests.

use super::*;

impl<A> Shard<A> {
    /// Checks the invariants that the module states.
    pub(in super::super) fn check(&self) {
        let (mut allocated, mut blocks, mut free, mut returned) = (0, 0, 0, 0);
        for (list, retired) in [(self.regions, false), (self.retired, true)] {
            let mut next = list;
            while let Some(region) = next {
                // SAFETY: a region of the list, under the lock.
                unsafe {
                    assert_eq!((*region.as_ptr()).retired, retired);
                    let mut at = region.cast::<u8>().add(HEAD).cast::<Header>();
                    let (mut distance, mut before, mut own) = (HEAD, false, 0);
                    loop {
                        assert_eq!(at.as_ref().distance(), distance, "blocks tile the region");
                        if !retired {
                            assert_eq!(at.as_ref().has(PREV_FREE), before, "marked behind a free block");
                        }
                        if at.as_ref().size() == 0 {
                            break;
                        }
                        let is_free = at.as_ref().has(FREE);
                        if is_free {
                            assert!(retired || !before, "free neighbours are joined");
                            free += usize::from(!retired);
                            if !retired {
                                let pages = returned_of(at.cast());
                                assert_eq!(pages.within(inside(at)), pages, "inside the block");
                                returned += pages.bytes();
                            }
                        } else {
                            own += 1;
                            allocated += at.as_ref().size();
                        }
                        before = is_free;
                        distance += at.as_ref().size();
                        at = behind(at);
                    }
                    assert_eq!(distance + HEADER, (*region.as_ptr()).open);
                    assert_eq!(own, (*region.as_ptr()).blocks);
                    blocks += own;
                    next = (*region.as_ptr()).next;
                }
            }
        }
        assert_eq!((allocated, blocks), (self.allocated, self.blocks));
        assert_eq!(returned, self.returned);
        assert_eq!(self.listed(), free, "every free block is in one list");
    }

    fn listed(&self) -> usize {
        let mut listed = 0;
        let heads = self.heads.iter().flat_map(|heads| heads.iter().enumerate());
        for (level, steps) in heads {
            assert_eq!(self.levels >> level & 1 == 1, self.steps[level] != 0);
            for (step, first) in steps.iter().enumerate() {
                assert_eq!(self.steps[level] >> step & 1 == 1, first.is_some());
                let mut next = *first;
                while let Some(free) = next {
                    // SAFETY: a free block of the list, under the lock.
                    let free = unsafe { free.as_ref() };
                    assert!(free.header.has(FREE));
                    assert_eq!(class(free.header.size()), (level, step));
                    listed += 1;
                    next = free.next;
                }
            }
        }
        listed
    }
}
