//! A sorted map of bytes with transactions: what the engines have in common.

use std::ops::ControlFlow;

use hedgerow_bench::Failure;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A function that is called with a key and its value.
pub(crate) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// A state of the map that does not change.
pub(crate) trait Reader {
    /// Calls `f` with the value of a key, if it has one. Returns whether it has.
    fn get(&self, key: &[u8], f: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// Calls `f` with each key that begins so and its value, ascending, until it breaks.
    fn scan(&self, prefix: &[u8], f: &mut Visit<'_>) -> Result<()>;
}

/// A transaction, which sees what it wrote. What it reads does not change before it ends.
pub(crate) trait Writer {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

/// What `f` does in a transaction.
pub(crate) type Change<'a> = dyn FnMut(&mut dyn Writer) -> Result<()> + 'a;

/// A sorted map, used by several threads.
pub(crate) trait Kv: Send + Sync {
    /// Calls `f` with the map as the last transactions left it.
    fn read(&self, f: &mut dyn FnMut(&dyn Reader) -> Result<()>) -> Result<()>;
    /// Calls `f` with a transaction and commits it; again where the engine says that it met another one.
    fn write(&self, f: &mut Change<'_>) -> Result<()>;
    /// Brings what was written so far where it will be read.
    fn settle(&self) -> Result<()>;
}
