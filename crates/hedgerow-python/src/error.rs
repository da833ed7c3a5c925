//! The exception tree, and the conversion of the store's errors to exceptions.

use std::io::ErrorKind;

use hedgerow::{ArgumentError, CommitError, KeyKind, OpenError, StateError, StorageError};
use hedgerow_core::suggest::did_you_mean;
use hedgerow_kernels::KernelError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::ending::is_ending;
use crate::imports;

create_exception!(hedgerow, Error, PyException, "Base of all errors of this package.");

create_exception!(
    hedgerow,
    OperationalError,
    Error,
    "The store could not do its work, for a reason outside the program: files, disk, other writers."
);
create_exception!(
    hedgerow,
    LockedError,
    OperationalError,
    "The directory is open already, in this process or another."
);
create_exception!(
    hedgerow,
    ConflictError,
    OperationalError,
    "Something that the transaction read or wrote was changed by another commit. Run it again.\n\n\
     The attribute ``timestamp`` is that of a conflicting commit."
);
create_exception!(
    hedgerow,
    AbortedError,
    OperationalError,
    "The store ended the transaction. No effect remains."
);
create_exception!(
    hedgerow,
    OutcomeUnknownError,
    OperationalError,
    "The log failed during the commit: reopening the store tells whether the transaction is there, wholly or not at all."
);
create_exception!(
    hedgerow,
    PoisonedError,
    OperationalError,
    "The log failed earlier: the store takes no more writes until it is reopened."
);
create_exception!(
    hedgerow,
    DiskFullError,
    OperationalError,
    "There is no space left on the disk. Nothing of the transaction took effect, and the store stays usable."
);
create_exception!(
    hedgerow,
    OutOfMemoryError,
    OperationalError,
    "There is not enough memory for the answer, or the memory limit of the store leaves no room for a commit."
);
create_exception!(
    hedgerow,
    CorruptionError,
    OperationalError,
    "A file is damaged. Nothing of the damaged part was used."
);

create_exception!(hedgerow, ProgrammingError, Error, "A call that makes no sense at this point.");
create_exception!(hedgerow, ClosedError, ProgrammingError, "The store or the snapshot was closed.");
create_exception!(
    hedgerow,
    ForkedError,
    ProgrammingError,
    "The process was forked since the store was opened; only the parent can use it."
);

create_exception!(hedgerow, IntegrityError, Error, "A vertex that must exist does not.");
create_exception!(hedgerow, DataError, Error, "An argument is out of range, of the wrong kind or too large.");
create_exception!(
    hedgerow,
    NotSupportedError,
    Error,
    "This store cannot do that: it has no files, no weights, or is of another format version."
);

/// Adds the exceptions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for kind in [
        py.get_type::<Error>(),
        py.get_type::<OperationalError>(),
        py.get_type::<LockedError>(),
        py.get_type::<ConflictError>(),
        py.get_type::<AbortedError>(),
        py.get_type::<OutcomeUnknownError>(),
        py.get_type::<PoisonedError>(),
        py.get_type::<DiskFullError>(),
        py.get_type::<OutOfMemoryError>(),
        py.get_type::<CorruptionError>(),
        py.get_type::<ProgrammingError>(),
        py.get_type::<ClosedError>(),
        py.get_type::<ForkedError>(),
        py.get_type::<IntegrityError>(),
        py.get_type::<DataError>(),
        py.get_type::<NotSupportedError>(),
    ] {
        module.add(kind.name()?.to_str()?, &kind)?;
    }
    Ok(())
}

/// Returns the exception for an error of the store.
pub(crate) fn raise(error: hedgerow::Error) -> PyErr {
    use hedgerow::Error as E;
    let text = error.to_string();
    match error {
        E::Open(error) => raise_open(&error, text),
        E::Commit(error) => raise_commit(&error, text),
        E::Argument(error) => raise_argument(&error, text),
        E::State(error) => raise_state(error, text),
        E::Storage(error) => raise_storage(&error, text),
        // Errors that later versions add.
        _ => OperationalError::new_err(text),
    }
}

fn raise_open(error: &OpenError, text: String) -> PyErr {
    match error {
        OpenError::Locked { .. } => LockedError::new_err(text),
        OpenError::MemoryLimit { .. } => OutOfMemoryError::new_err(text),
        // The arguments contradict the existing store.
        OpenError::ConfigMismatch { .. } | OpenError::ModeMismatch { .. } => ProgrammingError::new_err(text),
        OpenError::FutureVersion { .. } | OpenError::OldVersion { .. } => NotSupportedError::new_err(text),
        // This is `NotAStore`, or an error that a later version adds.
        _ => OperationalError::new_err(text),
    }
}

