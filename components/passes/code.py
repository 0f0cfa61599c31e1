"""How is a line of a snapshot drawn? Pieces with a colour class and whether they differ, as plain text for the browser.

Colours come from Pygments' Python lexer, line by line; the browser makes a text node of each piece, never HTML.
"""

from __future__ import annotations

import threading

from cachetools import LRUCache, cached
from pygments.lexers.python import PythonLexer
from pygments.token import Token, _TokenType

from analysis.passes.marks import Marks
from analysis.passes.text import shown

Piece = tuple[str, str, int]
"""(text, class letter or "", 1 when it differs from the other side)."""
MOST_COLOURED_CHARS = 1_500
"""A longer line is drawn in one colour: colouring it costs more than it helps."""
CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Token.Comment, "c"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "m"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Name.Decorator, "d"),
    (Token.Name.Function, "f"),
    (Token.Name.Class, "f"),
    (Token.Name.Builtin, "b"),
)
"""Token types of Pygments and the letter of their CSS class, ``ir-k`` for keywords and so on; the first that fits."""
_LEXER = PythonLexer(stripnl=False, ensurenl=False)


@cached(LRUCache(maxsize=20_000), lock=threading.Lock())
def tokens(line: str) -> tuple[tuple[int, str], ...]:
    """(end, class letter) of each run of one colour."""
    out: list[tuple[int, str]] = []
    for start, kind, text in _LEXER.get_tokens_unprocessed(line):
        letter = next((letter for parent, letter in CLASSES if kind in parent), "")
        if out and (out[-1][1] == letter or text.isspace()):
            out[-1] = (start + len(text), out[-1][1])
        else:
            out.append((start + len(text), letter))
    return tuple(out)


def line_pieces(line: str, marks: Marks = (), colour: bool = True) -> list[Piece]:
    """``line`` cut where its colour or its marks change; characters that would not be seen are escaped."""
    out: list[Piece] = []
    edges = [edge for mark in marks for edge in mark]
    at, marked, passed = 0, 0, 0
    for end, letter in tokens(line) if colour else ((len(line), ""),):
        while passed < len(edges) and edges[passed] < end:
            _add(out, line[at : edges[passed]], letter, marked)
            at, marked, passed = max(at, edges[passed]), 1 - marked, passed + 1
        _add(out, line[at:end], letter, marked)
        at = max(at, end)
    return out


def _add(out: list[Piece], text: str, letter: str, marked: int) -> None:
    if text:
        out.append((shown(text), letter, marked))
