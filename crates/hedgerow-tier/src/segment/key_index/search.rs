//! Look-ups of keys in the index, and reads of the whole index.

use hedgerow_core::{VertexId, VertexKeyRef};
use hedgerow_io::StoreId;

use super::entry::{Entry, hash_of};
use super::{CHECKSUM_BYTES, IndexBlock, KeyIndex};
use crate::TierError;
use crate::bytes::{Bytes, Fault};
use crate::segment::block::index_checksum;
use crate::segment::source::Source;

impl KeyIndex {
    /// Returns the vertex that the key names in this segment. Reads one block, or none if no block can have
    /// the key.
    pub(in crate::segment) fn find(
        &self,
        source: &Source,
        store: StoreId,
        key: VertexKeyRef<'_>,
    ) -> Result<Option<VertexId>, TierError> {
        let hash = hash_of(store, key);
        let after = self.blocks.partition_point(|block| block.first <= hash);
        let Some(number) = after.checked_sub(1) else { return Ok(None) };
        let mut found = None;
        let mut repeated = false;
        self.read_block(source, number, |entry| {
            if entry.is_of(hash, key) {
                repeated |= found.is_some();
                found = Some(entry.id);
            }
        })?;
        if repeated {
            let position = self.blocks.get(number).map_or(0, |block| block.position);
            return Err(source.invalid(position, "a key twice in the key index"));
        }
        Ok(found)
    }

    /// Calls `f` with each entry, in order. Reads each block once.
    pub(in crate::segment) fn for_each(
        &self,
        source: &Source,
        mut f: impl FnMut(&Entry<'_>),
    ) -> Result<(), TierError> {
        (0..self.blocks.len()).try_for_each(|number| self.read_block(source, number, &mut f))
    }

    /// Reads and verifies a block, whose entries must ascend and precede those of the next block.
    pub(super) fn read_block(
        &self,
        source: &Source,
        number: usize,
        mut f: impl FnMut(&Entry<'_>),
    ) -> Result<(), TierError> {
        let Some(&IndexBlock { first, position }) = self.blocks.get(number) else { return Ok(()) };
        let next = self.blocks.get(number + 1);
        let end = next.map_or(self.end, |next| next.position);
        let raw = source.read_region(position, end.saturating_sub(position))?;
        let Some((payload, sum)) = raw.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(source.invalid(position, "block of the key index without checksum"));
        };
        let mut found = index_checksum(source.file_id, position);
        found.update(payload);
        source.check(position, u64::from_le_bytes(*sum), found.digest64())?;
        let read = entries(payload, first, next.map(|next| next.first), &mut f);
        read.map_err(|fault| source.invalid(position + fault.position as u64, fault.what))
    }
}

fn entries(
    payload: &[u8],
    first: u64,
    next: Option<u64>,
    f: &mut impl FnMut(&Entry<'_>),
) -> Result<(), Fault> {
    let mut bytes = Bytes::new(payload);
    let mut last: Option<(u64, VertexId)> = None;
    while !bytes.is_empty() {
        let entry = Entry::decode(&mut bytes)?;
        let place = (entry.hash, entry.id);
        let ascends = last.map_or(entry.hash == first, |last| last < place);
        bytes.require(ascends, "keys of the key index out of order")?;
        bytes.require(next.is_none_or(|next| entry.hash < next), "a key in another block than its own")?;
        last = Some(place);
        f(&entry);
    }
    Ok(())
}
