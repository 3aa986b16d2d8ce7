"""NumPy arrays from whatever users hold: lists, arrays, torch tensors on the CPU."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import Error

Array = npt.NDArray[Any]


def as_array(name: str, values: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """`values` in C order, without a copy where their layout and type allow.

    >>> as_array("x", [[1, 2], [3, 4]], np.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if hasattr(values, "detach"):  # torch: NumPy cannot read what autograd watches, nor a GPU
        values = values.detach().cpu()
    try:
        return np.ascontiguousarray(values, dtype) if np.ndim(values) else np.asarray(values, dtype)
    except (TypeError, ValueError) as error:
        raise Error(f"{name}: cannot be read as an array of numbers: {error}") from None


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number from ``least`` on.

    >>> whole("seed", 3)
    3
    """
    if not isinstance(value, numbers.Integral) or value < least:
        raise Error(f"{name} is {value!r}, expected a whole number from {least} on")
    return int(value)


def read_only(values: Array) -> Array:
    """The same memory, closed for writing."""
    view = values.view()
    view.flags.writeable = False
    return view
