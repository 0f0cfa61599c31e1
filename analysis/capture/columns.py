"""Array types of the columns."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

I1: TypeAlias = NDArray[np.int8]
I2: TypeAlias = NDArray[np.int16]
I4: TypeAlias = NDArray[np.int32]
I8: TypeAlias = NDArray[np.int64]
U1: TypeAlias = NDArray[np.uint8]
U8: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]
