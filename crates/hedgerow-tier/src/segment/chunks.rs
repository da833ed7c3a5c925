//! Many values as bytes, some at a time.

/// How many values are turned into bytes at a time: what bounds the writer's memory.
const CHUNK: usize = 4096;

/// Writes `values` through `put`, as what `bytes` makes of each.
pub(super) fn put_chunks<T, const N: usize, E>(
    values: &[T],
    scratch: &mut Vec<u8>,
    bytes: impl Fn(&T) -> [u8; N],
    put: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for chunk in values.chunks(CHUNK) {
        scratch.clear();
        scratch.extend(chunk.iter().flat_map(&bytes));
        put(scratch)?;
    }
    Ok(())
}
