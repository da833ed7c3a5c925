//! LMDB: a copy-on-write B+ tree in a mapped file, one writer at a time.
//!
//! If it is not durable, it writes through the map, and the system decides when pages reach the disk
//! (`MDB_WRITEMAP | MDB_NOSYNC`). This is its fastest mode. If it is durable, it has its defaults.
#![allow(unsafe_code, reason = "opening an environment is unsafe in the binding")]

use hedgerow_bench::{LinkStore, Open};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, WithTls};

use crate::keyed::Keyed;
use crate::kv::{Change, Kv, Reader, Result, Visit, Writer};

/// The address space for the file.
const MAP_BYTES: usize = 64 << 30;

type Map = Database<Bytes, Bytes>;

struct Lmdb {
    env: Env,
    map: Map,
}

/// Opens an empty environment.
pub(crate) fn open(open: Open<'_>) -> Result<Box<dyn LinkStore>> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES);
    if !open.durable {
        // SAFETY: without syncs a crash of the machine may damage the file, but no process opens the file
        // again.
        unsafe { options.flags(EnvFlags::WRITE_MAP | EnvFlags::NO_SYNC) };
    }
    // SAFETY: the file is in a directory that was made only for this environment, so no other process maps or
    // changes it.
    let env = unsafe { options.open(open.path) }?;
    let mut txn = env.write_txn()?;
    let map = env.create_database(&mut txn, None)?;
    txn.commit()?;
    Ok(Box::new(Keyed::new(Lmdb { env, map }, open.nodes)))
}

struct Reading<'a> {
    map: Map,
    txn: RoTxn<'a, WithTls>,
}

impl Reader for Reading<'_> {
    fn get(&self, key: &[u8], f: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.map.get(&self.txn, key)?;
        Ok(value.map(f).is_some())
    }

    fn scan(&self, prefix: &[u8], f: &mut Visit<'_>) -> Result<()> {
        for pair in self.map.prefix_iter(&self.txn, prefix)? {
            let (key, value) = pair?;
            if f(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

struct Writing<'a> {
    map: Map,
    txn: RwTxn<'a>,
}

impl Writer for Writing<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.map.get(&self.txn, key)?.map(<[u8]>::to_vec))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.map.put(&mut self.txn, key, value)?)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.map.delete(&mut self.txn, key)?;
        Ok(())
    }
}

impl Kv for Lmdb {
    fn read(&self, f: &mut dyn FnMut(&dyn Reader) -> Result<()>) -> Result<()> {
        f(&Reading { map: self.map, txn: self.env.read_txn()? })
    }

    fn write(&self, f: &mut Change<'_>) -> Result<()> {
        let mut writing = Writing { map: self.map, txn: self.env.write_txn()? };
        f(&mut writing)?;
        Ok(writing.txn.commit()?)
    }

    fn settle(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }
}
