"""What a file is, from its first kilobytes: cheap enough to ask of every file in a tree."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from analysis.formats.reading import GZIP_MAGIC
from analysis.formats.registry import Shape

HEAD_BYTES = 4096
DEEP_BYTES = 1 << 17
"""How far to read when the first :data:`HEAD_BYTES` do not tell."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def kind_of_file(path: Path) -> str | None:
    """``swimlane``, ``deps``, ``name_map`` or ``trace``; None for anything else or an unreadable file."""
    from analysis.formats import recognise

    for limit in (HEAD_BYTES, DEEP_BYTES):
        head, whole = read_head(path, limit)
        found = recognise(shape_of(head, whole))
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
        return text[:limit], whole and len(text) <= limit
    return head[:limit], len(head) <= limit


def shape_of(text: bytes, whole: bool) -> Shape:
    """Top-level keys and the keys of the first object of each top-level list, as far as ``text`` goes."""
    if text[:3] == b"\xef\xbb\xbf":
        text = text[3:]
    keys: list[str] = []
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
        rows={key: frozenset(names) for key, names in rows.items()},
        flat_names=numbers and strings_only,
    )
