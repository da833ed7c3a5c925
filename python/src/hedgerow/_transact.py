"""`Database.transact`.

This is written in Python, so that no native frame is below the caller's function. The function may block for
any time, and a daemon thread in it ends with the interpreter like any other thread.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ._native import ConflictError, Database, DataError, Transaction

__all__: list[str] = []

_MOST_RETRIES = 2**32 - 1


def transact(self: Database, fn: Callable[[Transaction], Any], *, retries: int = 16) -> Any:
    """Run a function in a write transaction, and commit it. After a conflict, run it again.

    Parameters
    ----------
    fn : callable
        Called with the transaction, once per attempt. It should have no other effects, and must not end the
        transaction. If it raises, the transaction is rolled back and the exception is passed on.
    retries : int
        The maximal number of further attempts after conflicts.

    Returns
    -------
    object
        The result of the last call of ``fn``.

    Raises
    ------
    ConflictError
        The retries are used up.

    Examples
    --------
    >>> import hedgerow
    >>> db = hedgerow.open(directed=False)
    >>> def befriend(tx):
    ...     return tx.degree(1) < 100 and tx.insert_edge(1, 3)
    >>> db.insert_edge(1, 2)
    True
    >>> db.transact(befriend, retries=5)
    True
    """
    retries = operator.index(retries)
    if not 0 <= retries <= _MOST_RETRIES:
        raise DataError(f"retries must be 0 to {_MOST_RETRIES}, found {retries}")
    attempt = 0
    while True:
        # The block rolls back after any exception: from fn, or KeyboardInterrupt between two lines.
        with self.write() as tx:
            value = fn(tx)
            try:
                tx.commit()
                return value
            except ConflictError as conflict:
                if attempt == retries:
                    raise
                timestamp = conflict.timestamp
        attempt += 1
        self._wait_for_conflict(timestamp, attempt)  # type: ignore[attr-defined]
