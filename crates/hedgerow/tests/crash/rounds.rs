//! Rounds on two threads.

use std::sync::Mutex;

use hedgerow_testkit::Effort;

use crate::plan::Plan;
use crate::run;
use crate::tally::Tally;

/// Runs rounds until the effort is spent or a round fails. The failure names its seed.
pub(crate) fn explore(effort: &Effort, plan: impl Fn(u64) -> Plan + Sync) -> Result<Tally, String> {
    let total = Mutex::new(Ok(Tally::default()));
    let failed = || total.lock().is_ok_and(|t| t.is_err());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !failed()
                    && let Some(seed) = effort.next_seed()
                {
                    let round =
                        run::run(&plan(seed)).map_err(|e| format!("replay with HEDGEROW_ROUND={seed}: {e}"));
                    let mut total = total.lock().expect("no round panics with the lock held");
                    match (&mut *total, round) {
                        (Ok(sum), Ok(tally)) => sum.add(&tally),
                        (Ok(_), Err(error)) => *total = Err(error),
                        (Err(_), _) => {}
                    }
                }
            });
        }
    });
    total.into_inner().expect("no round panics with the lock held")
}
