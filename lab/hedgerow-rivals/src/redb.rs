//! redb: a copy-on-write B+ tree in a file, one writer at a time.

use hedgerow_bench::{LinkStore, Open};
use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition};

use crate::keyed::Keyed;
use crate::kv::{Change, Kv, Reader, Result, Visit, Writer};

const MAP: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("map");

struct Redb {
    database: Database,
    durability: Durability,
}

/// Opens an empty database.
pub(crate) fn open(open: Open<'_>) -> Result<Box<dyn LinkStore>> {
    let database = Database::create(open.path.join("redb"))?;
    let txn = database.begin_write()?;
    txn.open_table(MAP)?;
    txn.commit()?;
    let durability = if open.durable { Durability::Immediate } else { Durability::None };
    Ok(Box::new(Keyed::new(Redb { database, durability }, open.nodes)))
}

struct Reading(ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Reader for Reading {
    fn get(&self, key: &[u8], f: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.0.get(key)?;
        Ok(value.map(|value| f(value.value())).is_some())
    }

    fn scan(&self, prefix: &[u8], f: &mut Visit<'_>) -> Result<()> {
        for pair in self.0.range(prefix..)? {
            let (key, value) = pair?;
            if !key.value().starts_with(prefix) || f(key.value(), value.value()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

struct Writing<'a>(Table<'a, &'static [u8], &'static [u8]>);

impl Writer for Writing<'_> {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(key)?.map(|value| value.value().to_vec()))
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key, value)?;
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key)?;
        Ok(())
    }
}

impl Kv for Redb {
    fn read(&self, f: &mut dyn FnMut(&dyn Reader) -> Result<()>) -> Result<()> {
        f(&Reading(self.database.begin_read()?.open_table(MAP)?))
    }

    fn write(&self, f: &mut Change<'_>) -> Result<()> {
        let mut txn = self.database.begin_write()?;
        txn.set_durability(self.durability)?;
        f(&mut Writing(txn.open_table(MAP)?))?;
        Ok(txn.commit()?)
    }

    fn settle(&self) -> Result<()> {
        let mut txn = self.database.begin_write()?;
        txn.set_durability(Durability::Immediate)?;
        Ok(txn.commit()?)
    }
}
