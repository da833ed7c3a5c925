//! The calling thread as the only thread of a commit, for the controlled scheduler. This scheduler schedules
//! only threads that it started, and shuttle guards cannot cross threads.

use std::marker::PhantomData;

/// Implemented by any type: there is no other thread to share with.
pub trait Shared {}
impl<T> Shared for T {}

/// Implemented by any type: there is no other thread to pass to.
pub trait Passed {}
impl<T> Passed for T {}

/// The calling thread as the only thread of a commit.
pub struct CommitThreads<'j>(PhantomData<&'j ()>);

/// Calls `f` with the calling thread alone.
pub fn with_commit_threads<'j, R>(
    _work: usize,
    _serial: usize,
    f: impl FnOnce(&CommitThreads<'j>) -> R,
) -> R {
    f(&CommitThreads(PhantomData))
}

impl<'j> CommitThreads<'j> {
    /// Returns 1.
    pub fn threads(&self) -> usize {
        1
    }

    /// Calls `f` with the context and each element. Returns the context and the elements.
    pub fn each<X: Shared + 'j, T: Passed + 'j>(
        &self,
        context: X,
        all: Vec<T>,
        f: impl Fn(&X, &mut T) + Shared + 'j,
    ) -> (X, Vec<T>) {
        self.claim_each(context, all, |_, _| (), f)
    }

    /// Calls `claim` and then `f` with the context and each element. Returns the context and the elements.
    pub fn claim_each<X: Shared + 'j, T: Passed + 'j>(
        &self,
        context: X,
        mut all: Vec<T>,
        claim: impl Fn(&X, &mut T) + Shared + 'j,
        f: impl Fn(&X, &mut T) + Shared + 'j,
    ) -> (X, Vec<T>) {
        for one in &mut all {
            claim(&context, one);
            f(&context, one);
        }
        (context, all)
    }
}
