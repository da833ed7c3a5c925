//! LinkBench's nodes and links in a sorted map.
//!
//! | key | value |
//! | --- | --- |
//! | 0, node | its bytes |
//! | 1, source, type, destination | time, bytes |
//! | 2, source, type, time from new to old, destination | bytes |
//! | 3, source, type | the number of links |
//!
//! Numbers are big-endian, so that keys ascend as the numbers do. The newest links of a list need only one
//! scan. The map keeps the number of links, because LinkBench's own stores keep it in a table of counts.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_bench::{Found, Link, LinkStore};

use crate::kv::{Kv, Result, Writer};

/// The number of nodes or links in a transaction during loading.
const BATCH: usize = 10_000;

const NODE: u8 = 0;
const LINK: u8 = 1;
const NEWEST: u8 = 2;
const COUNT: u8 = 3;

/// A key of at most 29 bytes.
struct Key {
    bytes: [u8; 29],
    len: usize,
}

impl Key {
    fn new(table: u8, first: u64) -> Key {
        let mut key = Key { bytes: [0; 29], len: 0 };
        key.push(&[table]).push(&first.to_be_bytes());
        key
    }

    fn push(&mut self, bytes: &[u8]) -> &mut Key {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        self
    }

    fn list(table: u8, src: u64, kind: u32) -> Key {
        let mut key = Key::new(table, src);
        key.push(&kind.to_be_bytes());
        key
    }

    fn link(src: u64, kind: u32, dst: u64) -> Key {
        let mut key = Key::list(LINK, src, kind);
        key.push(&dst.to_be_bytes());
        key
    }

    fn newest(src: u64, kind: u32, time: u64, dst: u64) -> Key {
        let mut key = Key::list(NEWEST, src, kind);
        // If two links have equal times, the link with the greater destination is newer.
        key.push(&(!time).to_be_bytes()).push(&(!dst).to_be_bytes());
        key
    }
}

impl std::ops::Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn number(bytes: Option<&[u8]>) -> u64 {
    bytes.and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// A store of LinkBench on a sorted map.
pub(crate) struct Keyed<K> {
    map: K,
    /// The next number for a node.
    next: AtomicU64,
}

impl<K: Kv> Keyed<K> {
    pub(crate) fn new(map: K, nodes: u64) -> Keyed<K> {
        Keyed { map, next: AtomicU64::new(nodes) }
    }

    /// Reads and changes in one transaction.
    fn change<T: Default>(&self, mut f: impl FnMut(&mut dyn Writer) -> Result<T>) -> Result<T> {
        let mut made = T::default();
        self.map.write(&mut |txn| {
            made = f(txn)?;
            Ok(())
        })?;
        Ok(made)
    }
}

fn add_to_count(txn: &mut dyn Writer, src: u64, kind: u32, more: i64) -> Result<()> {
    let key = Key::list(COUNT, src, kind);
    let count = number(txn.get(&key)?.as_deref()).wrapping_add_signed(more);
    txn.put(&key, &count.to_be_bytes())
}

fn put(txn: &mut dyn Writer, link: &Link<'_>) -> Result<()> {
    let mut value = link.time.to_be_bytes().to_vec();
    value.extend_from_slice(link.data);
    txn.put(&Key::link(link.src, link.kind, link.dst), &value)?;
    txn.put(&Key::newest(link.src, link.kind, link.time, link.dst), link.data)
}

impl<K: Kv> LinkStore for Keyed<K> {
    fn load_nodes(&self, first: u64, data: &[Vec<u8>]) -> Result<()> {
        self.change(|txn| {
            (first..).zip(data).try_for_each(|(node, data)| txn.put(&Key::new(NODE, node), data))
        })
    }

    fn load_links(&self, links: &[Link<'_>]) -> Result<()> {
        for part in links.chunks(BATCH) {
            self.change(|txn| {
                for list in part.chunk_by(|a, b| (a.src, a.kind) == (b.src, b.kind)) {
                    list.iter().try_for_each(|link| put(txn, link))?;
                    add_to_count(txn, list[0].src, list[0].kind, list.len() as i64)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn finish_loading(&self) -> Result<()> {
        self.map.settle()
    }

    fn add_node(&self, data: &[u8]) -> Result<u64> {
        let node = self.next.fetch_add(1, Ordering::Relaxed);
        self.change(|txn| txn.put(&Key::new(NODE, node), data))?;
        Ok(node)
    }

    fn update_node(&self, node: u64, data: &[u8]) -> Result<bool> {
        let key = Key::new(NODE, node);
        self.change(|txn| {
            let exists = txn.get(&key)?.is_some();
            if exists {
                txn.put(&key, data)?;
            }
            Ok(exists)
        })
    }

    fn delete_node(&self, node: u64) -> Result<bool> {
        let key = Key::new(NODE, node);
        self.change(|txn| {
            let existed = txn.get(&key)?.is_some();
            if existed {
                txn.delete(&key)?;
            }
            Ok(existed)
        })
    }

    fn get_node(&self, node: u64, data: &mut Vec<u8>) -> Result<bool> {
        let mut exists = false;
        self.map.read(&mut |map| {
            exists = map.get(&Key::new(NODE, node), &mut |value| data.extend_from_slice(value))?;
            Ok(())
        })?;
        Ok(exists)
    }

    fn put_link(&self, link: Link<'_>) -> Result<bool> {
        self.change(|txn| {
            let before = txn.get(&Key::link(link.src, link.kind, link.dst))?;
            match &before {
                Some(value) => {
                    txn.delete(&Key::newest(link.src, link.kind, number(Some(value)), link.dst))?;
                }
                None => add_to_count(txn, link.src, link.kind, 1)?,
            }
            put(txn, &link)?;
            Ok(before.is_none())
        })
    }

    fn delete_link(&self, src: u64, kind: u32, dst: u64) -> Result<bool> {
        let key = Key::link(src, kind, dst);
        self.change(|txn| {
            let Some(before) = txn.get(&key)? else { return Ok(false) };
            txn.delete(&key)?;
            txn.delete(&Key::newest(src, kind, number(Some(&before)), dst))?;
            add_to_count(txn, src, kind, -1)?;
            Ok(true)
        })
    }

    fn get_links(&self, src: u64, kind: u32, targets: &[u64], found: &mut Found) -> Result<()> {
        self.map.read(&mut |map| {
            for &dst in targets {
                map.get(&Key::link(src, kind, dst), &mut |value| {
                    found.push(dst, number(Some(value)), value.get(8..).unwrap_or(&[]));
                })?;
            }
            Ok(())
        })
    }

    fn newest_links(&self, src: u64, kind: u32, limit: usize, found: &mut Found) -> Result<()> {
        let prefix = Key::list(NEWEST, src, kind);
        self.map.read(&mut |map| {
            map.scan(&prefix, &mut |key, data| {
                let (time, dst) = (number(key.get(13..)), number(key.get(21..)));
                found.push(!dst, !time, data);
                if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        })
    }

    fn count_links(&self, src: u64, kind: u32) -> Result<u64> {
        let mut count = 0;
        self.map.read(&mut |map| {
            map.get(&Key::list(COUNT, src, kind), &mut |value| count = number(Some(value)))?;
            Ok(())
        })?;
        Ok(count)
    }
}