fn raise_commit(error: &CommitError, text: String) -> PyErr {
    match error {
        CommitError::Conflict { with } => conflict(text, with.0),
        CommitError::NoSuchVertex { .. } => IntegrityError::new_err(text),
        CommitError::DiskFull => DiskFullError::new_err(text),
        CommitError::MemoryLimit { .. } | CommitError::TooLarge { .. } => OutOfMemoryError::new_err(text),
        CommitError::OutcomeUnknown => OutcomeUnknownError::new_err(text),
        _ => OperationalError::new_err(text),
    }
}

fn raise_argument(error: &ArgumentError, text: String) -> PyErr {
    match error {
        ArgumentError::SeveralLabels { .. } => ProgrammingError::new_err(format!("{text} with label=")),
        ArgumentError::NoSuchLabel { label: name, known }
        | ArgumentError::NoSuchKind { kind: name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            ProgrammingError::new_err(format!("{text}{}", did_you_mean(name, &known)))
        }
        ArgumentError::SchemaConflict { .. } => ProgrammingError::new_err(text),
        // The error's text contains the number of a kind, which a user does not know.
        ArgumentError::KeyOfKind { kind, expected, found } => {
            let keys = if *expected == KeyKind::Str { "str" } else { "int" };
            let found = found.clone().without_kind();
            DataError::new_err(format!("an id of kind {kind} is a {keys}, found {found}"))
        }
        // The value is out of range, too large, or of another type; or it is an error that a later version
        // adds.
        _ => DataError::new_err(text),
    }
}

fn raise_state(error: StateError, text: String) -> PyErr {
    match error {
        StateError::Closed => ClosedError::new_err(text),
        StateError::Forked => ForkedError::new_err(text),
        StateError::Poisoned => PoisonedError::new_err(text),
        StateError::ReadOnly => ProgrammingError::new_err(text),
        _ => OperationalError::new_err(text),
    }
}

fn raise_storage(error: &StorageError, text: String) -> PyErr {
    match error {
        StorageError::Corruption(_) => CorruptionError::new_err(text),
        StorageError::DiskFull { .. } => DiskFullError::new_err(text),
        StorageError::MemoryLimit { .. } => OutOfMemoryError::new_err(text),
        StorageError::Io { source, .. } => match source.kind() {
            ErrorKind::OutOfMemory => OutOfMemoryError::new_err(text),
            ErrorKind::StorageFull => DiskFullError::new_err(text),
            _ => OperationalError::new_err(text),
        },
        _ => OperationalError::new_err(text),
    }
}

/// Returns the exception for an argument that a kernel refuses.
pub(crate) fn raise_kernel(error: KernelError) -> PyErr {
    DataError::new_err(error.to_string())
}

fn conflict(text: String, timestamp: u64) -> PyErr {
    let error = ConflictError::new_err(text);
    if is_ending() {
        return error;
    }
    match Python::attach(|py| error.value(py).setattr("timestamp", timestamp)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Returns the exception for a failed allocation.
pub(crate) fn out_of_memory(what: &str, items: usize) -> PyErr {
    OutOfMemoryError::new_err(format!("not enough memory for {items} {what}"))
}

/// Returns the caller's error for an `error` that Python code raised inside a call. Ctrl-C, the interpreter's
/// exit and exhausted memory are not caused by an argument, and are returned unchanged. Every conversion of a
/// Python error uses this function.
pub(crate) fn told(py: Python<'_>, error: PyErr, told: impl FnOnce(&PyErr) -> PyErr) -> PyErr {
    let is_of_argument =
        error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyMemoryError>(py);
    if is_of_argument { told(&error) } else { error }
}

/// Returns the text of a Python object, for a message.
pub(crate) fn text_of(object: &Bound<'_, PyAny>) -> String {
    made(object, object.str()).unwrap_or_else(|| "an object without text".to_owned())
}

/// Returns the `repr` of a Python object, for a message; `None` if its code fails.
pub(crate) fn repr_of(object: &Bound<'_, PyAny>) -> Option<String> {
    made(object, object.repr())
}

/// Converts the text that Python made of `object`. Before it makes a text, Python checks for signals, and
/// PyO3's `Display` drops a Ctrl-C that arrives then. This function raises the signal again, so that Python
/// handles it when the call has failed with its message.
fn made(object: &Bound<'_, PyAny>, text: PyResult<Bound<'_, PyString>>) -> Option<String> {
    let py = object.py();
    match text {
        Ok(text) => Some(text.to_string_lossy().into_owned()),
        Err(error) => {
            if !error.is_instance_of::<PyException>(py) {
                // `interrupt_main` fails only during the end of the interpreter, when there is no code to
                // interrupt.
                let _ = imports::THREAD.get(py).and_then(|thread| thread.call_method0("interrupt_main"));
            }
            None
        }
    }
}
