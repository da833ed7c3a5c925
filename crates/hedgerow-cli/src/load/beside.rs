//! Commits on a separate thread, in their order, while the next transaction is filled.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use hedgerow::WriteTxn;

/// The filled transactions that may wait. Beside these there are the one that is being filled and the one
/// that is being committed.
const WAITING: usize = 1;

/// The channel for filled transactions, with the number of rows of each.
pub(super) type Sink = SyncSender<(WriteTxn, u64)>;

/// The commits, and the error that ended them.
#[derive(Debug, Default)]
pub(super) struct Committed {
    pub(super) rows: u64,
    pub(super) transactions: u64,
    pub(super) error: Option<hedgerow::Error>,
}

impl Committed {
    /// Commits a transaction of `rows` rows; false after a failure, which is kept.
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

/// Calls `fill` with the sink for transactions, and commits them meanwhile; with `None` if no thread can be
/// started. Returns the commits and the result of `fill`.
///
/// After a failed commit the sink is closed. Transactions must read nothing: each begins before the one
/// before it is committed.
pub(super) fn commit_beside<T>(fill: impl FnOnce(Option<Sink>) -> T) -> (Committed, T) {
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
