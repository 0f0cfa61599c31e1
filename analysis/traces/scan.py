"""A Chrome trace file as raw event columns, in one pass and in bounded memory besides the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.traces import scan_kernel as k
from analysis.traces.source import Source, Stream

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (bytes read, bytes of the file); raise from it to cancel."""
CHUNK_BYTES = 8 << 20
MAX_EVENT_BYTES = 64 << 20
"""A longer event is reported as broken."""
SECTION_BYTES = 4 << 20
"""Other top-level values up to this size are kept (metadata, unalignedDeviceSpans)."""
_BLOCK_ROWS = 1 << 15
_PAD = 64
_IN_TEXT, _OUTSIDE = re.compile(rb'["\\]'), re.compile(rb'["{}\[\],]')
_TIMED = np.zeros(256, np.bool_)
_TIMED[[ord(c) for c in "BEXiIRPnbeSFTpstfC"]] = True

COLUMN_TYPES: dict[str, tuple[int, Any]] = {
    "whole_us": (k.WHOLE, np.int64), "fraction_ns": (k.FRACTION, np.int16), "length_ns": (k.LENGTH, np.int64),
    "phase": (k.PHASE, np.uint8), "name": (k.NAME, np.int32), "category": (k.CATEGORY, np.int32),
    "pid": (k.PID, np.int32), "tid": (k.TID, np.int32), "ident": (k.ID, np.int32), "flags": (k.FLAGS, np.uint16),
    "offset": (k.OFFSET, np.int64), "size": (k.SIZE, np.int32),
}  # fmt: skip


@dataclass
class RawEvents:
    """Every event of the file as it was read; ``columns`` by the names of :data:`COLUMN_TYPES`."""

    source: Source
    columns: dict[str, NDArray[Any]]
    texts: list[str]
    text_damage: dict[int, str]
    """Text number → what was wrong with its bytes (``bad_utf8``, ``bad_escape``)."""
    sample_event: NDArray[np.int64]
    sample_series: NDArray[np.int32]
    sample_value: NDArray[np.float64]
    metadata_events: list[tuple[int, dict[str, Any]]]
    sections: dict[str, Any]
    skipped_sections: dict[str, int]
    list_closed: bool
    damage: str
    text_bytes: int

    def __len__(self) -> int:
        return len(self.columns["phase"])


def lenient(text: bytes) -> Any:
    """The value of JSON text whose texts may hold bad UTF-8; numbers with a point as exact decimals.

    Raises:
        ValueError: no JSON.
    """
    try:
        return json.loads(
            text.decode("utf-8", "replace"), strict=False, parse_float=Decimal, parse_int=_integer, parse_constant=float
        )
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < 400 else Decimal(text)


@dataclass
class _Texts:
    """The interner's arrays, which grow."""

    table: NDArray[np.int32] = field(default_factory=lambda: np.full(1 << 12, -1, np.int32))
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1 << 11, np.int64))
    arena: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(1 << 16, np.uint8))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, np.int64))
    series: NDArray[np.int64] = field(default_factory=lambda: np.zeros((1 << 12, 2), np.int64))
    values: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1 << 12))

    def grow(self) -> None:
        """Twice the room in whatever is more than half full."""
        strings, used, samples = self.counts.tolist()
        if 4 * strings > len(self.table) or 2 * strings > len(self.ends):
            self.table = np.full(len(self.table) * 2, -1, np.int32)
            self.ends = np.concatenate((self.ends, np.zeros(len(self.ends), np.int64)))
            k.rehash(self.table, self.ends, self.arena, strings)
        if 2 * used + 16 * k.NAME_BYTES > len(self.arena):
            self.arena = np.concatenate((self.arena, np.zeros(len(self.arena), np.uint8)))
        if 2 * samples + 2 >= len(self.values):
            self.series = np.concatenate((self.series, np.zeros_like(self.series)))
            self.values = np.concatenate((self.values, np.zeros_like(self.values)))

    def intern(self, text: str) -> int:
        """Number of one text, for what only the exact reader understands."""
        data = np.frombuffer(text.encode("utf-8", "replace")[: k.NAME_BYTES] + bytes(_PAD), np.uint8).copy()
        while True:
            number = k.intern(data, 0, len(data) - _PAD, self.table, self.ends, self.arena, self.counts)
            if number >= 0:
                return int(number)
            self.grow()

    def decoded(self) -> tuple[list[str], dict[int, str]]:
        number = int(self.counts[k.STRINGS])
        data, ends = self.arena.tobytes(), self.ends[: number + 1].tolist()
        texts, damage = [], {}
        for i in range(number):
            raw = data[ends[i] : ends[i + 1]]
            text, wrong = decode(raw if len(raw) < k.NAME_BYTES else _whole_letters(raw))
            texts.append(text)
            if wrong:
                damage[i] = wrong
        return texts, damage


