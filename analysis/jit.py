"""How loops are compiled, and unchecked reads from arrays for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile on first call, through numba's on-disk cache where one can be written; runs without the GIL."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no writable cache directory: compile in every process
        return cast(F, numba.njit(nogil=True)(function))


def inlined(function: F) -> F:
    """As :func:`compiled`, and part of every function that calls it."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True, forceinline=True)(function))
    except RuntimeError:
        return cast(F, numba.njit(nogil=True, forceinline=True)(function))


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(context: Any, data: Any, at: Any) -> Any:
    """``data[at]`` as an integer, without the handling of negative indexes that a byte loop would pay for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.zext(builder.load(builder.gep(array.data, [arguments[1]])), context.get_value_type(types.int64))

    return types.int64(data, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def word(context: Any, data: Any, at: Any) -> Any:
    """``data[at]`` of an int64 array, without the handling of negative indexes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load(builder.gep(array.data, [arguments[1]]))

    return types.int64(data, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def eight(context: Any, data: Any, at: Any) -> Any:
    """The eight bytes from ``at`` on as one number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, context.get_value_type(types.int64).as_pointer()))
        word.align = 1
        return word

    return types.int64(data, types.int64), generate
