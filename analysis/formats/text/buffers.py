"""Memory for large columns and files: zeroed pages that cost nothing until they are written to.

``np.empty`` asks the kernel for huge pages, and where memory is fragmented making room for them costs more than the
reading itself; plain anonymous pages cost the same every time.
"""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def zeros(shape: tuple[int, ...], dtype: DTypeLike, filled: bool = False) -> NDArray[Any]:
    """An array of zeros in pages of its own, given back as soon as nothing refers to it.

    ``filled`` says that all of it will be written to: its pages are then provided in one step.
    """
    kind = np.dtype(dtype)
    count = math.prod(shape)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (getattr(mmap, "MAP_POPULATE", 0) if filled else 0)
    pages = mmap.mmap(-1, max(1, count * kind.itemsize), flags=flags)
    return np.frombuffer(pages, kind, count).reshape(shape)
