"""What a file is, from its first kilobytes: cheap enough to ask of every file in a tree."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from analysis.formats.known import recognise
from analysis.formats.registry import Shape
from analysis.formats.text.reading import GZIP_MAGIC

STEPS_BYTES = (512, 4096, 1 << 17)
"""How far to read: the first step usually tells, the others are for files that begin with something long."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def kind_of_file(path: Path) -> str | None:
    """``swimlane``, ``deps``, ``name_map`` or ``trace``; None for anything else or an unreadable file."""
    for limit in STEPS_BYTES:
        head, whole = read_head(path, limit)
        if head.lstrip()[:1] not in (b"{", b"["):
            return None
        found = recognise(shape_of(head))
        if found is not None or whole:
            return found.kind if found is not None else None
    return None


def read_head(path: Path, limit: int) -> tuple[bytes, bool]:
    """(first ``limit`` bytes of the JSON text, whether that is all of it); empty when the file cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(limit + 1)
    except OSError:
        return b"", True
    if head[:2] == GZIP_MAGIC:
        machine = zlib.decompressobj(wbits=31)
        try:
            text = machine.decompress(head, limit + 1)
        except zlib.error:
            return b"", True
        whole = machine.eof and not machine.unused_data
        return _without_mark(text[:limit]), whole and len(text) <= limit
    return _without_mark(head[:limit]), len(head) <= limit


def _without_mark(text: bytes) -> bytes:
    return text[3:] if text[:3] == b"\xef\xbb\xbf" else text


def shape_of(text: bytes) -> Shape:
    """Top-level keys and the keys of the first object of each top-level list, as far as ``text`` goes."""
    keys: list[str] = []
    lists: list[str] = []
    rows: dict[str, set[str]] = {}
    strings_only = True
    path: list[bytes] = []
    current, last = "", b""
    first_object: dict[str, bool] = {}
    for match in _TOKEN.finditer(text):
        token = match[0]
        depth = len(path)
        if token in (b"{", b"["):
            path.append(token)
            if path == [b"["]:
                current = ""
            if path in ([b"{", b"["], [b"["]):
                lists.append(current)
            if depth >= 1 and path[0] == b"{":
                strings_only = False
        elif token in (b"}", b"]"):
            if path == [b"{", b"[", b"{"] or path == [b"[", b"{"]:
                first_object[current] = True
            if path:
                path.pop()
            if not path:
                break
        elif token == b":":
            if path == [b"{"]:
                current = last.decode("utf-8", "replace")
                keys.append(current)
            elif path in ([b"{", b"[", b"{"], [b"[", b"{"]) and not first_object.get(current):
                rows.setdefault(current, set()).add(last.decode("utf-8", "replace"))
        elif token != b",":
            if path == [b"{"] and not token.startswith(b'"'):
                strings_only = False
            last = token.strip(b'"')
    numbers = bool(keys) and all(key.isascii() and key.isdigit() for key in keys)
    return Shape(
        keys=frozenset(keys),
        lists=frozenset(lists),
        rows={key: frozenset(names) for key, names in rows.items()},
        flat_names=numbers and strings_only,
    )
