"""How long work is shown: a tqdm bar where somebody is watching."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Union

Callback = Callable[[int, int, str], object]
Choice = Union[bool, Callback, None]


@contextmanager
def shown(choice: Choice, title: str) -> Iterator[Optional[Callback]]:
    """A callback (done, total, message), or None when nothing is to be shown.

    `choice` is False, True, a callback of the user's own, or None: a bar if stderr is a terminal.
    """
    if callable(choice):
        yield choice
        return
    if choice is False or (choice is None and not sys.stderr.isatty()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc=title, leave=False, delay=0.5) as bar:

        def show(done: int, total: int, message: str) -> None:
            bar.total = total
            bar.set_postfix_str(message, refresh=False)
            bar.update(done - bar.n)

        yield show
