//! The durable state, the state that programs see, and the operations between them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use super::content::Content;

/// The identity of a file; it does not depend on its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InodeId(u64);

/// A change of a file.
#[derive(Clone, Debug)]
pub(super) enum FileOp {
    Write { offset: u64, data: Arc<[u8]> },
    SetLen(u64),
    Allocate(u64),
}

impl FileOp {
    pub(super) fn apply(&self, content: &mut Content) {
        match self {
            FileOp::Write { offset, data } => content.write(*offset, data),
            FileOp::SetLen(len) => content.set_len(*len),
            FileOp::Allocate(len) => content.extend(*len),
        }
    }
}

/// A change of the directory.
#[derive(Clone, Debug)]
pub(super) enum DirOp {
    Create(String, InodeId),
    Rename(String, String, InodeId),
    Unlink(String, InodeId),
}

impl DirOp {
    /// Applies the change. Does nothing if the file does not have this name, because an earlier change was
    /// lost.
    pub(super) fn apply(&self, names: &mut BTreeMap<String, InodeId>) {
        match self {
            DirOp::Create(name, id) => {
                names.insert(name.clone(), *id);
            }
            DirOp::Rename(from, to, id) => {
                if names.get(from) == Some(id) {
                    names.remove(from);
                    names.insert(to.clone(), *id);
                }
            }
            DirOp::Unlink(name, id) => {
                if names.get(name) == Some(id) {
                    names.remove(name);
                }
            }
        }
    }
}

/// A change that is not yet durable, with its place in the order of all changes.
#[derive(Clone, Debug)]
pub(super) struct Pending<Op> {
    pub(super) seq: u64,
    pub(super) op: Op,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    /// The content that a program reads.
    pub(super) now: Content,
    /// The content on the disk.
    pub(super) durable: Content,
    pub(super) pending: Vec<Pending<FileOp>>,
    /// True if a failed sync dropped changes, so that `now` is no longer reachable from `durable`.
    dropped: bool,
}

/// The state of a held lock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Locked {
    Alone,
    /// Held by this number of readers.
    Shared(usize),
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) names: BTreeMap<String, InodeId>,
    pub(super) durable_names: BTreeMap<String, InodeId>,
    pub(super) pending_names: Vec<Pending<DirOp>>,
    pub(super) inodes: BTreeMap<InodeId, Inode>,
    pub(super) locks: HashMap<String, Locked>,
    next_inode: u64,
    next_seq: u64,
}

impl State {
    /// Makes a state in which all of `files` are durable.
    pub(super) fn settled(files: impl Iterator<Item = (String, Content)>) -> State {
        let mut state = State::default();
        files.for_each(|(name, content)| state.put(&name, content));
        state
    }

    pub(super) fn inode(&self, id: InodeId) -> &Inode {
        &self.inodes[&id]
    }

    pub(super) fn inode_mut(&mut self, id: InodeId) -> &mut Inode {
        self.inodes.get_mut(&id).expect("handles and names lead to inodes that are kept")
    }

    pub(super) fn lookup(&self, name: &str) -> io::Result<InodeId> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.names.values().map(|&id| self.inode(id).now.len()).sum()
    }

    fn seq(&mut self) -> u64 {
        self.next_seq += 1;
        self.next_seq
    }

    fn new_inode(&mut self, inode: Inode) -> InodeId {
        let id = InodeId(self.next_inode);
        self.next_inode += 1;
        self.inodes.insert(id, inode);
        id
    }

    pub(super) fn put(&mut self, name: &str, content: Content) {
        let inode = Inode { now: content.clone(), durable: content, ..Inode::default() };
        let id = self.new_inode(inode);
        self.names.insert(name.to_owned(), id);
        self.durable_names.insert(name.to_owned(), id);
    }

    pub(super) fn remove(&mut self, name: &str) -> bool {
        self.durable_names.remove(name);
        self.names.remove(name).is_some()
    }

    fn change_names(&mut self, op: DirOp) {
        op.apply(&mut self.names);
        let seq = self.seq();
        self.pending_names.push(Pending { seq, op });
    }

    pub(super) fn create(&mut self, name: &str) -> io::Result<InodeId> {
        if self.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let id = self.new_inode(Inode::default());
        self.change_names(DirOp::Create(name.to_owned(), id));
        Ok(id)
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let id = self.lookup(from)?;
        self.change_names(DirOp::Rename(from.to_owned(), to.to_owned(), id));
        Ok(())
    }

    pub(super) fn unlink(&mut self, name: &str) -> io::Result<()> {
        let id = self.lookup(name)?;
        self.change_names(DirOp::Unlink(name.to_owned(), id));
        Ok(())
    }

    /// Makes the first half of the pending directory changes durable. Returns the last change that the sync
    /// covers.
    pub(super) fn sync_half_of_dir(&mut self) -> u64 {
        let half = self.pending_names.len() / 2;
        for pending in self.pending_names.drain(..half) {
            pending.op.apply(&mut self.durable_names);
        }
        self.next_seq
    }

    pub(super) fn sync_dir(&mut self, upto: u64) {
        let covered = self.pending_names.partition_point(|p| p.seq <= upto);
        for pending in self.pending_names.drain(..covered) {
            pending.op.apply(&mut self.durable_names);
        }
    }

    pub(super) fn change(&mut self, id: InodeId, op: FileOp) -> u64 {
        let seq = self.seq();
        let inode = self.inode_mut(id);
        op.apply(&mut inode.now);
        inode.pending.push(Pending { seq, op });
        seq
    }

    /// Replaces a change by a longer one with the same start.
    pub(super) fn extend_change(&mut self, id: InodeId, seq: u64, op: FileOp) {
        let inode = self.inode_mut(id);
        op.apply(&mut inode.now);
        match inode.pending.iter_mut().find(|p| p.seq == seq) {
            Some(pending) => pending.op = op,
            // A concurrent sync took the first part.
            None => inode.pending.push(Pending { seq, op }),
        }
    }

    /// Makes the first half of a file's pending changes durable. Returns the last change that the sync
    /// covers.
    pub(super) fn sync_half_of(&mut self, id: InodeId) -> u64 {
        let upto = self.next_seq;
        let inode = self.inode_mut(id);
        let half = inode.pending.len() / 2;
        for pending in inode.pending.drain(..half) {
            pending.op.apply(&mut inode.durable);
        }
        upto
    }

    pub(super) fn sync(&mut self, id: InodeId, upto: u64) {
        let inode = self.inode_mut(id);
        let covered = inode.pending.partition_point(|p| p.seq <= upto);
        if covered == inode.pending.len() && !inode.dropped {
            inode.pending.clear();
            inode.durable = inode.now.clone();
            return;
        }
        for pending in inode.pending.drain(..covered) {
            pending.op.apply(&mut inode.durable);
        }
    }

    /// Drops pending changes, as a failed sync does. Programs can still read them, but no sync will write
    /// them.
    pub(super) fn forget_changes(&mut self, id: InodeId) {
        let inode = self.inode_mut(id);
        if !inode.pending.is_empty() {
            inode.pending.clear();
            inode.dropped = true;
        }
    }
}
