//! A separate thread that commits transactions in order, while the load fills the next one.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use hedgerow::WriteTxn;

/// The number of filled transactions that may wait. There are two more: the one being filled and the one
/// being committed.
const WAITING: usize = 1;

/// The channel for filled transactions, each with its number of rows.
pub(crate) type Sink = SyncSender<(WriteTxn, u64)>;

/// The sum of the commits, and the error after which no more are made.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    pub(crate) rows: u64,
    pub(crate) transactions: u64,
    pub(crate) error: Option<hedgerow::Error>,
}

impl Committed {
    /// Commits a transaction of `rows` rows; stores the error and returns false if that fails.
    fn add(&mut self, txn: WriteTxn, rows: u64) -> bool {
        match txn.commit() {
            Ok(_) => {
                self.rows += rows;
                self.transactions += 1;
                true
            }
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

/// Calls `fill` with a sink, and commits the transactions sent to it on another thread. If no thread can be
/// started, `fill` gets `None`. Returns the commits and the result of `fill`.
///
/// After a failed commit the sink is closed. Transactions must read nothing: each one begins before the
/// previous one is committed.
pub(crate) fn commit_beside<T>(fill: impl FnOnce(Option<Sink>) -> T) -> (Committed, T) {
    std::thread::scope(|scope| {
        let (sink, filled) = sync_channel::<(WriteTxn, u64)>(WAITING);
        let commits = move || {
            let mut committed = Committed::default();
            let _ = filled.into_iter().all(|(txn, rows)| committed.add(txn, rows));
            committed
        };
        let Ok(thread) = Builder::new().name("hedgerow-commits".to_owned()).spawn_scoped(scope, commits)
        else {
            return (Committed::default(), fill(None));
        };
        let result = fill(Some(sink));
        match thread.join() {
            Ok(committed) => (committed, result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
