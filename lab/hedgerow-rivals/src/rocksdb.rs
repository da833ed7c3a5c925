//! RocksDB: an LSM tree, with pessimistic transactions.
//!
//! It has a Bloom filter of 10 bits per key, a block cache of 1 GiB, and no compression. Either each commit
//! syncs the log, or none does.

use hedgerow_bench::{LinkStore, Open};
use rocksdb::{
    BlockBasedOptions, Cache, DBCompressionType, Direction, ErrorKind, IteratorMode, Options, ReadOptions,
    SnapshotWithThreadMode, Transaction, TransactionDB, TransactionDBOptions, TransactionOptions,
    WriteOptions,
};

use crate::keyed::Keyed;
use crate::kv::{Change, Kv, Reader, Result, Visit, Writer};

const CACHE_BYTES: usize = 1 << 30;

struct Rocks {
    database: TransactionDB,
    durable: bool,
}

/// Opens an empty database.
pub(crate) fn open(open: Open<'_>) -> Result<Box<dyn LinkStore>> {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_bloom_filter(10.0, false);
    blocks.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::None);
    let database = TransactionDB::open(&options, &TransactionDBOptions::default(), open.path)?;
    Ok(Box::new(Keyed::new(Rocks { database, durable: open.durable }, open.nodes)))
}

struct Reading<'a>(SnapshotWithThreadMode<'a, TransactionDB>);

impl Reader for Reading<'_> {
    fn get(&self, key: &[u8], f: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.0.get_pinned(key)?.map(|value| f(&value)).is_some())
    }

    fn scan(&self, prefix: &[u8], f: &mut Visit<'_>) -> Result<()> {
        let mut options = ReadOptions::default();
        // No key here has a prefix with only bytes of the greatest value.
        let mut end = prefix.to_vec();
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                break;
            }
        }
        options.set_iterate_upper_bound(end);
        for pair in self.0.iterator_opt(IteratorMode::From(prefix, Direction::Forward), options) {
            let (key, value) = pair?;
            if f(&key, &value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

struct Writing<'a>(Transaction<'a, TransactionDB>);

impl Writer for Writing<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get_for_update(key, true)?)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.0.put(key, value)?)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        Ok(self.0.delete(key)?)
    }
}

/// True if another transaction caused the error.
fn met_another(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    let kind = error.downcast_ref::<rocksdb::Error>().map(rocksdb::Error::kind);
    matches!(kind, Some(ErrorKind::Busy | ErrorKind::TimedOut | ErrorKind::TryAgain))
}

impl Kv for Rocks {
    fn read(&self, f: &mut dyn FnMut(&dyn Reader) -> Result<()>) -> Result<()> {
        f(&Reading(self.database.snapshot()))
    }

    fn write(&self, f: &mut Change<'_>) -> Result<()> {
        let mut options = WriteOptions::default();
        options.set_sync(self.durable);
        loop {
            let mut writing =
                Writing(self.database.transaction_opt(&options, &TransactionOptions::default()));
            let made = f(&mut writing).and_then(|()| Ok(writing.0.commit()?));
            match made {
                Err(error) if met_another(&*error) => {}
                made => return made,
            }
        }
    }

    fn settle(&self) -> Result<()> {
        Ok(self.database.flush()?)
    }
}
