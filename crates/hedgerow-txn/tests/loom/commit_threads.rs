//! Model checks of the threads of a large commit.

use std::sync::Arc;

use hedgerow_txn::CommitThreads;
use loom::thread;

/// The threads process each element once in each phase, and the phases do not overlap. The caller gets all
/// elements back, also if the follower starts late.
#[test]
fn phases_follow_each_other_and_come_back_whole() {
    loom::model(|| {
        let workers = Arc::new(CommitThreads::new(2));
        let follower = {
            let workers = workers.clone();
            thread::spawn(move || workers.follow())
        };
        let mut all = vec![0, 10];
        for phase in 0..2 {
            let (context, back) = workers.each(phase, all, |phase, one| {
                assert_eq!(*one % 10, *phase);
                *one += 1;
            });
            assert_eq!(context, phase);
            all = back;
        }
        assert_eq!(all, [2, 12]);
        workers.dismiss();
        follower.join().unwrap();
    });
}
