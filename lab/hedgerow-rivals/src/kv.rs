//! A sorted map of bytes with transactions: the common interface of the engines.

use std::ops::ControlFlow;

use hedgerow_bench::Failure;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A function that takes a key and its value.
pub(crate) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// A state of the map that does not change.
pub(crate) trait Reader {
    /// Calls `f` with the value of a key, if the key has one. Returns whether the key has a value.
    fn get(&self, key: &[u8], f: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// Calls `f` with each key that begins with `prefix` and its value, ascending, until `f` breaks.
    fn scan(&self, prefix: &[u8], f: &mut Visit<'_>) -> Result<()>;
}

/// A transaction, which sees its own writes. Its reads do not change before it ends.
pub(crate) trait Writer {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

/// The function that makes the changes of a transaction.
pub(crate) type Change<'a> = dyn FnMut(&mut dyn Writer) -> Result<()> + 'a;

/// A sorted map for several threads.
pub(crate) trait Kv: Send + Sync {
    /// Calls `f` with the state of the map after the last transactions.
    fn read(&self, f: &mut dyn FnMut(&dyn Reader) -> Result<()>) -> Result<()>;
    /// Calls `f` with a transaction and commits it. Repeats both if the engine reports a conflict with
    /// another transaction.
    fn write(&self, f: &mut Change<'_>) -> Result<()>;
    /// Moves all writes so far to their place for reads.
    fn settle(&self) -> Result<()>;
}
