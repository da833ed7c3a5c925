use crate::error::{CommitError, Error};
use crate::options::{LEAST_MEMORY_LIMIT, Options};

/// Each of two commits merges more than half of the limit, and looks at the same moment, with its latches.
#[test]
fn of_two_commits_that_merge_at_the_same_moment_one_has_the_room() {
    let graph = Options::new().memory_limit(LEAST_MEMORY_LIMIT).in_memory().unwrap();
    let core = &graph.engine.core;
    let bytes = LEAST_MEMORY_LIMIT / 3 * 2;
    let merges = || core.promise_merges(|| bytes as usize);
    let first = merges();
    assert!(matches!(first, Ok(Some(_))));
    assert_eq!(merges().err(), Some(bytes), "that is the room of the first");
    assert!(matches!(core.promise_merges(|| 4096), Ok(None)), "a small one fits what commits leave free");
    let refused = core.find_room_to_merge(bytes);
    assert!(matches!(refused, Err(Error::Commit(CommitError::MemoryLimit { .. }))), "{refused:?}");
    drop(first);
    core.find_room_to_merge(bytes).unwrap();
    assert!(matches!(merges(), Ok(Some(_))));
    assert_eq!(core.reservations.promised(), 0, "each promise is over");
    assert_eq!(merges().map(|_| ()), Ok(()), "and none is charged");
    let unlimited = Options::new().in_memory().unwrap();
    assert!(matches!(unlimited.engine.core.promise_merges(|| usize::MAX), Ok(None)));
}
