# SPDX-License-Identifier: Apache-2.0
"""Functions of CUDA's driver that PyTorch has no name for."""

from __future__ import annotations

import ctypes
import functools
from typing import Any


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def driver(name: str, *args: Any) -> None:
    """Calls a function of the driver; an error is an exception."""
    try:
        function = getattr(_library(), name)
    except AttributeError:
        raise RuntimeError(f"CUDA's driver has no {name}") from None
    status = function(*args)
    if status:
        raise RuntimeError(f"CUDA's driver: {name} fails with error {status}")
