//! Bytes that are read and written at any offset, and may exceed memory. A bounded number of file pages is in
//! memory, and the others are in a temporary file. If all fit in memory, there is no file.
//!
//! Bytes that were never written are zeros. File pages are stored in the file in the order of their first
//! writes. So offsets that are far apart take no more space than neighboring ones. The checksum of a file
//! page is verified when the page is read back.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Corruption, CorruptionKind};
use hedgerow_tier::temporary::{TemporaryDirectory, TemporaryFile};

#[cfg(test)]
mod tests;

const PAGE_BYTES: usize = 4096;
/// The size of the checksum that follows a page in the file.
const CHECKSUM_BYTES: usize = 8;
const ROOM_BYTES: usize = PAGE_BYTES + CHECKSUM_BYTES;
/// The memory that a page takes: its content, its slot, and space for more slots in the vector.
const SLOT_BYTES: usize = ROOM_BYTES + 96;

/// A page that was written at least once.
#[derive(Debug)]
struct Page {
    /// The number of the page's place in the file.
    room: u64,
    /// The page's slot in memory, if it has one.
    slot: Option<u32>,
}

/// Memory for a page, with the same layout as its place in the file.
#[derive(Debug)]
struct Slot {
    /// The number of the page in this slot.
    page: Option<u64>,
    bytes: Box<[u8; ROOM_BYTES]>,
    /// True if the page has changed since it was last written to the file.
    changed: bool,
    /// True if the slot was used after the hand of the clock last passed it.
    used: bool,
}

/// Bytes at offsets from 0 on.
#[derive(Debug)]
pub(super) struct PagedBytes {
    directory: Arc<TemporaryDirectory>,
    /// The file, made when the first page leaves memory.
    file: Option<TemporaryFile>,
    /// The pages that were ever written, by number: about 48 bytes for each.
    pages: BTreeMap<u64, Page>,
    slots: Vec<Slot>,
    most_slots: usize,
    /// The slot at which the last search for a free slot stopped.
    hand: usize,
}

impl PagedBytes {
    /// Returns bytes without content. As many pages stay in memory as `memory` bytes have room for, at least
    /// one.
    pub(super) fn new(directory: &Arc<TemporaryDirectory>, memory: usize) -> PagedBytes {
        PagedBytes {
            directory: directory.clone(),
            file: None,
            pages: BTreeMap::new(),
            slots: Vec::new(),
            most_slots: (memory / SLOT_BYTES).clamp(1, u32::MAX as usize),
            hand: 0,
        }
    }

    /// Reads the bytes from offset `at` on into `to`.
    ///
    /// # Errors
    /// The errors of writing a page that leaves memory, and of reading one; a [`Corruption`] for a page that
    /// has changed in the file.
    pub(super) fn read(&mut self, mut at: u64, mut to: &mut [u8]) -> Result<()> {
        while !to.is_empty() {
            let (page, from) = split(at);
            let (now, rest) = to.split_at_mut(to.len().min(PAGE_BYTES - from));
            if self.pages.contains_key(&page) {
                now.copy_from_slice(&self.slot(page)?.bytes[from..from + now.len()]);
            } else {
                now.fill(0);
            }
            at += now.len() as u64;
            to = rest;
        }
        Ok(())
    }

    /// Writes `bytes` from offset `at` on.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub(super) fn write(&mut self, mut at: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (page, from) = split(at);
            let (now, rest) = bytes.split_at(bytes.len().min(PAGE_BYTES - from));
            let slot = self.slot(page)?;
            slot.changed = true;
            slot.bytes[from..from + now.len()].copy_from_slice(now);
            at += now.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// Returns the first offset at or after `at` whose page was written.
    pub(super) fn first_written(&self, at: u64) -> Option<u64> {
        let (&page, _) = self.pages.range(split(at).0..).next()?;
        Some(at.max(page * PAGE_BYTES as u64))
    }

    /// Returns the page in memory. The caller must write to a page that was never written, since it gets a
    /// place in the file now.
    fn slot(&mut self, number: u64) -> Result<&mut Slot> {
        let at = match self.pages.get(&number) {
            Some(Page { slot: Some(at), .. }) => *at as usize,
            Some(Page { room, .. }) => self.load(number, Some(*room))?,
            None => self.load(number, None)?,
        };
        let slot = &mut self.slots[at];
        slot.used = true;
        Ok(slot)
    }

    /// Reads a page from its place in the file, or makes a new one if it has none. Returns its slot.
    fn load(&mut self, number: u64, room: Option<u64>) -> Result<usize> {
        let at = self.free_slot()?;
        let slot = &mut self.slots[at];
        match (room, &self.file) {
            (Some(room), Some(file)) => read_room(file, room, &mut slot.bytes)?,
            _ => slot.bytes.fill(0),
        }
        slot.page = Some(number);
        let next_room = self.pages.len() as u64;
        self.pages.entry(number).or_insert(Page { room: next_room, slot: None }).slot = Some(at as u32);
        Ok(at)
    }

    /// Returns a slot without a page: a new one, or the first slot that was not used since the hand last
    /// passed it. If the page in that slot was changed, writes it to the file first.
    fn free_slot(&mut self) -> Result<usize> {
        if self.slots.len() < self.most_slots {
            let bytes = Box::new([0; ROOM_BYTES]);
            self.slots.push(Slot { page: None, bytes, changed: false, used: false });
            return Ok(self.slots.len() - 1);
        }
        loop {
            self.hand = (self.hand + 1) % self.slots.len();
            if !std::mem::take(&mut self.slots[self.hand].used) {
                break;
            }
        }
        let slot = &mut self.slots[self.hand];
        if let Some(page) = slot.page.and_then(|number| self.pages.get_mut(&number)) {
            if slot.changed {
                if self.file.is_none() {
                    self.file = Some(self.directory.create()?);
                }
                self.file.iter().try_for_each(|file| write_room(file, page.room, &mut slot.bytes))?;
                slot.changed = false;
            }
            page.slot = None;
        }
        slot.page = None;
        Ok(self.hand)
    }
}

fn write_room(file: &TemporaryFile, room: u64, bytes: &mut [u8; ROOM_BYTES]) -> Result<()> {
    let offset = room * ROOM_BYTES as u64;
    let (page, sum) = bytes.split_at_mut(PAGE_BYTES);
    sum.copy_from_slice(&checksum(offset, page).to_le_bytes());
    Ok(file.write_all_at(bytes, offset)?)
}

fn read_room(file: &TemporaryFile, room: u64, bytes: &mut [u8; ROOM_BYTES]) -> Result<()> {
    let offset = room * ROOM_BYTES as u64;
    file.read_exact_at(bytes, offset)?;
    let (page, sum) = bytes.split_at(PAGE_BYTES);
    if checksum(offset, page).to_le_bytes() != sum {
        let kind = CorruptionKind::Invalid("a page of salvage");
        return Err(Corruption::new(file.name(), offset, kind).into());
    }
    Ok(())
}

/// Returns the number of the page that an offset is in, and the place in that page.
fn split(at: u64) -> (u64, usize) {
    (at / PAGE_BYTES as u64, (at % PAGE_BYTES as u64) as usize)
}

/// Returns the checksum of a page. It covers the offset, so that a page read from a wrong place is detected.
fn checksum(offset: u64, page: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.update(&offset.to_le_bytes());
    sum.update(page);
    sum.digest64()
}
