"""What is left of a snapshot without its memory and layout annotations?

Hidden are ``pl.MemRef(…)``, ``pl.TileView(…)``, ``pl.TensorView(…)``, layout arguments and types, ``base=`` addresses and
the ``pl.tile.alloc`` and ``buffer.alloc`` statements; the memory space (``pl.Mem.Vec``) stays. A statement becomes one
line whatever the formatter did with it, so a line that was wrapped because of an annotation is no difference either.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*|[(\[{]|[)\]}]|\n')
_CALL = re.compile(r"pl\.(?:MemRef|TileView|TensorView)\(")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[()]')
_LAYOUT = re.compile(
    r"(?:\b(?:layout|blayout|slayout)\s*=\s*)?\bpl\.(?:TensorLayout|TileLayout)\.\w+|\bfractal\s*=\s*\d+|\bbase\s*=\s*-?\d+"
)
_ALLOC = re.compile(r"\s*\w+\s*(?::[^=]*)?=\s*(?:pl\.tile|(?:pl\.)?buffer)\.alloc\(")
_GAP = re.compile(r"\x00(?:\s*,\s*)?")
_LEADING = re.compile(r",\s*\x00(?=\s*[)\]}])")


def structure_only(text: str) -> tuple[list[str], NDArray[np.int32]]:
    """Statements without annotations, and for each the number (from 1) of its first line in ``text``."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, statement in _statements(text):
        if _ALLOC.match(statement):
            continue
        lines.append(_without(statement))
        numbers.append(number)
    return lines, np.array(numbers, dtype=np.int32)


def _statements(text: str) -> list[tuple[int, str]]:
    """(first line, one-line text) of each statement that is not blank."""
    out: list[tuple[int, str]] = []
    depth, number, first, start = 0, 1, 1, 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(0, depth - 1)
        elif token == "\n":
            number += 1
            if depth == 0:
                _add(out, first, text[start : match.start()])
                first, start = number, match.end()
    _add(out, first, text[start:])
    return out


def _add(out: list[tuple[int, str]], first: int, text: str) -> None:
    if not text.strip():
        return
    if "\n" in text:
        head, *rest = text.split("\n")
        joined = head.rstrip()
        for line in rest:
            part = line.strip()
            glue = "" if joined.endswith(("(", "[", "{")) or part.startswith((")", "]", "}")) else " "
            joined = (joined.rstrip(",") if part.startswith((")", "]", "}")) else joined) + glue + part
        text = joined
    out.append((first, text.rstrip()))


def _without(line: str) -> str:
    if "pl." not in line and "=" not in line:
        return line
    line = _LAYOUT.sub("\x00", _without_calls(line))
    if "\x00" not in line:
        return line
    return _GAP.sub("", _LEADING.sub("", line))


def _without_calls(line: str) -> str:
    parts: list[str] = []
    at = 0
    while (call := _CALL.search(line, at)) is not None:
        depth, end = 1, -1
        for bracket in _BRACKET.finditer(line, call.end()):
            token = bracket.group()
            depth += 1 if token == "(" else -1 if token == ")" else 0
            if depth == 0:
                end = bracket.end()
                break
        if end < 0:
            break  # not closed: leave the rest as it is
        parts += [line[at : call.start()], "\x00"]
        at = end
    return "".join([*parts, line[at:]])