def _whole_letters(raw: bytes) -> bytes:
    """A text cut at some byte, without the letter or escape that the cut went through."""
    return next((raw[: len(raw) - cut] for cut in range(13) if not decode(raw[: len(raw) - cut])[1]), raw)


def decode(raw: bytes) -> tuple[str, str]:
    """The text between two quotes, and what was wrong with it (or "")."""
    wrong = ""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text, wrong = raw.decode("utf-8", "replace"), "bad_utf8"
    if "\\" in text:
        try:
            text = json.loads(f'"{text}"', strict=False)
        except ValueError:
            return text, "bad_escape"
        if any("\ud800" <= c <= "\udfff" for c in text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), "bad_escape"
    return text, wrong


class _Scanner:
    def __init__(self, stream: Stream, progress: Progress | None) -> None:
        self.stream, self.progress = stream, progress
        self.data = np.zeros(CHUNK_BYTES + _PAD, np.uint8)
        self.at = self.n = self.base = 0
        self.last = False
        self.texts = _Texts()
        self.rows = np.zeros((_BLOCK_ROWS, k.COLUMNS), np.int64)
        self.blocks: dict[str, list[NDArray[Any]]] = {name: [] for name in COLUMN_TYPES}
        self.samples: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        self.metadata: list[tuple[int, dict[str, Any]]] = []
        self.sections: dict[str, Any] = {}
        self.skipped: dict[str, int] = {}
        self.closed = False
        self.seen_events = False
        self.n_rows = 0

    def more(self) -> bool:
        """Read on, keeping what lies after ``at``; False at the end of the file."""
        if self.last:
            return False
        tail = self.n - self.at
        room = len(self.data) - _PAD
        if self.at:
            self.data[:tail] = self.data[self.at : self.n]
            self.base += self.at
            self.at, self.n = 0, tail
        elif tail == room:
            self.data = np.concatenate((self.data, np.zeros(room, np.uint8)))
            room = len(self.data) - _PAD
        read = self.stream.read(room - tail)
        self.data[tail : tail + len(read)] = np.frombuffer(read, np.uint8)
        self.n = tail + len(read)
        self.data[self.n : self.n + _PAD] = 0
        self.last = not read
        if self.progress:
            self.progress(min(self.stream.raw_position, self.stream.size_bytes), self.stream.size_bytes)
        return bool(read)

    def peek(self) -> int:
        """The next byte that is not white space, -1 at the end."""
        while True:
            while self.at < self.n and int(self.data[self.at]) in (32, 10, 13, 9):
                self.at += 1
            if self.at < self.n:
                return int(self.data[self.at])
            if not self.more():
                return -1

    def events(self) -> None:
        """Read the list whose first byte is behind ``at``."""
        self.seen_events = True
        texts = self.texts
        while True:
            texts.counts[k.SAMPLES] = 0
            state, at, filled = k.scan(
                self.data, self.at, self.n, self.base, self.last, MAX_EVENT_BYTES, self.rows, texts.table, texts.ends,
                texts.arena, texts.counts, texts.series, texts.values,
            )  # fmt: skip
            self.at = at
            self._keep(filled)
            if state == k.END:
                self.closed = True
                return
            if state == k.GROW:
                texts.grow()
            elif state == k.MORE and not self.more() and self.at >= self.n:
                return

    def _keep(self, filled: int) -> None:
        if not filled:
            return
        rows, texts = self.rows[:filled], self.texts
        used = int(texts.counts[k.SAMPLES])
        if used:
            series = texts.series[:used]
            self.samples.append((series[:, 0] + self.n_rows, series[:, 1].astype(np.int32), texts.values[:used].copy()))
        flags, phase = rows[:, k.FLAGS], rows[:, k.PHASE]
        for i in np.flatnonzero(flags & k.SLOW).tolist():
            self._slow(rows[i], self.n_rows + i)
        for i in np.flatnonzero(phase == ord("M")).tolist():
            self._metadata(rows[i], self.n_rows + i)
        for name, (column, dtype) in COLUMN_TYPES.items():
            self.blocks[name].append(rows[:, column].astype(dtype))
        self.n_rows += filled

    def _text(self, row: NDArray[np.int64]) -> bytes:
        begin = int(row[k.OFFSET]) - self.base
        return self.data[begin : begin + int(row[k.SIZE])].tobytes()

    def _slow(self, row: NDArray[np.int64], number: int) -> None:
        """Times and counter values that are no plain decimals, read exactly."""
        try:
            event = lenient(self._text(row))
        except ValueError:
            row[k.FLAGS] = k.BAD_JSON
            row[k.PHASE] = 0
            return
        start = exact(event.get("ts"))
        flags = int(row[k.FLAGS]) & ~(k.HAS_TIME | k.HAS_LENGTH | k.NEGATIVE | k.BAD_LENGTH)
        whole, fraction = 0, Decimal(0)
        if start is None or abs(start) >= 10**k.MAX_WHOLE_DIGITS:
            flags |= k.BAD_TIME if event.get("ts") is not None else 0
        else:
            flags |= k.HAS_TIME
            whole = int(start // 1) if start >= 0 or start == start.to_integral_value() else int(start // 1) - 1
            fraction = (start - whole) * 1000
            row[k.WHOLE], row[k.FRACTION] = whole, _rounded(fraction)
        if event.get("dur") is not None:
            length = exact(event["dur"])
            if length is None or length > k.MAX_LENGTH_US:
                flags |= k.BAD_LENGTH
            elif length < 0:
                flags |= k.NEGATIVE | k.HAS_LENGTH
            else:
                flags |= k.HAS_LENGTH
                row[k.LENGTH] = _rounded(fraction + length * 1000) - _rounded(fraction)
        row[k.FLAGS] = flags
        if row[k.PHASE] == ord("C"):
            self._slow_counter(event.get("args"), row, number)

    def _slow_counter(self, args: Any, row: NDArray[np.int64], number: int) -> None:
        good = {}
        for name, value in args.items() if isinstance(args, dict) else ():
            if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and np.isfinite(float(value)):
                good[name] = float(value)
            else:
                row[k.FLAGS] |= k.BAD_VALUE
        series = [self.texts.intern(json.dumps(name, ensure_ascii=False)[1:-1]) for name in good]
        if good:
            self.samples.append(
                (np.full(len(good), number), np.asarray(series, np.int32), np.asarray(list(good.values())))
            )

    def _metadata(self, row: NDArray[np.int64], number: int) -> None:
        try:
            event = lenient(self._text(row))
        except ValueError:
            row[k.FLAGS], row[k.PHASE] = k.BAD_JSON, 0
            return
        self.metadata.append((number, event))

    def object(self) -> None:
        """Read the keys of the file's object, up to the end of the text."""
        while (byte := self.peek()) >= 0:
            if byte == ord('"'):
                key = self._value().decode("utf-8", "replace")[1:-1]
                if self.peek() != ord(":"):
                    continue
                self.at += 1
                if key == "traceEvents" and self.peek() == ord("["):
                    self.at += 1
                    self.events()
                elif self.peek() >= 0:
                    self._section(key)
            elif byte == ord("}"):
                return
            else:
                self.at += 1

    def _section(self, key: str) -> None:
        text = self._value()
        if len(text) > SECTION_BYTES:
            self.skipped[key] = len(text)
            return
        try:
            self.sections[key] = lenient(text)
        except ValueError:
            self.skipped[key] = len(text)

    def _value(self) -> bytes:
        """The text of the value at ``at``; of a long one only a part, though all of it is passed over."""
        state = _Skipping()
        kept = bytearray()
        while True:
            part = self.data[self.at : self.n].tobytes()
            done = state.feed(part)
            if len(kept) <= SECTION_BYTES:
                kept += part[:done]
            self.at += done
            if state.ended or not self.more():
                return bytes(kept)


class _Skipping:
    """Where a value ends, over several pieces of text."""

    def __init__(self) -> None:
        self.depth, self.quoted, self.escaped, self.ended = 0, False, False, False

    def feed(self, part: bytes) -> int:
        """How many bytes of ``part`` belong to the value."""
        at = 1 if self.escaped and part else 0
        self.escaped = self.escaped and not part
        while found := (_IN_TEXT if self.quoted else _OUTSIDE).search(part, at):
            at, byte = found.end(), found[0]
            if byte == b"\\":
                self.escaped = at == len(part)
                at += 1
            elif byte == b'"':
                self.quoted = not self.quoted
                self.ended = not self.quoted and not self.depth
            elif byte in b"{[":
                self.depth += 1
            elif not self.depth:  # a comma or the end of what holds the value
                self.ended = True
                return found.start()
            elif byte != b",":
                self.depth -= 1
                self.ended = not self.depth
            if self.ended:
                return at
        return len(part)


def _rounded(value: Decimal) -> int:
    """Nearest integer, halves up, as the compiled scanner rounds."""
    return int((value + Decimal("0.5")) // 1)


def exact(value: Any) -> Decimal | None:
    """A time that is a number or a text as an exact decimal; None for anything else, NaN and infinities too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        number = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > 30 or (number.adjusted() < -30 and number):
        return Decimal(0) if number.is_finite() and number.adjusted() < -30 else None
    return number


def scan_file(path: Path, progress: Progress | None = None, text: bytes | None = None) -> RawEvents:
    """Read the events of ``path``, or of ``text`` that was made from it.

    Raises:
        InputError: no Chrome trace, or not readable.
        LimitError: gzip expands beyond the limit.
    """
    with Stream(path, text=text) as stream:
        scanner = _Scanner(stream, progress)
        scanner.more()
        if scanner.data[:3].tobytes() == b"\xef\xbb\xbf":
            scanner.at = 3
        first = scanner.peek()
        if first == ord("["):
            scanner.at += 1
            scanner.events()
        elif first == ord("{"):
            scanner.at += 1
            scanner.object()
        if not scanner.seen_events:
            reason = stream.damage or (
                "the file is empty" if first < 0 else "no Chrome trace: it holds no list traceEvents"
            )
            raise InputError(str(path), "", reason, "Choose a file with a list of trace events")
        return _raw(scanner, Source(path, stream.size_bytes, stream.mtime_ns, text))


def _raw(scanner: _Scanner, source: Source) -> RawEvents:
    columns = {}
    for name, (_, dtype) in COLUMN_TYPES.items():
        parts = scanner.blocks.pop(name)
        columns[name] = np.concatenate(parts) if parts else np.empty(0, dtype)
    texts, damage = scanner.texts.decoded()
    samples = scanner.samples or [(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))]
    event, series, value = (np.concatenate([part[i] for part in samples]) for i in range(3))
    return RawEvents(
        source, columns, texts, damage, event, series, value, scanner.metadata, scanner.sections, scanner.skipped,
        scanner.closed, scanner.stream.damage, scanner.stream.expanded,
    )  # fmt: skip
