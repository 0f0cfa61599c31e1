"""Lists of JSON objects as columns: typed decode in batches, row by row where a row does not fit.

:func:`typed_rows` is the one place where a list of objects is read. Its strict path decodes a batch as a whole; when
that fails, the batch is decoded element by element with the same type, and elements that do not fit are dropped,
counted and named. A row that fits comes out the same on both paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from analysis.capture import I8, U8, Bool
from analysis.formats.report import Report
from analysis.formats.text.reading import MAX_DAMAGED_ROWS, batches, cut, integer, is_list

S = TypeVar("S", bound=msgspec.Struct)
NUMBER_LIMIT = 1 << 60
"""Integers that are no ids lie within ± this; sums of a few of them fit in int64."""
Int: TypeAlias = Annotated[int, msgspec.Meta(ge=-NUMBER_LIMIT, le=NUMBER_LIMIT)]
Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Id: TypeAlias = int | str
"""A 64-bit id: JSON number or decimal string."""


_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def typed_rows(
    raw: msgspec.Raw | None, kind: type[S], place: str, source: str, report: Report, stream: str = ""
) -> Iterator[tuple[list[S], Sequence[int]]]:
    """Batches of decoded rows with their positions in the list; all rows are accounted for under ``stream``.

    Raises:
        InputError: the list itself is not JSON.
    """
    if raw is None:
        return
    if not is_list(raw):
        if bytes(memoryview(raw)) != b"null":
            report.add("wrong_type", 1, place)
        return
    decoder: msgspec.json.Decoder[list[S]] = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
    first = 0
    for piece in cut(raw):
        try:
            rows = decoder.decode(piece)
        except _FAULTS:
            break
        report.rows(stream, len(rows))
        yield rows, range(first, first + len(rows))
        first += len(rows)
        del rows
    else:
        return
    yield from _tolerant(raw, first, kind, place, source, report, stream)


def _tolerant(
    raw: msgspec.Raw, after: int, kind: type[S], place: str, source: str, report: Report, stream: str
) -> Iterator[tuple[list[S], list[int]]]:
    """The rows from position ``after`` on, each by itself; after :data:`MAX_DAMAGED_ROWS` that do not fit, the rest is
    only counted."""
    damaged = 0
    for first, count, texts in batches(raw, source, place):
        skip = max(0, after - first)
        if skip >= count:
            continue
        if damaged > MAX_DAMAGED_ROWS:
            report.add("too_many_damaged", count - skip, place)
            report.rows(stream, count - skip, count - skip)
            continue
        parts = texts()[skip:]
        rows, kept = _one_by_one(first + skip, parts, kind, place, report)
        damaged += len(parts) - len(rows)
        report.rows(stream, len(parts), len(parts) - len(rows))
        yield rows, kept


def typed_lists(raw: msgspec.Raw | None, kind: type[S]) -> list[list[S]] | None:
    """A list of lists of rows in one go; None when anything in it does not fit."""
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=list[list[kind]])  # type: ignore[valid-type]
    except _FAULTS:
        return None


def _one_by_one(first: int, raws: list[Any], kind: type[S], place: str, report: Report) -> tuple[list[S], list[int]]:
    decoder = msgspec.json.Decoder(kind)
    rows: list[S] = []
    kept: list[int] = []
    for at, raw in enumerate(raws, first):
        try:
            rows.append(decoder.decode(raw))
        except _FAULTS as error:
            code = "out_of_range" if "Expected `int` " in str(error) else "wrong_type"
            report.add(code, 1, f"{place}[{at}]")
        else:
            kept.append(at)
    return rows, kept


def column(rows: Sequence[Any], name: str, missing: int = -1) -> I8:
    """An integer attribute as int64; None becomes ``missing``."""
    try:
        return np.fromiter(map(attrgetter(name), rows), np.int64, len(rows))
    except TypeError:
        values = list(map(attrgetter(name), rows))
        if values.count(None) == len(values):
            return np.full(len(rows), missing, np.int64)
        return np.fromiter((missing if value is None else value for value in values), np.int64, len(rows))


def wide_column(rows: Sequence[Any], name: str, width: int, missing: int = -1) -> I8:
    """An attribute that is a tuple of ``width`` integers as (n, width); None becomes ``missing`` throughout."""
    shape = (len(rows), width)
    try:
        flat = np.fromiter(chain.from_iterable(map(attrgetter(name), rows)), np.int64, width * len(rows))
    except TypeError:
        values = list(map(attrgetter(name), rows))
        if values.count(None) == len(values):
            return np.full(shape, missing, np.int64)
        absent = (missing,) * width
        cells = chain.from_iterable(absent if value is None else value for value in values)
        flat = np.fromiter(cells, np.int64, width * len(rows))
    return flat.reshape(shape)


def ids(values: Sequence[Any], place: str, report: Report) -> tuple[U8, Bool]:
    """64-bit ids given as number, decimal string or None: (values, present).

    What is no such id counts as absent and is reported at ``place``.
    """
    count = len(values)
    kinds = set(map(type, values))
    if kinds <= {type(None)}:
        return np.zeros(count, np.uint64), np.zeros(count, np.bool_)
    if kinds == {int} and min(values) >= 0 and max(values) < 2**64:
        return np.fromiter(values, np.uint64, count), np.ones(count, np.bool_)
    if kinds == {str} and (joined := "".join(values)).isascii() and joined.isdigit() and all(values):
        numbers = list(map(int, values))
        if max(numbers) < 2**64:
            return np.fromiter(numbers, np.uint64, count), np.ones(count, np.bool_)
    out = np.zeros(count, np.uint64)
    present = np.zeros(count, np.bool_)
    for at, value in enumerate(values):
        if value is None:
            continue
        number = integer(value)
        if number is None or not 0 <= number < 2**64:
            report.add("wrong_type" if number is None else "out_of_range", 1, place)
            continue
        out[at] = number
        present[at] = True
    return out, present


def encode(values: Sequence[str], index_of: Callable[[str], int]) -> I8:
    """Texts as indexes, asking ``index_of`` once per distinct text."""
    table = {text: index_of(text) for text in dict.fromkeys(values)}
    return np.fromiter(map(table.__getitem__, values), np.int64, len(values))
