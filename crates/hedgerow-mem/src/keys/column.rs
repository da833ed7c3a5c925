//! An array of items that grows without moving them and is read without locks.

use std::sync::OnceLock;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::growing::Growing;

type Page<T> = OnceLock<Box<[T]>>;

/// An array of items by number. The first page grows by doubling, so that a small graph takes little memory.
pub(super) struct Column<T, const PAGE: usize, const PAGES: usize> {
    first: Growing<T, PAGE>,
    pages: Growing<Page<T>, PAGES>,
}

impl<T, const PAGE: usize, const PAGES: usize> Default for Column<T, PAGE, PAGES> {
    fn default() -> Self {
        Column { first: Growing::default(), pages: Growing::default() }
    }
}

impl<T: Default, const PAGE: usize, const PAGES: usize> Column<T, PAGE, PAGES> {
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&T> {
        match at / PAGE {
            0 => self.first.get(at),
            page => self.pages.get(page)?.get()?.get(at % PAGE),
        }
    }

    /// Calls `f` with number and item, for each existing item among the `count` items from `first` on.
    pub(super) fn for_each_in(&self, first: usize, count: usize, mut f: impl FnMut(usize, &T)) {
        let mut place = 0;
        while place < count {
            let at = first + place;
            let end = place + (PAGE - at % PAGE).min(count - place);
            match at / PAGE {
                0 => (place..end).for_each(|place| {
                    self.first.get(first + place).into_iter().for_each(|item| f(place, item))
                }),
                page => {
                    let page = self.pages.get(page).and_then(OnceLock::get);
                    let items = page.and_then(|page| page.get(at % PAGE..)).unwrap_or_default();
                    (place..end).zip(items).for_each(|(place, item)| f(place, item));
                }
            }
            place = end;
        }
    }

    pub(super) fn get_or_create(&self, at: usize, account: &Account) -> &T {
        let charge = |bytes| account.charge(Purpose::Keys, bytes);
        match at / PAGE {
            0 => self.first.get_or_create(at, charge),
            page => {
                let page = self.pages.get_or_create(page, charge);
                let new = || {
                    charge(PAGE * size_of::<T>());
                    (0..PAGE).map(|_| T::default()).collect()
                };
                &page.get_or_init(new)[at % PAGE]
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let made = self.pages.chunks().flat_map(|(_, pages)| pages).filter(|page| page.get().is_some());
        self.first.bytes() + self.pages.bytes() + made.count() * PAGE * size_of::<T>()
    }
}
